"""From Python data to points: a table of adapters, and what a kernel or map asks of its points."""

from collections.abc import Callable, Iterator, Sequence
from numbers import Number
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points.arrays import Arrays
from mercer.points.bags import Bags
from mercer.points.base import Domain, Points, is_points
from mercer.points.frames import FRAMES, SERIES
from mercer.points.graphs import Graphs
from mercer.points.objects import Objects
from mercer.points.ragged import Indicators, Sets
from mercer.points.registry import Adapter, adapter_of, adapter_of_entries, adapter_of_pairs, register
from mercer.points.series import Series, are_unequal, series_of
from mercer.points.stored import Stored
from mercer.points.strings import Strings
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["as_points", "check_same_width", "conformed", "in_training_order", "require"]


@runtime_checkable
class _SupportsArray(Protocol):
    """Objects of other libraries that NumPy can turn into arrays (the array protocol)."""

    def __array__(self) -> NDArray[Any]: ...


def as_points(X: object, name: str = "X") -> Points:
    """Python data as points, validated.

    ====================================================  =======
    X                                                     points
    ====================================================  =======
    two-dimensional array, nested lists, SciPy sparse     Vectors
    list or object array of set or frozenset              Sets
    list of collections.Counter                           Sets, of numbered copies
    list or one-dimensional array of strings, other       Objects; Strings for kernels of strings
    list of networkx or igraph graphs, of adjacency       Graphs
    matrices, of (adjacency, labels), of dicts of edges
    array of three or more dimensions, list of tables     Arrays: images; Bags or Series for kernels of these
    list of one-dimensional arrays of different lengths   Series
    DataFrame (pandas, polars), pyarrow Table, dict       Table
    points                                                as they are
    ====================================================  =======

    The rows stand at the end of this file; `mercer.points.registry` says how to add one.

    Parameters
    ----------
    X : object
        The data. To treat numbers or rows of strings as mere values, wrap them: ``Objects(X)``.
    name : str
        The argument's name in messages.

    Examples
    --------
    >>> as_points([[1, 2], [3, 4]])
    Vectors(2 x 2, float64)
    >>> as_points([{1, 2}, {2}])
    Sets(2, 3 items)
    >>> as_points(["red", "green"])
    Objects(2)
    >>> as_points([{"edges": [(0, 1)], "labels": "CO"}])
    Graphs(1, 2 nodes, 1 edges)
    >>> as_points({"a": [1, 2], "b": ["x", "y"]})
    Table(2 rows: a, b)
    """
    if is_points(X):
        return X
    adapter = adapter_of(X)
    return _other(X, name) if adapter is None else adapter.read(X, name)


def require(points: Points, needs: frozenset[Domain], owner: str, name: str = "X") -> Points:
    """Points of one of the domains that `owner` needs, or an error that says what would work.

    A table counts as all its columns (vectors if they are numbers), dense vectors as a precomputed matrix or as series
    of one channel, values as what is needed if each of them is a string, an array, a bag, a series or a graph, arrays
    of rows as bags, as series, or as graphs by their adjacency.

    Examples
    --------
    >>> require(as_points({"a": [1, 2], "b": [3, 4]}), frozenset({Domain.VECTORS}), "RBF()")
    Vectors(2 x 2, float64)
    """
    if points.domain in needs:
        return points
    if isinstance(points, Table):
        if needs == {Domain.VECTORS}:
            return points.vectors()
        if points.domain_of(points.names) in needs:
            return points.select(points.names)
        # A dict of edges alone is a table as well: it is asked to go into a list.
        is_one = points.width == 1 and points.domain_of(points.names) is Domain.OBJECTS
        if is_one and Domain.GRAPHS not in needs and needs & set(_OF_VALUES):
            return require(points.select(points.names), needs, owner, name)
    if isinstance(points, Objects) and (need := next(filter(needs.__contains__, _OF_VALUES), None)):
        return _OF_VALUES[need](points.values, name)
    if Domain.BAGS in needs and isinstance(points, Arrays):
        return Bags(points.values, name)
    if Domain.GRAPHS in needs and isinstance(points, Arrays):
        return Graphs(points.values, name)
    if Domain.SERIES in needs and (series := series_of(points, name)) is not None:
        return series
    if Domain.GRAM in needs and isinstance(points, (Vectors, Table)):
        return Stored(points if isinstance(points, Vectors) else points.vectors(), name)
    wanted = " or ".join(domain.value for domain in Domain.KNOWN.values() if domain in needs)
    raise DomainMismatch(
        f"{owner} cannot read {name}: it needs {wanted}.", f"Got {points!r}.", _advice(points.domain, needs)
    )


def check_same_width(basis: Points, points: Points, name: str = "Z", owner: str = "Kernel") -> None:
    """Check that new points have the columns of the basis: their number, and in tables their names.

    Examples
    --------
    >>> check_same_width(as_points([[1, 2]]), as_points([[1, 2, 3]]))
    Traceback (most recent call last):
        ...
    mercer.errors.InvalidInput: Z has 3 features, but Kernel is expecting 2 features as input.
    """
    if basis.domain is not points.domain and not any({basis.domain, points.domain} <= alike for alike in _ALIKE):
        raise DomainMismatch(
            f"{name} holds {points.domain.value}, but {owner} is expecting {basis.domain.value}.",
            f"Got {points!r}; the basis is {basis!r}.",
        )
    expected, got = _width(basis), _width(points)
    if expected != got and Domain.SERIES not in {basis.domain, points.domain}:
        raise InvalidInput(f"{name} has {got} features, but {owner} is expecting {expected} features as input.")
    if isinstance(basis, Table) and isinstance(points, Table) and basis.names != points.names:
        raise _other_names(basis, points, name)


def conformed(
    basis: Points, points: Points, name: str = "Z", owner: str = "Kernel", columns: Sequence[str | int] | None = None
) -> Points:
    """New points in the form of the basis, or an error that says what differs.

    Where `columns` of tables are read, and all of them by name, the order of the columns does not matter. Each of them
    must hold what it held in the basis.
    """
    if not (isinstance(basis, Table) and isinstance(points, Table) and columns):
        check_same_width(basis, points, name, owner)
        return points
    if all(isinstance(column, str) for column in columns):
        points = in_training_order(basis, points, name)
    else:
        check_same_width(basis, points, name, owner)
    return points.as_seen({column: basis.columns[column] for column in map(basis.find, columns)})


def in_training_order(basis: Table, points: Table, name: str = "X") -> Table:
    """The columns of new points in the order of the basis; an error that names those that are missing or too many.

    Examples
    --------
    >>> new = Table({"b": [3], "a": [4]})
    >>> in_training_order(Table({"a": [1], "b": [2]}), new)
    Table(1 rows: a, b)
    """
    if set(basis.names) != set(points.names):
        raise _other_names(basis, points, name)
    return points.only(basis.names)


# What is needed -> how values are read, such as those of a column; the first that is wrong is named.
_OF_VALUES: dict[Domain, Callable[[Any, str], Points]] = {
    Domain.STRINGS: Strings,
    Domain.GRAPHS: Graphs,
    Domain.ARRAYS: Arrays,
    Domain.BAGS: Bags,
    Domain.SERIES: Series,
}
# Domains whose points may be given in place of each other; what kernels then find missing, they say.
_ALIKE = (
    frozenset({Domain.VECTORS, Domain.TABLE, Domain.GRAM}),
    *(frozenset({Domain.OBJECTS, domain}) for domain in _OF_VALUES),
    frozenset({Domain.ARRAYS, Domain.BAGS}),
    frozenset({Domain.ARRAYS, Domain.GRAPHS}),
    frozenset({Domain.ARRAYS, Domain.SERIES}),
    frozenset({Domain.VECTORS, Domain.SERIES}),
)


def _width(points: Points) -> int | None:
    return points.width if isinstance(points, (Vectors, Indicators, Table, Stored)) else None


def _other_names(basis: Table, points: Table, name: str) -> InvalidInput:
    new = [column for column in points.names if column not in basis.columns]
    gone = [column for column in basis.names if column not in points.columns]
    parts = (("unseen at fit time", new), ("seen at fit time, yet now missing", gone))
    got = " ".join(f"Feature names {what}: {', '.join(names)}." for what, names in parts if names)
    return InvalidInput(
        "The feature names should match those that were passed during fit.",
        got or "Feature names must be in the same order as they were in fit.",
        f"Give {name} the columns {', '.join(basis.names[:10])}{', ...' if basis.width > 10 else ''}, in this order.",
    )


# The domain got, the domain needed -> what would work; for other pairs the example of what is needed.
_ADVICE: dict[tuple[Domain, Domain], str] = {
    (Domain.GRAPHS, Domain.VECTORS): "Use a kernel of graphs, such as WeisfeilerLehman().",
    (Domain.SERIES, Domain.VECTORS): (
        "Use a kernel of series, such as GlobalAlignment().normalised(), or bring all series to one length."
    ),
    (Domain.SETS, Domain.VECTORS): "Turn sets into 0/1 vectors first, with .on(Indicator()), or use SetIntersection().",
    (Domain.OBJECTS, Domain.VECTORS): "Encode the values as numbers, or map them to vectors with .on(fn).",
    (Domain.GRAM, Domain.VECTORS): "Pass the points themselves; rows of a precomputed matrix only fit Precomputed().",
    (Domain.VECTORS, Domain.GRAPHS): 'Pass a list of adjacency matrices, or of dicts: [{"edges": [(0, 1), (1, 2)]}].',
    (Domain.ARRAYS, Domain.VECTORS): "Compare the parts with k.summed(), or pass one row of numbers per point.",
    (Domain.BAGS, Domain.VECTORS): "Compare the parts with k.summed(), or map each bag to one vector with .on(fn).",
    (Domain.VECTORS, Domain.ARRAYS): "Give the rows the shape of images: X.reshape(len(X), height, width).",
    (Domain.VECTORS, Domain.BAGS): "Pass a list of arrays, one per bag; of a table of parts, Bags.grouped(parts, by).",
    (Domain.TABLE, Domain.SETS): "Choose one column of sets, with .on(Columns(name)).",
    (Domain.TABLE, Domain.STRINGS): "Choose one column of strings, with .on(name).",
    (Domain.TABLE, Domain.GRAPHS): "Choose one column of graphs, with .on(name); a single graph goes into a list.",
    (Domain.TABLE, Domain.BAGS): "Choose one column of bags, with .on(name).",
    (Domain.TABLE, Domain.ARRAYS): "Choose one column of arrays, with .on(name).",
}


def _advice(got: Domain, needs: frozenset[Domain]) -> str:
    needed = [need for need in Domain.KNOWN.values() if need in needs]
    known = next((_ADVICE[got, need] for need in needed if (got, need) in _ADVICE), "")
    return known or next((need.example for need in needed if need.example), "")


def _array(X: Any, name: str) -> Points:
    if X.ndim == 1 and X.dtype.kind not in "fiubcV" and not isinstance(X, np.ma.MaskedArray):
        return _sequence(list(X), name)
    return Arrays(X, name) if X.ndim > 2 else Vectors(X, name)


def _series(X: Any, name: str) -> Points:
    """A one-dimensional column of another library: strings or sets, for numbers are refused as scikit-learn does."""
    column = Table({"": X}, name).columns[""]
    if column.domain is Domain.VECTORS:
        raise InvalidInput(
            f"Expected a 2-dimensional container but got {type(X)} instead.",
            f"The argument is {name}.",
            "Pass a DataFrame containing a single row or a single column. Reshape your data if it is an array.",
        )
    return Table({name: X}, name).select([name])


# The types of a sequence's entries that have no row -> what the entry is. The first match counts.
_ENTRIES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Number, np.number, np.bool_), "number"),
    ((str, bytes, bytearray, np.generic), "value"),
    ((Sequence, _SupportsArray), "row"),
    ((type(None),), "missing"),
)


def _entry(kind: type) -> str:
    return next((entry for kinds, entry in _ENTRIES if issubclass(kind, kinds)), "value")


def _sequence(X: Any, name: str) -> Points:
    kinds = dict.fromkeys(map(type, X))
    adapter = adapter_of_entries(kinds) or (adapter_of_pairs(X) if tuple in kinds else None)
    if adapter is not None:
        return adapter.read(X, name)
    entries = set(map(_entry, kinds))
    if "value" in entries or entries == {"missing"}:
        return Objects(X, name)
    if entries == {"row"} and are_unequal(X):
        return Series(X, name)
    return Arrays(X, name) if "number" not in entries and any(map(_is_table, X)) else Vectors(X, name)


def _is_table(row: Any) -> bool:
    """Whether an entry of a list is itself a list of rows."""
    if isinstance(row, np.ndarray):
        return row.ndim > 1
    first = next(iter(row), None) if isinstance(row, list | tuple) else None
    return isinstance(first, list | tuple) or (isinstance(first, np.ndarray) and first.ndim > 0)


def _other(X: object, name: str) -> Points:
    if isinstance(X, _SupportsArray | memoryview) and not isinstance(X, np.generic):
        return _array(np.asarray(X), name)
    if isinstance(X, Sequence) and not isinstance(X, str | bytes | bytearray):
        return _sequence(list(X), name)
    if isinstance(X, Number | np.generic | type(None)):
        return Vectors(X, name)
    advice = "Pass a list of strings, one per point." if isinstance(X, str) else _PASS
    if isinstance(X, Iterator):
        advice = "Turn it into a list first: list(X)."
    raise DomainMismatch(f"Input {name} is not a collection of points.", f"Got a {type(X).__name__}.", advice)


_PASS = "Pass a two-dimensional array, a SciPy sparse matrix, a DataFrame, or a list of sets, strings or other values."


def _lazy(X: Any, name: str) -> Points:
    raise DomainMismatch(f"Input {name} is a lazy query.", f"Got a {type(X).__name__}.", "Pass X.collect().")


for row in (
    Adapter(_array, collections=(("numpy", "ndarray"),)),
    # A dok_array is a dict as well, and first of all.
    Adapter(Vectors, collections=(("scipy", "sparray"), ("scipy", "spmatrix"), ("scipy", "dok_array"))),
    Adapter(_sequence, collections=(("builtins", "list"), ("builtins", "tuple"))),
    Adapter(Table, collections=tuple(FRAMES)),
    Adapter(_series, collections=tuple(SERIES)),
    Adapter(_lazy, collections=(("polars", "LazyFrame"),)),
    Adapter(Sets, entries=(("builtins", "set"), ("builtins", "frozenset")), domain=Domain.SETS),
):
    register(row)
