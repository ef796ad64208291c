import numpy as np
import pytest

from mercer import RBF, Linear, gram
from mercer.errors import InvalidInput, InvalidParameter, NotPositive
from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers.cg import cg, rank_for
from mercer.solvers.options import Options

RNG = np.random.default_rng(0)
N = 300
X = RNG.standard_normal((N, 4))
Y = RNG.standard_normal((N, 3))
W = RNG.random(N)
STORES = pytest.mark.parametrize("budget", [1 << 30, 0], ids=["stored", "tiled"])


def ridge(K, y, alpha=0.1, weight=1.0, intercept=False):
    K = DenseGram(K) if isinstance(K, np.ndarray) else K
    n, t = y.shape
    with np.errstate(divide="ignore"):
        cost = np.broadcast_to(np.reshape(weight, (-1, 1)) / np.reshape(np.asarray(alpha, float), (1, -1)), (n, t))
    B = np.ones((n, int(intercept)))
    return Problem(K, y, LOSSES["squared"], np.array(cost), B, np.zeros(int(intercept)))


def bordered(K, y, alpha=0.1, weight=1.0):
    """a and θ of the system with an intercept, by numpy."""
    n = len(K)
    penalty = np.diag(np.broadcast_to(alpha / np.asarray(weight), n))
    M = np.block([[K + penalty, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    both = np.linalg.solve(M, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return both[:-1], both[-1:]


@STORES
def test_the_coefficients_solve_the_normal_equations(budget):
    K = gram(RBF(0.7), X, budget=budget)
    answer = cg(ridge(K, Y), Options(tol=1e-12))
    np.testing.assert_allclose(answer.coef, np.linalg.solve(K.dense() + 0.1 * np.eye(N), Y), atol=1e-10)
    assert answer.iterations == len(answer.trace) > 0
    assert answer.trace[-1] <= 1e-12
    assert not answer.stopped
    assert answer.note == f"rank 100 preconditioner, {answer.iterations} iterations"


@STORES
def test_weights_and_intercept_solve_the_bordered_system(budget):
    K = gram(RBF(0.7), X, budget=budget)
    answer = cg(ridge(K, Y, weight=W, intercept=True), Options(tol=1e-12))
    coef, theta = bordered(K.dense(), Y, weight=W)
    np.testing.assert_allclose(answer.coef, coef, atol=1e-9)
    np.testing.assert_allclose(answer.theta, theta, atol=1e-9)


def test_each_column_reaches_the_tolerance_that_was_asked_for():
    K = RBF(0.7)(X)
    for tol in (1e-2, 1e-5, 1e-8):
        answer = cg(ridge(K, Y * [1.0, 1e-6, 1e6]), Options(tol=tol))
        rest = Y * [1.0, 1e-6, 1e6] - K @ answer.coef - 0.1 * answer.coef
        assert (np.linalg.norm(rest, axis=0) <= tol * np.linalg.norm(Y * [1.0, 1e-6, 1e6], axis=0)).all()


def test_a_large_mean_does_not_hide_what_is_to_be_explained():
    K = RBF(0.7)(X)
    plain, lifted = (cg(ridge(K, Y + mean, intercept=True), Options()) for mean in (0.0, 1e6))
    np.testing.assert_allclose(lifted.coef, plain.coef, atol=1e-6)
    np.testing.assert_allclose(lifted.theta - 1e6, plain.theta, atol=1e-6)


def test_a_constant_target_is_its_intercept():
    answer = cg(ridge(RBF(0.7)(X), np.full((N, 1), 0.1), intercept=True), Options())
    np.testing.assert_array_equal(answer.coef, 0.0)
    np.testing.assert_allclose(answer.theta, 0.1)


def test_a_row_of_weight_zero_is_as_good_as_absent():
    K, weight = gram(RBF(0.7), X, budget=0), W.copy()
    weight[:50] = 0.0
    answer = cg(ridge(K, Y, weight=weight, intercept=True), Options(tol=1e-12))
    coef, theta = bordered(K.dense()[50:, 50:], Y[50:], weight=weight[50:])
    np.testing.assert_array_equal(answer.coef[:50], 0.0)
    np.testing.assert_allclose(answer.coef[50:], coef, atol=1e-9)
    np.testing.assert_allclose(answer.theta, theta, atol=1e-9)


def test_tiny_weights_do_not_spoil_the_answer():
    K, weight = RBF(0.7)(X), np.where(np.arange(N) % 2, 1.0, 1e-200)
    answer = cg(ridge(K, Y, weight=weight), Options(tol=1e-12))
    odd = np.ix_(weight == 1.0, weight == 1.0)
    np.testing.assert_allclose(
        answer.coef[weight == 1.0], np.linalg.solve(K[odd] + 0.1 * np.eye(N // 2), Y[weight == 1.0]), atol=1e-9
    )


def test_each_target_may_have_its_own_penalty():
    K, alphas = RBF(0.7)(X), [0.1, 10.0, 0.1]
    answer = cg(ridge(K, Y, alpha=alphas), Options(tol=1e-12))
    for j, alpha in enumerate(alphas):
        np.testing.assert_allclose(answer.coef[:, j], np.linalg.solve(K + alpha * np.eye(N), Y[:, j]), atol=1e-9)
    assert answer.iterations == len(answer.trace)


def test_a_target_of_zeros_costs_nothing():
    answer = cg(ridge(RBF(0.7)(X), np.zeros((N, 2))), Options())
    np.testing.assert_array_equal(answer.coef, 0.0)
    assert answer.iterations == 0
    assert not answer.stopped


def test_a_matrix_of_low_rank_is_solved_in_a_few_steps():
    K = Linear()(X)
    for alpha in (1.0, 1e-3):
        answer = cg(ridge(K, Y, alpha=alpha, intercept=True), Options(tol=1e-10))
        W = np.linalg.solve(X.T @ X + alpha * np.eye(4) - N * np.outer(X.mean(0), X.mean(0)), (X - X.mean(0)).T @ Y)
        np.testing.assert_allclose(X.T @ answer.coef, W, rtol=1e-6)
        assert answer.iterations <= 10
        assert answer.note.startswith("rank 4 ")


def test_duplicate_rows_are_no_trouble():
    K = RBF(0.7)(np.vstack([X, X]))
    answer = cg(ridge(K, np.vstack([Y, Y]), alpha=1e-3), Options(tol=1e-10))
    once = np.linalg.solve(RBF(0.7)(X) + 0.5e-3 * np.eye(N), Y) / 2.0
    np.testing.assert_allclose(answer.coef, np.vstack([once, once]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_row_and_two(n, intercept):
    K, y = RBF(1.0)(X[:n]), Y[:n]
    answer = cg(ridge(K, y, intercept=intercept), Options(tol=1e-12))
    expected = bordered(K, y)[0] if intercept else np.linalg.solve(K + 0.1 * np.eye(n), y)
    np.testing.assert_allclose(answer.coef, expected, atol=1e-11)


def test_the_result_does_not_change_from_run_to_run():
    first, second = (cg(ridge(gram(RBF(0.7), X, budget=0), Y), Options()).coef for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_matrix_in_float32_is_solved_as_the_matrix_it_is():
    K = RBF(0.7)(X).astype(np.float32)
    answer = cg(ridge(K, Y), Options(tol=1e-10))
    np.testing.assert_allclose(answer.coef, np.linalg.solve(K.astype(float) + 0.1 * np.eye(N), Y), atol=1e-7)


def test_max_iter_gives_the_best_so_far_and_says_so():
    K = RBF(0.7)(X)
    problem = ridge(K, Y, alpha=1e-4, intercept=True)
    answer = cg(problem, Options(max_iter=3))
    assert answer.stopped
    assert answer.iterations == 3
    assert "3 iterations, stopped at a relative residual of" in answer.note
    np.testing.assert_allclose(answer.coef.sum(axis=0), 0.0, atol=1e-8)  # the constraint of the intercept holds
    few, many = (np.linalg.norm(cg(problem, Options(max_iter=k)).coef) for k in (1, 30))
    assert 0.0 < few < many


def test_the_best_so_far_is_the_iterate_of_the_smallest_residual():
    K = RBF(2.0)(X)
    for iterations in range(1, 12):
        answer = cg(ridge(K, Y[:, :1], alpha=1e-7), Options(max_iter=iterations))
        rest = np.linalg.norm(Y[:, :1] - K @ answer.coef - 1e-7 * answer.coef) / np.linalg.norm(Y[:, :1])
        assert rest <= min(answer.trace) * 1.01 + 1e-12


def test_max_time_ends_it_with_what_there_is():
    answer = cg(ridge(RBF(0.7)(X), Y, alpha=1e-6), Options(max_time=1e-9))
    assert answer.stopped
    assert answer.iterations == 1
    assert np.isfinite(answer.coef).all()


def test_enough_iterations_are_not_a_stop():
    problem = ridge(RBF(0.7)(X), Y)
    needed = cg(problem, Options()).iterations
    assert not cg(problem, Options(max_iter=needed)).stopped
    assert cg(problem, Options(max_iter=needed - 1)).stopped


@pytest.mark.parametrize("alpha", [1e-4, 1e-8, 1e-12, 1e-14, 1e-300])
@pytest.mark.parametrize("length", [0.5, 3.0])
def test_a_tiny_penalty_converges_or_says_that_it_stalled(alpha, length):
    K = RBF(length)(X)
    answer = cg(ridge(K, Y, alpha=alpha), Options())
    residual = np.linalg.norm(Y - K @ answer.coef - alpha * answer.coef, axis=0) / np.linalg.norm(Y, axis=0)
    assert np.isfinite(answer.coef).all()
    assert not answer.stopped
    assert (residual <= 1.5e-8).all() or "stalled at a relative residual of" in answer.note


def test_where_rounding_stands_in_the_way_it_ends_soon():
    answer = cg(ridge(Linear()(X), Y, alpha=1e-7), Options(tol=1e-12))
    assert "stalled at a relative residual of" in answer.note
    assert not answer.stopped
    assert answer.iterations <= 10


def test_the_condition_number_is_about_right():
    for alpha in (1e-3, 1.0):
        K = RBF(0.7)(X)
        answer = cg(ridge(K, Y, alpha=alpha), Options(tol=1e-12))
        assert answer.condition == pytest.approx(np.linalg.cond(K + alpha * np.eye(N)), rel=0.5)


def test_an_indefinite_matrix_is_refused():
    K = np.tanh(X @ X.T - 1.0)
    with pytest.raises(NotPositive, match=r"conjugate gradients cannot solve it"):
        cg(ridge(K, Y, alpha=1e-3), Options())


def test_constraints_are_refused():
    with pytest.raises(InvalidParameter, match="alpha above 0"):
        cg(ridge(RBF(0.7)(X), Y, alpha=0.0), Options())


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InvalidInput, match="weight"):
        cg(ridge(RBF(0.7)(X), Y, weight=0.0), Options())


def test_the_rank_grows_as_the_root_of_the_rows():
    assert [rank_for(n) for n in (1, 50, 1_000, 5_000, 10_000, 20_000, 100_000)] == [
        1, 50, 100, 500, 1_000, 1_414, 2_000,
    ]  # fmt: skip


def test_a_matrix_is_factored_whole_where_it_is_small():
    assert cg(ridge(RBF(0.7)(X[:90]), Y[:90]), Options()).iterations <= 3
