import numpy as np
import pytest

from mercer.errors import InvalidInput, InvalidParameter, NotPositive
from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Status
from mercer.solvers import cholesky as cholesky_module
from mercer.solvers import lapack
from mercer.solvers.cholesky import cholesky
from mercer.solvers.options import Options
from mercer.solvers.solve import solve
from mercer.solvers.table import SOLVERS, choose, explain

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = RNG.standard_normal((60, 2))
W = RNG.random(60)


def rbf(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def ridge(K, y, alpha=0.1, weight=1.0, intercept=False):
    n, t = y.shape
    with np.errstate(divide="ignore"):
        cost = np.broadcast_to(np.reshape(weight, (-1, 1)) / np.reshape(np.asarray(alpha, float), (1, -1)), (n, t))
    B = np.ones((n, int(intercept)))
    return Problem(DenseGram(K), y, LOSSES["squared"], np.array(cost), B, np.zeros(int(intercept)))


def test_the_coefficients_solve_the_normal_equations():
    K = rbf(X)
    np.testing.assert_allclose(solve(ridge(K, Y)).coef, np.linalg.solve(K + 0.1 * np.eye(60), Y), rtol=1e-10)


def test_weights_and_intercept_solve_the_bordered_system():
    K = rbf(X)
    solution = solve(ridge(K, Y, weight=W, intercept=True))
    bordered = np.block([[K + np.diag(0.1 / W), np.ones((60, 1))], [np.ones((1, 60)), np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.vstack([Y, np.zeros((1, 2))]))
    np.testing.assert_allclose(solution.coef, expected[:-1], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(solution.intercept, expected[-1], rtol=1e-8)


def test_each_target_may_have_its_own_penalty():
    K = rbf(X)
    both = solve(ridge(K, Y, alpha=[0.1, 10.0]))
    for j, alpha in enumerate([0.1, 10.0]):
        np.testing.assert_allclose(both.coef[:, [j]], solve(ridge(K, Y[:, [j]], alpha=alpha)).coef, rtol=1e-10)


def test_a_row_of_weight_zero_is_as_good_as_absent():
    K, weight = rbf(X), W.copy()
    weight[:20] = 0.0
    whole = solve(ridge(K, Y, weight=weight, intercept=True))
    part = solve(ridge(K[20:, 20:], Y[20:], weight=weight[20:], intercept=True))
    np.testing.assert_array_equal(whole.coef[:20], 0.0)
    np.testing.assert_allclose(whole.coef[20:], part.coef)


def test_tiny_weights_do_not_spoil_the_answer():
    weight = np.where(np.arange(60) % 2, 1.0, 1e-200)
    assert solve(ridge(rbf(X), Y, weight=weight)).status is Status.OPTIMAL


def test_no_penalty_interpolates():
    solution = solve(ridge(rbf(X, gamma=10.0), Y, alpha=0.0))
    assert solution.status is Status.INTERPOLATING


def test_the_matrix_of_the_user_is_not_overwritten():
    K = rbf(X)
    before = K.copy()
    solve(ridge(K, Y))
    np.testing.assert_array_equal(K, before)


def test_a_singular_matrix_is_a_message_about_conditioning_and_never_jitter():
    twice = np.vstack([X, X])
    with pytest.raises(NotPositive, match=r"condition number exceeds .*\n.*broke down at row.*\n.*Raise alpha to"):
        solve(ridge(rbf(twice, gamma=0.01), np.vstack([Y, Y]), alpha=0.0), solver="cholesky")


def test_no_penalty_on_a_matrix_that_is_singular_to_rounding_is_refused_with_what_to_do():
    K = np.diag(np.r_[np.ones(59), 1e-15])
    with pytest.raises(NotPositive, match=r"condition number is about 1e\+15.*\n.*solver=\"eigen\""):
        solve(ridge(K, Y, alpha=0.0), solver="cholesky")


def test_one_row_is_solved():
    np.testing.assert_allclose(cholesky(ridge(np.array([[3.0]]), np.array([[8.0]]), alpha=1.0), Options()).coef, 2.0)


def test_constraints_and_soft_rows_may_share_a_column_of_costs():
    K = rbf(X, gamma=10.0)
    alpha = np.where(np.arange(60) < 10, 0.0, 0.5)
    with np.errstate(divide="ignore"):
        cost = np.repeat(1.0 / alpha[:, None], 2, axis=1)
    problem = Problem(DenseGram(K), Y, LOSSES["squared"], cost, np.empty((60, 0)), np.empty(0))
    np.testing.assert_allclose(cholesky(problem, Options()).coef, np.linalg.solve(K + np.diag(alpha), Y), rtol=1e-9)


def test_the_factors_are_handed_on_in_the_order_of_the_different_costs():
    K = rbf(X)
    answer = cholesky(ridge(K, Y, alpha=[0.1, 10.0]), Options())
    assert [factor.ridge for factor in answer.factors] == pytest.approx([10.0, 0.1])  # costs rise
    for factor, target in zip(answer.factors, (1, 0), strict=True):
        np.testing.assert_allclose(factor.solve(Y[:, [target]]), answer.coef[:, [target]])
    assert answer.condition == max(factor.condition for factor in answer.factors)


def test_many_factors_are_not_kept(monkeypatch):
    monkeypatch.setattr(cholesky_module, "KEPT", 8 * 60 * 60)
    assert cholesky(ridge(rbf(X), Y, alpha=[0.1, 10.0]), Options()).factors == ()
    assert len(cholesky(ridge(rbf(X), Y), Options()).factors) == 1


def test_a_time_limit_leaves_zeros_and_says_so():
    n = 1100
    answer = cholesky(ridge(np.eye(n), np.ones((n, 1)), intercept=True), Options(max_time=1e-9))
    assert answer.stopped
    assert not answer.coef.any()
    assert "time ran out" in answer.note


def test_several_panels_give_the_same_answer(monkeypatch):
    monkeypatch.setattr(lapack, "PANELS", dict.fromkeys(lapack.PANELS, 256))
    monkeypatch.setattr(lapack, "STEP", 1.0)
    n = 1100
    K = rbf(np.random.default_rng(1).standard_normal((n, 5)), gamma=0.1)
    y = np.arange(float(n))[:, None]
    np.testing.assert_allclose(
        cholesky(ridge(K, y), Options()).coef, np.linalg.solve(K + 0.1 * np.eye(n), y), rtol=1e-7, atol=1e-6
    )


def test_an_indefinite_matrix_is_solved_at_its_stationary_point_and_not_certified():
    K = np.tanh(X @ X.T - 1.0)
    solution = solve(ridge(K, Y, alpha=1e-3, intercept=True))
    assert solution.status is Status.INDEFINITE
    assert np.isnan(solution.certificate.condition)
    assert solution.factors == ()
    assert "condition " not in str(solution)
    np.testing.assert_allclose(Y - K @ solution.coef - solution.intercept, 1e-3 * solution.coef, atol=1e-6)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InvalidInput, match="weight"):
        solve(ridge(rbf(X), Y, weight=0.0))


def test_a_solver_can_be_named_and_explains_itself():
    problem = ridge(rbf(X), Y)
    assert choose(problem) is SOLVERS["cholesky"]
    assert solve(problem, solver="cholesky").certificate.solver == "cholesky"
    assert "→ cholesky" in explain(problem)
    with pytest.raises(InvalidParameter, match=r"'auto' or one of .*'cholesky'"):
        solve(problem, solver="magic")


def test_a_senseless_tolerance_is_refused():
    with pytest.raises(InvalidParameter, match="tol"):
        Options(tol=0.0)
