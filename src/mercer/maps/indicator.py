"""Sets as 0/1 vectors."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, ClassVar, final

import numpy as np

from mercer.errors import InvalidInput
from mercer.maps.base import Map
from mercer.mathml import subscript
from mercer.notation import Notation
from mercer.points import Domain, Indicators, Points, Sets

__all__ = ["FittedIndicator", "Indicator"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Indicator(Map):
    r"""Turn each set into the vector that marks its items.

    .. math:: S \mapsto (1_{a \in S})_{a \in D}, \qquad \langle S, T \rangle = \lvert S \cap T \rvert

    The dictionary D consists of the items of the basis. A new item has no column, but it still counts in
    <S, S> = \|S\|, so that distances and normalised kernels stay right.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> indicator = Indicator().fit(as_points([{"a", "b"}, {"b", "c"}]))
    >>> indicator.dictionary
    {'a': 0, 'b': 1, 'c': 2}
    >>> new = indicator(as_points([{"b", "new"}]))
    >>> new.raw().toarray(), new.sizes
    (array([[0., 1., 0.]]), array([2]))
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.SETS})
    notation: ClassVar[Notation] = Notation(text="1[{x}]", latex=r"\mathbf{{1}}_{{{x}}}", mathml=subscript("1", "{x}"))

    def fit(self, points: Points) -> "FittedIndicator":
        """Number the items of the basis: in increasing order if they can be sorted, else in order of appearance."""
        return FittedIndicator(_numbered(_sets(self, points).items), self)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # sets have no coordinates
        """0 and 1 are ≥ 0."""
        return True


@final
@dataclass(frozen=True, eq=False)
class FittedIndicator:
    """An indicator with its dictionary.

    Attributes
    ----------
    dictionary : mapping of item to int
        The column of each item.
    origin : Indicator
        The map that was fitted.
    """

    dictionary: Mapping[Any, int]
    origin: Indicator

    def __call__(self, points: Points) -> Indicators:
        """The codes of each set's items, increasing; items outside the dictionary only count in the sizes."""
        sets = _sets(self.origin, points)
        count = len(sets.items)
        codes = np.fromiter(map(self.dictionary.get, sets.items, repeat(-1)), dtype=np.int64, count=count)
        row = np.repeat(np.arange(len(sets), dtype=np.int64), sets.sizes)
        known = codes >= 0
        # One sort of row and code together; the product cannot overflow, for it is at most the size of the 0/1 matrix.
        width = max(len(self.dictionary), 1)
        keys = np.sort(row[known] * width + codes[known])
        row, codes = np.divmod(keys, width)
        offsets = np.searchsorted(row, np.arange(len(sets) + 1))
        return Indicators(offsets, codes.astype(np.int32), len(self.dictionary), sets.sizes)


def _sets(owner: Indicator, points: Points) -> Sets:
    found = owner.read(points)
    if not isinstance(found, Sets):
        raise InvalidInput(f"{owner!r} needs sets.", f"Got {points!r}.")
    return found


def _numbered(items: Iterable[Hashable]) -> dict[Hashable, int]:
    different = dict.fromkeys(items)
    try:
        ordered: Iterable[Hashable] = sorted(different)  # type: ignore[type-var]  # items that cannot be compared raise
    except TypeError:
        ordered = different
    return {item: code for code, item in enumerate(ordered)}
