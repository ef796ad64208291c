import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer.grams.choose import gram_to_solve
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.kernels.binding import bind

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3))
KERNELS = [mercer.Linear(), mercer.Polynomial(2), 0.5 * mercer.Linear() + 2.0, mercer.Cosine()]


def factored(kernel, X=X):
    found = gram_to_solve(bind(kernel, X, dtype=np.float64))
    assert isinstance(found, FeatureGram)
    return found


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_the_gram_matrix(kernel):
    K, expected = factored(kernel), kernel(X)
    np.testing.assert_allclose(K.dense(), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(K.diag(), expected.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(K.columns(np.array([3, 7])), expected[:, [3, 7]], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(K.take(np.arange(0, 50, 7)).dense(), expected[::7, ::7], rtol=1e-10, atol=1e-12)
    for V in (RNG.standard_normal(50), RNG.standard_normal((50, 2))):
        np.testing.assert_allclose(K @ V, expected @ V, rtol=1e-9, atol=1e-10)


def test_it_writes_into_a_matrix_that_is_given():
    out = np.empty((50, 50), dtype=np.float32)
    assert factored(mercer.Linear()).dense(out) is out
    np.testing.assert_allclose(out, X @ X.T, rtol=1e-5, atol=1e-5)


def test_sparse_rows_have_features_too():
    S = sp.random_array((60, 8), density=0.3, rng=1, format="csr")
    np.testing.assert_allclose((factored(mercer.Linear(), S) @ np.ones(60)), S @ (S.T @ np.ones(60)), rtol=1e-12)


def test_many_features_or_none_are_left_to_the_other_grams():
    assert isinstance(gram_to_solve(bind(mercer.Polynomial(4), X)), DenseGram)
    assert isinstance(gram_to_solve(bind(mercer.RBF(), X)), DenseGram)


def test_the_factor_is_made_in_blocks_and_never_as_a_second_copy_of_the_rows():
    blocks = list(factored(mercer.Linear()).features())
    assert all(np.shares_memory(block, X) for _, block in blocks)
    np.testing.assert_array_equal(np.vstack([block for _, block in blocks]), X)
