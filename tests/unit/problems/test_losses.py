"""Every row of the table of losses: value, slope, Hessian, conjugate, box and decision belong together."""

import numpy as np
import pytest
import scipy.optimize

import mercer
from mercer.errors import InvalidInput, InvalidParameter
from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Answer, Problem, Status, Targets, certify, huber
from mercer.problems.feasible import feasible
from mercer.solvers import SOLVERS, Options, explain, solve
from tests.oracles.targets import DRAW, targets_of

each = pytest.mark.parametrize("loss", [*LOSSES.values(), huber(0.1)], ids=[*LOSSES, "huber 0.1"])
SMOOTH = [name for name, loss in LOSSES.items() if loss.is_smooth]
APART = [name for name, loss in LOSSES.items() if loss.is_smooth and not loss.is_joint]


def drawn(loss, n=200, t=3, size=2.0, seed=0):
    rng = np.random.default_rng(seed)
    return size * rng.standard_normal((n, t)), targets_of(loss, rng, n, t)


def test_every_kind_of_targets_is_drawn():
    assert set(DRAW) == set(Targets)


@each
def test_no_line_of_a_slope_lies_higher_than_the_conjugate_allows(loss):
    g, y = drawn(loss)
    v = loss.slope(*drawn(loss, seed=1)[:1], y)  # of another decision
    joined = (v * g).sum(axis=1, keepdims=True) if loss.is_joint else v * g
    assert (loss.value(g, y) + loss.conjugate(v, y) - joined >= -1e-12).all()


@each
def test_value_and_conjugate_touch_at_the_slope(loss):
    g, y = drawn(loss)
    v = loss.slope(g, y)
    joined = (v * g).sum(axis=1, keepdims=True) if loss.is_joint else v * g
    np.testing.assert_allclose(loss.value(g, y) + loss.conjugate(v, y), joined, atol=1e-11)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES.values() if not loss.is_joint], ids=lambda loss: loss.name)
def test_a_conjugate_is_the_largest_difference_to_a_line(loss):
    g = np.linspace(-60, 60, 240_001)
    for y in np.unique(drawn(loss, t=1)[1].round())[:4]:
        low, high = (float(bound[0]) for bound in loss.box(np.array([y])))
        for a in np.linspace(max(low, -3), min(high, 3), 7):
            highest = (-a * g - loss.value(g, np.full_like(g, y))).max()
            assert loss.conjugate(np.array([-a]), np.array([y]))[0] == pytest.approx(highest, abs=1e-6)


@each
def test_the_slope_is_the_derivative(loss):
    g, y = drawn(loss, t=3)
    for column in range(3):
        step = np.zeros((1, 3))
        step[0, column] = 1e-6
        rise = (loss.value(g + step, y) - loss.value(g - step, y)) / 2e-6
        rise = rise[:, 0 if loss.is_joint else column]
        assert loss.slope(g, y)[:, column] == pytest.approx(rise, abs=1e-6 * max(np.abs(rise).max(), 1.0))


@each
def test_the_hessian_is_the_derivative_of_the_slope(loss):
    if not loss.is_smooth:
        assert loss.decision is None
        assert np.isinf(loss.curvature)
        return
    g, y = drawn(loss)
    d = loss.bend(g, y)
    whole = d[:, :, None] * np.eye(3) - (d[:, :, None] * d[:, None, :] if loss.is_joint else 0.0)
    for column in range(3):
        step = np.zeros((1, 3))
        step[0, column] = 1e-6
        bend = (loss.slope(g + step, y) - loss.slope(g - step, y)) / 2e-6
        np.testing.assert_allclose(whole[:, :, column], bend, atol=1e-6 * max(np.abs(bend).max(), 1.0))
    assert np.linalg.eigvalsh(whole).max() <= loss.curvature + 1e-12
    assert (d >= 0.0).all()


@each
def test_slopes_lie_in_the_box_and_it_is_no_larger_than_they_reach(loss):
    g, y = drawn(loss, size=1e3)
    low, high = loss.box(y)
    with np.errstate(over="ignore"):
        steep = -loss.slope(g, y)
    assert (low <= steep).all()
    assert (steep <= high).all()
    with np.errstate(invalid="ignore"):
        reach = np.fmin(np.abs(steep - low), np.abs(high - steep))
    is_two_sided = np.isfinite(low) & np.isfinite(high)
    if not loss.is_joint:
        assert (reach[is_two_sided] < 1e-3).mean() > 0.9 if is_two_sided.any() else True


@pytest.mark.parametrize("name", SMOOTH)
def test_a_decision_has_the_slope_it_is_made_from(name):
    loss = LOSSES[name]
    g, y = drawn(loss, size=4.0)
    v = loss.slope(g, y)
    np.testing.assert_allclose(loss.slope(loss.inverse(v, y), y), v, atol=1e-14, rtol=1e-12)


@pytest.mark.parametrize("name", APART)
def test_a_decision_for_a_slope_outside_the_box_has_the_nearest(name):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    y = targets_of(loss, rng, 100, 1)
    v = 5.0 * rng.standard_normal((100, 1))
    low, high = loss.box(y)
    np.testing.assert_allclose(loss.slope(loss.inverse(v, y), y), np.clip(v, -high, -low), atol=1e-14)


@pytest.mark.parametrize("name", SMOOTH)
def test_any_point_is_moved_onto_the_constraints(name):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    y = targets_of(loss, rng, 30, 3 if loss.is_joint else 1)
    cost = rng.uniform(0.1, 10.0, (30, 1))
    cost[4] = 0.0
    given = Problem(DenseGram(np.eye(30)), y, loss, cost, np.ones((30, 1)), np.zeros(1))
    with np.errstate(invalid="ignore"):  # 0 · ∞ for the row without cost
        low, high = (np.nan_to_num(cost * bound, nan=0.0, posinf=np.inf, neginf=-np.inf) for bound in loss.box(y))
    for size in (1e-9, 1.0, 1e3):
        point = feasible(given, size * rng.standard_normal(y.shape))
        assert (low <= point).all()
        assert (point <= high).all()
        np.testing.assert_allclose(point.sum(axis=0), 0.0, atol=1e-15 * max(np.abs(point).sum(), 1e3))
        if loss.is_joint:
            np.testing.assert_allclose(point.sum(axis=1), 0.0, atol=1e-13)
        assert feasible(given, point) == pytest.approx(point, rel=1e-9, abs=1e-12)


def test_the_point_of_a_quadratic_piece_is_the_nearest_one():
    """Huber's loss: the least Σ (a' − a)²/c in the box with Σ a' = 0, by a general optimiser."""
    loss, rng = huber(0.5), np.random.default_rng(1)
    y, cost = targets_of(loss, rng, 12, 1), rng.uniform(0.1, 3.0, (12, 1))
    given = Problem(DenseGram(np.eye(12)), y, loss, cost, np.ones((12, 1)), np.zeros(1))
    a = rng.standard_normal(12)
    c = cost[:, 0]
    found = scipy.optimize.minimize(
        lambda x: ((x - a) ** 2 / c).sum(),
        np.zeros(12),
        jac=lambda x: 2.0 * (x - a) / c,
        method="SLSQP",
        bounds=[(-0.5 * w, 0.5 * w) for w in c],
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    np.testing.assert_allclose(feasible(given, a[:, None])[:, 0], found.x, atol=1e-5)


def by_scipy(problem):
    """The least primal, slowly: over w and θ, in the coordinates of K's square root."""
    n, t = problem.y.shape
    values, vectors = np.linalg.eigh(problem.gram.dense())
    root = vectors * np.sqrt(np.maximum(values, 0.0))

    def primal(z):
        w, theta = z[: n * t].reshape(n, t), z[n * t :].reshape(-1, t)
        g = root @ w + problem.B @ theta
        slope = problem.cost * problem.loss.slope(g, problem.y)
        value = 0.5 * (w**2).sum() + np.vdot(problem.cost, problem.loss.value(g, problem.y))
        return value, np.r_[(w + root.T @ slope).ravel(), (problem.B.T @ slope).ravel()]

    start = np.zeros((n + problem.B.shape[1]) * t)
    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10}
    return scipy.optimize.minimize(primal, start, jac=True, method="L-BFGS-B", options=options).fun


def posed(loss, t=1, q=1, C=1.0, n=40, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2)
    y = size * targets_of(loss, rng, n, t)
    cost = C * rng.uniform(0.5, 2.0, (n, 1 if loss.is_joint else t))
    return Problem(DenseGram(K), y, loss, cost, np.ones((n, q)), np.zeros(q))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("solver", ["auto", "newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_every_smooth_loss_is_solved_and_its_primal_is_the_least(name, solver, t, q, C):
    loss = LOSSES[name]
    if loss.is_joint and t == 1:
        t = 4
    given = posed(loss, t, q, C)
    if SOLVERS.get(solver) and SOLVERS[solver].refusal(given):
        assert loss.is_quadratic
        return
    solution = solve(given, Options(tol=1e-10), solver)
    assert solution.status is Status.OPTIMAL
    best = by_scipy(given)
    assert solution.certificate.primal == pytest.approx(best, rel=1e-7, abs=1e-7)
    assert solution.certificate.primal <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("name", ["huber", "squared hinge", "poisson"])
def test_the_primal_route_needs_features_only_and_finds_the_same(name):
    loss, rng = LOSSES[name], np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y, cost, B = targets_of(loss, rng, 60, 1), np.full((60, 1), 2.0), np.ones((60, 1))
    features = mercer.grams.choose.gram_to_solve(mercer.kernels.binding.bind(mercer.Linear(), X), primal=True)
    few = solve(Problem(features, y, loss, cost, B, np.zeros(1)), Options(tol=1e-10), "primal")
    many = solve(Problem(DenseGram(X @ X.T), y, loss, cost, B, np.zeros(1)), Options(tol=1e-10), "newton-cholesky")
    assert few.status is many.status is Status.OPTIMAL
    assert few.certificate.primal == pytest.approx(many.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e3, 1e6])
@pytest.mark.parametrize("solver", ["newton-cholesky", "newton-cg"])
def test_hubers_loss_is_solved_whatever_the_unit_of_the_targets(size, solver):
    given = posed(LOSSES["huber"], size=size)
    assert solve(given, Options(tol=1e-8), solver).status is Status.OPTIMAL


@pytest.mark.parametrize("size", [0.0, 100.0, 1e5])
@pytest.mark.parametrize("q", [0, 1])
def test_poisson_regression_is_solved_for_large_counts_and_for_none(size, q):
    given = posed(LOSSES["poisson"], q=q, size=size)
    solution = solve(given, Options(tol=1e-8))
    assert np.isfinite(solution.coef).all()
    if size or not q:  # no counts at all and an intercept: the best one is −∞
        assert solution.status is Status.OPTIMAL
        g = given.gram @ solution.coef + given.B @ solution.theta
        expected = given.cost * (given.y - np.exp(g))
        np.testing.assert_allclose(solution.coef, expected, atol=1e-3 * np.abs(expected).max() + 1e-9)


def test_the_hinge_certifies_a_support_vector_machine():
    """The referee of all losses agrees with that of the machines: value, conjugate and box of the hinge are theirs."""
    rng = np.random.default_rng(0)
    X, loss = rng.standard_normal((50, 2)), LOSSES["hinge"]
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(50) > 0, 1.0, -1.0)
    machine = mercer.SVC(C=2.0, kernel=mercer.RBF(1.0), tol=1e-9).fit(X, y)
    coef = np.zeros((50, 1))
    coef[machine.support_, 0] = machine.dual_coef_[0]
    K = mercer.RBF(1.0)(X)
    given = Problem(DenseGram(K), y[:, None], loss, np.full((50, 1), 2.0), np.ones((50, 1)), np.zeros(1))
    theta = machine.intercept_.reshape(1, 1)
    found = certify(given, Answer(coef, theta), solver="smo", tol=1e-6)
    assert found.status is Status.OPTIMAL
    worse = certify(given, Answer(0.9 * coef, theta), solver="smo", tol=1e-6)
    assert worse.certificate.primal > found.certificate.primal
    assert worse.certificate.dual < found.certificate.dual


def test_no_row_of_the_table_of_solvers_minimises_a_loss_with_a_kink():
    given = posed(LOSSES["hinge"])
    with pytest.raises(InvalidParameter, match="not hinge loss"):
        solve(given)


def test_explain_names_the_rows_for_a_new_loss():
    text = explain(posed(LOSSES["poisson"]))
    assert "→ newton-cholesky" in text
    assert "cg: conjugate" not in text


def test_targets_that_a_loss_has_no_meaning_for_are_refused():
    for name, y in (("poisson", -1.0), ("hinge", 0.0), ("logistic", 2.0)):
        with pytest.raises(InvalidInput, match=f"The targets of the {name} loss are"):
            Problem(DenseGram(np.eye(1)), np.array([[y]]), LOSSES[name], np.ones((1, 1)), np.empty((1, 0)), np.empty(0))
    one = np.ones((1, 2))
    with pytest.raises(InvalidInput, match="a single 1"):
        Problem(DenseGram(np.eye(1)), one, LOSSES["softmax"], np.ones((1, 1)), np.empty((1, 0)), np.empty(0))


def test_hubers_delta_is_a_number_above_zero():
    with pytest.raises(InvalidParameter, match="delta"):
        huber(0.0)
