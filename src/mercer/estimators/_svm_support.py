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
# Values of a radial kernel in float32, and sums of some hundred of them, are off by about a quarter of this, with many
# signs: a decision further than SURE times this share of √Σ bⱼ² from 0 has its sign.
ROUNDING = 4e-7
SURE = 16.0
# What is computed twice, at least so many rows, must agree to this share of what is allowed for.
SEEN = 0.25
LEAST_SEEN = 32


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
    reach = SURE * ROUNDING * sizes
    is_doubtful = np.asarray((np.abs(rough) <= reach).any(axis=1))
    is_doubtful[:: max(1, m // LEAST_SEEN)] = True
    doubtful = np.flatnonzero(is_doubtful)
    exact = decide(support.bound.cross(K.points.take(doubtful)), support)
    if not bool((np.abs(exact - rough[doubtful]) <= SEEN * reach).all()):
        return decide(K, support)
    rough[doubtful] = exact
    return rough
