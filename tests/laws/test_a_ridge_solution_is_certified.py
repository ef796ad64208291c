"""For every data set, penalty, weighting and border: the gap is ≥ 0 and tiny, and a = w (y − f)/λ."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers.options import Options
from mercer.solvers.solve import solve
from mercer.solvers.table import QUADRATIC, SMOOTH, SOLVERS

GAP = 1e-12
IDENTITY = 1e-9
# Tight enough that an iterative solver shows the identities too.
TIGHT = Options(tol=1e-13)
DUAL = sorted(
    name for name, row in SOLVERS.items() if row.problems in (QUADRATIC, SMOOTH) and name != "primal"
)  # a stored matrix has no features


@st.composite
def ridge_problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, t = draw(st.integers(1, 40)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    X = rng.standard_normal((n, d))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) * 10.0 ** draw(st.integers(-2, 1)))
    weight = rng.random(n) if draw(st.booleans()) else np.ones(n)
    weight[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    weight[0] = 1.0
    alpha = 10.0 ** draw(st.integers(-4, 4))
    B = np.ones((n, draw(st.integers(0, 1))))
    y = rng.standard_normal((n, t)) * 10.0 ** draw(st.integers(-3, 3))
    cost = np.repeat(weight[:, None] / alpha, t, axis=1)
    return Problem(DenseGram(K), y, LOSSES["squared"], cost, B, np.zeros(B.shape[1]))


@given(problem=ridge_problems(), solver=st.sampled_from(DUAL))
def test_the_gap_is_not_negative_and_tiny(problem, solver):
    solution = solve(problem, TIGHT, solver)
    assert 0.0 <= solution.certificate.relative_gap <= GAP
    nothing = (problem.cost * problem.loss.value(np.zeros_like(problem.y), problem.y)).sum()
    assert abs(solution.certificate.primal - solution.certificate.dual) <= 1e-12 * nothing


@given(problem=ridge_problems(), solver=st.sampled_from(DUAL))
def test_a_coefficient_is_the_weighted_residual_over_the_penalty(problem, solver):
    solution = solve(problem, TIGHT, solver)
    residual = problem.y - problem.gram @ solution.coef - problem.B @ solution.theta
    expected = problem.cost * residual
    size = np.abs(problem.y).max() * problem.cost.max()
    assert np.abs(solution.coef - expected).max() <= IDENTITY * size


@given(problem=ridge_problems(), solver=st.sampled_from(DUAL), seed=st.integers(0, 1000))
def test_no_other_point_is_better(problem, solver, seed):
    solution = solve(problem, TIGHT, solver)
    rng = np.random.default_rng(seed)
    a = solution.coef + rng.standard_normal(solution.coef.shape) * 10.0 ** rng.uniform(-6, 0)
    theta = solution.theta + rng.standard_normal(solution.theta.shape) * 10.0 ** rng.uniform(-6, 0)
    Ka = problem.gram @ a
    losses = problem.loss.value(Ka + problem.B @ theta, problem.y)
    primal = 0.5 * np.vdot(a, Ka) + (problem.cost * losses).sum()
    assert primal >= solution.certificate.dual - 1e-9 * abs(solution.certificate.dual)
