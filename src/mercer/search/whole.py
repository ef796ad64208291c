"""Vectors rounded to 16-bit integers, and how far that moves each of them.

Distances between integer vectors are exact, and the engine multiplies twice as many of them at a time as floats.
With x = c + s·(q + r), q whole, the distance of two vectors differs from s‖q − q'‖ by at most s‖r‖ + s‖r'‖.
"""

import math
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.budget import CACHED, row_blocks

__all__ = ["Matrix", "WholeVectors"]

Array = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.floating[Any]]
Index = npt.NDArray[np.intp]

# Numbers of 16 bits, doubled on one side.
_LARGEST = (1 << 14) - 1
_EPS = float(np.finfo(np.float64).eps)
# The least step: one that has a reciprocal.
_LEAST = float(np.finfo(np.float64).tiny)


@final
class WholeVectors:
    """Vectors among which nearest neighbours are searched by their integer parts.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        float32 or float64.
    centre : ndarray of shape (d,)
        c.
    span : float
        The largest |x − c| of all coordinates.
    is_whole : bool
        Whether rows and centre are integers; if small enough, they are used unchanged.
    """

    def __init__(self, rows: Matrix, centre: Array, span: float, *, is_whole: bool) -> None:
        # 2⟨x, z⟩ − ‖z‖² in 32 bits.
        self._most = min(_LARGEST, math.isqrt((2**31 - 1) // (3 * rows.shape[1])))
        self._centre = centre
        self._step = 1.0 if is_whole and span <= self._most else max(span / self._most, _LEAST)
        whole, moved = self._rounded(rows)
        self._moved = float(moved.max())
        self._packed = _core.Whole(whole)

    def nearest(self, queries: Matrix, k: int) -> tuple[Array, Index, Array]:
        """Distances of the rounded vectors and indices of the k nearest, (m, k), and how far off they may be, (m,)."""
        whole, moved = self._rounded(queries)
        squares, index = self._packed.nearest(whole, k)
        return self._step * np.sqrt(squares), index, moved + self._moved

    def _rounded(self, rows: Matrix) -> tuple[npt.NDArray[np.int16], Array]:
        """Integer parts, and how far each row is from its own at most; exactly 0 for integer rows."""
        whole, moved = np.empty(rows.shape, dtype=np.int16), np.empty(len(rows))
        for block in row_blocks(len(rows), rows.shape[1], CACHED):
            with np.errstate(over="ignore"):  # a vector so far away is moved by infinity, and nothing proved for it
                part = rows[block] - self._centre
                part *= 1.0 / self._step
            near = np.rint(part)
            np.clip(near, -self._most, self._most, out=near)
            whole[block] = near
            part -= near
            np.sqrt(np.einsum("ij,ij->i", part, part), out=moved[block])
        if self._step == 1.0 and not moved.any():
            return whole, moved
        # The lines above round too.
        size = float(np.abs(rows).max(initial=0.0)) + float(np.abs(self._centre).max())
        off = 4.0 * _EPS * math.sqrt(rows.shape[1]) * (size + self._step * self._most)
        return whole, (1.0 + 1e-9) * self._step * moved + off
