import numpy as np
import pytest

from mercer import RBF, Linear, gram
from mercer.grams.dense import DenseGram
from mercer.solvers.pivoted import pivoted_cholesky
from mercer.solvers.watch import Watch

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
S = RNG.random(80)


def pivot(K, rank, scale=None, stop=0.0, dtype=np.float64, watch=None):
    K = DenseGram(K) if isinstance(K, np.ndarray) else K
    scale = np.ones(K.shape[0]) if scale is None else scale
    watch = watch or Watch("pivots")
    return pivoted_cholesky(K, scale, rank, stop=stop, rng=np.random.default_rng(0), watch=watch, dtype=dtype)


def test_full_rank_reproduces_the_scaled_matrix():
    K = RBF(0.5)(X)
    found = pivot(K, 80, S)
    np.testing.assert_allclose(found.factor @ found.factor.T, S[:, None] * K * S, atol=1e-14)
    assert sorted(found.pivots) == list(range(80))
    assert found.trace == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_residual_is_positive_and_its_diagonal_known(dtype):
    K = S[:, None] * RBF(0.5)(X) * S
    found = pivot(RBF(0.5)(X), 30, S, dtype=dtype)
    F = found.factor.astype(float)
    residual = K - F @ F.T
    tolerance = 1e-13 if dtype is np.float64 else 1e-6
    assert found.factor.shape == (80, 30)
    assert found.factor.dtype == dtype
    assert np.linalg.eigvalsh(residual)[0] > -tolerance
    np.testing.assert_allclose(residual.diagonal(), found.diagonal, atol=tolerance)
    np.testing.assert_allclose(residual[found.pivots], 0.0, atol=tolerance)
    assert found.trace == pytest.approx(found.diagonal.sum())


def test_the_trace_of_the_residual_decreases_with_the_rank():
    traces = [pivot(RBF(1.0)(X), rank).trace for rank in range(0, 81, 5)]
    assert traces[0] == pytest.approx(80.0)
    assert (np.diff(traces) < 0.0).all()


def test_it_is_nearly_as_good_as_the_best_approximation_of_its_rank():
    K = RBF(2.0)(X)
    best = np.linalg.eigvalsh(K)[:-30].sum()
    assert pivot(K, 30).trace <= 10.0 * best


def test_the_same_pivots_are_drawn_again():
    first, second = (pivot(RBF(1.0)(X), 20) for _ in range(2))
    np.testing.assert_array_equal(first.pivots, second.pivots)
    np.testing.assert_array_equal(first.factor, second.factor)


def test_a_tiled_matrix_gives_the_same_pivots_as_a_stored_one():
    stored, tiled = (pivot(gram(RBF(1.0), X, budget=budget), 20) for budget in (1 << 30, 0))
    np.testing.assert_array_equal(stored.pivots, tiled.pivots)
    np.testing.assert_allclose(stored.factor, tiled.factor, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_ends_where_the_matrix_is_exhausted(dtype):
    K = Linear()(X)
    found = pivot(K, 50, dtype=dtype)
    assert found.factor.shape == (80, 3)
    assert found.trace == 0.0
    np.testing.assert_allclose(found.factor @ found.factor.T, K, atol=1e-12 if dtype is np.float64 else 1e-5)


def test_duplicate_rows_are_taken_once():
    twice = np.vstack([X, X])
    found = pivot(RBF(0.3)(twice), 160)
    assert found.factor.shape[1] == 80
    assert len(set(found.pivots % 80)) == 80


def test_it_ends_where_the_trace_is_small_enough():
    found = pivot(RBF(3.0)(X), 80, stop=1e-3)
    assert found.trace <= 1e-3
    assert found.factor.shape[1] < 80


def test_rows_that_are_zero_are_never_pivots():
    scale = np.where(np.arange(80) % 2, 1.0, 0.0)
    assert (pivot(RBF(0.3)(X), 80, scale).pivots % 2 == 1).all()
    assert pivot(np.zeros((4, 4)), 4).factor.shape == (4, 0)


def test_a_matrix_that_is_not_positive_gives_finite_numbers():
    found = pivot(np.array([[1.0, 3.0], [3.0, 1.0]]), 2)
    assert np.isfinite(found.factor).all()
    assert (found.diagonal >= 0.0).all()
    assert pivot(-np.eye(3), 3).factor.shape == (3, 0)


def test_it_ends_when_the_time_is_up():
    found = pivot(RBF(0.5)(X), 80, watch=Watch("pivots", 1e-9))
    assert 0 < found.factor.shape[1] < 80


def test_one_row_and_no_rank():
    assert pivot(np.array([[4.0]]), 1).factor.tolist() == [[2.0]]
    assert pivot(np.array([[4.0]]), 0).factor.shape == (1, 0)
