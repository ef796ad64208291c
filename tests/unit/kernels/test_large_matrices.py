"""Matrices larger than the caches are written past them where their rows begin on lines of the cache."""

import numpy as np
import pytest

import mercer
from mercer.budget import LINE, empty_on_a_line
from mercer.kernels.binding import bind

RNG = np.random.default_rng(0)
# The least sizes whose matrices have 64 MB, and rows of whole lines.
SIZES = {np.float64: 2_904, np.float32: 4_112}


def beside_a_line(shape, dtype):
    """An array that no line begins with, so that nothing is written past the caches."""
    room = empty_on_a_line((shape[0] * shape[1] + 1,), dtype)
    return room[1:].reshape(shape)


@pytest.mark.parametrize("dtype", SIZES)
@pytest.mark.parametrize("extra", [0, 13])
def test_they_hold_the_same_numbers(dtype, extra):
    m = SIZES[dtype]
    X, Z = (RNG.normal(size=(n, 3)).astype(dtype) for n in (m + extra, m))
    cross = bind(mercer.RBF(), Z, dtype=dtype).cross(X)
    np.testing.assert_array_equal(cross.dense(), cross.dense(beside_a_line((m + extra, m), dtype)))


@pytest.mark.parametrize("dtype", SIZES)
def test_so_do_both_halves_of_a_symmetric_one(dtype):
    n = SIZES[dtype]
    cross = bind(mercer.RBF(), RNG.normal(size=(n, 3)).astype(dtype), dtype=dtype).self_cross()
    K = cross.dense()
    np.testing.assert_array_equal(K, cross.dense(beside_a_line((n, n), dtype)))
    np.testing.assert_array_equal(K, K.T)
    half = cross.upper_half(np.full((n, n), 7.0, dtype=dtype))
    upper = np.triu_indices(n)
    np.testing.assert_array_equal(half[upper], K[upper])


def test_an_array_begins_on_a_line():
    for shape in ((3, 5), (1, 1), (0, 4)):
        for dtype in (np.float32, np.float64):
            found = empty_on_a_line(shape, dtype)
            assert (found.shape, found.dtype) == (shape, np.dtype(dtype))
            assert found.ctypes.data % LINE == 0 or not found.size
            assert found.flags.c_contiguous
            assert found.flags.writeable
