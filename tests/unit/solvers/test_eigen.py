import numpy as np
import pytest

from mercer import budget
from mercer.errors import InvalidInput, NotPositive, TooLarge
from mercer.grams.dense import DenseGram
from mercer.kernels import RBF, Linear
from mercer.problems.certify import certify
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Status
from mercer.solvers.eigen import border, decompose, eigen
from mercer.solvers.options import Options

RNG = np.random.default_rng(0)
N = 50
X = RNG.standard_normal((N, 3))
Y = RNG.standard_normal((N, 2))
W = np.where(np.arange(N) < 4, 0.0, RNG.random(N))
K = RBF()(X)
DERIVED = RBF().proof()
NOTHING, ONES = np.empty((N, 0)), np.ones((N, 1))
LINE = np.column_stack([np.ones(N), RNG.standard_normal(N)])


def problem(K, alpha, *, y=Y, weight=None, B=NOTHING, price=None, proof=DERIVED):
    weight = np.ones(len(y)) if weight is None else weight
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = np.where(weight[:, None] > 0.0, weight[:, None] / np.broadcast_to(alpha, y.shape[1]), 0.0)
    price = np.zeros(B.shape[1]) if price is None else price
    return Problem(DenseGram(K, proof), y, LOSSES["squared"], cost, B, price, weight)


def bordered(K, alpha, y, weight, B, price):
    """The optimum for one target, by the equations as they stand."""
    rows = np.flatnonzero(weight > 0.0)
    n, q = rows.size, B.shape[1]
    system = np.zeros((n + q, n + q))
    system[:n, :n] = K[np.ix_(rows, rows)] + np.diag(alpha / weight[rows])
    system[:n, n:], system[n:, :n] = B[rows], B[rows].T
    found = np.linalg.solve(system, np.append(y[rows], price))
    coef = np.zeros(len(y))
    coef[rows] = found[:n]
    return coef, found[n:]


@pytest.mark.parametrize("B", [NOTHING, ONES, LINE], ids=["no border", "an intercept", "a line"])
@pytest.mark.parametrize("weight", [np.ones(N), W], ids=["no weights", "weights"])
@pytest.mark.parametrize("far", [0.0, 1e6], ids=["near zero", "far from zero"])
def test_every_target_has_its_own_penalty_from_one_decomposition(B, weight, far):
    alphas = [0.1, 10.0]
    y = Y + (far if B.shape[1] else 0.0)
    answer = eigen(problem(K, alphas, y=y, weight=weight, B=B), Options())
    for target, alpha in enumerate(alphas):
        # Without the mean, which only θ may see.
        coef, theta = bordered(K, alpha, Y[:, target], weight, B, np.zeros(B.shape[1]))
        np.testing.assert_allclose(answer.coef[:, target], coef, rtol=1e-7, atol=1e-14 * max(far, 100.0) / alpha)
        if B.shape[1]:
            theta[0] += far
            np.testing.assert_allclose(answer.theta[:, target], theta, rtol=1e-9, atol=1e-10)
    assert not answer.indefinite
    assert answer.condition > 1.0


def test_a_price_moves_the_border():
    price = np.array([0.3, -2.0])
    answer = eigen(problem(K, 0.5, weight=W, B=LINE, price=price), Options())
    for target in range(2):
        coef, theta = bordered(K, 0.5, Y[:, target], W, LINE, price)
        np.testing.assert_allclose(answer.coef[:, target], coef, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(answer.theta[:, target], theta, rtol=1e-8)
    np.testing.assert_allclose(LINE.T @ answer.coef, np.tile(price[:, None], 2))


def test_dependent_columns_share_the_unpenalised_part():
    twice = np.hstack([ONES, 2.0 * ONES])
    one, two = (eigen(problem(K, 0.5, B=B), Options()) for B in (ONES, twice))
    np.testing.assert_allclose(two.coef, one.coef, atol=1e-12)
    np.testing.assert_allclose(twice @ two.theta, ONES @ one.theta)


def test_no_kernel_at_all_leaves_the_mean():
    answer = eigen(problem(np.zeros((N, N)), 0.5, B=ONES), Options())
    np.testing.assert_allclose(answer.theta[0], Y.mean(axis=0))
    np.testing.assert_allclose(answer.coef, (Y - Y.mean(axis=0)) / 0.5)
    assert answer.rank == 0


@pytest.mark.parametrize("B", [NOTHING, ONES], ids=["no border", "an intercept"])
@pytest.mark.parametrize("weight", [np.ones(N), W], ids=["no weights", "weights"])
def test_without_a_penalty_it_is_least_squares_of_least_norm(B, weight):
    F = np.vstack([X[:25], X[:25]])  # duplicates with other targets: nothing interpolates
    task = problem(F @ F.T, 0.0, weight=weight, B=B, proof=Linear().proof())
    solution = certify(task, eigen(task, Options()), solver="eigen", tol=1e-8)
    root = np.sqrt(weight)[:, None]
    expected, *_ = np.linalg.lstsq(root * np.hstack([F, B]), root * Y, rcond=None)
    np.testing.assert_allclose(F.T @ solution.coef, expected[:3], rtol=1e-9)
    np.testing.assert_allclose(solution.theta, expected[3:], rtol=1e-9)
    assert solution.status is Status.LEAST_SQUARES
    assert solution.certificate.rank == 3
    assert "numerical rank 3" in solution.certificate.note


def test_without_a_penalty_a_regular_matrix_interpolates():
    task = problem(K, 0.0, B=ONES)
    solution = certify(task, eigen(task, Options()), solver="eigen", tol=1e-8)
    assert solution.status is Status.INTERPOLATING
    np.testing.assert_allclose(K @ solution.coef + solution.intercept, Y, atol=1e-8)


def test_one_target_may_have_a_penalty_and_another_none():
    both = eigen(problem(K, [0.0, 0.5], weight=W, B=ONES), Options())
    for target, alpha in enumerate([0.0, 0.5]):
        alone = eigen(problem(K, alpha, y=Y[:, [target]], weight=W, B=ONES), Options())
        np.testing.assert_allclose(both.coef[:, [target]], alone.coef, rtol=1e-6, atol=1e-9)


def test_an_indefinite_matrix_that_was_only_assumed_has_a_stationary_point():
    A = RNG.standard_normal((N, N))
    A = A + A.T
    answer = eigen(problem(A, 0.3, B=ONES, proof=None), Options())
    assert answer.indefinite
    residual = Y - A @ answer.coef - answer.theta - 0.3 * answer.coef
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


def test_an_indefinite_matrix_with_the_penalty_as_an_eigenvalue_is_refused():
    A = np.diag(np.append(np.ones(N - 1), -0.5))
    with pytest.raises(NotPositive, match="one of its eigenvalues"):
        eigen(problem(A, 0.5, proof=None), Options())


@pytest.mark.parametrize("proof", [DERIVED, None], ids=["derived", "assumed"])
def test_negative_eigenvalues_of_a_positive_matrix_are_rounding(proof):
    smooth = RBF(20.0)(X)
    assert np.linalg.eigvalsh(smooth)[0] < 0.0
    spectrum = decompose(DenseGram(smooth, proof), np.ones(N), border(ONES))
    assert spectrum.values.min() == 0.0
    assert spectrum.vectors.shape == (N, N - 1)
    np.testing.assert_allclose(spectrum.vectors.sum(axis=0), 0.0, atol=1e-13)


def test_the_gram_matrix_is_not_written_to():
    before = K.copy()
    eigen(problem(K, 0.5, weight=W, B=ONES), Options())
    np.testing.assert_array_equal(K, before)


def test_a_target_with_both_finite_and_infinite_costs_is_refused():
    task = problem(K, 0.5)
    task.cost[0, 1] = np.inf
    with pytest.raises(InvalidInput, match=r"all finite or all infinite.*\n.*Target 1 has 1"):
        eigen(task, Options())


def test_no_costs_at_all_are_refused():
    with pytest.raises(InvalidInput, match="No row has a cost"):
        eigen(problem(K, 0.5, weight=np.zeros(N)), Options())


def test_what_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(budget, "memory_there", lambda: 1000)
    with pytest.raises(TooLarge, match="eigendecomposition of 50 x 50"):
        eigen(problem(K, 0.5), Options())
