import numpy as np
import pytest

import mercer
from mercer.errors import InvalidInput, NotPositive, TooLarge
from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers import lapack
from mercer.solvers import mixed as module
from mercer.solvers.cholesky import cholesky
from mercer.solvers.mixed import is_coarse, mixed
from mercer.solvers.options import Options

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = RNG.standard_normal((60, 2))
W = RNG.random(60)
TOL = 1e-10


def rbf(X, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def ridge(gram, y, alpha=0.1, weight=1.0, intercept=False):
    n, t = y.shape
    cost = np.broadcast_to(np.reshape(weight, (-1, 1)) / np.reshape(np.asarray(alpha, float), (1, -1)), (n, t))
    B = np.ones((n, int(intercept)))
    gram = DenseGram(gram) if isinstance(gram, np.ndarray) else gram
    return Problem(gram, y, LOSSES["squared"], np.array(cost), B, np.zeros(int(intercept)))


def bordered(K, y, alpha, weight):
    """The oracle: the whole system of coefficients and intercept."""
    n = len(K)
    M = np.block([[K + np.diag(alpha / weight), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = np.linalg.solve(M, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return solved[:-1], solved[-1:]


@pytest.mark.parametrize("alpha", [10.0, 0.1, 1e-4])
def test_the_coefficients_solve_the_normal_equations_in_float64(alpha):
    K = rbf(X)
    answer = mixed(ridge(K, Y, alpha), Options(tol=1e-12))
    expected = np.linalg.solve(K + alpha * np.eye(60), Y)
    np.testing.assert_allclose(answer.coef, expected, atol=1e-9 * np.abs(expected).max())
    assert not answer.stopped
    assert answer.note == ""
    assert answer.iterations == len(answer.trace)
    assert answer.trace[-1] <= 1e-12


def test_weights_zero_weights_and_an_intercept_solve_the_bordered_system():
    K, weight = rbf(X), W.copy()
    weight[[0, 7, 31]] = 0.0
    rows = np.flatnonzero(weight)
    answer = mixed(ridge(K, Y + 5.0, weight=weight, intercept=True), Options(tol=TOL))
    coef, theta = bordered(K[np.ix_(rows, rows)], Y[rows] + 5.0, 0.1, weight[rows])
    np.testing.assert_allclose(answer.coef[rows], coef, atol=1e-7)
    np.testing.assert_allclose(answer.theta, theta, rtol=1e-8)
    np.testing.assert_array_equal(answer.coef[[0, 7, 31]], 0.0)


def test_each_target_may_have_its_own_penalty():
    K, alphas = rbf(X), [0.1, 10.0]
    both = mixed(ridge(K, Y, alphas), Options(tol=TOL))
    for j, alpha in enumerate(alphas):
        expected = np.linalg.solve(K + alpha * np.eye(60), Y[:, j])
        np.testing.assert_allclose(both.coef[:, j], expected, atol=1e-8)


def test_a_tiled_matrix_is_never_needed_in_float64():
    gram = mercer.gram(mercer.RBF(), X, budget=0)
    answer = mixed(ridge(gram, Y), Options(tol=TOL))
    np.testing.assert_allclose(answer.coef, np.linalg.solve(rbf(X) + 0.1 * np.eye(60), Y), atol=1e-8)


def test_entries_in_float32_are_solved_as_they_are():
    K = rbf(X).astype(np.float32)
    answer = mixed(ridge(K, Y), Options(tol=TOL))
    np.testing.assert_allclose(answer.coef, np.linalg.solve(K.astype(float) + 0.1 * np.eye(60), Y), atol=1e-8)


def test_several_panels_give_the_same_answer(monkeypatch):
    monkeypatch.setattr(lapack, "PANELS", dict.fromkeys(lapack.PANELS, 256))
    monkeypatch.setattr(lapack, "STEP", 1.0)
    many = RNG.standard_normal((1100, 5))
    y = RNG.standard_normal((1100, 3))
    K = rbf(many, gamma=0.1)
    answer = mixed(ridge(K, y, alpha=1e-2), Options(tol=TOL))
    expected = np.linalg.solve(K + 1e-2 * np.eye(1100), y)
    np.testing.assert_allclose(answer.coef, expected, atol=1e-7 * np.abs(expected).max())


def test_one_row_and_targets_of_zero_are_solved():
    np.testing.assert_allclose(mixed(ridge(np.array([[3.0]]), np.array([[8.0]]), 1.0), Options()).coef, 2.0)
    answer = mixed(ridge(rbf(X), np.zeros((60, 1))), Options())
    np.testing.assert_array_equal(answer.coef, 0.0)
    assert answer.iterations == 0


def test_tiny_weights_do_not_spoil_the_answer():
    weight = np.where(np.arange(60) % 2, 1.0, 1e-200)
    answer = mixed(ridge(rbf(X), Y, weight=weight), Options())
    assert not answer.stopped
    rows = np.flatnonzero(weight == 1.0)
    expected = np.linalg.solve(rbf(X)[np.ix_(rows, rows)] + 0.1 * np.eye(rows.size), Y[rows])
    np.testing.assert_allclose(answer.coef[rows], expected, atol=1e-6)


def test_a_shift_that_float32_needs_is_in_the_preconditioner_only():
    K = rbf(X, gamma=1e-3)
    answer = mixed(ridge(K, Y, alpha=1e-8), Options(tol=1e-8))
    assert "float32 needed a shift of" in answer.note
    M = K + 1e-8 * np.eye(60)
    assert np.linalg.norm(Y - M @ answer.coef, axis=0).max() <= 1e-7 * np.linalg.norm(Y)
    assert answer.iterations > 1


def test_an_iteration_limit_is_said_to_have_stopped_it():
    answer = mixed(ridge(rbf(X, gamma=1e-3), Y, alpha=1e-8), Options(tol=1e-12, max_iter=2))
    assert answer.stopped
    assert answer.iterations == 2
    assert "stopped at a relative residual of" in answer.note


def test_a_tolerance_beyond_rounding_ends_and_says_so():
    answer = mixed(ridge(rbf(X, gamma=1e-3), Y, alpha=1e-6), Options(tol=1e-15))
    assert "limited by rounding at a relative residual of" in answer.note
    assert not answer.stopped
    assert answer.iterations < module.MAX_ITER


def test_a_time_limit_leaves_zeros_and_says_so():
    problem = ridge(np.eye(1100), np.ones((1100, 1)))
    answer = mixed(problem, Options(max_time=1e-9))
    assert answer.stopped
    assert not answer.coef.any()
    assert "time ran out" in answer.note


def test_numbers_beyond_float32_are_refused_with_what_to_do():
    for size in (1e40, 1e-40):
        with pytest.raises(NotPositive, match=r"float32.*\n.*\n.*cholesky"):
            mixed(ridge(size * rbf(X), Y, alpha=0.1 * size), Options())


def test_an_indefinite_matrix_is_refused():
    K = np.tanh(X @ X.T - 1.0)
    with pytest.raises(NotPositive, match=r"not positive|no Cholesky factor"):
        mixed(ridge(K, Y, alpha=1e-3), Options())


@pytest.mark.parametrize(("alpha", "asked"), [(1e-3, r"float32 would take 3\.6"), (0.1, r"16 bits would take 2\.7")])
def test_memory_is_asked_for(alpha, asked):
    gram = mercer.gram(mercer.RBF(), np.zeros((10**6, 1)), budget=0)
    with pytest.raises(TooLarge, match=asked + r" TB.*\n.*\n.*cg"):
        mixed(ridge(gram, np.ones((10**6, 1)), alpha), Options())


KERNELS = [mercer.RBF(), 5.0 * mercer.Matern(1.5), mercer.Linear() + 0.5 * mercer.RBF(), (mercer.Linear() + 1) ** 2]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_factor_in_16_bits_solves_in_float64(kernel, intercept):
    points, y = RNG.standard_normal((400, 3)), RNG.standard_normal((400, 1))
    weight = RNG.uniform(0.2, 3.0, 400)
    weight[[3, 200]] = 0.0
    gram = mercer.gram(kernel, points, budget=0)
    alpha = 0.01 * float(gram.diag().max())
    answer = mixed(ridge(gram, y, alpha, weight, intercept), Options(tol=TOL))
    expected = cholesky(ridge(gram, y, alpha, weight, intercept), Options())
    np.testing.assert_allclose(answer.coef, expected.coef, atol=1e-7 * np.abs(expected.coef).max())
    np.testing.assert_allclose(answer.theta, expected.theta, atol=1e-7)
    assert answer.note == "a factor in 16 bits"
    assert answer.iterations <= 12


def test_where_16_bits_leave_no_factor_a_shift_does_and_then_float32():
    points, y = RNG.standard_normal((400, 1)), RNG.standard_normal((400, 1))  # smooth in one dimension: of low rank
    gram = mercer.gram(mercer.RBF(), points, budget=0)
    for alpha, note in ((1e-4, "16 bits of K shifted by"), (1e-5, "")):
        answer = mixed(ridge(gram, y, alpha), Options(tol=1e-8))
        expected = np.linalg.solve(gram.dense() + alpha * np.eye(400), y)
        np.testing.assert_allclose(gram @ answer.coef, gram @ expected, atol=1e-5)
        assert note in answer.note
        assert ("16 bits" in answer.note) == bool(note)


def test_16_bits_are_for_few_right_hand_sides_and_for_numbers_that_float32_holds():
    gram = mercer.gram(mercer.RBF(), X, budget=0)
    assert is_coarse(gram, 0.1, 2)
    assert not is_coarse(gram, 0.1, 3)
    assert not is_coarse(DenseGram(rbf(X)), 0.1, 1)
    assert not is_coarse(mercer.gram(1e40 * mercer.RBF(), X, budget=0), 1e39, 1)


def test_a_factor_in_16_bits_ends_when_its_time_is_up():
    gram = mercer.gram(mercer.RBF(), RNG.standard_normal((1500, 3)), budget=0)
    answer = mixed(ridge(gram, np.ones((1500, 1))), Options(max_time=1e-9))
    assert answer.stopped
    assert "time ran out" in answer.note


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InvalidInput, match="weight"):
        mixed(ridge(rbf(X), Y, weight=0.0), Options())
