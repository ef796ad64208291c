import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels import L1, RBF, Laplacian, Linear, Matern, Periodic, Polynomial, Sigmoid, SquaredEuclidean
from mercer.maps import Scale, Torus
from tests.oracles.kernels import gram

X = np.random.default_rng(7).normal(size=(30, 3))


def median_of(psi, power=2):
    pairs = psi[np.triu_indices(len(psi), k=1)]
    return np.median(pairs[pairs > 0] ** (1 / power))


def test_median_is_that_of_the_distances_of_pairs():
    expected = median_of(gram(SquaredEuclidean(), X))
    assert RBF("median").resolve(X).length_scale == pytest.approx(expected)
    assert Matern(1.5, "median").resolve(X).length_scale == pytest.approx(expected)


def test_median_is_taken_in_the_view_of_the_node():
    kernel = (RBF("median").on(Scale([1.0, 2.0, 4.0])) + 2 * RBF("median").on(0)).resolve(X)
    assert kernel.terms[0].kernel.length_scale == pytest.approx(median_of(gram(SquaredEuclidean(), X * [1, 2, 4])))
    assert kernel.terms[1].kernel.kernel.length_scale == pytest.approx(median_of(gram(SquaredEuclidean(), X[:, :1])))


def test_median_uses_the_distance_of_the_kernel():
    assert RBF("median").of(L1()).resolve(X).kernel.length_scale == pytest.approx(median_of(gram(L1(), X)))
    assert Laplacian("median").resolve(X).length_scale == pytest.approx(median_of(gram(L1(), X), power=1))
    torus = Torus(2.0)
    on_circle = RBF("median").on(torus).resolve(X).kernel.length_scale
    assert Periodic("median", 2.0).resolve(X).length_scale == pytest.approx(on_circle)


def test_median_leaves_out_points_that_coincide():
    doubled = np.concatenate([X[:2]] * 10)
    assert RBF("median").resolve(doubled).length_scale == pytest.approx(np.linalg.norm(X[0] - X[1]))


def test_median_of_one_and_the_same_point_is_an_error():
    with pytest.raises(InvalidInput, match="all distances are zero"):
        RBF("median").resolve(np.ones((5, 2)))


def test_scale_and_auto_are_those_of_scikit_learn():
    gamma = 1 / (X.shape[1] * X.var())
    assert RBF("scale").resolve(X).length_scale == pytest.approx((2 * gamma) ** -0.5)
    assert RBF("auto").resolve(X).length_scale == pytest.approx((2 / 3) ** -0.5)
    assert Polynomial(2, 1.0, "scale").resolve(X) == Polynomial(2, 1.0, Polynomial(2, 1.0, "scale").resolve(X).gamma)
    assert Polynomial(2, 1.0, "scale").resolve(X).gamma == pytest.approx(gamma)
    assert Sigmoid("auto").resolve(X).gamma == pytest.approx(1 / 3)
    assert RBF("scale").resolve(np.ones((4, 2))).length_scale == pytest.approx(0.5**0.5)


def test_scale_of_sparse_points_is_that_of_dense_ones():
    dense = np.where(np.abs(X) > 1, X, 0.0)
    sparse = RBF("scale").resolve(sp.csr_array(dense)).length_scale
    assert sparse == pytest.approx(RBF("scale").resolve(dense).length_scale)


def test_a_resolved_kernel_is_returned_as_it_is():
    kernel = RBF() + Linear()
    assert kernel.resolve(X) is kernel
    assert not RBF("median").resolve(X).unresolved


def test_an_unresolved_kernel_cannot_be_lowered():
    from mercer.kernels.tape import compile_plan

    for kernel in (RBF("median"), Polynomial(2, 1.0, "scale"), Sigmoid("auto")):
        with pytest.raises(InvalidParameter, match="resolve"):
            compile_plan(kernel)


def test_median_of_many_points_is_repeatable():
    many = np.random.default_rng(1).normal(size=(1500, 2))
    assert RBF("median").resolve(many) == RBF("median").resolve(many)
