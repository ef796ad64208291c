"""Bitwise equal for any number of threads; equal within the stated error for any tiling and instruction set."""

import numpy as np
import pytest

import mercer
from mercer import _core
from mercer.kernels.binding import Binding
from mercer.points import as_points
from tests.tolerances import SAME_PROGRAM, SINGLE

RNG = np.random.default_rng(7)
VECTORS = np.abs(RNG.normal(size=(731, 5)))
SETS = [frozenset(RNG.choice(40, size=RNG.integers(0, 9)).tolist()) for _ in range(530)]
SAMPLES = {
    "gaussian": (mercer.RBF(1.5), VECTORS),
    "shared tile": (0.7 * mercer.RBF() + mercer.Linear() * mercer.Matern(1.5), VECTORS),
    "city block": (mercer.Laplacian(2.0) + mercer.HistogramIntersection(), VECTORS),
    "chi squared": (mercer.ExponentialChiSquared(0.5) * mercer.ArcCosine(1), VECTORS),
    "normalised": ((mercer.Linear() + 1.0).normalised() ** 3 + mercer.RationalQuadratic(2.0, 1.5), VECTORS),
    "sets": (mercer.Tanimoto(mercer.SetIntersection()) + mercer.RBF(2.0).on(mercer.Indicator()), SETS),
    "values": (mercer.Delta() + mercer.Periodic(1.0, 3.0), VECTORS.round(0)),
}
ISAS = [name for name, runs in _core.instruction_sets() if runs]


def reduced(kernel, X, dtype=np.float64, isa="", budget=48 << 20, half=None):
    """Every reducer's result, by name, on K(X, X) or on K(X[half], X)."""
    binding = Binding(kernel, as_points(X), np.dtype(dtype), isa, budget)
    cross = binding.self_cross() if half is None else binding.cross(X[half])
    n, m = cross.shape
    V, W = np.random.default_rng(0).normal(size=(m, 9)), np.random.default_rng(1).normal(size=(n, 9))
    return {
        "store": cross.dense(),
        "one": cross @ V[:, 0],
        "few": cross @ V[:, :3],
        "many": cross @ V,
        "sums": cross.row_sums(),
        "normal": cross.normal(V[:, :2], W[:, :2]),
        "best": cross.best(7)[0],
        "least": cross.best(3, largest=False)[1],
    }


@pytest.fixture
def threads():
    before = mercer.get_num_threads()
    yield mercer.set_num_threads
    mercer.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("half", [None, slice(0, 200)], ids=["symmetric", "two sets"])
@pytest.mark.parametrize("name", SAMPLES)
def test_results_are_bitwise_equal_for_any_number_of_threads(name, half, dtype, threads):
    kernel, X = SAMPLES[name]
    threads(1)
    alone = reduced(kernel, X, dtype, half=half)
    for count in (2, 3, 7):
        threads(count)
        for reducer, result in reduced(kernel, X, dtype, half=half).items():
            np.testing.assert_array_equal(result, alone[reducer], err_msg=f"{reducer} with {count} threads")


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("budget", [1, 48 << 20], ids=["one tile", "whole"])
@pytest.mark.parametrize("half", [None, slice(0, 200)], ids=["symmetric", "two sets"])
@pytest.mark.parametrize("name", SAMPLES)
def test_every_reducer_agrees_with_the_stored_matrix(name, half, budget, isa):
    kernel, X = SAMPLES[name]
    K = reduced(kernel, X, half=half)["store"]
    V, W = np.random.default_rng(0).normal(size=(K.shape[1], 9)), np.random.default_rng(1).normal(size=(K.shape[0], 9))
    expected = {
        "store": K,
        "one": K @ V[:, 0],
        "few": K @ V[:, :3],
        "many": K @ V,
        "sums": K.sum(axis=1),
        "normal": K.T @ (K @ V[:, :2] + W[:, :2]),
        "best": -np.sort(-K, axis=1)[:, :7],
    }
    got = reduced(kernel, X, isa=isa, budget=budget, half=half)
    for reducer, values in expected.items():
        scale = np.abs(K).sum(axis=1).max() * np.abs(values).max()
        np.testing.assert_allclose(got[reducer], values, rtol=0, atol=SAME_PROGRAM * max(scale, 1.0), err_msg=reducer)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", ["gaussian", "city block", "values"])
def test_float32_agrees_with_float64(name, isa):
    kernel, X = SAMPLES[name]
    single, double = reduced(kernel, X, "float32", isa), reduced(kernel, X, "float64")
    scale = np.abs(double["store"]).max()
    np.testing.assert_allclose(single["store"], double["store"], rtol=0, atol=SINGLE * max(scale, 1.0))
    np.testing.assert_allclose(single["many"], double["many"], rtol=0, atol=SINGLE * scale * 4 * len(X))


def test_ties_go_to_the_smaller_index():
    cross = Binding(
        mercer.Delta(), as_points(np.array([[1.0], [2.0], [1.0], [1.0]])), np.dtype(np.float64)
    ).self_cross()
    values, indices = cross.best(4)
    np.testing.assert_array_equal(indices[0], [0, 2, 3, 1])
    np.testing.assert_array_equal(values[1], [1, 0, 0, 0])
    np.testing.assert_array_equal(indices[1], [1, 0, 2, 3])
