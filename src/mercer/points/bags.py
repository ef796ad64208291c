"""Bags: points that are finite collections of parts, which are points themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.arrays import Arrays
from mercer.points.base import Domain, Points, Selection, as_selection, found_none, is_points, read_only
from mercer.points.ragged import gather, offsets_of
from mercer.points.registry import adapter_of
from mercer.points.vectors import Vectors, refuse_masked

__all__ = ["Bags"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Bags:
    """Points that are bags of parts; the empty bag is one of them.

    A part may occur more than once in a bag, and the order of the parts means nothing. Parts are points of one domain:
    rows of numbers, strings, sets, any values, or bags again.

    Parameters
    ----------
    X : list or array
        One bag per point, at least one: an array with a row for each part, or a list of parts.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        The parts of bag i are those from ``offsets[i]`` up to ``offsets[i + 1]``.
    parts : Points
        The parts of all bags, one bag after the other.
    sizes : int64 ndarray of shape (n,)
        How many parts each bag has.

    Examples
    --------
    >>> X = Bags([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]])
    >>> X
    Bags(3, 3 parts: Vectors(3 x 2, float64))
    >>> X.take([2, 1]).raw()
    [array([[5., 6.]]), array([], shape=(0, 2), dtype=float64)]
    >>> Bags([["red", "green"], ["red"]]).parts
    Objects(3)
    """

    domain: ClassVar[Domain] = Domain.BAGS
    offsets: NDArray[np.int64]
    parts: Points

    def __init__(self, X: Any, name: str = "X") -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(
                f"Input {name} is not a list of bags.",
                f"Got a {type(X).__name__}.",
                "Pass a list, one bag per point: an array of shape (parts, d), or a list of parts.",
            )
        refuse_masked(X, name)
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        for row, bag in enumerate(X):
            if isinstance(bag, (str, bytes)) or not isinstance(bag, (Sequence, np.ndarray)):
                raise DomainMismatch(
                    f"Input {name} is not a list of bags: row {row} is a {type(bag).__name__}.",
                    "A bag is a list of parts, or an array with a row for each.",
                    "Put it into a list if it is the bag's only part.",
                )
        offsets = offsets_of(np.fromiter(map(len, X), dtype=np.int64, count=len(X)))
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "parts", _parts(X, name))

    @classmethod
    def of(cls, parts: Any, sizes: Sequence[int] | NDArray[Any]) -> Self:
        """The bags whose parts stand one bag after the other.

        Parameters
        ----------
        parts : array-like, DataFrame, list or Points
            All parts.
        sizes : sequence of int
            How many of them each bag has.

        Examples
        --------
        >>> Bags.of([[1.0], [2.0], [3.0]], sizes=[2, 0, 1]).raw()
        [array([[1.],
               [2.]]), array([], shape=(0, 1), dtype=float64), array([[3.]])]
        """
        counts = np.asarray(sizes)
        points = _as_points(parts, "parts")
        good = counts.ndim == 1 and counts.dtype.kind in "iu" and counts.size > 0 and counts.min() >= 0
        if not good or counts.sum() != len(points):
            raise InvalidInput(
                "sizes must hold how many parts each bag has, and add up to all of them.",
                f"Got {shown(sizes)} for {len(points)} parts.",
            )
        return cls._trusted(offsets_of(counts.astype(np.int64)), points)

    @classmethod
    def grouped(cls, parts: Any, by: Sequence[Any] | NDArray[Any]) -> tuple[Self, NDArray[Any]]:
        """The bags of a table of parts, in which a label says whose part each row is.

        Parameters
        ----------
        parts : array-like, DataFrame, list or Points
            One row per part, in any order.
        by : sequence
            The label of the bag of each part.

        Returns
        -------
        (Bags, ndarray)
            The bags in the order in which their labels first occur, and these labels.

        Examples
        --------
        >>> bags, labels = Bags.grouped([[1.0], [2.0], [3.0]], by=["b", "a", "b"])
        >>> labels, bags.raw()[0]
        (array(['b', 'a'], dtype='<U1'), array([[1.],
               [3.]]))
        """
        points, labels = _as_points(parts, "parts"), np.asarray(by)
        if labels.ndim != 1 or len(labels) != len(points):
            raise InvalidInput(
                "by must hold one label for each part.", f"Got shape {labels.shape} for {len(points)} parts."
            )
        _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        bag = place[codes]
        sizes = np.bincount(bag, minlength=len(first)).astype(np.int64)
        bags = cls._trusted(offsets_of(sizes), points.take(np.argsort(bag, kind="stable")))
        return bags, labels[np.sort(first)]

    @classmethod
    def joined(cls, tables: Sequence[NDArray[np.floating[Any]]]) -> Self:
        """The bags whose parts are the rows of arrays that were checked before, all of one width; all may be empty."""
        sizes = np.fromiter(map(len, tables), dtype=np.int64, count=len(tables))
        parts = np.concatenate(tables)
        return cls._trusted(offsets_of(sizes), Vectors._trusted(parts, None))  # noqa: SLF001 (checked before)

    @classmethod
    def _trusted(cls, offsets: NDArray[np.int64], parts: Points) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "parts", parts)
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[np.int64], Points]]:
        return (self._trusted, (self.offsets, self.parts))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many parts each bag has."""
        return np.diff(self.offsets)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the numbers in the parts, else float64."""
        dtype: np.dtype[Any] = getattr(self.parts, "dtype", np.dtype(np.float64))
        return dtype

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Bags({len(self)}, {len(self.parts)} parts: {self.parts!r})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        offsets, places = gather(self.offsets, as_selection(rows, len(self)))
        return self._trusted(offsets, self.parts.take(places))

    def raw(self) -> list[Any]:
        """The bags in a list, each as plain data."""
        return [self.parts.take(slice(a, b)).raw() for a, b in pairwise(self.offsets.tolist())]


def _as_points(parts: Any, name: str) -> Points:
    if is_points(parts):
        return parts
    adapter = adapter_of(parts)
    if adapter is None:
        raise DomainMismatch(f"{name} is not a collection of points.", f"Got a {type(parts).__name__}.")
    return adapter.read(parts, name)


def _parts(X: Any, name: str) -> Points:
    """The parts of all bags, checked; where they are numbers, a message names the bag."""
    if not any(map(len, X)):
        return _none(X)
    if not any(len(bag) and _holds_rows(bag) for bag in X):
        return _as_points(list(chain.from_iterable(X)), f"{name} (its parts)")
    arrays = Arrays(X, name).values
    for row, bag in enumerate(arrays):
        if bag.size and bag.ndim != 2:
            raise InvalidInput(f"{name}[{row}] is not a table of parts.", f"Its shape is {bag.shape}.", _TABLE)
    filled = [row for row, bag in enumerate(arrays) if bag.size]
    if not filled:
        raise InvalidInput(f"The parts of {name} have no columns.", f"X[0] has shape {arrays[0].shape}.", _TABLE)
    width = arrays[filled[0]].shape[1]
    odd = next((row for row in filled if arrays[row].shape[1] != width), None)
    if odd is not None:
        raise InvalidInput(
            f"Input {name} is ragged: the parts of its bags differ in length.",
            f"Those of {name}[{filled[0]}] have {width} columns, those of {name}[{odd}] have {arrays[odd].shape[1]}.",
            "Pass bags whose parts all have the same columns.",
        )
    return Vectors(np.concatenate([arrays[row] for row in filled]), name)


def _none(X: Any) -> Points:
    """No parts, as wide as the arrays say, if they say so."""
    width = max((bag.shape[1] for bag in X if isinstance(bag, np.ndarray) and bag.ndim == 2), default=0)
    return Vectors._trusted(np.empty((0, max(width, 1))), None)  # noqa: SLF001 (there is nothing in it to be checked)


def _holds_rows(bag: Any) -> bool:
    """Whether the parts of a bag are rows of numbers, as far as its first part says so."""
    if isinstance(bag, np.ndarray):
        return bag.dtype.kind != "O" and bag.dtype.kind not in "USV"
    first = bag[0]
    if isinstance(first, np.ndarray):
        return first.ndim == 1 and first.dtype.kind in "fiub"
    return isinstance(first, (list, tuple)) and all(isinstance(each, (int, float, np.number)) for each in first)


_TABLE = "Pass an array of shape (parts, d) for each bag."
