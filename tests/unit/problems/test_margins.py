"""The duals of the support vector machines and their referee, against slow and obvious versions of both."""

import numpy as np
import pytest

from mercer.grams.dense import DenseGram
from mercer.problems import Status
from mercer.problems.margins import KINDS, MarginProblem, Margins, Promise, Record, all_rows, judge
from mercer.problems.margins.gaps import findings
from mercer.solvers import Options, solve
from tests.oracles.qp import margin_dual

NU, EPSILON = 0.4, 0.1
N = 24
MINIMISED = [name for name, kind in KINDS.items() if kind.minimised]


def gram(n=N, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


def targets(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n) if "svr" in kind else np.where(np.arange(n) < 0.45 * n, 1.0, -1.0)


def one_problem(kind, y, cost, nu=NU, epsilon=EPSILON):
    n = len(y)
    return KINDS[kind].build(
        np.array([0, n]), np.array([[0]]), np.asarray(y, float), np.asarray(cost, float), nu, epsilon
    )


def random_problem(kind, seed=0, n=N):
    cost = np.random.default_rng(seed + 100).uniform(0.5, 2.0, n)
    return one_problem(kind, targets(kind, n, seed), cost)


def judged(kind, batch, coef, K, tol=1e-3, gap=1e-3, stopped=False):
    record = Record(np.zeros(len(batch), dtype=np.int64), stopped=stopped)
    return judge(MarginProblem(DenseGram(K), KINDS[kind], batch), coef, Promise(tol, gap), record)


def found_with(kind, batch, coef, f):
    """Where f is given."""
    return findings(KINDS[kind], batch, coef, f, np.ones(int(batch.cuts[-1])))


def solved(kind, batch, K, **options):
    return solve(MarginProblem(DenseGram(K), KINDS[kind], batch), Options(tol=1e-3, **options))


def sums_of(batch):
    return [batch.start[batch.group == k].sum() for k in (0, 1)]


def somewhere_feasible(batch, seed, room=0.9):
    """A point of the box with the right sums: as far towards a random one as the box allows, pair by pair."""
    rng = np.random.default_rng(seed)
    b = batch.start.copy()
    for k in (0, 1):
        mine = np.flatnonzero(batch.group == k)
        for i, j in rng.permutation(mine)[: len(mine) // 2 * 2].reshape(-1, 2):
            t = room * rng.random() * min(batch.high[i] - b[i], b[j] - batch.low[j])
            b[i], b[j] = b[i] + t, b[j] - t
    return b


def primal(kind, f, y, cost, energy, b0, offset):
    """½‖f‖² + the losses, as textbooks write them."""
    hinge = lambda u: np.maximum(u, 0.0)  # noqa: E731
    return (
        energy
        + {
            "c-svc": lambda: cost @ hinge(1.0 - y * (f + b0)),
            "epsilon-svr": lambda: cost @ hinge(np.abs(y - f - b0) - EPSILON),
            "one-class": lambda: cost @ hinge(-b0 - f) + NU * cost.sum() * b0,
            "nu-svc": lambda: cost @ hinge(offset - y * (f + b0)) - NU * cost.sum() * offset,
            "nu-svr": lambda: (
                cost @ (hinge(y - f - b0 - offset) + hinge(f + b0 - y - offset)) + NU * cost.sum() * offset
            ),
            "hulls": lambda: (0.0 if (y * (f + b0) >= offset).all() else np.inf) - 2.0 * offset,
        }[kind]()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_solution_is_that_of_a_general_solver_and_has_no_gap(kind):
    K, batch = gram(), random_problem(kind)
    solution = solved(kind, batch, K)
    tiled = np.tile(K, (batch.copies, batch.copies))
    b, least = margin_dual(tiled, batch.linear, batch.low, batch.high, batch.group, sums_of(batch), batch.width)
    assert solution.certificate.dual == pytest.approx(-least, abs=1e-8)
    assert solution.certificate.primal == pytest.approx(-least, abs=1e-8)
    assert 0.0 <= solution.certificate.gap <= 1e-8
    assert solution.status is Status.MARGIN_OPTIMAL
    assert solution.f_of(0) == pytest.approx(K @ b.reshape(batch.copies, -1).sum(axis=0), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_primal_minus_dual_and_never_negative(kind, seed):
    K, batch = gram(seed=seed), random_problem(kind, seed)
    b = somewhere_feasible(batch, seed)
    solution = judged(kind, batch, b, K)
    net = b.reshape(batch.copies, -1).sum(axis=0)
    value = 0.5 * net @ K @ net + batch.linear @ b + batch.width * np.abs(b).sum()
    assert solution.certificate.dual == pytest.approx(-value)
    assert solution.certificate.gap == pytest.approx(solution.certificate.primal - solution.certificate.dual)
    assert solution.certificate.gap > 0.0
    assert solution.moved[0] <= 1e-15
    largest = max(abs(solution.certificate.primal), abs(solution.certificate.dual), 0.5 * net @ K @ net)
    assert solution.certificate.relative_gap == pytest.approx(solution.certificate.gap / largest)


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_with_another_sum_is_not_certified(kind):
    K, batch = gram(), random_problem(kind)
    coef = solved(kind, batch, K).coef.copy()
    inside = np.flatnonzero((batch.low < coef) & (coef < batch.high))[0]
    coef[inside] += 1e-3 * min(coef[inside] - batch.low[inside], batch.high[inside] - coef[inside])
    solution = judged(kind, batch, coef, K, tol=1.0)
    assert solution.certificate.violation <= 1.0
    assert solution.moved[0] > 1e-6
    assert solution.status is Status.INEXACT


@pytest.mark.parametrize("kind", ["c-svc", "epsilon-svr"])
@pytest.mark.parametrize("seed", range(3))
def test_the_primal_is_the_textbooks_at_the_published_intercept(kind, seed):
    K, batch = gram(seed=seed), random_problem(kind, seed)
    b = somewhere_feasible(batch, seed)
    solution = judged(kind, batch, b, K)
    f = K @ b
    by_hand = primal(kind, f, -batch.linear, batch.high - batch.low, 0.5 * b @ f, solution.intercepts[0], np.nan)
    if kind == "epsilon-svr":
        by_hand = primal(kind, f, -batch.linear, batch.high, 0.5 * b @ f, solution.intercepts[0], np.nan)
    assert solution.certificate.primal == pytest.approx(by_hand)


@pytest.mark.parametrize("kind", MINIMISED)
@pytest.mark.parametrize("seed", range(3))
def test_no_intercept_and_offset_of_a_fine_grid_has_a_smaller_primal(kind, seed):
    K, batch = gram(seed=seed), random_problem(kind, seed)
    b = somewhere_feasible(batch, seed)
    solution = judged(kind, batch, b, K)
    net = b.reshape(batch.copies, -1).sum(axis=0)
    f = K @ net
    y, cost = targets(kind, seed=seed), np.abs(batch.low + batch.high)[:N]
    # The minimum is where two of the lines meet, so the places of the kinks are a grid fine enough.
    levels = f - y if kind == "nu-svr" else f
    found = min(
        primal(kind, f, y, cost, 0.5 * net @ f, b0, offset)
        for h0 in levels
        for h1 in levels
        for b0, offset in [((-h0, h0) if kind == "one-class" else (-(h0 + h1) / 2, KINDS[kind].offset[0] * (h0 - h1)))]
    )
    assert solution.certificate.primal == pytest.approx(found)
    for b0 in np.linspace(-2.0, 2.0, 41):
        for offset in np.linspace(-1.0, 1.0, 21):
            assert primal(kind, f, y, cost, 0.5 * net @ f, b0, offset) >= solution.certificate.primal - 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_the_violation_is_what_two_variables_can_gain(kind):
    K, batch = gram(), random_problem(kind)
    b = somewhere_feasible(batch, 3)
    t = np.tile(K @ b.reshape(batch.copies, -1).sum(axis=0), batch.copies) + batch.linear
    e = batch.width
    most = 0.0
    for i in range(len(b)):
        for j in range(len(b)):
            if batch.group[i] == batch.group[j] and b[i] < batch.high[i] and b[j] > batch.low[j]:
                up = t[i] + (e if b[i] >= 0.0 else -e)
                down = t[j] + (e if b[j] > 0.0 else -e)
                most = max(most, down - up)
    assert judged(kind, batch, b, K).certificate.violation == pytest.approx(most)


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_judged_as_its_problems_are(kind):
    rng = np.random.default_rng(0)
    cuts = np.array([0, 7, 9, 14, 23])
    uses = np.array([[0, 2], [3, 0], [2, 3]])
    rows, sizes = all_rows(cuts, uses), [12, 16, 14]
    # Classes that alternate, so that groups are not contiguous, and rows that take no part.
    y = rng.standard_normal(len(rows)) if "svr" in kind else np.where(np.arange(len(rows)) % 2, 1.0, -1.0)
    cost = rng.uniform(0.5, 2.0, len(rows)) * (np.arange(len(rows)) % 5 > 0)
    K = gram(23)
    whole = KINDS[kind].build(cuts, uses, y, cost, NU, EPSILON)
    b = somewhere_feasible(whole, 0) if kind == "c-svc" else whole.start
    together = judged(kind, whole, b, K)
    assert list(rows) == list(np.concatenate([whole.rows_of(p) for p in range(3)]))
    places = np.split(np.arange(len(rows)), np.cumsum(sizes)[:-1])
    for p, place in enumerate(places):
        alone = KINDS[kind].build(cuts, uses[p : p + 1], y[place], cost[place], NU, EPSILON)
        np.testing.assert_array_equal(alone.start, whole.start[whole.offsets[p] : whole.offsets[p + 1]])
        apart = judged(kind, alone, together.coef_of(p), K)
        assert together.f_of(p) == pytest.approx(apart.f)
        for name in (
            "primals",
            "duals",
            "gaps",
            "relative_gaps",
            "violations",
            "intercepts",
            "spreads",
            "offsets",
            "moved",
        ):
            assert getattr(together, name)[p] == pytest.approx(getattr(apart, name)[0], nan_ok=True), name
        np.testing.assert_array_equal(together.net_of(p) != 0.0, apart.net_of(0) != 0.0)
    whole = together.certificate
    assert whole.primal == pytest.approx(together.primals.sum())
    assert whole.violation == together.violations.max()
    assert whole.relative_gap == together.relative_gaps.max()
    assert (whole.machine, whole.solver, whole.rows, whole.columns) == (kind, "smo", 23, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_point_is_inside_the_box_and_takes_rows_in_their_order(kind):
    batch = random_problem(kind)
    assert (batch.low <= batch.start).all()
    assert (batch.start <= batch.high).all()
    cost = np.abs(batch.low + batch.high)[:N]
    share = NU * cost.sum()
    wanted = {
        "one-class": (share, 0.0),
        "nu-svc": (share / 2, -share / 2),
        "nu-svr": (share / 2, -share / 2),
        "hulls": (1, -1),
    }
    assert sums_of(batch) == pytest.approx(wanted.get(kind, (0.0, 0.0)))
    for k in (0, 1):
        part = np.abs(batch.start[batch.group == k])
        full = part == np.maximum(batch.high, -batch.low)[batch.group == k]
        assert (np.diff(full.astype(int)) <= 0).all()


def test_the_margin_of_hulls_passes_through_their_nearest_points():
    x = np.array([3.0, 1.0, -1.0, -5.0])
    batch = one_problem("hulls", [1.0, 1.0, -1.0, -1.0], np.ones(4))
    solution = solved("hulls", batch, np.outer(x, x))
    assert solution.coef == pytest.approx([0.0, 1.0, -1.0, 0.0])
    assert list(np.flatnonzero(solution.is_free)) == [1, 2]
    assert solution.offsets[0] == pytest.approx(2.0)
    assert solution.intercepts[0] == pytest.approx(0.0)
    assert solution.certificate.primal == solution.certificate.dual == pytest.approx(-2.0)


@pytest.mark.parametrize("kind", KINDS)
def test_two_rows_are_a_problem(kind):
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    solution = solved(kind, one_problem(kind, [1.0, -1.0], [1.0, 1.0]), K)
    assert solution.status is Status.MARGIN_OPTIMAL
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(solution.intercepts).all()


@pytest.mark.parametrize("kind", ["c-svc", "epsilon-svr", "one-class", "nu-svr"])
def test_rows_that_take_no_part_leave_a_solution_and_their_decisions(kind):
    K, y = gram(6), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    cost = np.array([1.0, 2.0, 1.0, 0.0, 0.0, 0.0])
    solution = solved(kind, one_problem(kind, y, cost), K)
    few = solved(kind, one_problem(kind, y[:3], cost[:3]), K[:3, :3])
    assert solution.certificate.primal == pytest.approx(few.certificate.primal)
    assert solution.intercepts == pytest.approx(few.intercepts)
    assert solution.f_of(0) == pytest.approx(K[:, :3] @ few.net_of(0))
    assert np.isfinite(solution.certificate.gap)


def test_one_class_alone_is_answered_by_its_label():
    solution = solved("c-svc", one_problem("c-svc", [-1.0, -1.0, 1.0], [1.0, 1.0, 0.0]), gram(3))
    assert solution.intercepts[0] == -1.0
    assert solution.certificate.primal == solution.certificate.dual == 0.0
    assert solution.certificate.relative_gap == 0.0


@pytest.mark.parametrize("kind", ["c-svc", "epsilon-svr", "one-class", "nu-svr"])
def test_no_row_that_takes_part_is_no_error(kind):
    solution = judged(kind, batch := one_problem(kind, [1.0, -1.0], [0.0, 0.0]), batch.start, np.eye(2))
    assert solution.status is Status.MARGIN_OPTIMAL
    assert (
        solution.intercepts[0]
        == solution.spreads[0]
        == solution.certificate.gap
        == solution.certificate.relative_gap
        == 0.0
    )


def test_the_intercept_is_the_mean_over_free_rows_and_the_spread_their_difference():
    batch = one_problem("c-svc", [1.0, 1.0, -1.0, -1.0], np.ones(4))
    coef = np.array([0.5, 0.5, -1.0, 0.0])
    found = found_with("c-svc", batch, coef, np.array([0.5, 0.7, -0.5, 9.0]))
    assert found.intercepts[0] == pytest.approx(0.4)
    assert found.spreads[0] == pytest.approx(0.2)
    solution = judged("c-svc", batch, coef, np.eye(4))
    assert list(solution.is_free) == [True, True, False, False]  # the third is bounded, the fourth 0


def test_the_kink_of_the_tube_is_not_free():
    batch = one_problem("epsilon-svr", [1.0, 2.0, 3.0], np.ones(3), epsilon=0.25)
    found = found_with("epsilon-svr", batch, np.array([0.5, 0.0, -0.5]), np.zeros(3))
    assert found.intercepts[0] == pytest.approx(((1.0 - 0.25) + (3.0 + 0.25)) / 2)
    assert found.spreads[0] == pytest.approx(2.5)


def test_without_free_rows_the_intercept_is_the_middle_of_what_is_allowed():
    batch = one_problem("c-svc", [1.0, -1.0], np.ones(2))
    # Both at the end: 1 − f₀ ≥ b ≥ −1 − f₁.
    found = found_with("c-svc", batch, np.array([1.0, -1.0]), np.array([0.25, -0.75]))
    assert found.intercepts[0] == pytest.approx((0.75 - 0.25) / 2)
    assert found.spreads[0] == 0.0
    assert found.violations[0] == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_off_its_constraints_is_moved_and_the_bound_holds(kind):
    K, batch = gram(), random_problem(kind)
    best = solved(kind, batch, K)
    off = best.coef + 1e-3 * np.random.default_rng(0).standard_normal(len(best.coef))
    solution = judged(kind, batch, off, K)
    assert 1e-6 < solution.moved[0] < 1e-1
    assert solution.certificate.dual <= best.certificate.dual + 1e-9
    assert solution.certificate.primal >= best.certificate.primal - 1e-9
    assert solution.certificate.gap == pytest.approx(solution.certificate.primal - solution.certificate.dual)


def test_sums_that_free_rows_cannot_repair_are_repaired_by_the_others():
    batch = one_problem("nu-svc", [1.0, 1.0, -1.0, -1.0], np.ones(4), nu=0.5)
    solution = judged("nu-svc", batch, np.zeros(4), np.eye(4))
    assert np.isfinite(solution.certificate.gap)
    assert solution.certificate.gap == pytest.approx(solution.certificate.primal - solution.certificate.dual)
    assert solution.certificate.dual <= -0.25 + 1e-12


def test_constant_targets_have_no_gap_to_rounding():
    solution = solved("epsilon-svr", one_problem("epsilon-svr", np.full(5, 0.1), np.full(5, 1e3), epsilon=0.0), gram(5))
    assert solution.certificate.relative_gap <= 4.0


def test_an_unbounded_box_has_a_gap_that_is_a_number_or_infinite():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    batch = one_problem("epsilon-svr", [1.0, -1.0], [np.inf, np.inf], epsilon=0.25)
    exact = judged("epsilon-svr", batch, np.array([0.75, -0.75]), K)
    assert exact.certificate.gap == exact.certificate.relative_gap == 0.0
    assert judged("epsilon-svr", batch, np.array([0.5, -0.5]), K).certificate.relative_gap == np.inf


def test_a_status_says_how_it_ended():
    batch, b = one_problem("c-svc", [1.0, -1.0], np.ones(2)), np.array([0.25, -0.25])
    assert judged("c-svc", batch, b, np.eye(2)).status is Status.INEXACT
    assert judged("c-svc", batch, b, np.eye(2), stopped=True).status is Status.STOPPED
    assert judged("c-svc", batch, b, np.eye(2), tol=10.0, gap=np.inf, stopped=True).status is Status.MARGIN_OPTIMAL
    assert judged("c-svc", batch, b, -np.eye(2)).status is Status.INDEFINITE
    assert judged("c-svc", batch, np.nan * b, np.eye(2)).status is Status.INEXACT
    assert Status.MARGIN_OPTIMAL.is_certified


def test_what_meets_the_conditions_with_a_gap_left_is_not_certified():
    batch, b = one_problem("c-svc", [1.0, -1.0], np.ones(2)), np.array([0.25, -0.25])
    solution = judged("c-svc", batch, b, np.eye(2), tol=10.0, gap=0.5)
    assert solution.certificate.relative_gap > 0.5
    assert solution.status is Status.GAP_OPEN
    assert not solution.status.is_certified
    assert judged("c-svc", batch, b, np.eye(2), tol=10.0, gap=0.5, stopped=True).status is Status.STOPPED


def test_each_problem_has_a_status_and_the_batch_has_the_worst():
    cuts, uses = np.array([0, 1, 2, 3]), np.array([[0, 1], [0, 2]])
    batch = KINDS["c-svc"].build(cuts, uses, np.tile([1.0, -1.0], 2), np.ones(4))
    solution = judged("c-svc", batch, np.array([1.0, -1.0, 0.25, -0.25]), np.eye(3))
    assert solution.statuses == (Status.MARGIN_OPTIMAL, Status.INEXACT)
    assert solution.status is Status.INEXACT


def test_a_solution_of_many_problems_reads_well():
    cuts, uses = np.array([0, 2, 4, 6]), np.array([[0, 1], [0, 2], [1, 2]])
    batch = KINDS["c-svc"].build(cuts, uses, np.tile([1.0, 1.0, -1.0, -1.0], 3), np.ones(12))
    text = str(solved("c-svc", batch, gram(6)))
    assert text.startswith("c-svc by smo on 6 rows, 3 columns: solved")
    for line in ("primal", "dual", "gap", "violation", "evaluations", "steps"):
        assert line in text


def test_a_row_twice_has_one_coefficient():
    batch = one_problem("nu-svr", [1.0, 2.0, 3.0], np.ones(3), nu=0.5)
    assert isinstance(batch, Margins)
    solution = judged("nu-svr", batch, np.array([0.75, 0.0, 0.5, 0.0, -1.0, -0.5]), np.zeros((3, 3)))
    assert solution.net_of(0) == pytest.approx([0.75, -1.0, 0.0])
    assert list(solution.is_free) == [True, False, False]  # the second is bounded, the third 0
