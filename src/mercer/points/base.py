"""What points are: a finite ordered collection of elements of one domain, validated once and never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeGuard, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput

__all__ = [
    "ANYTHING",
    "NEVER_MISSING",
    "Domain",
    "Parted",
    "Points",
    "Selection",
    "as_selection",
    "found_none",
    "is_missing",
    "is_points",
    "read_only",
]

Selection: TypeAlias = slice | Sequence[int] | Sequence[bool] | NDArray[Any]
"""Selected rows: a slice, integers, or one boolean per row."""


@final
@dataclass(frozen=True)
class Domain:
    """A kind of points. There is one object for each; `mercer.points.registry` says how to add one.

    Parameters
    ----------
    value : str
        The word used in messages.
    example : str
        What would work where such points are needed, for messages.
    """

    value: str
    example: str = field(default="", compare=False)
    KNOWN: ClassVar[dict[str, "Domain"]] = {}  # in order of definition
    VECTORS: ClassVar["Domain"]
    SETS: ClassVar["Domain"]
    OBJECTS: ClassVar["Domain"]
    STRINGS: ClassVar["Domain"]
    GRAPHS: ClassVar["Domain"]
    ARRAYS: ClassVar["Domain"]
    BAGS: ClassVar["Domain"]
    SERIES: ClassVar["Domain"]
    TABLE: ClassVar["Domain"]
    GRAM: ClassVar["Domain"]

    def __post_init__(self) -> None:
        self.KNOWN[self.value] = self

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self.value, self.example)


def _known(value: str, example: str) -> Domain:
    return Domain.KNOWN.get(value) or Domain(value, example)


Domain.VECTORS = Domain("vectors")
Domain.SETS = Domain("sets", "Pass a list of sets, one per point: [{1, 2}, {2, 3}].")
Domain.OBJECTS = Domain("objects", "Wrap the values, one per point: mercer.points.Objects(list_of_values).")
Domain.STRINGS = Domain("strings", 'Pass a list of strings, one per point: ["GATTACA", "TTA"].')
Domain.GRAPHS = Domain(
    "graphs", 'Pass a list of networkx graphs, or of dicts: {"edges": [(0, 1), (1, 2)], "labels": ["C", "C", "O"]}.'
)
Domain.ARRAYS = Domain("arrays", "Pass an array of shape (n, h, w) or (n, h, w, c), or a list of arrays.")
Domain.BAGS = Domain(
    "bags", "Pass a list of bags, one per point: arrays of shape (parts, d), or mercer.points.Bags(X)."
)
Domain.SERIES = Domain("series", "Pass a list of arrays, one per series: of shape (length,), or (length, channels).")
Domain.TABLE = Domain("table", "Pass a DataFrame or a dict of columns.")
Domain.GRAM = Domain("rows of a precomputed matrix", "Pass the matrix of kernel values, one row per point.")


@final
class _Anything(frozenset[Domain]):
    """All domains, also those to come."""

    def __contains__(self, domain: object) -> bool:
        return isinstance(domain, Domain)


ANYTHING = _Anything()


class Points(Protocol):
    """A finite ordered collection of elements of one domain."""

    @property
    def domain(self) -> Domain:
        """The kind of element."""

    def __len__(self) -> int:
        """The number of points."""

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""

    def raw(self) -> Any:
        """The points as plain NumPy, SciPy or Python data, as a user's function wants them."""


@runtime_checkable
class Parted(Points, Protocol):
    """Points that are bags or series of vectors: those of point i are ``parts[offsets[i]:offsets[i + 1]]``."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """From 0 to the number of all parts: (n + 1,)."""

    @property
    def parts(self) -> NDArray[np.floating[Any]]:
        """The vectors of all points, one point after the other: (m, d)."""


def is_points(X: object) -> TypeGuard[Points]:
    """Whether an object is points already: whether its class has a domain.

    Examples
    --------
    >>> is_points([[1.0]])
    False
    """
    return isinstance(getattr(type(X), "domain", None), Domain)


# Recognised by name, so that pandas need not be importable; both compare unequal to themselves or refuse to compare.
_MISSING_TYPES = frozenset({"NAType", "NaTType"})
# No value of these types is missing: they need not be looked at one by one.
NEVER_MISSING = frozenset({bool, bytes, dict, frozenset, int, list, set, str, tuple})


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


def as_selection(rows: Selection, n: int) -> slice | NDArray[np.intp]:
    """Check a selection among n rows; booleans become integers, a slice stays a slice.

    Examples
    --------
    >>> as_selection([True, False, True], 3)
    array([0, 2])
    >>> as_selection([0, -1], 3)
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
        raise InvalidInput("rows are out of range.", f"Got {index[outside][0]} for {n} points.")
    return index.astype(np.intp, copy=False)
