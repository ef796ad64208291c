"""A random number for each row, the same for equal rows: what deals copies of a row into one fold."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.points.base import Points
from mercer.points.vectors import Vectors

__all__ = ["row_keys"]

# Rows that are mixed at a time.
ROWS_AT_ONCE = 2048


def row_keys(points: Points, random: np.random.RandomState) -> npt.NDArray[Any]:
    """A key for each row; equal rows have equal ones, so that a weight is a number of copies.

    Points that are no vectors get theirs by their place.

    Examples
    --------
    >>> keys = row_keys(Vectors([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]), np.random.RandomState(0))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    if not isinstance(points, Vectors):
        return random.permutation(len(points))
    factors = 1 + 2 * random.randint(0, 1 << 62, size=points.width, dtype=np.uint64)
    if points.is_sparse:
        bits = (points.csr.data.astype(np.float64) + 0.0).view(np.uint64)  # −0.0 becomes 0.0, which counts for nothing
        mixed = sp.csr_array((bits * factors[points.csr.indices], points.csr.indices, points.csr.indptr), points.shape)
        return np.asarray(mixed.sum(axis=1)).reshape(-1)
    rows = points.raw()
    keys = np.empty(len(rows), dtype=np.uint64)
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(begin, begin + ROWS_AT_ONCE)
        bits = (rows[some].astype(np.float64) + 0.0).view(np.uint64)
        keys[some] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return keys
