import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.grams.dense import DenseGram

RNG = np.random.default_rng(0)
A = RNG.standard_normal((700, 4))
K = A @ A.T


@pytest.mark.parametrize("V", [RNG.standard_normal(700), RNG.standard_normal((700, 3))], ids=["vector", "matrix"])
def test_products_are_those_of_the_matrix(V):
    np.testing.assert_allclose(DenseGram(K) @ V, K @ V)


def test_products_of_float32_entries_with_float64_vectors_are_float64():
    V = RNG.standard_normal(700)
    product = DenseGram(K.astype(np.float32)) @ V
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, K.astype(np.float32).astype(np.float64) @ V, rtol=1e-12)


def test_the_matrix_is_neither_copied_nor_writable():
    gram = DenseGram(K)
    assert np.shares_memory(gram.dense(), K)
    with pytest.raises(ValueError, match="read-only"):
        gram.dense()[0, 0] = 1.0
    K[0, 0] += 0.0  # the user's own array stays writable


def test_the_entries_can_be_written_into_an_array():
    out = np.empty_like(K)
    assert DenseGram(K).dense(out=out) is out
    np.testing.assert_array_equal(out, K)


def test_rows_are_taken_with_their_columns():
    rows = np.array([5, 2, 600])
    np.testing.assert_array_equal(DenseGram(K).take(rows).dense(), K[np.ix_(rows, rows)])
    np.testing.assert_array_equal(DenseGram(K).take(slice(3, 9)).dense(), K[3:9, 3:9])


def test_columns_and_diagonal_are_those_of_the_matrix():
    gram = DenseGram(K)
    np.testing.assert_array_equal(gram.columns(np.array([4, 1])), K[:, [4, 1]])
    np.testing.assert_array_equal(gram.diag(), np.diag(K))
    assert gram.features() is None
    assert gram.proof is None


@pytest.mark.parametrize("matrix", [np.ones(3), np.ones((2, 2), dtype=int)])
def test_what_is_not_a_matrix_of_floats_is_refused(matrix):
    with pytest.raises(InvalidInput, match="float32 or float64"):
        DenseGram(matrix)
