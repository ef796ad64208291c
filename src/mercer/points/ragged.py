"""Ragged points: sets, and sets as 0/1 vectors over a dictionary. Offsets and concatenated values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import Domain, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.vectors import Vectors, refuse_masked

__all__ = ["Indicators", "Sets", "gather", "offsets_of"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Sets:
    """Points that are finite sets; the empty set is one of them.

    Parameters
    ----------
    X : list, tuple or one-dimensional array of set or frozenset
        One set per point, at least one. Lists are refused: they may repeat an item, which a set cannot.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        The items of point i are ``items[offsets[i]:offsets[i + 1]]``, in no particular order.
    items : object ndarray
        The items of all points, one point after the other.
    sizes : int64 ndarray of shape (n,)
        Number of items of each point.

    Examples
    --------
    >>> X = Sets([{"a", "b"}, set(), {"b"}])
    >>> X
    Sets(3, 3 items)
    >>> X.sizes
    array([2, 0, 1])
    >>> X.take([2, 1]).raw()
    [frozenset({'b'}), frozenset()]
    """

    domain: ClassVar[Domain] = Domain.SETS
    offsets: NDArray[np.int64]
    items: NDArray[np.object_]

    def __init__(self, X: Sequence[Any] | NDArray[Any], name: str = "X") -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(
                f"Input {name} is not a list of sets.",
                f"Got a {type(X).__name__}.",
                "Pass a list of sets, one per point: [{1, 2}, {2, 3}].",
            )
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        refuse_masked(X, name)
        for row, value in enumerate(X):
            if not isinstance(value, (set, frozenset)):
                raise DomainMismatch(
                    f"Input {name} is not a list of sets: row {row} is a {type(value).__name__}.",
                    "Every point must be a set or a frozenset.",
                    "Turn a list of items into a set with set(items).",
                )
        sizes = np.fromiter(map(len, X), dtype=np.int64, count=len(X))
        offsets = offsets_of(sizes)
        items = np.fromiter(chain.from_iterable(X), dtype=np.object_, count=int(offsets[-1]))
        _check_items(items, offsets, name)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "items", read_only(items))

    @classmethod
    def _trusted(cls, offsets: NDArray[np.int64], items: NDArray[np.object_]) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "items", read_only(items))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[np.int64], NDArray[np.object_]]]:
        return (self._trusted, (self.offsets, self.items))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of items of each point."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Sets({len(self)}, {len(self.items)} items)"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        offsets, places = gather(self.offsets, as_selection(rows, len(self)))
        return self._trusted(offsets, self.items[places])

    def raw(self) -> list[frozenset[Any]]:
        """The sets in a list."""
        bounds = self.offsets.tolist()
        return [frozenset(self.items[a:b]) for a, b in pairwise(bounds)]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Indicators:
    """Sets as 0/1 vectors over a fixed dictionary of items, made by the map ``Indicator``.

    An item outside the dictionary has no code, but still counts in the point's size: <z, z> = ``sizes``, while
    <x, z> with a point x of the dictionary's own points is the number of common codes. Both are exact.

    Attributes
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        The codes of point i are ``codes[offsets[i]:offsets[i + 1]]``, increasing.
    codes : int32 ndarray
        The codes of all points, one point after the other.
    n_items : int
        Size of the dictionary.
    sizes : int64 ndarray of shape (n,)
        Number of items of each point, with or without a code.

    Examples
    --------
    >>> x = Indicators(offsets=[0, 2, 3], codes=[0, 1, 1], n_items=2, sizes=[2, 4])
    >>> x
    Indicators(2 x 2 items)
    >>> x.csr().toarray()
    array([[1., 1.],
           [0., 1.]])
    >>> (x.vectors().raw().toarray() ** 2).sum(axis=1)
    array([2., 4.])
    """

    domain: ClassVar[Domain] = Domain.VECTORS
    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    n_items: int
    sizes: NDArray[np.int64]

    def __init__(
        self,
        offsets: Sequence[int] | NDArray[np.int64],
        codes: Sequence[int] | NDArray[np.int32],
        n_items: int,
        sizes: Sequence[int] | NDArray[np.int64],
    ) -> None:
        object.__setattr__(self, "offsets", read_only(np.asarray(offsets, dtype=np.int64)))
        object.__setattr__(self, "codes", read_only(np.asarray(codes, dtype=np.int32)))
        object.__setattr__(self, "n_items", n_items)
        object.__setattr__(self, "sizes", read_only(np.asarray(sizes, dtype=np.int64)))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return (type(self), (self.offsets, self.codes, self.n_items, self.sizes))

    @property
    def width(self) -> int:
        """Size of the dictionary."""
        return self.n_items

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"Indicators({len(self)} x {self.n_items} items)"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        index = as_selection(rows, len(self))
        offsets, places = gather(self.offsets, index)
        return type(self)(offsets, self.codes[places], self.n_items, self.sizes[index])

    def csr(self, dtype: type[np.floating[Any]] = np.float64) -> Any:
        """The 0/1 matrix of shape (n, n_items); items outside the dictionary are absent."""
        ones = np.ones(len(self.codes), dtype=dtype)
        return sp.csr_array((ones, self.codes, self.offsets.astype(np.int32)), shape=(len(self), self.n_items))

    def vectors(self, dtype: type[np.floating[Any]] = np.float64) -> Vectors:
        """Plain sparse vectors of n_items + 1 columns.

        The last column is the square root of the number of items outside the dictionary. So norms are exact, and so
        are inner products and distances to points whose items are all in the dictionary.
        """
        unseen = self.sizes - np.diff(self.offsets)
        extra = sp.csr_array(np.sqrt(unseen).astype(dtype)[:, None])
        return Vectors(sp.hstack([self.csr(dtype), extra], format="csr"))

    def raw(self) -> Any:
        """The 0/1 matrix."""
        return self.csr()


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the values of each point begin and end, from how many it has: (n + 1,)."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def gather(offsets: NDArray[np.int64], index: slice | NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets of the chosen rows, and the places of their values among all values."""
    sizes, starts = np.diff(offsets)[index], offsets[:-1][index]
    chosen = offsets_of(sizes)
    return chosen, np.arange(chosen[-1], dtype=np.int64) + np.repeat(starts - chosen[:-1], sizes)


def _check_items(items: NDArray[np.object_], offsets: NDArray[np.int64], name: str) -> None:
    # Checking distinct items only is faster, and NaN is distinct from every item.
    if not any(item is not None and is_missing(item) for item in set(items)):
        return
    place = next(i for i, item in enumerate(items) if item is not None and is_missing(item))
    row = int(np.searchsorted(offsets, place, side="right")) - 1
    raise InvalidInput(
        f"Input {name} contains NaN.",
        f"The set in row {row} holds {shown(items[place])}, which does not equal itself.",
        "Drop it from the set, or replace it by a value of your own.",
    )
