"""For every machine, kernel, weighting and penalty: the conditions of optimality hold, and the gap is ≥ 0 and small."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding
from mercer.points import as_points
from mercer.problems import Status
from mercer.problems.margins import KINDS, MarginProblem
from mercer.solvers import Options, solve
from tests.laws.strategies import law

TOL, GAP = 1e-3, 1e-3
# αᵀKα, relative to what it is where nothing cancels.
NO_MARGIN = 1e-12
# Between the referee's K b and NumPy's, relative to the sum of the absolute terms.
ROUNDING = 1e-12
MACHINES = ["c-svc", "epsilon-svr", "one-class", "nu-svc", "nu-svr"]
KERNELS = [
    mercer.RBF(1.5),
    mercer.Linear(),
    mercer.Polynomial(3),
    mercer.Laplacian(2.0) + mercer.Linear(),
    mercer.Matern(1.5).normalised() * mercer.RationalQuadratic(1.0),
    mercer.ArcCosine(1),
    mercer.Delta(),
]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d)).round(draw(st.integers(0, 3)))  # rounded to integers, points repeat
    cost = 10.0 ** draw(st.integers(-2, 3)) * (rng.uniform(0.5, 2.0, n) if draw(st.booleans()) else np.ones(n))
    cost[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    cost[[0, -1]] = cost.max() if cost.any() else 1.0
    kernel = draw(st.sampled_from(KERNELS))
    return rng, X, cost, kernel


def one_batch(kind, rng, cost, nu, epsilon):
    n = len(cost)
    signs = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    signs[0], signs[-1] = 1.0, -1.0
    y = rng.standard_normal(n) if "svr" in kind else signs
    feasible = nu * 2.0 * min(cost[signs > 0].sum(), cost[signs < 0].sum()) / cost.sum() if kind == "nu-svc" else nu
    return KINDS[kind].build(np.array([0, n]), np.array([[0]]), y, cost, feasible, epsilon)


def violation(batch, b, f):
    """The largest slope down minus the least slope up, group by group."""
    t = f + batch.linear
    up = np.where(b < batch.high, t + np.where(b >= 0.0, batch.width, -batch.width), np.inf)
    down = np.where(b > batch.low, t + np.where(b > 0.0, batch.width, -batch.width), -np.inf)
    return max(down[batch.group == g].max() - up[batch.group == g].min() for g in np.unique(batch.group))


@pytest.mark.parametrize("kind", MACHINES)
@law(60)
@given(problem=problems(), nu=st.sampled_from([0.1, 0.5, 0.9]), epsilon=st.sampled_from([0.0, 0.1, 1.0]))
def test_the_conditions_of_optimality_hold_and_the_gap_is_small(kind, problem, nu, epsilon):
    rng, X, cost, kernel = problem
    batch = one_batch(kind, rng, cost, nu, epsilon)
    binding = Binding(kernel, as_points(X), np.dtype(np.float64))
    solution = solve(MarginProblem(TiledGram(binding), KINDS[kind], batch), Options(tol=TOL))
    K, b = binding.self_cross().dense(), solution.coef
    f = np.tile(K @ b.reshape(batch.copies, -1).sum(axis=0), batch.copies)
    size = (np.abs(K) @ np.abs(b).reshape(batch.copies, -1).sum(axis=0)).max()

    # Where the hulls of two classes meet, as far as nu lets them, there is nothing but f = 0, and no margin.
    has_margin = kind != "nu-svc" or b @ f > NO_MARGIN * (np.abs(b) @ np.sqrt(np.diag(K))) ** 2
    assert solution.status.is_certified or (solution.status is Status.NO_MARGIN and not has_margin)
    nothing = ROUNDING * np.abs(b).sum() ** 2 * np.diag(K).max()
    assert solution.certificate.relative_gap <= GAP or solution.certificate.gap <= nothing or not has_margin
    assert (batch.low <= b).all()
    assert (b <= batch.high).all()
    for group in np.unique(batch.group):
        mine = batch.group == group
        assert abs(b[mine].sum() - batch.start[mine].sum()) <= ROUNDING * max(1.0, np.abs(b).sum())
    assert violation(batch, b, f) <= TOL + 4.0 * ROUNDING * size
    assert solution.certificate.violation <= TOL
    # No point of the box is further than the violation times what can be moved.
    assert (
        0.0
        <= solution.certificate.gap
        <= (solution.certificate.violation + ROUNDING * max(1.0, size)) * (batch.high - batch.low).sum()
        + ROUNDING * max(1.0, abs(solution.certificate.primal))
    )
