"""K times the coefficients of many problems over ranges of its rows, at the rows where it is wanted."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.grams.base import Gram

__all__ = ["batched_product", "native_batch"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def batched_product(
    gram: Gram, geometry: tuple[Index, Index], copies: int, coef: Array, f: Array, wanted: Mask | None = None
) -> None:
    """Write f = Kα in float64, problem by problem, each over its own rows.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; entries where a coefficient is not zero and f is wanted are made, and no others.
    geometry : tuple of ndarray (s + 1,) and ndarray (P, r)
        Where the s ranges of rows begin and end, and the ranges of each problem.
    copies : int
        How often a problem has each row among its variables.
    coef : ndarray of shape (N,)
        α over the variables of all problems.
    f : ndarray of shape (M,)
        Over the rows of all problems; changed in place.
    wanted : ndarray of shape (M,), bool, optional
        The rows whose f is made; the others keep theirs. All, if not given.
    """
    left = None if wanted is None else (~wanted).view(np.uint8)
    native_batch(gram, geometry, copies).product(coef, f, left=left)


def native_batch(gram: Gram, geometry: tuple[Index, Index], copies: int) -> _core.MarginBatch:
    """The rows of many problems as the core has them: what solves such problems asks it."""
    native: Any = gram.native()  # opaque: what the core makes entries from
    cuts, uses = geometry
    return _core.MarginBatch(native, cuts=cuts, uses=uses, copies=copies)
