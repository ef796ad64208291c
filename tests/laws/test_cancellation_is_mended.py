"""‖x‖² + ‖z‖² − 2⟨x, z⟩ cancels for near points far from the origin; the kernels do not show it."""

import numpy as np
import pytest

import mercer
from mercer.kernels.binding import bind
from tests.tolerances import SINGLE

RNG = np.random.default_rng(3)


def exact(kernel, X):
    """Radial kernels from differences, in long double."""
    X = np.asarray(X, dtype=np.longdouble)
    squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    r = np.sqrt(squares)
    formulas = {
        "RBF": lambda: np.exp(-squares / 2),
        "Matern12": lambda: np.exp(-r),
        "Matern32": lambda: (1 + np.sqrt(np.longdouble(3)) * r) * np.exp(-np.sqrt(np.longdouble(3)) * r),
        "Cauchy": lambda: 1 / (1 + squares),
    }
    return formulas[kernel]()


KERNELS = {
    "RBF": mercer.RBF(),
    "Matern12": mercer.Matern(0.5),
    "Matern32": mercer.Matern(1.5),
    "Cauchy": mercer.Cauchy(),
}
DATA = {
    "offset 1e4, spread 1": RNG.normal(size=(400, 4)) + 1e4,
    "offset 1e4 in one column": RNG.normal(size=(400, 4)) + np.array([1e4, 0, 0, 0]),
    "tight clusters far apart": np.repeat(RNG.normal(size=(20, 3)) * 50, 20, axis=0) + RNG.normal(size=(400, 3)) * 1e-3,
    "norms of a hundred lengths": RNG.normal(size=(400, 2)) * 100,
    "many columns": RNG.normal(size=(400, 90)),
    "duplicates": np.repeat(RNG.normal(size=(40, 6)) * 10, 10, axis=0),
    "one column": np.linspace(-40, 40, 400)[:, None],
    "neighbours": np.cumsum(np.full((400, 1), 1e-4), axis=0) * np.ones(5),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", KERNELS)
def test_float32_is_within_one_millionth(kernel, data):
    # float32 points: the error is the engine's, not that of rounding the points
    X = DATA[data].astype(np.float32)
    K = KERNELS[kernel](X)
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, exact(kernel, X).astype(np.float64), rtol=0, atol=SINGLE)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kernel", KERNELS)
def test_float64_is_within_a_few_rounding_errors(kernel, data):
    X = DATA[data]
    np.testing.assert_allclose(KERNELS[kernel](X), exact(kernel, X).astype(np.float64), rtol=0, atol=2e-13)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_diagonal_is_exactly_one_and_nothing_exceeds_it(kernel, dtype, data):
    K = KERNELS[kernel](DATA[data].astype(dtype))
    np.testing.assert_array_equal(np.diag(K), 1)
    assert K.max() <= 1
    assert K.min() >= 0


def test_float64_points_may_be_worked_on_in_float32():
    X = RNG.normal(size=(300, 3)) + 1e4
    K = bind(mercer.RBF(), X, dtype="float32").self_cross().dense()
    np.testing.assert_allclose(K, exact("RBF", X).astype(np.float64), rtol=0, atol=SINGLE)


# A kernel of products beside one of distances: both are read from one tile, whose rows may be centred.
BESIDE = mercer.Cosine() * mercer.RBF(1e5)
MIXED_LENGTHS = {
    "one short row": np.vstack([RNG.normal(size=(199, 6)) + 1e4, RNG.normal(size=(1, 6))]),
    "lengths of eight orders": RNG.normal(size=(200, 6)) * np.geomspace(1e-4, 1e4, 200)[:, None] + 1e-4,
    "an offset that all have": RNG.normal(size=(200, 6)) + 1e4,
}


@pytest.mark.parametrize("data", MIXED_LENGTHS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 4 * SINGLE), ("float64", 2e-13)])
def test_products_are_right_beside_distances_whatever_the_lengths_of_rows(data, dtype, tolerance):
    X = MIXED_LENGTHS[data].astype(dtype)
    wide = X.astype(np.longdouble)
    lengths = np.sqrt((wide**2).sum(axis=1))
    squares = ((wide[:, None, :] - wide[None, :, :]) ** 2).sum(axis=2)
    expected = wide @ wide.T / lengths[:, None] / lengths * np.exp(-squares / (2 * np.longdouble(1e5) ** 2))
    np.testing.assert_allclose(BESIDE(X), expected.astype(np.float64), rtol=0, atol=tolerance)
