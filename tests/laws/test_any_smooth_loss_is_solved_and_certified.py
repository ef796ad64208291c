"""For every smooth loss and any data, penalty, weights and columns: gap ≥ 0 and small, Bᵀa = 0, and a = −c ∂ℓ/∂g."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Problem, Status, Targets, certify
from mercer.problems.feasible import feasible
from mercer.solvers.newton import newton_cg, newton_cholesky
from mercer.solvers.options import Options
from tests.oracles.targets import targets_of

TOL = 1e-9
SOME_OF_EACH = {
    Targets.SIGNS: lambda t: np.tile([[1.0], [-1.0], [1.0]], t),
    Targets.COUNTS: lambda t: np.ones((3, t)),
    Targets.ONE_HOT: lambda t: np.eye(t)[np.arange(3) % t],
}
METHODS = st.sampled_from([newton_cholesky, newton_cg])


@st.composite
def smooth_problems(draw):
    loss = draw(st.sampled_from([loss for loss in LOSSES.values() if loss.is_smooth and not loss.is_quadratic]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = draw(st.sampled_from([2, 3] if loss.is_joint else [1, 2]))
    n, d = draw(st.integers(3, 30)), draw(st.integers(1, 6))
    X = rng.standard_normal((n, d))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) * 10.0 ** draw(st.integers(-2, 1)))
    y = targets_of(loss, rng, n, t)
    if loss.targets in SOME_OF_EACH:  # without which there is no best intercept
        y[:3] = SOME_OF_EACH[loss.targets](t)
    cost = rng.uniform(0.1, 2.0, (n, 1 if loss.is_joint else t))
    cost[3:][rng.random(cost[3:].shape) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    B = np.ones((n, draw(st.integers(0, 1))))
    return Problem(DenseGram(K), y, loss, 10.0 ** draw(st.integers(-3, 3)) * cost, B, np.zeros(B.shape[1]))


def solved(problem, method, **options):
    answer = method(problem, Options(tol=TOL, **options))
    return certify(problem, answer, solver="newton", tol=TOL)


@settings(max_examples=100)
@given(problem=smooth_problems(), method=METHODS)
def test_the_gap_is_small_and_coefficients_are_slopes(problem, method):
    solution = solved(problem, method)
    assert solution.status is Status.OPTIMAL
    g = problem.gram @ solution.coef + problem.B @ solution.theta
    asked = -problem.cost * problem.loss.slope(g, problem.y)
    # A gap moves the slope by its root.
    assert np.abs(solution.coef - asked).max() <= 1e-3 * max(np.abs(asked).max(), problem.cost.max())
    np.testing.assert_allclose(problem.B.T @ solution.coef, 0.0, atol=1e-9 * max(problem.cost.sum(), 1.0))


@settings(max_examples=100)
@given(problem=smooth_problems(), method=METHODS, steps=st.integers(1, 4))
def test_wherever_it_stopped_the_dual_point_is_feasible_and_below_every_primal(problem, method, steps):
    early = solved(problem, method, max_iter=steps)
    a = feasible(problem, early.coef)
    with np.errstate(invalid="ignore"):  # 0 · ∞ for a row without cost
        low, high = (np.where(problem.cost > 0.0, problem.cost * bound, 0.0) for bound in problem.loss.box(problem.y))
    assert ((low <= a) & (a <= high)).all()
    assert (np.abs(problem.B.T @ a) <= 1e-13 * np.abs(a).sum(axis=0) + 1e-12 * problem.cost.max()).all()
    best = solved(problem, method)
    assert early.certificate.dual <= best.certificate.primal + 1e-9 * abs(best.certificate.primal)
    assert best.certificate.primal <= early.certificate.primal + 1e-9 * abs(early.certificate.primal)
