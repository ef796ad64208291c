import pytest

from mercer.solvers.options import Options
from mercer.solvers.watch import BETWEEN_SECONDS, FIRST_SECONDS, Watch


class Clock:
    """Stands still until it is told."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_watch_without_a_limit_is_never_over(clock):
    watch = Watch("solve", clock=clock)
    clock.now += 1e9
    assert not watch.look(0.5)


def test_a_watch_is_over_when_its_time_is_up(clock):
    watch = Watch("solve", max_time=2.0, clock=clock)
    clock.now += 1.9
    assert not watch.is_over
    assert not watch.look(0.1)
    clock.now += 0.1
    assert watch.is_over
    assert watch.look(0.1)
    assert watch.seconds == pytest.approx(2.0)


def test_the_clock_of_a_solve_is_that_of_the_machine():
    watch = Options(max_time=1e-9).watch("solve")
    first = watch.seconds
    while watch.seconds == first:
        pass
    assert watch.is_over


def test_the_bar_shows_the_share_and_the_measure(clock, capsys):
    watch = Watch("cg", show=True, clock=clock)
    clock.now += FIRST_SECONDS
    watch.look(0.5, "residual 1.0e-03")
    watch.close()
    drawn = capsys.readouterr().err
    assert drawn.startswith("\rcg ███████████████░░░░░░░░░░░░░░░  50%  1 s")
    assert "residual 1.0e-03" in drawn
    assert drawn.endswith("\n")


def test_the_bar_is_drawn_now_and_then(clock, capsys):
    watch = Watch("cg", show=True, clock=clock)
    clock.now += FIRST_SECONDS
    for _ in range(10):
        watch.look(0.5)
        clock.now += 0.3 * BETWEEN_SECONDS
    assert capsys.readouterr().err.count("\r") == 3


@pytest.mark.parametrize("show", [False, True])
def test_nothing_is_drawn_in_the_first_second(clock, show, capsys):
    watch = Watch("cg", show=show, clock=clock)
    clock.now += 0.99 * FIRST_SECONDS
    watch.look(0.5)
    watch.close()
    assert capsys.readouterr().err == ""


def test_within_a_step_the_bar_shows_the_same_share_and_a_later_time(clock, capsys):
    watch = Watch("newton", show=True, clock=clock)
    clock.now += FIRST_SECONDS
    watch.look(0.2, "gap 1.0e-01")
    clock.now += 5.0
    assert not watch.again()
    assert "20%  6 s, 24 s left  gap 1.0e-01" in capsys.readouterr().err


def test_a_bar_never_shows_less_than_nothing(clock, capsys):
    watch = Watch("newton", show=True, clock=clock)
    clock.now += FIRST_SECONDS
    watch.look(-0.0)
    assert "  0%" in capsys.readouterr().err


def caught(watch):
    """What a solver does with Ctrl-C."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        watch.interrupt()


def test_ctrl_c_ends_a_watch_that_keeps_the_best_and_is_raised_by_another(clock):
    watch = Watch("cg", keeps_best=True, clock=clock)
    caught(watch)
    assert watch.is_over
    with pytest.raises(KeyboardInterrupt):
        caught(Watch("cg", clock=clock))
