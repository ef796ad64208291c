"""One column of a table: numbers, moments in days, or objects; what it holds, and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import NEVER_MISSING, Domain, is_missing, read_only
from mercer.points.frames import CATEGORIES, EXACT, ORDERED, Values
from mercer.points.registry import adapter_of_entries
from mercer.points.times import CALENDAR, DATES, DURATIONS, days, days_of_values, is_time

__all__ = ["BOOLEANS", "LARGE", "MIXED", "NOTHING", "NUMBERS", "STRINGS", "Column", "as_column"]

NUMBERS = "numbers"
BOOLEANS = "booleans"
LARGE = "integers beyond 2**53"
STRINGS = "strings"
MIXED = "values of different types"
NOTHING = "no values"

_BOOLEANS = (bool, np.bool_)
_WHOLE = (int, np.integer)
_NUMBERS = (*_BOOLEANS, *_WHOLE, float, np.number, Decimal, Fraction)


@final
@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """One column of a table, as it came: numbers, sets or other values. Values are validated when they are selected.

    Attributes
    ----------
    values : ndarray of shape (n,)
        Numbers (missing ones are NaN), or objects (missing ones are None); read-only. Dates and times are numbers of
        days, as `mercer.points.times` says.
    domain : Domain
        What the column becomes when it is selected alone: VECTORS, SETS, OBJECTS, or another.
    kind : str
        What the values are, where messages can say more than the domain.
    levels : tuple
        The categories that the library declares, in their order.
    example : object
        A value of the column that was read; None if it held none. It stays when rows are taken.
    """

    values: NDArray[Any]  # (n,)
    domain: Domain
    kind: str = ""
    levels: tuple[Any, ...] = ()
    example: Any = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: slice | NDArray[np.intp]) -> "Column":
        """The chosen rows."""
        return self._with(self.values[index])

    def missing(self) -> NDArray[np.bool_]:  # (n,)
        """Which rows have no value."""
        if self.values.dtype.kind == "O":
            return np.fromiter((value is None for value in self.values), dtype=np.bool_, count=len(self))
        return np.isnan(self.values) if self.values.dtype.kind in "fc" else np.zeros(len(self), dtype=np.bool_)

    def filled(self, value: Any) -> "Column":
        """The column with `value` where it has none."""
        missing = self.missing()
        if not missing.any():
            return self
        values = self.values.copy()
        fill = np.empty((), dtype=values.dtype)
        fill[()] = value  # a value may be a sequence, which NumPy would spread
        values[missing] = fill
        return self._with(values)

    def like(self, seen: "Column", where: str) -> "Column":
        """The column in the form that it had in training; an error that begins with `where` if it holds other things.

        A column without any value takes any form, and numbers may be booleans, categories or large.
        """
        missing = self.missing()
        if missing.all():
            is_number = seen.domain is Domain.VECTORS
            nothing = np.full(len(self), np.nan) if is_number else np.full(len(self), None, dtype=np.object_)
            return Column(read_only(nothing), seen.domain, seen.kind, seen.levels, seen.example)
        mine, expected = _family(self), _family(seen)
        if mine != expected and MIXED not in (mine, expected) and expected != NOTHING:
            row = int((~missing).argmax())
            in_days = self.domain is Domain.VECTORS and mine != NUMBERS
            raise DomainMismatch(
                f"{where} holds {self.kind or mine}; in training it held {seen.kind or expected}.",
                "" if in_days else f"Row {row} is {shown(self.values[row : row + 1].tolist()[0])}.",
                "Convert it to what it was in training.",
            )
        if self.domain is seen.domain:
            return self
        values = [None if gone else value for gone, value in zip(missing.tolist(), self.values.tolist(), strict=True)]
        if seen.domain is Domain.VECTORS:
            return _numbers(_floats([np.nan if value is None else value for value in values]))
        return _objects(values, seen.kind, seen.levels, seen.domain)

    def _with(self, values: NDArray[Any]) -> "Column":
        return Column(read_only(values), self.domain, self.kind, self.levels, self.example)


def as_column(found: Values, name: str, label: str) -> Column:
    """A column from what its library holds, for the argument `name` and the column `label` in messages."""
    values = found.values
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
    if isinstance(values, np.ndarray) and found.kind not in (CATEGORIES, ORDERED):
        if values.dtype.kind in "mM":
            return _moments(found.kind or _kind_of(values.dtype), days(values))
        if values.dtype.kind in "fiubc" and not _is_large(values):
            return _numbers(np.asarray(values))
        values = values.tolist() if values.dtype.kind in "iu" else values
    return _of_values(_without_missing(values), found, f"Column {label!r} of {name}")


def _of_values(values: list[Any], found: Values, where: str) -> Column:
    """A column of Python values, of which some may be None."""
    kinds = {type(value) for value in values} - {type(None)}
    if found.kind in (CATEGORIES, ORDERED):
        return _objects(values, found.kind, found.levels)
    if not kinds:
        return _objects(values, NOTHING)
    if all(issubclass(kind, _BOOLEANS) for kind in kinds) and None not in values:
        return _numbers(np.array(values, dtype=np.bool_))
    if all(issubclass(kind, _NUMBERS) for kind in kinds):
        if any(issubclass(kind, _WHOLE) for kind in kinds) and _any_large(values):
            return _objects(values, LARGE)
        numbers = _floats([np.nan if value is None else value for value in values])
        return _numbers(numbers, BOOLEANS if all(issubclass(kind, _BOOLEANS) for kind in kinds) else NUMBERS)
    if all(map(is_time, kinds)):
        return _moments(*days_of_values(values, where))
    adapters = {adapter_of_entries((kind,)) for kind in kinds}
    adapter = adapters.pop() if len(adapters) == 1 else None
    if adapter is not None and adapter.domain is not None:
        return _objects(values, "", domain=adapter.domain)
    are_strings = all(issubclass(kind, str) for kind in kinds)
    return _objects(values, STRINGS if are_strings else "" if len(kinds) == 1 else MIXED)


def _family(column: Column) -> str:
    """What a column holds, as coarse as what may stand for each other."""
    if column.kind in (DATES, CALENDAR):
        return CALENDAR
    if column.kind in (NUMBERS, BOOLEANS, LARGE):
        return NUMBERS
    if column.domain is not Domain.OBJECTS or column.kind in (MIXED, NOTHING):
        return column.kind or column.domain.value
    families = {NUMBERS: _NUMBERS, STRINGS: (str,)}
    return next((name for name, kinds in families.items() if isinstance(column.example, kinds)), Domain.OBJECTS.value)


def _numbers(array: NDArray[Any], kind: str = NUMBERS) -> Column:
    return Column(read_only(array), Domain.VECTORS, BOOLEANS if array.dtype.kind == "b" else kind, example=0.0)


def _moments(kind: str, numbers: NDArray[np.float64]) -> Column:
    return Column(read_only(numbers), Domain.VECTORS, kind, example=0.0)


def _objects(values: list[Any], kind: str, levels: tuple[Any, ...] = (), domain: Domain = Domain.OBJECTS) -> Column:
    array = np.fromiter(values, dtype=np.object_, count=len(values))
    example = next((value for value in values if value is not None), None)
    return Column(read_only(array), domain, kind, levels, example)


def _kind_of(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "m":
        return DURATIONS
    return DATES if np.datetime_data(dtype)[0] in ("Y", "M", "W", "D") else CALENDAR


def _without_missing(values: Any) -> list[Any]:
    """None for every missing value; values of most types need not be looked at one by one."""
    listed = list(values)
    suspects = set(map(type, listed)) - NEVER_MISSING - {type(None)}
    return (
        [None if type(value) in suspects and is_missing(value) else value for value in listed] if suspects else listed
    )


def _is_large(values: NDArray[Any]) -> bool:
    """Whether float64 would round integers."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not len(values):
        return False
    return int(values.max()) > EXACT or int(values.min()) < -EXACT


def _any_large(values: list[Any]) -> bool:
    return any(isinstance(value, _WHOLE) and not -EXACT <= value <= EXACT for value in values)


def _floats(numbers: list[Any]) -> NDArray[Any]:
    if any(isinstance(number, np.complexfloating) for number in numbers):
        return np.array(numbers)  # refused when the column is selected
    try:
        return np.array(numbers, dtype=np.float64)
    except OverflowError:
        # A fraction beyond float64 is reported by row and column when the column is selected.
        return np.array([_float(number) for number in numbers])


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
