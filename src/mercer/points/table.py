"""Tables: named columns of mixed domains, from pandas, polars, pyarrow or a dict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points.base import Domain, Points, Selection, as_selection, found_none
from mercer.points.column import BOOLEANS, LARGE, NUMBERS, Column, as_column
from mercer.points.frames import FRAMES
from mercer.points.objects import Objects
from mercer.points.registry import adapter_of_domain, nearest
from mercer.points.times import AWARE, CALENDAR, DATES
from mercer.points.vectors import Vectors

__all__ = ["Table"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Table:
    """Points whose parts are named columns, each of its own domain.

    A column is validated when it is selected, so a missing value in a column that no kernel reads does no harm. Dates
    and times are numbers of days, as `mercer.points.times` says. Integers beyond 2**53, which float64 would round, are
    values that are equal or not.

    Parameters
    ----------
    X : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of columns
        At least one row and one column; the columns have equal length and distinct names. A name that is not a string
        is turned into one.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    columns : mapping of str to Column
        The columns by name, in order.

    Examples
    --------
    >>> X = Table({"age": [31, 45], "sex": ["f", "m"], "tags": [{1, 2}, {2}]})
    >>> X
    Table(2 rows: age, sex, tags)
    >>> X.select(["age"]), X.select(["sex"]), X.select(["tags"])
    (Vectors(2 x 1, float64), Objects(2, strings), Sets(2, 3 items))
    """

    domain: ClassVar[Domain] = Domain.TABLE
    columns: Mapping[str, Column]
    name: str

    def __init__(self, X: object, name: str = "X") -> None:
        if isinstance(X, Table):
            object.__setattr__(self, "columns", X.columns)
            object.__setattr__(self, "name", name)
            return
        read = nearest(FRAMES, type(X))
        if read is None:
            raise DomainMismatch(
                f"Input {name} is not a table.",
                f"Got a {type(X).__name__}.",
                "Pass a pandas or polars DataFrame, a pyarrow Table or a dict of columns.",
            )
        columns: dict[str, Column] = {}
        for label, values in read(X):
            if str(label) in columns:
                raise InvalidInput(
                    f"Input {name} has two columns named {str(label)!r}.", attempt="Rename one of them, or drop it."
                )
            columns[str(label)] = as_column(values, name, str(label))
        _check_shape(columns, _n_rows(X), name)
        object.__setattr__(self, "columns", MappingProxyType(columns))
        object.__setattr__(self, "name", name)

    @classmethod
    def _trusted(cls, columns: dict[str, Column], name: str) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "columns", MappingProxyType(columns))
        object.__setattr__(self, "name", name)
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[dict[str, Column], str]]:
        return (self._trusted, (dict(self.columns), self.name))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self.columns)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        shown = [*self.names[:4], "..."] if self.width > 5 else self.names
        return f"Table({len(self)} rows: {', '.join(shown)})"

    def take(self, rows: Selection) -> Self:
        """The chosen rows, in the chosen order."""
        index = as_selection(rows, len(self))
        return self._trusted({name: column.take(index) for name, column in self.columns.items()}, self.name)

    def raw(self) -> dict[str, NDArray[Any]]:
        """The columns as arrays, by name."""
        return {name: column.values for name, column in self.columns.items()}

    def domain_of(self, names: Iterable[str | int]) -> Domain:
        """The kind of points that `select` would make of these columns."""
        domains = [self.columns[self.find(name)].domain for name in names]
        if all(domain is Domain.VECTORS for domain in domains):
            return Domain.VECTORS
        return domains[0] if len(domains) == 1 else Domain.OBJECTS

    def select(self, names: Sequence[str | int]) -> Points:
        """Some columns as points: by name, or by position.

        Numeric columns become Vectors; one column of sets becomes Sets, of entries of another domain its points; one
        other column becomes Objects; several
        columns that are not all numeric become Objects that are tuples.
        """
        found = [self.find(name) for name in names]
        domain = self.domain_of(found)
        for name in found:
            _check_present(self.columns[name], self.name, name)
        if domain is Domain.VECTORS:
            return self._vectors(found)
        first = self.columns[found[0]]
        adapter = adapter_of_domain(domain)
        if adapter is not None:
            return adapter.read(first.values, f"{self.name}[{found[0]!r}]")
        if len(found) > 1:
            return Objects(list(zip(*(self.columns[name].values for name in found), strict=True)), self.name)
        return Objects(list(first.values), self.name, first.kind, first.levels)

    def only(self, names: Sequence[str]) -> Self:
        """The table of some columns, in the given order."""
        return self._trusted({name: self.columns[name] for name in names}, self.name)

    def as_seen(self, seen: Mapping[str, Column]) -> Self:
        """The table with some columns in the form that they had in training, or an error that names one."""
        alike = {
            name: self.columns[self.find(name)].like(column, f"Column {name!r} of {self.name}")
            for name, column in seen.items()
        }
        return self.replaced(alike)

    def replaced(self, columns: Mapping[str, Column]) -> Self:
        """The table with other columns of the same names."""
        return self._trusted({**self.columns, **columns}, self.name)

    def vectors(self) -> Vectors:
        """All columns as vectors; refused if one holds other things than numbers, dates among them."""
        other = [name for name, column in self.columns.items() if column.kind not in (NUMBERS, BOOLEANS)]
        if other:
            numeric = [name for name in self.columns if name not in other]
            column = self.columns[other[0]]
            raise DomainMismatch(
                f"Input {self.name} is not numeric: column {other[0]!r} holds {column.kind or column.domain.value}.",
                f"{len(other)} of {self.width} columns are not numbers.",
                _advice(other[0], column, numeric),
            )
        for name, column in self.columns.items():
            _check_present(column, self.name, name)
        return self._vectors(self.names)

    def _vectors(self, names: Sequence[str]) -> Vectors:
        arrays = [self.columns[name].values for name in names]
        single = all(array.dtype == np.float32 for array in arrays)
        matrix = np.empty((len(self), len(arrays)), dtype=np.float32 if single else np.float64)
        with np.errstate(over="ignore"):  # overflow becomes infinite, and is reported by row and column
            for j, array in enumerate(arrays):
                matrix[:, j] = array
        return Vectors(matrix, self.name, labels=names)

    def find(self, name: str | int) -> str:
        """The name of a column that is given by name or position."""
        if isinstance(name, int) and 0 <= name < self.width:
            return self.names[name]
        if name in self.columns:
            return str(name)
        shown = ", ".join(map(repr, self.names[:10])) + (", ..." if self.width > 10 else "")
        what = f"{name!r}" if isinstance(name, str) else f"number {name}"
        raise InvalidInput(f"Input {self.name} has no column {what}.", f"Its {self.width} columns are {shown}.")


def _n_rows(X: Any) -> int:
    return len(X) if not isinstance(X, dict) else max((len(values) for values in X.values()), default=0)


def _check_shape(columns: dict[str, Column], n: int, name: str) -> None:
    for label, column in columns.items():
        if len(column) != n:
            raise InvalidInput(
                f"The columns of {name} differ in length.", f"Column {label!r} holds {len(column)} values, another {n}."
            )
    if n == 0:
        raise found_none(name, "sample", (n, len(columns)))
    if not columns:
        raise found_none(name, "feature", (n, 0))


def _check_present(column: Column, name: str, label: str) -> None:
    if column.values.dtype.kind == "c":
        raise InvalidInput(
            "Complex data not supported.", f"Column {label!r} of {name} has dtype {column.values.dtype}."
        )
    missing = column.missing()
    if missing.any():
        raise InvalidInput(
            f"Input {name} contains NaN.",
            f"Row {int(missing.argmax())}, column {label!r} is missing, as {int(missing.sum())} of {len(column)} are.",
            f"Fill them, drop the rows, or write OrMissing(k.on({label!r})) for the kernel k of this column.",
        )


# What the values are -> what would work where vectors are needed.
_INSTEAD = {
    **dict.fromkeys(
        (DATES, CALENDAR, AWARE), "Name it, as in .on({name!r}): then it counts the days since 1970-01-01."
    ),
    LARGE: "Compare it with Delta().on({name!r}), or round it with astype(float).",
}


def _advice(name: str, column: Column, numeric: Sequence[str]) -> str:
    if column.kind in _INSTEAD:
        return _INSTEAD[column.kind].format(name=name)
    if not numeric:
        return "Encode the column as numbers, or use Delta() on it."
    shown_names = ", ".join(map(repr, numeric[:4])) + (", ..." if len(numeric) > 4 else "")
    return f"Choose the numeric columns with .on(Columns({shown_names})), or let mercer.auto(X) propose a kernel."
