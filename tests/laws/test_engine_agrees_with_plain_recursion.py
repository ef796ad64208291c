"""The engine computes what the tree's formulas say, whole matrices and pairs, on points of every kind."""

import numpy as np
import scipy.sparse as sp
from hypothesis import assume, given, settings

from tests.laws.strategies import samples, vector_samples
from tests.oracles.kernels import gram
from tests.oracles.tape import evaluate_plan
from tests.tolerances import PSD, TREE


def assert_close(K, expected, relative=TREE):
    np.testing.assert_allclose(K, expected, rtol=relative, atol=relative * max(1.0, np.abs(expected).max()))


@settings(max_examples=200)
@given(sample=samples())
def test_engine_agrees_with_plain_recursion(sample):
    kernel, X = sample
    assert_close(kernel(X), gram(kernel, X))


@settings(max_examples=100)
@given(sample=samples())
def test_engine_agrees_with_the_interpreted_plan_on_two_sets_of_points(sample):
    kernel, X = sample
    first, second = X[: len(X) // 2 + 1], X[len(X) // 2 :]
    assert_close(kernel(first, second), evaluate_plan(kernel, first, second))


@settings(max_examples=100)
@given(sample=samples())
def test_swapping_the_points_transposes_the_matrix(sample):
    kernel, X = sample
    first, second = X[: len(X) // 2 + 1], X[len(X) // 2 :]
    assert_close(kernel(first, second), kernel(second, first).T)


@settings(max_examples=100)
@given(sample=samples())
def test_pairs_are_the_diagonal(sample):
    kernel, X = sample
    assert_close(kernel.diag(X), np.diag(kernel(X)))


@settings(max_examples=150)
@given(sample=samples())
def test_gram_is_positive_semidefinite_to_rounding(sample):
    kernel, X = sample
    K = kernel(X)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K)[0] >= -PSD * len(K) * np.abs(K).max()


@settings(max_examples=60)
@given(sample=vector_samples())
def test_sparse_rows_are_the_same_points(sample):
    kernel, X = sample
    assume("Periodic" not in repr(kernel))  # its map turns zeros into ones, and refuses sparse rows
    assert_close(kernel(sp.csr_array(X)), kernel(X))
