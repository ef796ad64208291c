"""What the engine does in few bits: products with K in 16 bits, a factor of it, and the product of the preconditioner.

All of it serves iterations whose residuals are made in float64. The engine takes one vector at a time.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.solvers.factor import Stopped
from mercer.solvers.lapack import Look

__all__ = ["coded_product", "coded_solver", "deflated"]

Array = npt.NDArray[np.float64]
Single = npt.NDArray[np.float32]
Codes = npt.NDArray[np.uint16]
Code = tuple[float, float]  # (low, step)

# A pivot of the matrix with a diagonal of 1 that is no longer believed, and columns that are made between two looks at
# the clock.
SMALLEST_PIVOT = 1e-4
COLUMNS = 512


def coded_product(codes: Codes, code: Code, V: Array) -> Array:  # (n, n), (n, k) -> (n, k)
    """K V for a symmetric K in 16 bits, of which the upper half is read."""
    return _by_column(lambda v: _core.held_product(codes, v, code), V)


def coded_solver(
    codes: Codes, code: Code, weights: Single, diagonal: Array, watch: Look
) -> Callable[[Array], Array] | None:
    """R ↦ (L Lᵀ)⁻¹ R, L in 16 bits, for W K W with another diagonal; None where a pivot is too small.

    Parameters
    ----------
    codes : ndarray of shape (n, n)
        K in 16 bits, of which the upper half is read.
    code : tuple
        (low, step) of it.
    weights : ndarray of shape (n,)
        The diagonal of W.
    diagonal : ndarray of shape (n,)
        In place of that of W K W, above 0.
    watch : Watch
        Looked at while the factor is made; `Stopped` once it is over.
    """
    factor = _core.Coarse(codes, code, weights, diagonal, SMALLEST_PIVOT)
    while factor.advance(COLUMNS):
        if watch.look(factor.share, "factor in 16 bits"):
            raise Stopped
        if factor.share == 1.0:
            return partial(_by_column, factor.solve)
    return None


def deflated(G: Single, R: Array) -> Array:  # (n, r), (n, k) -> (n, k)
    """R − G Gᵀ R for a G in Fortran order."""
    return _by_column(partial(_core.deflated, G.T), R)


def _by_column(apply: Callable[[Array], Array], V: Array) -> Array:
    out = np.empty_like(V, order="F")
    for j in range(V.shape[1]):
        out[:, j] = apply(np.ascontiguousarray(V[:, j]))
    return out
