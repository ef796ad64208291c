"""The support vectors of a machine, and the signs of decisions by float32 where there is no doubt about them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.kernels.bound import Bound, Cross
from mercer.kernels.schoenberg import Radial
from mercer.points.base import Points

__all__ = ["Support", "signed"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SINGLE = np.dtype(np.float32)
DOUBLE = np.dtype(np.float64)
# Below so many entries float64 takes no time worth saving.
FEW_ENTRIES = 1_000_000
# A decision in float32 has its sign when it is further from 0 than so many times the largest error among the rows that
# are computed twice, of which there are at least this many: errors of rows spread about as widely as those few show.
SURE = 8.0
LEAST_SEEN = 32
# Errors are never taken for less than this share of √Σ bⱼ²: values of a radial kernel in float32, and sums of some
# hundred of them with many signs, are off by about an eighth of it.
ROUNDING = 8e-7


@final
@dataclass(frozen=True, eq=False)
class Support:
    """The kernel and its support vectors, which are bound when they are first needed.

    Attributes
    ----------
    kernel : Kernel
        Resolved.
    points : Points
    starts : ndarray of shape (k + 1,)
        Where each class begins and ends; one range for machines without classes.
    dtype : dtype
        The precision of kernel values.
    """

    kernel: Any
    points: Points
    starts: Index
    dtype: np.dtype[Any] = DOUBLE

    @cached_property
    def bound(self) -> Bound:
        """The kernel on all support vectors."""
        return Bound(self.kernel, self.points, self.dtype)

    @cached_property
    def classes(self) -> dict[int, Bound]:
        """The support vectors of each class that has some, by themselves."""
        ranges = enumerate(pairwise(self.starts))
        return {i: self.bound.take(slice(begin, end)) for i, (begin, end) in ranges if begin < end}

    @cached_property
    def single(self) -> "Support":
        """The same in float32."""
        return Support(self.kernel, self.points, self.starts, SINGLE)

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "points": self.points, "starts": self.starts, "dtype": self.dtype}


def signed(K: Cross, support: Support, decide: Callable[[Cross, Support], Array], sizes: Array) -> Array:  # (m, P)
    """Decisions that have the signs of those in float64, and are in float64 wherever that was in doubt.

    Parameters
    ----------
    K : Cross of shape (m, s)
        K(X, support vectors).
    support : Support
        In float64.
    decide : callable (Cross, Support) -> ndarray of shape (m, P)
        The decisions.
    sizes : ndarray of shape (P,)
        √Σ bⱼ² of each.
    """
    m, s = K.shape
    is_known = isinstance(support.kernel, Radial) and support.kernel.metric == Radial.metric
    if m * s < FEW_ENTRIES or not is_known:
        return decide(K, support)
    rough = decide(support.single.bound.cross(K.points), support.single)
    is_rough = np.ones(m, dtype=bool)
    seen = ROUNDING * sizes
    rows = np.arange(0, m, max(1, m // LEAST_SEEN))
    while rows.size:  # which are computed again, until those that are not are beyond doubt
        exact = decide(support.bound.cross(K.points.take(rows)), support)
        seen = np.maximum(seen, np.abs(exact - rough[rows]).max(axis=0))  # no number where float32 holds none
        rough[rows], is_rough[rows] = exact, False
        rows = np.flatnonzero(is_rough & ~(np.abs(rough) > SURE * seen).all(axis=1))
    return rough
