"""Columns from pandas, polars, pyarrow and plain Python: one reader for each library, the same values from all.

Numbers come out as arrays with NaN for what is missing, all else as lists with None. No library is imported: a class is
recognised by its name.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer.points.registry import ClassName, nearest
from mercer.points.times import AWARE, CALENDAR, DATES, DURATIONS

__all__ = ["CATEGORIES", "EXACT", "FRAMES", "ORDERED", "SERIES", "Values", "read_values"]

CATEGORIES = "categories"
ORDERED = "ordered categories"
# Integers up to here are exact as float64.
EXACT = 2**53


@final
@dataclass(frozen=True)
class Values:
    """The values of a column as its library has them.

    Parameters
    ----------
    values : list, tuple or array
        One for each row.
    kind : str
        What the library declares them to be, where the values do not say it themselves.
    levels : tuple
        All declared categories, where somebody put them in an order.
    """

    values: Any
    kind: str = ""
    levels: tuple[Any, ...] = ()


Named = Iterable[tuple[object, Values]]


def read_values(values: Any) -> Values:
    """The values of any collection: a Series, an Array, a list."""
    read = nearest(SERIES, type(values))
    return Values(values) if read is None else read(values)


def _pandas_frame(frame: Any) -> Named:
    return ((label, _pandas_series(frame.iloc[:, j])) for j, label in enumerate(frame.columns))


def _pandas_series(series: Any) -> Values:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return Values(series.to_numpy())
    special = _PANDAS.get(type(dtype).__name__)
    if special is not None:
        return special(series)
    if dtype.kind not in "fiub":
        return Values(series.to_numpy())
    known = series.dropna()
    if dtype.kind in "iu" and len(known) and max(abs(int(known.min())), abs(int(known.max()))) > EXACT:
        return Values(series.to_numpy(dtype=object, na_value=None))
    if dtype.kind == "b":
        return Values(series.to_numpy(dtype=object, na_value=None) if series.hasnans else series.to_numpy(dtype=bool))
    single = str(dtype).lower().startswith("float32")
    return Values(series.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan))


def _pandas_array(array: Any) -> Values:
    """An Index, a Categorical, or another array of pandas."""
    import pandas  # noqa: PLC0415 (optional, and there: the array is its own)

    return _pandas_series(pandas.Series(array))


def _pandas_categorical(series: Any) -> Values:
    array = series.array
    levels = array.categories.tolist()
    named = np.array([*range(len(levels)), None], dtype=object)  # code −1 is a missing value
    named[: len(levels)] = np.fromiter(levels, dtype=object, count=len(levels))
    return Values(
        named[array.codes].tolist(), ORDERED if array.ordered else CATEGORIES, tuple(levels) if array.ordered else ()
    )


# The class of a column's type -> its reader, for types that are not NumPy's.
_PANDAS: dict[str, Callable[[Any], Values]] = {
    "CategoricalDtype": _pandas_categorical,
    "DatetimeTZDtype": lambda series: Values(series.dt.tz_convert(None).to_numpy(), AWARE),
    "ArrowDtype": lambda series: _arrow(series.array.__arrow_array__()),
}


def _polars_frame(frame: Any) -> Named:
    return ((series.name, _polars_series(series)) for series in frame.get_columns())


def _polars_series(series: Any) -> Values:
    dtype = series.dtype
    special = _POLARS.get(dtype.base_type().__name__)
    if special is not None:
        return special(series)
    if dtype.is_float() or (dtype.is_integer() and series.null_count() == 0):
        return Values(series.to_numpy())
    return Values(series.to_list())


_POLARS: dict[str, Callable[[Any], Values]] = {
    "Categorical": lambda series: Values(series.to_list(), CATEGORIES),
    "Enum": lambda series: Values(series.to_list(), CATEGORIES, tuple(series.dtype.categories)),
    "Date": lambda series: Values(series.to_numpy(), DATES),
    "Datetime": lambda series: Values(series.to_numpy(), CALENDAR if series.dtype.time_zone is None else AWARE),
    "Duration": lambda series: Values(series.to_numpy(), DURATIONS),
}


def _arrow_frame(table: Any) -> Named:
    return ((label, _arrow(column)) for label, column in zip(table.column_names, table.columns, strict=True))


def _arrow(array: Any) -> Values:
    """An Array or a ChunkedArray."""
    name = str(array.type)
    kind = next((kind for start, kind in _ARROW_TIMES.items() if name.startswith(start)), "")
    if kind:
        return Values(np.asarray(array), AWARE if "tz=" in name else kind)
    if name.startswith("dictionary"):
        levels = array.type.ordered and tuple(_dictionary(array))
        return Values(array.to_pylist(), ORDERED if levels else CATEGORIES, levels or ())
    if name in _ARROW_FLOATS or (name in _ARROW_WHOLE and array.null_count == 0):
        return Values(np.asarray(array))
    return Values(array.to_pylist())


def _dictionary(array: Any) -> list[Any]:
    chunks = array.unify_dictionaries().chunks if nearest(_CHUNKED, type(array)) else [array]
    levels: list[Any] = chunks[0].dictionary.to_pylist() if chunks else []
    return levels


_CHUNKED: dict[ClassName, bool] = {("pyarrow", "ChunkedArray"): True}
_ARROW_TIMES = {"timestamp": CALENDAR, "date": DATES, "duration": DURATIONS}
_ARROW_FLOATS = frozenset({"double", "float", "halffloat"})
_ARROW_WHOLE = frozenset({"bool", *(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))})


def _dict_of_columns(columns: Any) -> Named:
    return ((label, read_values(values)) for label, values in columns.items())


# A class, by top-level module and name -> how its columns are read.
FRAMES: dict[ClassName, Callable[[Any], Named]] = {
    ("pandas", "DataFrame"): _pandas_frame,
    ("polars", "DataFrame"): _polars_frame,
    ("pyarrow", "Table"): _arrow_frame,
    ("pyarrow", "RecordBatch"): _arrow_frame,
    ("builtins", "dict"): _dict_of_columns,
}
SERIES: dict[ClassName, Callable[[Any], Values]] = {
    ("pandas", "Series"): _pandas_series,
    ("pandas", "ExtensionArray"): _pandas_array,
    ("pandas", "Index"): _pandas_array,
    ("polars", "Series"): _polars_series,
    ("pyarrow", "Array"): _arrow,
    ("pyarrow", "ChunkedArray"): _arrow,
}
