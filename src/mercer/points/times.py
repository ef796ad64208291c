"""Dates, times of day and durations as numbers, in one unit: days.

A date, or a date and time, counts from 1970-01-01 00:00: of UTC where it has a time zone, else of its own clock. So
``Torus(1.0)`` is the time of day and ``Torus(7.0)`` the time of the week. Whole days and the rest are added last, so
that the same moment is the same number whatever unit it was stored in.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput, shown
from mercer.points.registry import ClassName, nearest

__all__ = ["AWARE", "CALENDAR", "DATES", "DURATIONS", "TIMES_OF_DAY", "days", "days_of_values", "is_time"]

DATES = "dates"
CALENDAR = "dates and times"
AWARE = "dates and times with a time zone"
TIMES_OF_DAY = "times of day"
DURATIONS = "durations"

# The units of NumPy's dates that have a fixed length -> how many make a day.
PER_DAY = {"D": 1, "h": 24, "m": 1440} | {
    unit: 86400 * 1000**power for power, unit in enumerate(("s", "ms", "us", "ns", "ps"))
}
_MICROSECOND = timedelta(microseconds=1)


class Moment(NamedTuple):
    """A value in time: what it is, and ticks of which so many make a day."""

    kind: str
    ticks: int
    per_day: int


def _datetime(value: datetime) -> Moment:
    if value.utcoffset() is None:
        return Moment(CALENDAR, (value.replace(tzinfo=None) - datetime(1970, 1, 1)) // _MICROSECOND, PER_DAY["us"])
    return Moment(AWARE, (value - datetime(1970, 1, 1, tzinfo=UTC)) // _MICROSECOND, PER_DAY["us"])


def _date(value: date) -> Moment:
    return Moment(DATES, value.toordinal() - date(1970, 1, 1).toordinal(), 1)


def _time(value: time) -> Moment:
    seconds = 3600 * value.hour + 60 * value.minute + value.second
    return Moment(TIMES_OF_DAY, 10**6 * seconds + value.microsecond, PER_DAY["us"])


def _duration(value: timedelta) -> Moment:
    return Moment(DURATIONS, value // _MICROSECOND, PER_DAY["us"])


def _numpy(value: Any) -> Moment:
    array = _in_fixed_unit(np.asarray(value))
    unit = np.datetime_data(array.dtype)[0]
    kind = DURATIONS if array.dtype.kind == "m" else DATES if unit == "D" else CALENDAR
    return Moment(kind, int(array.astype(np.int64)), PER_DAY[unit])


def _timestamp(value: Any) -> Moment:
    """Of pandas, whose NumPy value keeps the nanoseconds, and is UTC where there is a zone."""
    moment = _numpy(value.to_datetime64())
    return moment._replace(kind=CALENDAR if value.tzinfo is None else AWARE)


# A class of single values -> how one is read; the nearest ancestor counts.
_MOMENTS: dict[ClassName, Callable[[Any], Moment]] = {
    ("pandas", "Timestamp"): _timestamp,
    ("pandas", "Timedelta"): lambda value: _numpy(value.to_timedelta64()),
    ("numpy", "datetime64"): _numpy,
    ("numpy", "timedelta64"): _numpy,
    ("datetime", "datetime"): _datetime,
    ("datetime", "date"): _date,
    ("datetime", "time"): _time,
    ("datetime", "timedelta"): _duration,
}


def is_time(kind: type) -> bool:
    """Whether the values of a class are dates, times or durations.

    Examples
    --------
    >>> is_time(date), is_time(float)
    (True, False)
    """
    return nearest(_MOMENTS, kind) is not None


def days(array: NDArray[Any]) -> NDArray[np.float64]:
    """An array of NumPy's dates or durations in days; NaT becomes NaN.

    Examples
    --------
    >>> days(np.array(["1970-01-02T06:00", "NaT"], dtype="datetime64[m]"))
    array([1.25,  nan])
    """
    fixed = _in_fixed_unit(array)
    per_day = PER_DAY[np.datetime_data(fixed.dtype)[0]]
    whole, rest = np.divmod(fixed.astype(np.int64), per_day)
    return np.where(np.isnat(fixed), np.nan, whole + rest / per_day)


def days_of_values(values: Sequence[Any], where: str) -> tuple[str, NDArray[np.float64]]:
    """Dates, times or durations, of which some may be None, in days; and what they are.

    Examples
    --------
    >>> days_of_values([date(1970, 1, 3), None], "Column 'day' of X")
    ('dates', array([ 2., nan]))
    """
    found: dict[str, int] = {}  # kind -> the first row that holds it
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None:
            continue
        read = nearest(_MOMENTS, type(value))
        assert read is not None  # the caller has looked
        moment = read(value)
        found.setdefault(moment.kind, row)
        whole, rest = divmod(moment.ticks, moment.per_day)
        numbers[row] = whole + rest / moment.per_day
    if set(found) == {DATES, CALENDAR}:
        return CALENDAR, numbers
    if len(found) > 1:
        (one, i), (other, j) = list(found.items())[:2]
        raise InvalidInput(
            f"{where} mixes {one} and {other}.",
            f"Row {i} is {shown(values[i])}, row {j} is {shown(values[j])}.",
            "Give all of them a time zone, or none." if {one, other} <= {AWARE, CALENDAR, DATES} else "Part them.",
        )
    return next(iter(found)), numbers


def _in_fixed_unit(array: NDArray[Any]) -> NDArray[Any]:
    """The array in a single unit of fixed length: a month is a date, but no duration."""
    unit, count = np.datetime_data(array.dtype)
    if array.dtype.kind == "m" and unit not in PER_DAY and unit != "W":
        raise InvalidInput(
            f"Durations of dtype {array.dtype} have no length in days.",
            attempt="Convert them first, for instance with astype('timedelta64[s]').",
        )
    target = unit if unit in PER_DAY else "ps" if unit in ("fs", "as") else "D"
    return array if (target, 1) == (unit, count) else array.astype(f"{array.dtype.kind}8[{target}]")
