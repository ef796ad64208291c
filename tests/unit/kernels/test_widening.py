import numpy as np

from mercer.kernels import (
    L1,
    RBF,
    Constant,
    ExponentialChiSquared,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polarised,
    SquaredEuclidean,
)
from mercer.kernels.widening import distance_of, widened
from mercer.maps import Scale

X = np.random.default_rng(0).standard_normal((80, 2))


def test_a_bandwidth_multiplies_the_length_scales():
    kernel = RBF(2.0) + 0.5 * Laplacian(3.0) * Matern(1.5, [1.0, 2.0])
    assert widened(kernel, 0.5) == RBF(1.0) + 0.5 * Laplacian(1.5) * Matern(1.5, [0.5, 1.0])
    np.testing.assert_allclose(widened(kernel, 0.5)(X), kernel.on(Scale(2.0))(X), rtol=1e-10)
    assert widened(RBF(2.0).of(Polarised(RBF(3.0))), 2.0) == RBF(4.0).of(Polarised(RBF(3.0)))
    assert widened(Periodic(1.0, 7.0), 2.0) == Periodic(2.0, 7.0)
    assert widened(ExponentialChiSquared(0.5), 2.0) == ExponentialChiSquared(0.25)


def test_the_distance_of_a_kernel():
    assert distance_of(RBF(2.0)) == SquaredEuclidean() * 0.25
    assert distance_of(Laplacian(2.0)) == L1() * 0.5
    assert distance_of(3.0 * RBF(1.0).on(0) ** 2) == (SquaredEuclidean() * 1.0).on(0)
    assert distance_of(Linear()) == Polarised(Linear())
    assert distance_of(RBF() + Constant(1.0)) == SquaredEuclidean() * 1.0
