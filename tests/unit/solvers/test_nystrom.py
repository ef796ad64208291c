"""Machines on landmarks against plain NumPy, and how they end."""

import numpy as np
import pytest
import scipy.optimize

import mercer
from mercer.grams.landmarks import restrict
from mercer.points import as_points
from mercer.problems import LOSSES, Problem, Status
from mercer.solvers import Options, choose, explain, solve
from mercer.solvers import nystrom as module

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
Y = np.column_stack([np.sin(X[:, 0]) + 5.0, X[:, 1] * X[:, 2]]) + 0.1 * RNG.standard_normal((300, 2))
WEIGHT = RNG.random(300)
WEIGHT[:5] = 0.0
CHOSEN = np.arange(20, 60)
KERNEL = mercer.RBF(1.5)


def problem(loss="squared", y=Y, alpha=0.1, intercept=True, chosen=CHOSEN, weight=WEIGHT):
    K = restrict(KERNEL, as_points(X), as_points(X[chosen]))
    t = 1 if LOSSES[loss].is_joint else y.shape[1]
    cost = np.repeat((weight / alpha)[:, None], t, axis=1)
    B = np.ones((300, int(intercept)))
    return Problem(K, y, LOSSES[loss], cost, B, np.zeros(B.shape[1]))


def normal_equations(intercept, alpha=0.1):
    """c and b of min Σ w (f + b − y)² + α cᵀ K_mm c, by the m + 1 equations."""
    K_nm, K_mm = KERNEL(X, X[CHOSEN]), KERNEL(X[CHOSEN])
    psi = np.hstack([K_nm, np.ones((300, int(intercept)))])
    penalty = np.zeros((psi.shape[1],) * 2)
    penalty[:40, :40] = alpha * K_mm
    return np.linalg.solve(psi.T @ (WEIGHT[:, None] * psi) + penalty, psi.T @ (WEIGHT[:, None] * Y)), psi


@pytest.mark.parametrize("intercept", [False, True])
def test_least_squares_agree_with_the_normal_equations(intercept):
    given = problem(intercept=intercept)
    found = solve(given, Options(tol=1e-12), "landmarks")
    expected, psi = normal_equations(intercept)
    K_nm = KERNEL(X, X[CHOSEN][given.gram.features().chosen])
    assert found.status is Status.OPTIMAL
    assert found.certificate.landmarks == 40
    np.testing.assert_allclose(K_nm @ found.coef + found.intercept, psi @ expected, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared hinge", "huber", "poisson", "softmax"])
def test_any_smooth_loss_agrees_with_the_primal_solver_in_the_same_features(loss):
    target = {"softmax": np.eye(3)[RNG.integers(3, size=300)], "poisson": RNG.poisson(2.0, (300, 2)).astype(float)}
    signs = np.where(Y - Y.mean(axis=0) > 0.0, 1.0, -1.0)
    real = loss in ("squared", "huber")
    given = problem(loss, Y if real else target.get(loss, signs))
    ours = solve(given, Options(tol=1e-9), "landmarks")
    theirs = solve(given, Options(tol=1e-9), "primal")
    assert ours.status is Status.OPTIMAL
    assert ours.certificate.primal == pytest.approx(theirs.certificate.primal, rel=1e-7)
    phi = given.gram.features()
    decisions = phi @ phi.weights(ours.coef) + ours.intercept
    np.testing.assert_allclose(decisions, given.gram @ theirs.coef + theirs.intercept, atol=2e-3)


def test_the_published_value_is_that_of_the_published_coefficients():
    y = np.where(Y[:, :1] > 5.0, 1.0, -1.0)
    given = problem("logistic", y, intercept=True)
    found = solve(given, Options(tol=1e-8), "landmarks")
    points = X[CHOSEN][given.gram.features().chosen]
    g = KERNEL(X, points) @ found.coef + found.intercept
    energy = 0.5 * float(np.vdot(found.coef, KERNEL(points) @ found.coef))
    value = energy + float((given.cost * np.log1p(np.exp(-y * g))).sum())
    assert found.certificate.primal == pytest.approx(value)
    assert found.certificate.dual <= value

    def objective(x):
        g = KERNEL(X, points) @ x[:-1, None] + x[-1]
        return 0.5 * x[:-1] @ KERNEL(points) @ x[:-1] + float((given.cost * np.logaddexp(0.0, -y * g)).sum())

    start = np.append(found.coef[:, 0], found.intercept)
    assert scipy.optimize.minimize(objective, start, options={"maxiter": 20}).fun >= value - 1e-6 * value


def test_float32_and_float64_end_at_the_same_point(monkeypatch):
    double = solve(problem(), Options(tol=1e-10), "landmarks")
    monkeypatch.setattr(module, "FEW_ENTRIES", 0)
    single = solve(problem(), Options(tol=1e-10), "landmarks")
    assert single.status is Status.OPTIMAL
    assert single.certificate.primal == pytest.approx(double.certificate.primal, rel=1e-9)


def test_a_limit_of_passes_ends_with_the_best_so_far():
    rows = RNG.standard_normal((3_000, 3))
    K = restrict(KERNEL, as_points(rows), as_points(rows[:100]))
    given = Problem(
        K, np.sin(rows[:, :1]), LOSSES["squared"], np.full((3_000, 1), 10.0), np.ones((3_000, 1)), np.zeros(1)
    )
    found = solve(given, Options(tol=1e-12, max_iter=3), "landmarks")
    assert found.status is Status.STOPPED
    assert found.certificate.steps == 3
    assert np.isfinite(found.certificate.gap)


def test_what_is_constant_needs_no_function():
    found = solve(problem(y=np.full((300, 1), 3.0)), Options(), "landmarks")
    np.testing.assert_allclose(found.coef, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.intercept, 3.0)


def test_on_landmarks_the_table_takes_the_row_that_is_made_for_them():
    assert choose(problem()).name == "landmarks"
    assert explain(problem()).startswith("→ landmarks: ")
    assert len(explain(problem()).splitlines()) == 1
