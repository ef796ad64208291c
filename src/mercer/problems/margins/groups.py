"""Numbers over the variables of a batch by problem and group, and the rows that no certificate depends on."""

from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.problems.margins.batch import Margins

__all__ = ["Limits", "Segments", "ends", "inactive_rows", "is_free", "middle", "over_variables", "segments", "slopes"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@final
class Segments:
    """Reductions of arrays over variables to one number for each problem, or for each group of a problem.

    Parameters
    ----------
    of : ndarray of shape (N,)
        The segment of each variable.
    count : int
        How many there are; some may be empty.
    """

    def __init__(self, of: Index, count: int) -> None:
        self.of, self.count = of, count
        sizes = np.bincount(of, minlength=count)
        # reduceat would hand an empty segment its neighbour's first entry.
        self._filled = None if sizes.all() else np.flatnonzero(sizes)
        starts = np.cumsum(sizes) - sizes
        self._starts = starts if self._filled is None else starts[self._filled]
        self._order = None if bool((of[1:] >= of[:-1]).all()) else np.argsort(of, kind="stable")

    def take(self, some: Index) -> "Segments":
        """The same segments of these variables only."""
        return Segments(self.of[some], self.count)

    def sum(self, values: Array) -> Array:
        """Of nothing: 0."""
        return self._reduce(np.add, values, 0.0)

    def sums(self, *values: Array) -> Array:  # (arrays, count)
        """The sums of several arrays, in one pass."""
        return self._reduce(np.add, np.array(values), 0.0)

    def least(self, values: Array) -> Array:
        """Of nothing: infinity."""
        return self._reduce(np.minimum, values, np.inf)

    def most(self, values: Array) -> Array:
        """Of nothing: minus infinity."""
        return self._reduce(np.maximum, values, -np.inf)

    def _reduce(self, operation: np.ufunc, values: Array, empty: float) -> Array:
        in_order = values if self._order is None else values[..., self._order]
        if self._filled is None:
            return np.asarray(operation.reduceat(in_order, self._starts, axis=-1))
        found = np.full((*values.shape[:-1], self.count), empty)
        if self._filled.size:
            found[..., self._filled] = operation.reduceat(in_order, self._starts, axis=-1)
        return found


def segments(batch: Margins) -> tuple[Segments, Segments]:
    """The problems, and the groups: those of the first problem, then those of the second, and so on."""
    of = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
    problems = Segments(of, len(batch))
    return problems, Segments(2 * of + batch.group, 2 * len(batch)) if batch.group.any() else problems


class Limits(Protocol):
    """What variables may be, and the ε of ε|α|: a batch, or a part of one of its problems."""

    @property
    def low(self) -> Array:
        """The least."""

    @property
    def high(self) -> Array:
        """The largest."""

    @property
    def width(self) -> float:
        """ε."""


def slopes(limits: Limits, coef: Array, t: Array) -> tuple[Array, Array]:
    """The derivatives of each variable upwards and downwards; infinite where the box does not let it move."""
    up, down, width = t, t, limits.width
    if width > 0.0:
        up, down = t + np.where(coef >= 0.0, width, -width), t + np.where(coef > 0.0, width, -width)
    return np.where(coef < limits.high, up, np.inf), np.where(coef > limits.low, down, -np.inf)


def is_free(limits: Limits, coef: Array) -> Mask:
    """Inside the box, and not at the kink of ε|α|."""
    inside = (coef > limits.low) & (coef < limits.high)
    return inside & (coef != 0.0) if limits.width > 0.0 else inside


def middle(first: Array, last: Array) -> Array:
    """Of an interval; its finite end where one is infinite, and 0 where both are."""
    other = np.where(np.isfinite(last), last, 0.0)
    begin = np.where(np.isfinite(first), first, other)
    return np.asarray(0.5 * (begin + np.where(np.isfinite(last), last, begin)))


def ends(batch: Margins, groups: Segments, coef: Array, t: Array) -> tuple[Array, Array]:
    """The least derivative upwards and the largest downwards, among the variables that the box lets move."""
    up, down = slopes(batch, coef, t)
    return groups.least(up), groups.most(down)


def inactive_rows(
    batch: Margins, groups: Segments, coef: Array, f: Array, error: Array, known: Mask | None = None
) -> Mask:
    """The rows on whose f = Kα nothing in a certificate depends, as long as it is within its error.

    Their coefficients are 0, and their derivatives lie beyond both ends (see `ends`) by more than the error: φ* is 0
    there whatever f is exactly, they violate nothing, and no level rests on them.

    Parameters
    ----------
    batch : Margins
        The problems.
    groups : Segments
        Their groups, from `segments`.
    coef : ndarray of shape (N,)
        Coefficients.
    f : ndarray of shape (M,)
        f on the rows of each problem.
    error : ndarray of shape (M,)
        How far it may be off.
    known : ndarray of shape (M,), bool, optional
        The rows by which the ends are found; all, if not given.

    Returns
    -------
    ndarray of shape (M,), bool
    """
    up, down = slopes(batch, coef, over_variables(batch, f) + batch.linear)
    if known is None:
        least, most = groups.least(up), groups.most(down)
    else:
        counts = over_variables(batch, known)
        least, most = groups.least(np.where(counts, up, np.inf)), groups.most(np.where(counts, down, -np.inf))
    off = over_variables(batch, error)
    up -= off
    down += off
    is_inactive = up > np.maximum(least, most)[groups.of]
    is_inactive &= down < np.minimum(least, most)[groups.of]
    is_inactive &= (coef == 0.0) & (batch.low < batch.high)
    if batch.copies == 1:
        return is_inactive
    found = np.ones(len(f), dtype=np.bool_)
    found[batch.entries[~is_inactive]] = False
    return found


def over_variables(batch: Margins, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers over rows as numbers over variables."""
    return values if batch.copies == 1 else values[batch.entries]
