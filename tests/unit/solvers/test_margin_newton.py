"""Support vector machines whose steps of two crawl are finished by Newton's method on their free variables."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import mercer
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding
from mercer.points import as_points
from mercer.problems.margins import KINDS, MarginProblem, Referee
from mercer.problems.solution import Status
from mercer.solvers import smo, solve
from mercer.solvers.margin_newton import MarginNewton, _Problem
from mercer.solvers.smo import LONG_STEPS

RNG = np.random.default_rng(0)
NOISY = RNG.standard_normal((300, 5))
LABEL = NOISY[:, 0] + 0.5 * RNG.standard_normal(300) > 0.0
CANCER, BENIGN = load_breast_cancer(return_X_y=True)
SCALED = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
MANY = RNG.standard_normal((2_600, 2))  # above SMALL_ROWS of solvers.smo: float32 inside
ODD = np.sin(3.0 * MANY[:, 0]) + 0.3 * RNG.standard_normal(2_600) > MANY[:, 1]

# Each took ten million steps and was left unsolved, or (float32, many classes) several times as many as now.
CRAWLING = {
    "scaled": (mercer.SVC(kernel="linear", C=1e6), SCALED, BENIGN),
    "unscaled": (mercer.SVC(kernel="linear", C=1e3), CANCER, BENIGN),
    "overlapping": (mercer.SVC(kernel="poly", C=1e6), NOISY, LABEL),
    "two sums": (mercer.NuSVC(kernel="linear", nu=0.05), CANCER, BENIGN),
    "regression": (mercer.SVR(kernel="linear", C=1.0), CANCER, BENIGN.astype(float)),
    "each row twice": (mercer.NuSVR(C=1e3), NOISY, NOISY[:, 0] ** 2),
    "classes": (mercer.SVC(kernel="linear", C=1e6), *load_wine(return_X_y=True)),
    "float32": (mercer.SVC(gamma=1.0, C=3e4), MANY, ODD),
}


@pytest.fixture
def advances(monkeypatch):
    """What each call of Newton's method said."""
    said = []
    advance = MarginNewton.advance

    def counted(self, *arguments):
        said.append(advance(self, *arguments))
        return said[-1]

    monkeypatch.setattr(MarginNewton, "advance", counted)
    return said


@pytest.mark.parametrize("name", CRAWLING)
def test_what_crawls_is_solved(name, advances):
    machine, X, y = CRAWLING[name]
    certificate = machine.fit(X, y).certificate_
    assert certificate.status is Status.MARGIN_OPTIMAL
    assert certificate.violation <= machine.tol
    assert certificate.relative_gap <= 1e-3
    assert np.max(machine.n_iter_) < LONG_STEPS / 5
    assert any(advances)


def test_what_steps_leave_at_their_end_is_solved(monkeypatch, advances):
    monkeypatch.setattr(smo, "LONG_STEPS", 12_000)  # of 15 000 or so
    monkeypatch.setattr(smo, "LONG_STEPS_EACH", 1)
    machine = mercer.SVC(gamma=1.0, C=100.0).fit(MANY, ODD)
    assert machine.certificate_.status is Status.MARGIN_OPTIMAL
    assert machine.n_iter_.max() == 12_000
    assert advances == [True]


def test_what_float32_takes_for_solved_is_left_to_newton(monkeypatch, advances):
    refused = iter([True, True, False])
    look = Referee.look

    def strict(self, **how):
        found = look(self, **how)
        return replace(found, violations=found.violations + next(refused, False))

    monkeypatch.setattr(Referee, "look", strict)
    solution = mercer.SVC(gamma=1.0, C=10.0).fit(MANY, ODD).certificate_
    assert solution.status is Status.MARGIN_OPTIMAL
    assert len(advances) == 1


def test_what_does_not_crawl_is_left_alone(advances):
    mercer.SVC().fit(NOISY, LABEL)
    assert not advances


def test_the_solution_is_that_of_steps_of_two(monkeypatch):
    X = RNG.standard_normal((450, 5))  # above the few hundred that the core finishes by itself
    y = X[:, 0] + 0.5 * RNG.standard_normal(450) > 0.0
    machine = mercer.SVC(C=1e3, tol=1e-9).fit(X, y)
    monkeypatch.setattr(MarginNewton, "most_free", 0)
    alone = mercer.SVC(C=1e3, tol=1e-9).fit(X, y)
    assert alone.n_iter_.sum() > machine.n_iter_.sum()
    np.testing.assert_allclose(machine.decision_function(X), alone.decision_function(X), atol=1e-7)


def test_matrices_stay_within_the_memory(advances):
    machine, X, y = CRAWLING["float32"]
    small = mercer.SVC(gamma=1.0, C=3e4, cache_size=1, max_iter=400_000)
    with pytest.warns(UserWarning, match="max_iter"):
        small.fit(X, y)
    assert not advances
    assert machine.cache_size == 200


@pytest.mark.parametrize("keep_best", [False, True])
def test_an_interrupt_leaves_the_best_or_is_raised(monkeypatch, keep_best):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(MarginNewton, "_solve", interrupted)
    machine = mercer.SVC(kernel="linear", C=1e6, keep_best=keep_best)
    if not keep_best:
        with pytest.raises(KeyboardInterrupt):
            machine.fit(SCALED, BENIGN)
        return
    with pytest.warns(UserWarning, match="interrupted"):
        machine.fit(SCALED, BENIGN)
    assert machine.score(SCALED, BENIGN) > 0.95


def test_time_runs_out_during_newton(monkeypatch):
    calls = []

    def idle(box, tol, watch):  # until its time is up, without any progress
        calls.append(watch)
        while not watch.is_over:
            pass
        return 0.0

    monkeypatch.setattr("mercer.solvers.margin_newton.newton_in_box", idle)
    machine = mercer.SVC(kernel="linear", C=1e6, max_time=2.0)
    with pytest.warns(UserWarning, match="max_time"):
        machine.fit(SCALED, BENIGN)
    assert machine.certificate_.status is Status.STOPPED
    assert len(calls) <= 1  # nothing is begun after that


@pytest.mark.parametrize("seed", range(10))
def test_candidates_are_variables_that_can_move_each_once(seed):
    rng = np.random.default_rng(seed)
    cost = 10.0 * (rng.random(80) < 0.5)
    batch = KINDS["epsilon-svr"].build(np.array([0, 80]), np.array([[0]]), rng.standard_normal(80), cost, 0.5, 0.1)
    b = batch.start.copy()
    free = np.flatnonzero(cost)[:20]
    b[free] = rng.uniform(-9.0, 9.0, 20)
    found = _Problem(batch, 0, b, np.zeros(80)).candidates(3_000)
    np.testing.assert_array_equal(found, np.flatnonzero(cost))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_hold_where_a_group_has_little_room(kind):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 40))
        X = rng.standard_normal((n, 1)).round()
        cost = 1e3 * rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.7)
        y = rng.standard_normal(n) if "svr" in kind else np.where(np.arange(n) % 2, 1.0, -1.0)
        cost[:4] = 1e3
        batch = KINDS[kind].build(np.array([0, n]), np.array([[0]]), y, cost, 0.1, 0.0)
        binding = Binding(mercer.Linear(), as_points(X), np.dtype(np.float64))
        b = solve(MarginProblem(TiledGram(binding), KINDS[kind], batch)).coef
        for group in (0, 1):
            mine = batch.group == group
            assert abs(b[mine].sum() - batch.start[mine].sum()) <= 1e-12 * np.abs(b).sum()
