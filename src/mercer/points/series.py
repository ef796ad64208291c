"""Series: finite sequences of points in time, each a number or a vector of channels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.arrays import Arrays
from mercer.points.base import Domain, Points, Selection, as_selection, found_none, read_only
from mercer.points.ragged import gather, offsets_of
from mercer.points.vectors import Vectors, refuse_masked

__all__ = ["Series", "are_unequal", "series_of"]

Numbers = NDArray[np.floating[Any]]
_INSTEAD = "Pass a list of arrays, one per series: of shape (length,), or (length, channels)."


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Series:
    """Points that are series, of any lengths and of one number of channels; the empty series is one of them.

    Parameters
    ----------
    X : list of arrays, or array
        One series per point, at least one: an array of shape (length,) for one channel, or (length, channels). An array
        of shape (n, length) or (n, length, channels) holds n series of one length.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        Series i is ``parts[offsets[i]:offsets[i + 1]]``.
    parts : float32 or float64 ndarray of shape (m, channels)
        The values of all series, one series after the other; float32 where all of them are.
    sizes : int64 ndarray of shape (n,)
        The length of each series.

    Examples
    --------
    >>> X = Series([[1.0, 2.0, 4.0], [], [3.0]])
    >>> X
    Series(3, lengths 0 to 3, 1 channel)
    >>> X.take([2, 0]).raw()
    [array([[3.]]), array([[1.],
           [2.],
           [4.]])]
    """

    domain: ClassVar[Domain] = Domain.SERIES
    offsets: NDArray[np.int64]
    parts: Numbers

    def __init__(self, X: Any, name: str = "X") -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(f"Input {name} is not a list of series.", f"Got a {type(X).__name__}.", _INSTEAD)
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        refuse_masked(X, name)
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype != np.object_:
            raise DomainMismatch(
                f"Input {name} is not a list of series: it is one.", f"Got an array of shape {X.shape}.",
                f"Of one series, pass a list of one: [{name}].",
            )  # fmt: skip
        offsets, parts = _joined([_one(value, row, name) for row, value in enumerate(X)], name)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "parts", read_only(parts))

    @classmethod
    def _trusted(cls, offsets: NDArray[np.int64], parts: Numbers) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "parts", read_only(parts))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[np.int64], Numbers]]:
        return (self._trusted, (self.offsets, self.parts))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The length of each series."""
        return np.diff(self.offsets)

    @property
    def channels(self) -> int:
        """How many numbers there are at each time."""
        return int(self.parts.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.parts.dtype

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        sizes = self.sizes.tolist() or [0]
        low, high = min(sizes), max(sizes)
        lengths = f"length {low}" if low == high else f"lengths {low} to {high}"
        return f"Series({len(self)}, {lengths}, {self.channels} channel{'s' * (self.channels != 1)})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        offsets, places = gather(self.offsets, as_selection(rows, len(self)))
        return self._trusted(offsets, self.parts[places])

    def raw(self) -> list[Numbers]:
        """The series in a list, each of shape (length, channels)."""
        return [self.parts[a:b] for a, b in pairwise(self.offsets.tolist())]


def series_of(points: Points, name: str = "X") -> Series | None:
    """Points that may also be read as series; None for others.

    Rows of numbers are series of one channel and of one length.
    """
    if isinstance(points, Series):
        return points
    if isinstance(points, Vectors) and points.dense is not None:
        n, length = points.shape
        offsets = np.arange(n + 1, dtype=np.int64) * length
        return Series._trusted(offsets, points.dense.reshape(-1, 1))  # noqa: SLF001 (checked before)
    return Series(points.values, name) if isinstance(points, Arrays) else None


def are_unequal(X: Sequence[Any]) -> bool:
    """Whether the entries of a list are arrays of one dimension that differ in length: no rows of a table."""
    if not all(isinstance(each, np.ndarray) and each.ndim == 1 and each.dtype.kind in "fiub" for each in X):
        return False
    return len({len(each) for each in X}) > 1


def _one(value: Any, row: int, name: str) -> Numbers:
    """One series as (length, channels); an empty one may have any number of channels."""
    refuse_masked(value, f"{name}[{row}]")
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise InvalidInput(f"{name}[{row}] is ragged: its points differ in their channels.", "", _INSTEAD) from error
    if found.dtype.kind == "O" and found.ndim == 1 and all(each is None or np.isscalar(each) for each in found):
        found = np.array([np.nan if each is None else each for each in found])
    if found.dtype.kind not in "fiub":
        raise DomainMismatch(
            f"{name}[{row}] is not a series of numbers.",
            f"Got {shown(value)}." if found.ndim == 0 else f"Its values are of type {found.dtype}.", _INSTEAD,
        )  # fmt: skip
    if found.ndim not in (1, 2):
        raise DomainMismatch(f"{name}[{row}] is not a series.", f"Its shape is {found.shape}.", _INSTEAD)
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    bad = ~np.isfinite(found)
    if bad.any():
        place = tuple(int(at) for at in np.argwhere(bad)[0])
        channel = f", channel {place[1]}" if len(place) > 1 else ""
        raise InvalidInput(
            f"Input {name} contains {'NaN' if np.isnan(found[place]) else 'infinity or a value too large'}.",
            f"It is in the series of row {row}, at position {place[0]}{channel}.",
            "Interpolate it from its neighbours, drop the position, or drop the series.",
        )
    return found[:, None] if found.ndim == 1 else found


def _joined(series: list[Numbers], name: str) -> tuple[NDArray[np.int64], Numbers]:
    filled = [row for row, each in enumerate(series) if each.size]
    width = series[filled[0]].shape[1] if filled else 1
    odd = next((row for row in filled if series[row].shape[1] != width), None)
    if odd is not None:
        raise InvalidInput(
            f"The series of {name} differ in their number of channels.",
            f"{name}[{filled[0]}] has {width}, {name}[{odd}] has {series[odd].shape[1]}.",
            "Pass arrays of shape (length, channels), time first, with the same channels for all series.",
        )
    offsets = offsets_of(np.array([len(each) if each.size else 0 for each in series], dtype=np.int64))
    single = {series[row].dtype for row in filled} == {np.dtype(np.float32)}
    parts = [series[row] for row in filled] or [np.empty((0, 1))]
    return offsets, np.ascontiguousarray(np.concatenate(parts), dtype=np.float32 if single else np.float64)
