import time

import pytest

from mercer.solvers import watch as watches
from mercer.solvers.options import Options
from mercer.solvers.watch import Watch


def test_a_watch_without_a_limit_is_never_over():
    assert not Watch("solve").look(0.5)


def test_a_watch_is_over_when_its_time_is_up():
    watch = Options(max_time=0.01).watch("solve")
    assert not watch.is_over
    time.sleep(0.02)
    assert watch.look(0.1)


def test_the_bar_shows_the_share_and_the_measure(monkeypatch, capsys):
    monkeypatch.setattr(watches, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(watches, "BETWEEN_SECONDS", 0.0)
    watch = Watch("cg", show=True)
    watch.look(0.5, "residual 1.0e-03")
    watch.close()
    drawn = capsys.readouterr().err
    assert drawn.startswith("\rcg ███████████████░░░░░░░░░░░░░░░  50%")
    assert "residual 1.0e-03" in drawn
    assert drawn.endswith("\n")


@pytest.mark.parametrize("show", [False, True])
def test_nothing_is_drawn_in_the_first_second(show, capsys):
    watch = Watch("cg", show=show)
    watch.look(0.5)
    watch.close()
    assert capsys.readouterr().err == ""
