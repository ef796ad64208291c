"""A support vector machine counts as solved when its duality gap is closed, and not only its conditions met."""

import numpy as np
import pytest
from scipy.optimize import linprog

import mercer
from mercer.errors import InvalidInput, InvalidParameter, UncertifiedWarning
from mercer.grams.dense import DenseGram
from mercer.problems import Status
from mercer.problems.margins import KINDS, MarginProblem
from mercer.solvers import Options, solve

GAP = 1e-3
RNG = np.random.default_rng(0)
# Above SMALL_ROWS of solvers.smo, where only tol is aimed at; labels at random, so that all coefficients are large.
N, D = 2_400, 10
X = RNG.standard_normal((N, D))
squares = (X**2).sum(axis=1)
K = np.exp(-np.maximum(squares[:, None] + squares - 2.0 * X @ X.T, 0.0))
LABEL = np.where(RNG.integers(0, 2, N) > 0, 1.0, -1.0)


def problem(kind, gram, y, cost, nu=0.5, epsilon=0.1, cuts=None, uses=None):
    cuts = np.array([0, len(gram)]) if cuts is None else cuts
    uses = np.array([[0]]) if uses is None else uses
    batch = KINDS[kind].build(cuts, uses, np.asarray(y, float), np.asarray(cost, float), nu, epsilon)
    return MarginProblem(DenseGram(gram), KINDS[kind], batch)


@pytest.mark.parametrize("C", [1e2, 1e4])
def test_steps_go_on_until_the_gap_is_closed(C):
    noisy = problem("c-svc", K, LABEL, np.full(N, C))
    by_violation = solve(noisy, Options(tol=1e-3, gap=np.inf))
    assert by_violation.certificate.violation <= 1e-3
    assert by_violation.certificate.relative_gap > 10.0 * GAP
    solution = solve(noisy, Options(tol=1e-3))
    assert solution.status is Status.MARGIN_OPTIMAL
    assert solution.certificate.relative_gap <= GAP
    finer = solve(noisy, Options(tol=1e-3, gap=1e-5))
    assert finer.certificate.relative_gap <= 1e-5
    assert abs(finer.certificate.dual - solution.certificate.dual) <= solution.certificate.gap


def test_only_problems_whose_gap_is_open_go_on():
    first, second = np.arange(800), np.arange(800, 1600)
    cost = np.concatenate([np.full(1600, 1e4), np.full(1600, 1e-2)])
    y = np.tile(np.where(np.arange(1600) < 800, 1.0, -1.0), 2)
    cuts, uses = np.array([0, len(first), len(first) + len(second), N]), np.array([[0, 1], [0, 2]])
    two = problem("c-svc", K, y, cost, cuts=cuts, uses=uses)
    before, after = (solve(two, Options(tol=1e-3, gap=gap)) for gap in (np.inf, GAP))
    assert before.relative_gaps[0] > GAP >= before.relative_gaps[1]
    assert (after.relative_gaps <= GAP).all()
    assert after.steps[0] > before.steps[0]
    assert after.steps[1] == before.steps[1]
    np.testing.assert_array_equal(after.coef_of(1), before.coef_of(1))


def test_what_meets_the_conditions_only_is_never_called_solved():
    # So large a C that what rounding leaves of the conditions is a large part of the primal.
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((40, 3))
    gram = np.exp(-0.5 * ((Z[:, None] - Z) ** 2).sum(axis=2))
    solution = solve(problem("epsilon-svr", gram, Z[:, 0] + 0.3 * rng.standard_normal(40), np.full(40, 1e15)))
    assert solution.certificate.violation <= 1e-9
    assert solution.certificate.relative_gap > GAP
    assert solution.status is Status.GAP_OPEN


def test_a_margin_of_noise_is_not_certified():
    rng = np.random.default_rng(50)
    Z, y = rng.standard_normal((32, 5)), rng.choice([-1.0, 1.0], 32)
    cost = np.ones(32)
    order = np.argsort(y)
    for tol in (1e-3, 1e-8):
        solution = solve(problem("nu-svc", (Z @ Z.T)[np.ix_(order, order)], y[order], cost), Options(tol=tol))
        assert solution.status is Status.NO_MARGIN
        assert not solution.status.is_certified
    with pytest.raises(InvalidInput, match="margin ρ is zero to rounding"):
        mercer.NuSVC(kernel="linear", tol=1e-8).fit(Z, y)


def test_a_pair_without_a_margin_leaves_the_other_pairs_theirs():
    rng = np.random.default_rng(3)
    Z, y = rng.standard_normal((60, 2)), np.repeat([0, 1, 2], 20)
    Z[y == 2] += 6.0
    with pytest.warns(UncertifiedWarning, match="margin between them is zero to rounding"):
        three = mercer.NuSVC(kernel="linear", nu=0.3, decision_function_shape="ovo").fit(Z, y)
    two = mercer.NuSVC(kernel="linear", nu=0.3).fit(Z[y > 0], y[y > 0])
    assert not three.certificate_.is_certified
    ours = three.decision_function(Z)
    assert np.abs(ours[:, 0]).max() <= 1e-6 < 0.1 < np.abs(ours[:, 1:]).max()
    np.testing.assert_allclose(ours[:, 2], -two.decision_function(Z), atol=1e-6 * np.abs(ours).max())


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5, 0.7])
def test_there_is_a_margin_exactly_where_the_reduced_hulls_are_apart(nu):
    seen = set()
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(10, 50)), int(rng.integers(1, 8))
        Z = rng.standard_normal((n, d))
        y = np.where(Z[:, 0] + rng.standard_normal(n) > 0.0, 1.0, -1.0)
        if nu > 2.0 * min((y > 0.0).mean(), (y < 0.0).mean()):
            with pytest.raises(InvalidParameter, match="infeasible"):
                problem("nu-svc", Z @ Z.T, y, np.ones(n), nu)
            continue
        # The least t with |Σ αᵢ zᵢ| ≤ t in every coordinate, α as the machine's.
        side = np.hstack([(Z * y[:, None]).T, np.zeros((d, 1))])
        slack = np.zeros_like(side)
        slack[:, -1] = 1.0
        ends = np.array([np.append(y > 0.0, 0.0), np.append(y < 0.0, 0.0)], dtype=float)
        nearest = linprog(
            np.append(np.zeros(n), 1.0), A_ub=np.vstack([side - slack, -side - slack]), b_ub=np.zeros(2 * d),
            A_eq=ends, b_eq=[nu * n / 2.0] * 2, bounds=[(0.0, 1.0)] * n + [(0.0, None)],
        )  # fmt: skip
        solution = solve(problem("nu-svc", Z @ Z.T, y, np.ones(n), nu))
        expected = Status.MARGIN_OPTIMAL if nearest.fun > 1e-9 else Status.NO_MARGIN
        assert solution.status is expected, seed
        seen.add(expected)
    assert Status.MARGIN_OPTIMAL in seen


@pytest.mark.parametrize("kind", ["nu-svr", "nu-svc", "one-class"])
def test_costs_whose_sums_have_no_square_are_refused(kind):
    with pytest.raises(InvalidParameter, match="costs are too large"):
        solve(problem(kind, K[:40, :40], LABEL[:40], np.full(40, 1e300), nu=0.3))


@pytest.mark.parametrize("cost", [1e15, 1e20, 1e100])
def test_costs_that_leave_no_digit_are_given_up_at_once(cost):
    solution = solve(problem("nu-svr", K[:40, :40], X[:40, 0], np.full(40, cost)))
    assert not solution.status.is_certified
    assert solution.certificate.steps < 1_000


@pytest.mark.parametrize("kind", ["nu-svc", "one-class"])
@pytest.mark.parametrize("cost", [1e-100, 1.0, 1e12, 1e100])
def test_machines_that_scale_with_their_costs_are_solved_at_any_scale(kind, cost):
    solution = solve(problem(kind, K[:40, :40], LABEL[:40], np.full(40, cost), nu=0.3))
    once = solve(problem(kind, K[:40, :40], LABEL[:40], np.ones(40), nu=0.3))
    assert solution.status is Status.MARGIN_OPTIMAL
    np.testing.assert_allclose(solution.coef / cost, once.coef, atol=GAP)
