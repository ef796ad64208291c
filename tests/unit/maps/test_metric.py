"""`Metric`: distances by a positive semi-definite matrix, with its eigenvalue in the proof."""

import numpy as np
import pytest

from mercer import RBF, InvalidInput, KernelRidge, Laplacian, Linear, Metric, NotPositive, Quadratic, parse
from mercer.errors import InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 3))
ROOT = RNG.standard_normal((2, 3))
A = ROOT.T @ ROOT  # of rank 2


def by_definition(matrix):
    return ((X[:, None] - X[None]) @ matrix * (X[:, None] - X[None])).sum(axis=2)


def test_distances_are_those_of_the_matrix():
    np.testing.assert_allclose(RBF().on(Metric(A))(X), np.exp(-0.5 * by_definition(A)), rtol=1e-10)
    np.testing.assert_allclose(Linear().on(Metric(A))(X), Quadratic(A)(X), rtol=1e-10, atol=1e-12)


def test_a_diagonal_is_a_length_for_each_column():
    lengths = np.array([0.5, 2.0, 3.0])
    np.testing.assert_allclose(RBF().on(Metric(lengths**-2))(X), RBF(lengths)(X), rtol=1e-10)
    dropped = Laplacian().on(Metric([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(dropped(X), Laplacian()(X[:, [0, 2]]), rtol=1e-12)


def test_zeros_leave_nothing_to_tell_points_apart():
    for zeros in (np.zeros(3), np.zeros((3, 3))):
        np.testing.assert_array_equal(RBF().on(Metric(zeros))(X), np.ones((20, 20)))


def test_the_proof_says_what_the_smallest_eigenvalue_is():
    proof = RBF().on(Metric([[2.0, 1.0], [1.0, 2.0]])).proof()
    assert "rule 8: smallest eigenvalue of A = 1 ≥ 0 to rounding" in str(proof)
    assert "smallest eigenvalue" in proof.latex()
    assert proof.is_derived


@pytest.mark.parametrize("matrix", [A, np.array([0.25, 1.0, 4.0])])
def test_the_formula_reads_back_and_serves_a_machine(matrix):
    kernel = RBF(1.5).on(Metric(matrix))
    assert parse(repr(kernel)) == kernel
    y = np.sin(X[:, 0])
    assert KernelRidge(kernel=kernel, alpha=1e-6).fit(X, y).score(X, y) > 0.9
    np.testing.assert_allclose(kernel(X.astype(np.float32)), kernel(X), atol=1e-5)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], NotPositive, "got -1 with v"),
        ([[1.0, 2.0], [0.0, 1.0]], NotPositive, "differs from its transpose"),
        ([1.0, -0.5], NotPositive, "got -0.5 for column 1"),
        ([[1.0, 0.0]], InvalidParameter, "shape"),
        ([], InvalidParameter, "positive semi-definite"),
        ([np.nan], InvalidParameter, "positive semi-definite"),
        ("median", InvalidParameter, "positive semi-definite"),
    ],
)
def test_what_is_no_metric_is_refused(matrix, error, message):
    with pytest.raises(error, match=message):
        Metric(matrix)


def test_points_of_another_width_are_refused():
    with pytest.raises(InvalidInput, match="X has 3 features, but Metric is expecting 2"):
        RBF().on(Metric([1.0, 2.0]))(X)
