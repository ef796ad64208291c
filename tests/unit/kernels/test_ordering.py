import numpy as np
import pytest

from mercer.kernels import (
    L1,
    RBF,
    Cauchy,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polarised,
    RationalQuadratic,
    SquaredEuclidean,
)
from mercer.kernels.ordering import order_of
from mercer.maps import Scale, Torus

X = np.random.default_rng(5).normal(size=(12, 3))

DERIVED = {
    "linear": (3.0 * Linear() + 2.0 * Linear() + 1.0, SquaredEuclidean()),
    "rbf": (RBF(2.0), SquaredEuclidean()),
    "per column": (RBF([1.0, 2.0, 4.0]), SquaredEuclidean().on(Scale([1.0, 0.5, 0.25]))),
    "mixture": (2.0 * RBF(0.5) * Matern(1.5) + Cauchy(3.0) ** 2 + 0.5, SquaredEuclidean()),
    "laplacian": (Laplacian(2.0).exp(), L1()),
    "real power": (RationalQuadratic(2.0, 1.5) ** 0.7, SquaredEuclidean()),
    "periodic": (Periodic(1.0, 2.0), SquaredEuclidean().on(Torus(2.0))),
    "of a distance": (Matern(2.5).of((2.0 * L1().on(0, 1) ** 0.5).log1p()), L1().on(0, 1)),
    "of a feature space": (RBF(2.0).of(Polarised(2.0 * RBF(3.0))), SquaredEuclidean()),
    "of a linear one": (RBF(2.0).of(Polarised(2.0 * Linear())), SquaredEuclidean()),
}


@pytest.mark.parametrize("name", DERIVED)
def test_the_kernel_is_the_stated_function_of_the_stated_distance(name):
    kernel, psi = DERIVED[name]
    order = order_of(kernel)
    assert order is not None
    assert order.psi == psi
    K, distances = kernel(X), psi(X)
    squared = np.diag(K)[:, None] - 2.0 * K + np.diag(K)
    if order.factor is not None:
        np.testing.assert_allclose(order.factor * distances, squared, atol=1e-12)
    else:
        line = distances.ravel() if "L1" in repr(psi) else np.sqrt(distances.ravel())
        np.testing.assert_allclose(order.line(line[:, None], [[0.0]])[:, 0], K.ravel(), rtol=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear() ** 2,
        Cosine(),
        RBF() + Linear(),
        RBF() + Laplacian(),
        RBF().on(0) * RBF().on(1),
        RBF().of(SquaredEuclidean() + L1()),
        Linear().exp(),
        0.0 * RBF(),
    ],
    ids=repr,
)
def test_what_is_no_function_of_one_simple_distance_has_no_order(kernel):
    assert order_of(kernel) is None
