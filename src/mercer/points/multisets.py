"""Multisets, as lists of `collections.Counter`: sets of numbered copies of their items."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.ragged import Sets
from mercer.points.registry import Adapter, register

__all__ = ["COPY", "numbered"]

# What a second, third, … copy of an item is called: (COPY, number, item). The first is the item itself.
COPY = "copy"


def numbered(X: Sequence[Any], name: str = "X") -> Sets:
    """Counted items as sets: an item that occurs three times is three items, of which another set may share some.

    So |S ∩ T| is Σ min(#a(S), #a(T)) over all items a, and |S| the number of all copies. Sets among the counters are
    counters of ones.

    Examples
    --------
    >>> S = numbered([Counter("aab"), Counter("aaa")])
    >>> S.sizes
    array([3, 3])
    >>> sorted(map(str, S.raw()[0] & S.raw()[1]))
    ["('copy', 2, 'a')", 'a']
    """
    return Sets([frozenset(_copies(value, row, name)) for row, value in enumerate(X)], name)


def _copies(value: Any, row: int, name: str) -> Iterator[Any]:
    if isinstance(value, set | frozenset):
        value = dict.fromkeys(value, 1)
    if not isinstance(value, Counter | dict):
        raise DomainMismatch(
            f"Input {name} is not a list of counted sets: row {row} is a {type(value).__name__}.",
            "Every point must be a collections.Counter, or a set.",
            "Count the items of a list with Counter(items).",
        )
    return chain.from_iterable(_of_item(item, count, f"{name}[{row}]") for item, count in value.items())


def _of_item(item: Any, count: Any, owner: str) -> Iterator[Any]:
    if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < 0:
        raise InvalidInput(
            f"{owner} does not count {shown(item)}: a count is a whole number, 0 or more.", f"Got {shown(count)}.",
            "Of amounts that are not whole, make rows of numbers, for MinMax().",
        )  # fmt: skip
    if isinstance(item, tuple) and item[:1] == (COPY,):
        raise InvalidInput(f"{owner} has an item that means a copy of another.", f"Got {shown(item)}.", "Rename it.")
    return chain((item,) * int(count > 0), ((COPY, number, item) for number in range(2, int(count) + 1)))


register(Adapter(numbered, entries=(("collections", "Counter"),)))
