"""The rows of points: each kind by the arrays it is made of, which are checked like the input of a fit."""

import math
import sys
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from mercer.io.checks import check, check_offsets, is_item
from mercer.io.codec import Reader, Row, Writer, add_row
from mercer.io.graphs import GRAPHS
from mercer.points.arrays import Arrays
from mercer.points.bags import Bags
from mercer.points.base import Domain, Points
from mercer.points.column import Column
from mercer.points.given import Given
from mercer.points.objects import Objects
from mercer.points.ragged import Indicators, Sets
from mercer.points.series import Series
from mercer.points.stored import Places, Stored
from mercer.points.strings import Strings
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["POINTS"]

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _take_vectors(value: Vectors, writer: Writer, path: str) -> Any:
    return {"rows": writer.value(value.raw(), path)}


def _make_vectors(stored: Any, reader: Reader) -> Vectors:
    (rows,) = reader.parts(stored, ("rows",))
    check(getattr(rows, "dtype", None) in FLOATS and rows.ndim == 2 and rows.shape[1] > 0, "vectors that are none")
    if rows.shape[0]:
        return Vectors(rows)
    # No input has no rows, but a machine may have no support vectors.
    dense, csr = (rows, None) if isinstance(rows, np.ndarray) else (None, rows)
    return Vectors._trusted(dense, csr)  # noqa: SLF001 (there is nothing in it to be checked)


def _take_sets(value: Sets, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("offsets", "items")}


def _make_sets(stored: Any, reader: Reader) -> Sets:
    offsets, items = reader.parts(stored, ("offsets", "items"))
    check_offsets(offsets, len(items))
    check(items.dtype == np.object_ and items.ndim == 1, "sets whose items are none")
    check(all(map(is_item, items)), "a set with an item that no set may hold")
    whole = all(len(set(items[begin:end])) == end - begin for begin, end in pairwise(offsets.tolist()))
    check(whole, "a set that repeats an item")
    # Not by way of the sets themselves: the order of the items stays what it was.
    return Sets._trusted(offsets, items)  # noqa: SLF001 (checked above)


def _take_indicators(value: Indicators, writer: Writer, path: str) -> Any:
    names = ("offsets", "codes", "n_items", "sizes")
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in names}


def _make_indicators(stored: Any, reader: Reader) -> Indicators:
    offsets, codes, n_items, sizes = reader.parts(stored, ("offsets", "codes", "n_items", "sizes"))
    check_offsets(offsets, len(codes))
    check(codes.dtype == np.int32 and codes.ndim == 1 and sizes.dtype == np.int64, "indicators that are none")
    check(type(n_items) is int and 0 <= n_items < 1 << 31, "indicators that are none")
    check(sizes.shape == (len(offsets) - 1,) and (sizes >= np.diff(offsets)).all(), "indicators that are none")
    check(not codes.size or (codes.min() >= 0 and codes.max() < n_items), "a code out of range")
    rising = all((np.diff(codes[begin:end]) > 0).all() for begin, end in pairwise(offsets.tolist()))
    check(rising, "indicators whose codes do not increase")
    return Indicators(offsets, codes, n_items, sizes)


def _take_strings(value: Strings, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("offsets", "letters")}


def _make_strings(stored: Any, reader: Reader) -> Strings:
    offsets, letters = reader.parts(stored, ("offsets", "letters"))
    check_offsets(offsets, len(letters))
    fits = LETTERS.get(letters.dtype)
    check(fits is not None and letters.ndim == 1 and all(map(fits, letters.tolist())), "strings whose letters are none")
    return Strings._trusted(offsets, letters)  # noqa: SLF001 (checked above)


# By the dtype of the letters: which of them there can be.
LETTERS: dict[np.dtype[Any], Callable[[Any], bool]] = {
    np.dtype(np.uint32): lambda point: point <= sys.maxunicode,
    np.dtype(np.uint8): lambda byte: True,
    np.dtype(np.object_): is_item,
}


def _take_objects(value: Objects, writer: Writer, path: str) -> Any:
    return {"values": writer.value(value.values, f"{path}.values"), "kind": value.kind}


def _make_objects(stored: Any, reader: Reader) -> Objects:
    values, kind = reader.parts(stored, ("values", "kind"))
    check(isinstance(values, np.ndarray) and values.dtype == np.object_ and values.ndim == 1, "objects that are none")
    check(isinstance(kind, str), "objects that are none")
    if len(values):
        return Objects(values, kind=kind)
    return Objects._trusted(values, kind)  # noqa: SLF001 (as for vectors)


def _take_table(value: Table, writer: Writer, path: str) -> Any:
    return {
        "name": value.name,
        "columns": [
            [
                name,
                writer.value(column.values, f"{path}.{name}"),
                column.domain.value,
                column.kind,
                writer.value(column.levels, f"{path}.{name}.levels"),
                writer.value(column.example, f"{path}.{name}.example"),
            ]
            for name, column in value.columns.items()
        ],
    }


def _make_table(stored: Any, reader: Reader) -> Table:
    check(isinstance(stored, dict) and set(stored) == {"name", "columns"}, "a table that is none")
    check(isinstance(stored["name"], str) and stored["columns"], "a table that is none")
    columns: dict[str, Column] = {}
    for label, content, domain, kind, levels, example in stored["columns"]:
        values = reader.value(content)
        check(isinstance(label, str) and label not in columns, "two columns of one name")
        check(isinstance(values, np.ndarray) and values.ndim == 1, "a column that is none")
        known = Domain.KNOWN.get(domain) if isinstance(domain, str) else None
        check(known is not None and isinstance(kind, str), f"a column of the unknown kind {str(domain)[:40]!r}")
        assert known is not None
        is_number = values.dtype.kind in "fiub"
        check(
            is_number == (known is Domain.VECTORS) and (is_number or values.dtype == np.object_),
            "a column that is none",
        )
        ordered = reader.value(levels)
        check(isinstance(ordered, tuple), "a column that is none")
        columns[label] = Column(values, known, kind, ordered, reader.value(example))
    check(len({len(column) for column in columns.values()}) == 1, "a table whose columns differ in length")
    return Table._trusted(columns, stored["name"])  # noqa: SLF001 (columns are checked when they are selected)


def _take_stored(value: Stored, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("matrix", "rows")}


def _make_stored(stored: Any, reader: Reader) -> Stored:
    matrix, rows = reader.parts(stored, ("matrix", "rows"))
    checked = Stored(matrix)
    check(matrix.dtype in FLOATS and _are_places(rows, len(checked), checked.width), "rows of a matrix that are none")
    return Stored._trusted(checked.matrix, rows)  # noqa: SLF001 (checked above)


def _take_places(value: Places, writer: Writer, path: str) -> Any:
    return {"rows": writer.value(value.rows, f"{path}.rows"), "width": value.width}


def _make_places(stored: Any, reader: Reader) -> Places:
    rows, width = reader.parts(stored, ("rows", "width"))
    check(type(width) is int and width > 0, "places in a matrix that are none")
    check(isinstance(rows, np.ndarray) and _are_places(rows, len(rows), width), "places in a matrix that are none")
    return Places(rows, width)


def _are_places(rows: Any, n: int, width: int) -> bool:
    good = isinstance(rows, np.ndarray) and rows.dtype == np.int64 and rows.shape == (n,)
    return good and (n == 0 or bool(rows.min() >= 0 and rows.max() < width))


def _take_arrays(value: Arrays, writer: Writer, path: str) -> Any:
    """All numbers in one array, and the shapes."""
    flat = [each.reshape(-1) for each in value.values]
    numbers = np.concatenate(flat) if flat else np.empty(0)
    return {"numbers": writer.value(numbers, path), "shapes": [list(each.shape) for each in value.values]}


def _make_arrays(stored: Any, reader: Reader) -> Arrays:
    check(isinstance(stored, dict) and set(stored) == {"numbers", "shapes"}, "arrays that are none")
    numbers, shapes = reader.value(stored["numbers"]), stored["shapes"]
    check(isinstance(numbers, np.ndarray) and numbers.dtype in FLOATS and numbers.ndim == 1, "arrays that are none")
    check(isinstance(shapes, list) and all(map(_is_shape, shapes)), "arrays whose shapes are none")
    ends = list(accumulate(map(math.prod, shapes), initial=0))
    check(ends[-1] == len(numbers) and bool(np.isfinite(numbers).all()), "arrays whose numbers are none")
    values = (numbers[a:b].reshape(shape) for (a, b), shape in zip(pairwise(ends), shapes, strict=True))
    return Arrays._trusted(tuple(values))  # noqa: SLF001 (checked above)


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list) and len(shape) >= 2 and all(type(side) is int and 0 <= side < 1 << 31 for side in shape)
    )


def _take_bags(value: Bags, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("offsets", "parts")}


def _make_bags(stored: Any, reader: Reader) -> Bags:
    offsets, parts = reader.parts(stored, ("offsets", "parts"))
    check(isinstance(parts, POINTS), "bags whose parts are none")
    check_offsets(offsets, len(parts))
    return Bags._trusted(offsets, parts)  # noqa: SLF001 (checked above)


def _take_series(value: Series, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("offsets", "parts")}


def _make_series(stored: Any, reader: Reader) -> Series:
    offsets, parts = reader.parts(stored, ("offsets", "parts"))
    check(isinstance(parts, np.ndarray) and parts.dtype in FLOATS and parts.ndim == 2, "series that are none")
    check(parts.shape[1] > 0 and bool(np.isfinite(parts).all()), "series whose numbers are none")
    check_offsets(offsets, len(parts))
    return Series._trusted(offsets, parts)  # noqa: SLF001 (checked above)


def _take_given(value: Given, writer: Writer, path: str) -> Any:
    return {name: writer.value(getattr(value, name), f"{path}.{name}") for name in ("collection", "rows")}


def _make_given(stored: Any, reader: Reader) -> Given:
    collection, rows = reader.parts(stored, ("collection", "rows"))
    given = Given(collection)
    check(rows is None or _are_places(rows, len(rows), given.count), "a collection that is none")
    return Given(collection, rows)


# Tag, class, taking apart, putting together.
ROWS = (
    Row("vectors", Vectors, _take_vectors, _make_vectors),
    Row("sets", Sets, _take_sets, _make_sets),
    Row("indicators", Indicators, _take_indicators, _make_indicators),
    Row("strings", Strings, _take_strings, _make_strings),
    Row("objects", Objects, _take_objects, _make_objects),
    Row("arrays", Arrays, _take_arrays, _make_arrays),
    Row("bags", Bags, _take_bags, _make_bags),
    Row("series", Series, _take_series, _make_series),
    Row("table", Table, _take_table, _make_table),
    Row("stored", Stored, _take_stored, _make_stored),
    Row("places", Places, _take_places, _make_places),
    Row("given", Given, _take_given, _make_given),
    GRAPHS,
)
POINTS: tuple[type[Points], ...] = tuple(row.kind for row in ROWS if row.kind is not None)
for row in ROWS:
    add_row(row)
