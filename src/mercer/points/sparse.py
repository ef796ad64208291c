"""Sparse matrices of SciPy, checked before anything is converted: SciPy follows indices that are out of range."""

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np

from mercer.errors import InvalidInput

__all__ = ["check_well_formed"]


def check_well_formed(X: Any, name: str) -> None:
    """Refuse a sparse matrix whose parts disagree, in any of SciPy's formats."""
    try:
        _CHECKS[X.format](X)
    except (ValueError, TypeError, IndexError) as error:
        raise InvalidInput(
            f"Input {name} is not a well-formed sparse matrix.",
            f"Of its {X.format.upper()} arrays: {str(error).rstrip('.')}.",
            "Build it again from its entries, for instance with scipy.sparse.coo_array.",
        ) from error


def _compressed(X: Any) -> None:
    # A matrix of its own, since the check trims arrays.
    type(X)((X.data, X.indices, X.indptr), shape=X.shape, copy=False).check_format(full_check=True)


def _coordinates(X: Any) -> None:
    for axis, (places, size) in enumerate(zip(X.coords, X.shape, strict=True)):
        if len(places) != len(X.data):
            raise ValueError(f"{len(places)} indices on axis {axis} for {len(X.data)} values")
        _within(places, size, axis)


def _diagonals(X: Any) -> None:
    offsets = np.asarray(X.offsets)
    if offsets.ndim != 1 or X.data.ndim != 2 or len(offsets) != len(X.data):
        raise ValueError(f"{offsets.size} offsets for data of shape {X.data.shape}")
    if offsets.dtype.kind not in "iu" or len(np.unique(offsets)) < len(offsets):
        raise ValueError("offsets must be different integers")


def _lists(X: Any) -> None:
    if len(X.rows) != X.shape[0] or len(X.data) != X.shape[0]:
        raise ValueError(f"{len(X.rows)} lists of columns and {len(X.data)} of values for {X.shape[0]} rows")
    for row, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            raise ValueError(f"row {row} has {len(columns)} columns for {len(values)} values")
    places = np.fromiter(chain.from_iterable(X.rows), dtype=np.float64)  # which no index overflows
    _within(places, X.shape[1], 1)


def _keys(X: Any) -> None:
    for axis, size in enumerate(X.shape):
        _within(np.fromiter((key[axis] for key in X.keys()), dtype=np.float64), size, axis)  # noqa: SIM118 (no dict)


def _within(places: Any, size: int, axis: int) -> None:
    if len(places) and not (np.min(places) >= 0 and np.max(places) < size):
        bad = places[(places < 0) | (places >= size)][0]
        raise ValueError(f"index {int(bad)} on axis {axis} is out of range for {size}")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "bsr": _compressed,
    "coo": _coordinates,
    "csc": _compressed,
    "csr": _compressed,
    "dia": _diagonals,
    "dok": _keys,
    "lil": _lists,
}
