"""Which points an object becomes: the table of adapters, one row for each kind of input.

A new domain is one file: a `Domain`, a class of points (with `domain`, `__len__`, `take` and `raw`), and its row::

    STRINGS = Domain("strings", 'Pass a list of strings, one per point: ["a", "b"].')

    class Strings: ...

    register(Adapter(Strings, entries=(("builtins", "str"),), domain=STRINGS))

Classes are named, not imported, so that their libraries need not be there. A subclass is read as its nearest ancestor
that has a row, whatever the order of the rows.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar, final

from mercer.points.base import Domain, Points

__all__ = [
    "Adapter",
    "ClassName",
    "adapter_of",
    "adapter_of_domain",
    "adapter_of_entries",
    "adapter_of_pairs",
    "class_names",
    "nearest",
    "register",
]

ClassName = tuple[str, str]  # top-level module, name
_Row = TypeVar("_Row")


@final
@dataclass(frozen=True)
class Adapter:
    """How some objects become points.

    Parameters
    ----------
    read : callable
        From the object and the argument's name in messages to points, validated; often a class of points itself.
    collections : tuple of (module, name)
        Classes of whole collections: ``("pandas", "DataFrame")``.
    entries : tuple of (module, name)
        Classes of one point: any list, tuple, object array or column of a table that holds one is read by this row.
    pairs : tuple of (module, name)
        Classes that make a tuple one point where they stand first in it, as an adjacency matrix with its labels does.
    domain : Domain, optional
        Of the points, for rows with entries: what a column of a table is before it is read.
    """

    read: Callable[[Any, str], Points]
    collections: tuple[ClassName, ...] = ()
    entries: tuple[ClassName, ...] = ()
    pairs: tuple[ClassName, ...] = ()
    domain: Domain | None = None


_COLLECTIONS: dict[ClassName, Adapter] = {}
_ENTRIES: dict[ClassName, Adapter] = {}
_PAIRS: dict[ClassName, Adapter] = {}
_DOMAINS: dict[Domain, Adapter] = {}


def register(adapter: Adapter) -> None:
    """Add a row; for a class that has one already, the new one counts."""
    _COLLECTIONS.update(dict.fromkeys(adapter.collections, adapter))
    _ENTRIES.update(dict.fromkeys(adapter.entries, adapter))
    _PAIRS.update(dict.fromkeys(adapter.pairs, adapter))
    if adapter.domain is not None:
        _DOMAINS[adapter.domain] = adapter


def class_names(kind: type) -> Iterable[ClassName]:
    """Top-level module and name of a class and of its bases, the nearest first.

    Examples
    --------
    >>> next(iter(class_names(dict)))
    ('builtins', 'dict')
    """
    return ((cls.__module__.partition(".")[0], cls.__name__) for cls in kind.__mro__)


def nearest(table: dict[ClassName, _Row], kind: type) -> _Row | None:
    """The row of a class, or of its nearest base that has one."""
    return next((table[key] for key in class_names(kind) if key in table), None)


def adapter_of(X: object) -> Adapter | None:
    """The row of a collection's class."""
    return nearest(_COLLECTIONS, type(X))


def adapter_of_entries(kinds: Iterable[type]) -> Adapter | None:
    """The row of the first class of entries that has one."""
    return next((found for kind in kinds if (found := nearest(_ENTRIES, kind)) is not None), None)


def adapter_of_pairs(entries: Iterable[object]) -> Adapter | None:
    """The row of the first entry that is a tuple which begins with an object of a class that has one."""
    firsts = (type(entry[0]) for entry in entries if isinstance(entry, tuple) and entry)
    return next((found for kind in firsts if (found := nearest(_PAIRS, kind)) is not None), None)


def adapter_of_domain(domain: Domain) -> Adapter | None:
    """The row that reads entries of a domain."""
    return _DOMAINS.get(domain)
