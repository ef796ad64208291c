import dataclasses
import itertools

import numpy as np
import pytest
import scipy.optimize

from mercer.errors import InvalidParameter, TooLarge
from mercer.estimators.logistic import KernelLogisticRegression
from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Problem, Status, certify
from mercer.solvers import SOLVERS, choose, explain, reasons, solve
from mercer.solvers import table as solver_table
from mercer.solvers.newton import _conjugate, newton_cg, newton_cholesky
from mercer.solvers.options import Options
from mercer.solvers.watch import Watch


def problem(n=40, t=1, C=1.0, q=1, seed=0, length=1.0, weighted=True):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / (2 * length**2))
    label = np.r_[np.arange(max(t, 2)), rng.integers(0, max(t, 2), n - max(t, 2))]
    y = np.where(label == 1, 1.0, -1.0)[:, None] if t == 1 else np.eye(t)[label]
    cost = C * (rng.uniform(0.5, 2.0, (n, 1)) if weighted else np.ones((n, 1)))
    return Problem(DenseGram(K), y, LOSSES["logistic" if t == 1 else "softmax"], cost, np.ones((n, q)), np.zeros(q))


def by_scipy(problem):
    """The least primal, slowly: over a and θ, in the coordinates of K's square root."""
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
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10}
    return scipy.optimize.minimize(primal, start, jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("method", [newton_cholesky, newton_cg])
@pytest.mark.parametrize("t", [1, 3])
@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("C", [0.1, 30.0])
def test_the_primal_is_the_least_that_a_general_optimiser_finds(method, t, q, C):
    given = problem(t=t, q=q, C=C)
    solution = certify(given, method(given, Options(tol=1e-10)), solver="newton", tol=1e-10)
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.primal == pytest.approx(by_scipy(given), rel=1e-8)
    assert solution.certificate.primal <= by_scipy(given) * (1 + 1e-10)


@pytest.mark.parametrize("t", [1, 4])
def test_the_border_may_have_several_columns(t):
    given = problem(t=t)
    rng = np.random.default_rng(1)
    B = np.column_stack([np.ones(40), rng.standard_normal(40)])
    wide = Problem(given.gram, given.y, given.loss, given.cost, B, np.zeros(2))
    solution = certify(wide, newton_cholesky(wide, Options(tol=1e-10)), solver="newton", tol=1e-10)
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(B.T @ solution.coef, 0.0, atol=1e-9)
    assert solution.certificate.primal == pytest.approx(by_scipy(wide), rel=1e-8)


@pytest.mark.parametrize("t", [1, 3])
def test_few_pivots_need_more_products_and_find_the_same(t, monkeypatch):
    given = problem(n=120, t=t, C=100.0, length=0.5)
    full = newton_cholesky(given, Options(tol=1e-9))
    monkeypatch.setattr("mercer.solvers.newton_systems.INNER", 12 * t)
    rough = newton_cg(given, Options(tol=1e-9))
    assert "rank 12 preconditioner" in rough.note
    np.testing.assert_allclose(rough.coef, full.coef, atol=1e-3 * np.abs(full.coef).max())
    assert certify(given, rough, solver="newton-cg", tol=1e-9).status is Status.OPTIMAL


@pytest.mark.parametrize("t", [1, 3])
def test_the_solution_for_a_coarse_kernel_matrix_is_where_to_begin(t, monkeypatch):
    given = problem(n=300, t=t, C=3.0, length=0.7)
    near = newton_cg(given, Options(tol=1e-6))
    monkeypatch.setattr("mercer.solvers.newton._start", lambda *_: None)
    far = newton_cg(given, Options(tol=1e-6))
    assert near.trace[0] < 0.1 * far.trace[0]
    assert near.iterations < far.iterations
    for answer in (near, far):
        assert certify(given, answer, solver="newton-cg", tol=1e-6).status is Status.OPTIMAL
    np.testing.assert_allclose(near.coef, far.coef, atol=1e-2 * np.abs(far.coef).max())


def test_rows_without_cost_have_no_coefficient():
    given = problem(t=3)
    cost = given.cost.copy()
    cost[5:15] = 0.0
    part = Problem(given.gram, given.y, given.loss, cost, given.B, given.price)
    solution = certify(part, newton_cholesky(part, Options(tol=1e-8)), solver="newton", tol=1e-8)
    assert solution.status is Status.OPTIMAL
    assert not solution.coef[5:15].any()


def test_the_primal_never_rises():
    given = problem(C=1e6, length=0.3)
    primals = []
    for steps in range(1, 12):
        answer = newton_cholesky(given, Options(tol=1e-12, max_iter=steps))
        primals.append(certify(given, answer, solver="newton", tol=1e-12).certificate.primal)
    assert all(after <= before * (1 + 1e-9) for before, after in itertools.pairwise(primals))


def test_separable_classes_with_almost_no_penalty_are_solved_or_said_not_to_be():
    given = problem(C=1e9, length=0.3)
    solved = certify(given, newton_cholesky(given, Options(tol=1e-4)), solver="newton", tol=1e-4)
    assert solved.status is Status.OPTIMAL
    early = certify(given, newton_cholesky(given, Options(tol=1e-4, max_iter=3)), solver="newton", tol=1e-4)
    assert early.status is Status.STOPPED
    assert early.certificate.gap > 0.0
    best = solved.certificate.primal + 1e-9 * early.certificate.primal
    assert early.certificate.primal - early.certificate.gap <= best


def test_too_little_time_stops_with_what_there_is():
    for method in (newton_cholesky, newton_cg):
        answer = method(problem(n=200, t=3, C=100.0), Options(tol=1e-10, max_time=1e-9))
        assert answer.stopped
        assert np.isfinite(answer.coef).all()


def test_time_is_looked_at_within_a_step():
    A = np.diag(np.arange(1.0, 31.0))
    right = np.ones(30)

    def iterations(watch):
        return _conjugate(lambda x: A @ x, np.copy, np.copy, right, 30.0, 1e-8, watch).iterations

    assert iterations(Watch("in time")) > 10
    assert iterations(Watch("late", 1e-9)) == 0


def test_other_losses_and_hard_constraints_are_refused_by_the_table():
    given = problem()
    squared = Problem(given.gram, given.y, LOSSES["squared"], given.cost, given.B, given.price)
    hard = Problem(given.gram, given.y, given.loss, np.full((40, 1), np.inf), given.B, given.price)
    for row in ("newton-cholesky", "newton-cg"):
        with pytest.raises(InvalidParameter, match="not squared loss"):
            solve(squared, solver=row)
        with pytest.raises(InvalidParameter, match="finite C"):
            solve(hard, solver=row)
    with pytest.raises(InvalidParameter, match="no finite feature map"):
        solve(given, solver="primal")
    with pytest.raises(InvalidParameter, match="problems of a quadratic loss, not logistic loss"):
        solve(given, solver="cholesky")
    with pytest.raises(InvalidParameter, match="one of 'primal', 'newton-cholesky', 'newton-cg'"):
        solve(given, solver="magic")


def test_the_method_is_chosen_by_the_number_of_unknowns():
    assert choose(problem(n=40)).name == "newton-cholesky"
    assert choose(problem(n=700, t=3)).name == "newton-cg"
    assert "→ newton-cg" in explain(problem(n=700, t=3))
    assert "2100 unknowns" in explain(problem(n=700, t=3))


def test_a_method_that_stalls_hands_on_to_the_next_and_names_its_gap(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_UNKNOWNS", 10)
    lazy = SOLVERS["newton-cg"]

    def stall(problem, options):
        return lazy.run(problem, dataclasses.replace(options, tol=0.5))

    monkeypatch.setattr(solver_table, "SOLVERS", {**SOLVERS, "newton-cg": dataclasses.replace(lazy, run=stall)})
    solution = solve(problem(C=30.0), Options(tol=1e-8))
    assert solution.certificate.solver == "newton-cholesky"
    assert solution.status is Status.OPTIMAL
    assert "newton-cg stalled at a relative gap of" in solution.certificate.note


def test_the_better_answer_is_kept_where_none_suffices(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_UNKNOWNS", 10)

    def give_up(_problem, _options):
        raise TooLarge("It does not fit.")

    def early(problem, options):
        return newton_cg(problem, dataclasses.replace(options, tol=1e-3))

    rows = {
        **SOLVERS,
        "newton-cg": dataclasses.replace(SOLVERS["newton-cg"], run=early),
        "newton-cholesky": dataclasses.replace(SOLVERS["newton-cholesky"], run=give_up),
    }
    monkeypatch.setattr(solver_table, "SOLVERS", rows)
    solution = solve(problem(C=30.0), Options(tol=1e-12))
    assert solution.certificate.solver == "newton-cg"
    assert solution.status is Status.INEXACT


@pytest.mark.parametrize("solver", ["auto", "primal", "newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("size", [0.0, 1e-12])
def test_a_kernel_that_is_zero_or_next_to_it_leaves_the_intercept(solver, classes, size):
    X, y = size * np.arange(12.0).reshape(6, 2), np.arange(6) % classes
    y[-1] = 0
    model = KernelLogisticRegression(kernel="linear", solver=solver, tol=1e-9).fit(X, y)
    assert model.certificate_.status is Status.OPTIMAL
    np.testing.assert_allclose(model.predict_proba(X), np.tile(np.bincount(y) / 6, (6, 1)), rtol=1e-6)
