"""Which rows of one collection are the points of another."""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import MercerError
from mercer.points.base import Points
from mercer.points.given import Given
from mercer.points.stored import Places, Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["keys_of", "places_of"]

# What is missing is equal to what is missing; NaN itself is not equal to NaN.
MISSING = "\0missing"


def places_of(points: Points, rows: Points) -> npt.NDArray[np.intp] | None:  # (len(points),)
    """The row that each point is equal to, −1 for none; None where points cannot be compared.

    Of equal rows each is taken once, as long as there are any.

    Examples
    --------
    >>> from mercer.points.adapt import as_points
    >>> places_of(as_points([[3.0], [1.0], [1.0], [9.0]]), as_points([[1.0], [2.0], [3.0], [1.0]]))
    array([ 2,  0,  3, -1])
    >>> places_of(as_points({"a": [float("nan"), 2.0]}), as_points({"a": [2.0, float("nan")]}))
    array([1, 0])
    """
    own, others = map(keys_of, _alike(points, rows))
    if own is None or others is None:
        return None
    known: dict[Hashable, list[int]] = {}
    for row in range(len(others) - 1, -1, -1):
        known.setdefault(others[row], []).append(row)
    found = np.full(len(own), -1, dtype=np.intp)
    for i, key in enumerate(own):
        rows_left = known.get(key)
        if rows_left:
            found[i] = rows_left.pop() if len(rows_left) > 1 else rows_left[0]
    return found


def _alike(points: Points, rows: Points) -> tuple[Points, Points]:
    """The same points in one form: a machine may keep a table as vectors, sparse rows may be given as dense ones."""
    try:
        if isinstance(points, Vectors) and isinstance(rows, Table):
            rows = rows.vectors()
        if isinstance(points, Table) and isinstance(rows, Vectors):
            points = points.vectors()
    except MercerError:  # columns that are no numbers
        return points, rows
    if isinstance(points, Vectors) and isinstance(rows, Vectors) and points.is_sparse != rows.is_sparse:
        return _dense(points), _dense(rows)
    return points, rows


def _dense(vectors: Vectors) -> Vectors:
    return Vectors(vectors.raw().toarray()) if vectors.is_sparse else vectors


def keys_of(points: Points) -> Sequence[Hashable] | None:
    """Something for each point that is equal where points are; None where nothing is known of them."""
    if isinstance(points, Given | Stored | Places):
        return None
    if isinstance(points, Table):
        columns = [_of_values(column.values.tolist()) for _, column in sorted(points.columns.items())]
        return list(zip(*columns, strict=True))
    raw: Any = points.raw()
    if isinstance(points, Vectors):
        return _of_rows(raw)
    return _of_values(raw)


def _of_rows(raw: Any) -> list[Hashable]:
    if isinstance(raw, np.ndarray):
        rows = np.ascontiguousarray(raw, dtype=np.float64) + 0.0  # −0 becomes 0
        return [row.tobytes() for row in rows]
    sorted_rows = raw.tocsr().sorted_indices()
    cuts = sorted_rows.indptr.tolist()
    values = sorted_rows.data.astype(np.float64)
    return [(sorted_rows.indices[a:b].tobytes(), values[a:b].tobytes()) for a, b in pairwise(cuts)]


def _of_values(values: Sequence[Any]) -> list[Hashable]:
    return [_key_of(value) for value in values]


def _key_of(value: Any) -> Hashable:
    if isinstance(value, float) and value != value:
        return MISSING
    return value if isinstance(value, Hashable) else repr(value)
