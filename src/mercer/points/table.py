"""Tables: named columns of mixed domains, from pandas, polars, pyarrow or a dict."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points.base import Domain, Points, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.objects import Objects
from mercer.points.registry import ClassName, adapter_of_domain, adapter_of_entries, nearest
from mercer.points.vectors import Vectors

__all__ = ["SERIES_READERS", "TABLES", "Column", "Table"]

_NUMBERS = (bool, int, float, np.number, np.bool_, Decimal, Fraction)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column of a table, as it came: numbers, sets or other values. Values are validated when they are selected.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Numbers (missing ones are NaN), or objects (missing ones are None); read-only.
    domain : Domain
        What the column becomes when it is selected alone: VECTORS, SETS or OBJECTS.
    kind : str
        What the values are, where messages can say more than the domain.
    """

    values: NDArray[Any]  # (n,)
    domain: Domain
    kind: str = ""

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: slice | NDArray[np.intp]) -> "Column":
        """The chosen rows."""
        return Column(read_only(self.values[index]), self.domain, self.kind)


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Table:
    """Points whose parts are named columns, each of its own domain.

    A column is validated when it is selected, so a missing value in a column that no kernel reads does no harm.

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
    (Vectors(2 x 1, float64), Objects(2), Sets(2, 3 items))
    """

    domain: ClassVar[Domain] = Domain.TABLE
    columns: Mapping[str, Column]
    name: str

    def __init__(self, X: object, name: str = "X") -> None:
        if isinstance(X, Table):
            object.__setattr__(self, "columns", X.columns)
            object.__setattr__(self, "name", name)
            return
        read = nearest(TABLES, type(X))
        if read is None:
            raise DomainMismatch(
                f"Input {name} is not a table.",
                f"Got a {type(X).__name__}.",
                "Pass a pandas or polars DataFrame, a pyarrow Table or a dict of columns.",
            )
        columns: dict[str, Column] = {}
        for label, (values, categorical) in read(X):
            if str(label) in columns:
                raise InvalidInput(
                    f"Input {name} has two columns named {str(label)!r}.", attempt="Rename one of them, or drop it."
                )
            columns[str(label)] = _as_column(values, categorical, name, str(label))
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
        domains = [self.columns[self._find(name)].domain for name in names]
        if all(domain is Domain.VECTORS for domain in domains):
            return Domain.VECTORS
        return domains[0] if len(domains) == 1 else Domain.OBJECTS

    def select(self, names: Sequence[str | int]) -> Points:
        """Some columns as points: by name, or by position.

        Numeric columns become Vectors; one column of sets becomes Sets, of entries of another domain its points; one
        other column becomes Objects; several
        columns that are not all numeric become Objects that are tuples.
        """
        found = [self._find(name) for name in names]
        domain = self.domain_of(found)
        if domain is Domain.VECTORS:
            return self._vectors(found)
        adapter = adapter_of_domain(domain)
        if adapter is not None:
            return adapter.read(self.columns[found[0]].values, f"{self.name}[{found[0]!r}]")
        for name in found:
            _check_no_missing(self.columns[name], self.name, name)
        values = [self.columns[name].values for name in found]
        if len(found) > 1:
            return Objects(list(zip(*values, strict=True)), self.name)
        return Objects(list(values[0]), self.name, self.columns[found[0]].kind)

    def vectors(self) -> Vectors:
        """All columns as vectors; refused if one is not numeric."""
        other = [name for name, column in self.columns.items() if column.domain is not Domain.VECTORS]
        if other:
            numeric = [name for name in self.columns if name not in other]
            column = self.columns[other[0]]
            raise DomainMismatch(
                f"Input {self.name} is not numeric: column {other[0]!r} holds {column.kind or column.domain.value}.",
                f"{len(other)} of {self.width} columns are not numbers.",
                f"Choose the numeric columns with .on(Columns({', '.join(map(repr, numeric[:4]))}"
                f"{', ...' if len(numeric) > 4 else ''}))."
                if numeric
                else "Encode the column as numbers, or use Delta() on it.",
            )
        return self._vectors(self.names)

    def _vectors(self, names: Sequence[str]) -> Vectors:
        arrays = [self.columns[name].values for name in names]
        single = all(array.dtype == np.float32 for array in arrays)
        _check_real(arrays, names, self.name)
        matrix = np.empty((len(self), len(arrays)), dtype=np.float32 if single else np.float64)
        with np.errstate(over="ignore"):  # overflow becomes infinite, and is reported by row and column
            for j, array in enumerate(arrays):
                matrix[:, j] = array
        return Vectors(matrix, self.name, labels=names)

    def _find(self, name: str | int) -> str:
        if isinstance(name, int) and 0 <= name < self.width:
            return self.names[name]
        if name in self.columns:
            return str(name)
        shown = ", ".join(map(repr, self.names[:10])) + (", ..." if self.width > 10 else "")
        what = f"{name!r}" if isinstance(name, str) else f"number {name}"
        raise InvalidInput(f"Input {self.name} has no column {what}.", f"Its {self.width} columns are {shown}.")


_Values = tuple[Any, bool]  # the values of a column, and whether they are categories even if they look like numbers


def _read_pandas(frame: Any) -> Iterable[tuple[object, _Values]]:
    return ((label, read_series(frame.iloc[:, j])) for j, label in enumerate(frame.columns))


def read_series(series: Any) -> _Values:
    """The values of a pandas Series."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) or dtype.kind not in "fiub" or str(dtype) == "category":
        return series.to_numpy(), str(dtype) == "category"
    single = str(dtype).lower().startswith(("float32", "float["))
    return series.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan), False


def _read_categorical(values: Any) -> _Values:
    return list(values), True


def _read_polars(frame: Any) -> Iterable[tuple[object, _Values]]:
    return ((series.name, read_polars_series(series)) for series in frame.get_columns())


def read_polars_series(series: Any) -> _Values:
    """The values of a polars Series."""
    if series.dtype.is_float() or (series.dtype.is_integer() and series.null_count() == 0):
        return series.to_numpy(), False
    return series.to_list(), False


def _read_arrow(table: Any) -> Iterable[tuple[object, _Values]]:
    return ((label, read_arrow_array(column)) for label, column in zip(table.column_names, table.columns, strict=True))


def read_arrow_array(array: Any) -> _Values:
    """The values of a pyarrow Array or ChunkedArray."""
    kind = str(array.type)
    if array.null_count == 0 and kind in _ARROW_NUMBERS:
        return np.asarray(array), False
    return array.to_pylist(), kind.startswith("dictionary")


_ARROW_NUMBERS = frozenset(
    {"double", "float", "halffloat", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))}
)


def _read_dict(columns: Any) -> Iterable[tuple[object, _Values]]:
    return ((label, _read_any(values)) for label, values in columns.items())


def _read_any(values: Any) -> _Values:
    read = nearest(SERIES_READERS, type(values))
    return (values, False) if read is None else read(values)


# A class, by top-level module and name -> how its columns are read.
TABLES: dict[ClassName, Callable[[Any], Iterable[tuple[object, _Values]]]] = {
    ("pandas", "DataFrame"): _read_pandas,
    ("polars", "DataFrame"): _read_polars,
    ("pyarrow", "Table"): _read_arrow,
    ("pyarrow", "RecordBatch"): _read_arrow,
    ("builtins", "dict"): _read_dict,
}
SERIES_READERS: dict[ClassName, Callable[[Any], _Values]] = {
    ("pandas", "Series"): read_series,
    ("pandas", "Categorical"): _read_categorical,
    ("polars", "Series"): read_polars_series,
    ("pyarrow", "Array"): read_arrow_array,
    ("pyarrow", "ChunkedArray"): read_arrow_array,
}


def _as_column(values: Any, categorical: bool, name: str, label: str) -> Column:
    if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, np.ndarray)):
        raise DomainMismatch(
            f"Column {label!r} of {name} is not a list of values.",
            f"Got a {type(values).__name__}.",
            "Pass one value per row.",
        )
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InvalidInput(
            f"Column {label!r} of {name} must be one-dimensional.",
            f"Got shape {values.shape}.",
            "Pass one value per row.",
        )
    if isinstance(values, np.ma.MaskedArray):
        values = [None if value is np.ma.masked else value for value in values]
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiubc" and not categorical:
        return Column(read_only(np.asarray(values)), Domain.VECTORS)
    return _object_column([None if is_missing(value) else value for value in values], categorical)


def _object_column(values: list[Any], categorical: bool) -> Column:
    """A column of Python values: numbers if all are, points of one domain if all are entries of it, else objects."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and not categorical and all(issubclass(kind, _NUMBERS) for kind in kinds):
        numbers = [np.nan if value is None else value for value in values]
        return Column(read_only(_floats(numbers)), Domain.VECTORS)
    adapters = {adapter_of_entries((kind,)) for kind in kinds}
    adapter = adapters.pop() if len(adapters) == 1 else None
    array = np.fromiter(values, dtype=np.object_, count=len(values))
    domain = Domain.OBJECTS if adapter is None or adapter.domain is None else adapter.domain
    return Column(read_only(array), domain, "categories" if categorical else "")


def _floats(numbers: list[Any]) -> NDArray[Any]:
    if any(isinstance(number, np.complexfloating) for number in numbers):
        return np.array(numbers)  # refused when the column is selected
    try:
        return np.array(numbers, dtype=np.float64)
    except OverflowError:
        # An integer beyond float64 is reported by row and column when the column is selected.
        return np.array([_float(number) for number in numbers])


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


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


def _check_no_missing(column: Column, name: str, label: str) -> None:
    row = next((i for i, value in enumerate(column.values) if is_missing(value)), None)
    if row is not None:
        raise InvalidInput(
            f"Input {name} contains NaN.",
            f"Row {row}, column {label!r} is missing.",
            "Fill the missing values with one of your own, for instance 'missing', or drop those rows.",
        )


def _check_real(arrays: Sequence[NDArray[Any]], names: Sequence[str], name: str) -> None:
    for array, label in zip(arrays, names, strict=True):
        if array.dtype.kind == "c":
            raise InvalidInput("Complex data not supported.", f"Column {label!r} of {name} has dtype {array.dtype}.")
