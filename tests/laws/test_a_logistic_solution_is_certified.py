"""For any data, penalty, weights and number of classes: gap ≥ 0, a = C w (y − P), Σ a = 0, and no point is better."""

import numpy as np
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Problem, Status, certify
from mercer.problems.feasible import feasible
from mercer.solvers.newton import newton_cg, newton_cholesky
from mercer.solvers.options import Options

TOL = 1e-11
METHODS = st.sampled_from([newton_cholesky, newton_cg])


@st.composite
def logistic_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    t = draw(st.sampled_from([1, 3, 4]))
    n, d = draw(st.integers(max(t, 2), 30)), draw(st.integers(1, 6))
    X = rng.standard_normal((n, d))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) * 10.0 ** draw(st.integers(-2, 1)))
    label = np.r_[np.arange(max(t, 2)), rng.integers(0, max(t, 2), n - max(t, 2))]
    y = np.where(label == 1, 1.0, -1.0)[:, None] if t == 1 else np.eye(t)[label]
    weight = rng.uniform(0.1, 2.0, (n, 1)) if draw(st.booleans()) else np.ones((n, 1))
    weight[max(t, 2) :][rng.random((n - max(t, 2), 1)) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    C = 10.0 ** draw(st.integers(-3, 4))
    B = np.ones((n, draw(st.integers(0, 1))))
    return Problem(DenseGram(K), y, LOSSES["logistic" if t == 1 else "softmax"], C * weight, B, np.zeros(B.shape[1]))


def solved(problem, method):
    return certify(problem, method(problem, Options(tol=TOL)), solver="newton", tol=TOL)


@settings(max_examples=50)
@given(problem=logistic_problems(), method=METHODS)
def test_the_gap_is_not_negative_and_small(problem, method):
    solution = solved(problem, method)
    assert solution.status is Status.OPTIMAL
    assert 0.0 <= solution.certificate.relative_gap <= TOL
    nothing = (problem.cost * problem.loss.value(np.zeros_like(problem.y), problem.y)).sum()
    assert abs(solution.certificate.primal - solution.certificate.dual - solution.certificate.gap) <= 1e-12 * nothing


@settings(max_examples=50)
@given(problem=logistic_problems(), method=METHODS, steps=st.integers(1, 20))
def test_the_referees_dual_point_satisfies_its_constraints(problem, method, steps):
    a = feasible(problem, method(problem, Options(tol=TOL, max_iter=steps)).coef)
    low, high = (problem.cost * bound for bound in problem.loss.box(problem.y))
    assert ((low <= a) & (a <= high)).all()
    assert (np.abs(problem.B.T @ a) <= 1e-13 * np.abs(a).sum(axis=0)).all()
    if problem.loss.is_joint:
        assert (np.abs(a.sum(axis=1)) <= 1e-13 * np.abs(a).sum(axis=1)).all()


@settings(max_examples=50)
@given(problem=logistic_problems(), method=METHODS)
def test_a_coefficient_is_what_the_model_leaves_to_the_wrong_classes(problem, method):
    solution = solved(problem, method)
    g = problem.gram @ solution.coef + problem.B @ solution.theta
    p = scipy.special.softmax(g, axis=1) if problem.loss.is_joint else scipy.special.expit(g)
    right = (problem.y + 1.0) / 2.0 if problem.y.shape[1] == 1 else problem.y
    expected = problem.cost * (right - p)
    assert np.abs(solution.coef - expected).max() <= 1e-4 * problem.cost.max()
    np.testing.assert_allclose(problem.B.T @ solution.coef, 0.0, atol=1e-9 * problem.cost.sum())
    if problem.loss.is_joint:
        np.testing.assert_allclose(solution.coef.sum(axis=1), 0.0, atol=1e-9 * problem.cost.max())


@settings(max_examples=50)
@given(problem=logistic_problems(), method=METHODS, steps=st.integers(1, 3), seed=st.integers(0, 1000))
def test_no_point_is_below_the_dual_wherever_the_solver_stopped(problem, method, steps, seed):
    early = certify(problem, method(problem, Options(tol=TOL, max_iter=steps)), solver="newton", tol=TOL)
    rng = np.random.default_rng(seed)
    best = solved(problem, method)
    size = 10.0 ** rng.uniform(-6, 0)
    a = best.coef + rng.standard_normal(best.coef.shape) * size
    theta = best.theta + rng.standard_normal(best.theta.shape) * size
    Ka = problem.gram @ a
    losses = problem.loss.value(Ka + problem.B @ theta, problem.y)
    primal = 0.5 * np.vdot(a, Ka) + (problem.cost * losses).sum()
    assert early.certificate.dual <= best.certificate.primal + 1e-9 * best.certificate.primal
    assert early.certificate.dual <= primal + 1e-9 * primal
