"""Dates, times of day and durations are numbers of days, the same from every library and unit."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.errors import InvalidInput
from mercer.points import Table
from mercer.points.times import days

ZURICH = ZoneInfo("Europe/Zurich")
EXAMPLES = {
    "dates": (dt.date(1969, 12, 31), -1.0),
    "dates and times": (dt.datetime(1970, 1, 2, 6), 1.25),
    "dates and times with a time zone": (dt.datetime(2024, 7, 1, 14, tzinfo=ZURICH), 19905.5),
    "times of day": (dt.time(18), 0.75),
    "durations": (dt.timedelta(days=-1, hours=12), -0.5),
}
COLUMNS = [list, pd.Series, pl.Series, pa.array, lambda values: pa.chunked_array([pa.array(values)])]


@pytest.mark.parametrize("column", COLUMNS, ids=["list", "pandas", "polars", "arrow", "chunked"])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_library_gives_the_same_days(kind, column):
    value, number = EXAMPLES[kind]
    found = Table({"at": column([value, None])}).columns["at"]
    np.testing.assert_array_equal(found.values, [number, np.nan])
    # pandas turns what it can into moments, and calls none of them a date.
    assert found.kind == kind


def test_a_moment_is_the_same_number_in_every_unit():
    text = "2024-03-05T06:07:08"
    numbers = {float(days(np.array([text], dtype=f"datetime64[{unit}]"))[0]) for unit in ("s", "ms", "us", "ns")}
    numbers |= {float(days(np.array([text], dtype="datetime64[25us]"))[0])}
    assert numbers == {float(Table({"at": [dt.datetime.fromisoformat(text)]}).columns["at"].values[0])}


def test_nanoseconds_of_pandas_are_kept_where_a_day_has_room():
    stamp = pd.Timestamp(128, unit="ns")
    column = Table({"at": np.array([stamp, None], dtype=object)}).columns["at"]
    assert column.values[0] == 128 / 86_400_000_000_000
    assert Table({"at": pd.Series([stamp])}).columns["at"].values[0] == column.values[0]


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D"])
def test_years_months_and_weeks_are_dates(unit):
    column = Table({"at": np.array(["1970-01-01", "NaT"], dtype=f"datetime64[{unit}]")}).columns["at"]
    assert column.kind == "dates"
    np.testing.assert_array_equal(column.values, [0.0, np.nan])


@pytest.mark.parametrize("dtype", ["timedelta64[Y]", "timedelta64[M]", "timedelta64"])
def test_durations_without_a_length_are_refused(dtype):
    with pytest.raises(InvalidInput, match="no length in days"):
        Table({"at": np.array([1], dtype=dtype)})


def test_the_first_and_the_last_day_of_the_calendar_are_numbers():
    column = Table({"at": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59)]}).columns["at"]
    assert column.values.tolist() == [-719162.0, 2932896.0 + 1439 / 1440]


def test_moments_with_and_without_a_zone_do_not_mix():
    mixed = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=ZURICH)]
    with pytest.raises(InvalidInput, match=r"'at' of X mixes dates and times and .* zone.\n.*Row 0 .*, row 1 "):
        Table({"at": mixed})
    with pytest.raises(InvalidInput, match="mixes dates and durations"):
        Table({"at": [dt.date(2024, 1, 1), dt.timedelta(1)]})


def test_dates_among_times_are_midnights():
    column = Table({"at": [dt.date(1970, 1, 2), dt.datetime(1970, 1, 2, 12)]}).columns["at"]
    assert (column.kind, column.values.tolist()) == ("dates and times", [1.0, 1.5])
