"""What points are: a finite ordered collection of elements of one domain, validated once and never changed."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput

__all__ = ["Domain", "Points", "Rows", "as_rows", "found_none", "is_missing", "read_only"]

Rows: TypeAlias = slice | Sequence[int] | Sequence[bool] | NDArray[Any]
"""A choice of rows: a slice, integers, or one boolean per row."""


class Domain(Enum):
    """The kinds of points; the value is the word used in messages."""

    VECTORS = "vectors"
    SETS = "sets"
    OBJECTS = "objects"
    TABLE = "table"
    GRAM = "rows of a precomputed matrix"


class Points(Protocol):
    """A finite ordered collection of elements of one domain."""

    @property
    def domain(self) -> Domain:
        """The kind of element."""

    def __len__(self) -> int:
        """The number of points."""

    def take(self, rows: Rows) -> Self:
        """The chosen points, in the chosen order."""

    def raw(self) -> Any:
        """The points as plain NumPy, SciPy or Python data, as a user's function wants them."""


# Recognised by name, so that pandas need not be importable; both compare unequal to themselves or refuse to compare.
_MISSING_TYPES = frozenset({"NAType", "NaTType"})


def is_missing(value: object) -> bool:
    """Whether a value stands for "nothing known": None, NaN, NaT or pandas.NA.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(None), is_missing(0.0), is_missing("")
    (True, True, False, False)
    """
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return value is None or type(value).__name__ in _MISSING_TYPES


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written through; the flags of the array itself stay as they are."""
    view = array.view()
    view.flags.writeable = False
    return view


def found_none(name: str, what: str, shape: tuple[int, ...]) -> InvalidInput:
    """The error for no samples or no features, in the words that scikit-learn's checks look for."""
    return InvalidInput(
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.",
        f"The argument is {name}.",
    )


def as_rows(rows: Rows, n: int) -> slice | NDArray[np.intp]:
    """Check a choice among n rows; booleans become integers, a slice stays one.

    Examples
    --------
    >>> as_rows([True, False, True], 3)
    array([0, 2])
    >>> as_rows([0, -1], 3)
    array([ 0, -1])
    """
    if isinstance(rows, slice):
        return rows
    if np.ma.is_masked(rows):
        raise InvalidInput("rows must be integers.", "Some are masked.", "Fill or drop them.")
    index = np.asarray(rows)
    if index.ndim != 1:
        raise InvalidInput(
            "rows must be one-dimensional.",
            f"Got shape {index.shape}.",
            "Pass integers, a slice or one boolean per row.",
        )
    if index.dtype.kind == "b":
        if len(index) != n:
            raise InvalidInput("rows must hold one boolean per point.", f"Got {len(index)} booleans for {n} points.")
        return np.flatnonzero(index)
    if index.size == 0:
        return np.empty(0, dtype=np.intp)
    if index.dtype.kind not in "iu":
        raise InvalidInput(
            "rows must be integers.", f"Got {index.dtype}.", "Pass integers, a slice or one boolean per row."
        )
    outside = (index < -n) | (index >= n)
    if outside.any():
        raise InvalidInput("rows must lie among the points.", f"Got {index[outside][0]} for {n} points.")
    return index.astype(np.intp, copy=False)
