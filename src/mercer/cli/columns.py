"""What the columns of a table hold: inferred once, stored in the model, made into values the same way ever after."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.cli.dialect import number_of
from mercer.cli.outcome import BadData, WrongUse

__all__ = [
    "CATEGORIES",
    "DATES",
    "KINDS",
    "NUMBERS",
    "TEXTS",
    "Column",
    "given_kinds",
    "infer",
    "infer_all",
    "values_of",
]

# A column of numbers may have this share of other texts, which count as missing.
JUNK_SHARE = 0.05
# Categories are at most so many, and come back at least twice on average.
MOST_CATEGORIES = 100
# Days before months, or the year first. What is written with slashes may be either, and is not read as dates.
DATE_FORMATS = ("ISO8601", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S")
# From so many rows on, 1, 2, 3, … is taken for the number of the row.
MANY_ROWS = 20
NUMBERS, CATEGORIES, DATES, TEXTS, OBJECTS = "numbers", "categories", "dates", "texts", "objects"

Series = Any


@final
@dataclass(frozen=True)
class Column:
    """A column: what it holds, and what was concluded about it.

    Attributes
    ----------
    name : str
    kind : str
        A row of `KINDS`.
    note : str
        The range, or the first of the categories.
    missing : int
        Rows without a value.
    doubt : str
        What may be wrong with it.
    left_out : str
        Why the machine does not see it; empty where it does.
    """

    name: str
    kind: str
    note: str = ""
    missing: int = 0
    doubt: str = ""
    left_out: str = ""

    @property
    def is_used(self) -> bool:
        """Whether the machine sees it."""
        return not self.left_out


def infer_all(frame: pd.DataFrame, given: Mapping[str, str], decimal: str = ".") -> list[Column]:
    """What each column holds; `given` is what the user says about some."""
    return [infer(frame[name], str(name), given.get(str(name)), decimal) for name in frame.columns]


def infer(series: Series, name: str, given: str | None = None, decimal: str = ".") -> Column:
    """What a column holds.

    Examples
    --------
    >>> infer(pd.Series(["1.5", "2", None, "4"], dtype=object), "a")
    Column(name='a', kind='numbers', note='1.5 to 4', missing=1, doubt='', left_out='')
    >>> infer(pd.Series(["red", "blue", "red", "red"], dtype=object), "b").note
    '2: red, blue'
    >>> infer(pd.Series(["2024-01-31", "2024-02-29"]), "c").kind
    'dates'
    """
    is_there = series.notna().to_numpy()
    missing = int((~is_there).sum())
    present = series[is_there]
    if given is not None:
        return _as_given(present, Column(name, given, missing=missing), decimal)
    if not len(present):
        return Column(name, OBJECTS, missing=missing, left_out="no row has a value")
    if any(isinstance(value, list | dict | set | np.ndarray) for value in present.iloc[:100]):
        return Column(name, OBJECTS, missing=missing, left_out="it holds lists or objects")
    start = Column(name, TEXTS, missing=missing)
    found = _numbers(present, start, decimal) or _dates(present, start) or _categories(present, start)
    if not missing and found.is_used and (present == present.iloc[0]).all():
        return replace(found, left_out=f"all rows hold {_short(present.iloc[0])}")
    return found


def _as_given(present: Series, column: Column, decimal: str) -> Column:
    values = values_of(present, column.kind, decimal)
    gone = pd.isna(values)
    if len(values) and gone.all():
        raise BadData(f"Column {column.name!r} holds no {column.kind}.", f"Its first value is {present.iloc[0]!r}.")
    counted = replace(column, missing=column.missing + int(gone.sum()))
    if column.kind == CATEGORIES:
        return replace(counted, note=_listed(present.astype(str).value_counts()))
    return replace(counted, note=f"{_short(pd.Series(values).min())} to {_short(pd.Series(values).max())}")


def _numbers(present: Series, column: Column, decimal: str) -> Column | None:
    values = _floats(present, decimal)
    junk = int(np.isnan(values).sum())
    if junk > JUNK_SHARE * len(values) or pd.api.types.is_datetime64_any_dtype(present):
        return None
    known = values[~np.isnan(values)]
    found = replace(column, kind=NUMBERS, note=f"{known.min():.6g} to {known.max():.6g}", missing=column.missing + junk)
    if junk:
        odd = next(text for text, value in zip(present, values, strict=True) if np.isnan(value))
        return replace(found, doubt=f"{junk} other texts, such as {_short(odd)}, count as missing")
    if len(values) > MANY_ROWS and not column.missing and _counts_rows(values):
        return replace(found, left_out="it counts the rows")
    if any(isinstance(text, str) and len(text) > 1 and text[0] == "0" and text.isdigit() for text in present):
        return replace(found, doubt=f"zeros in front; if it is a code, say --kind {column.name}=categories")
    return found


def _counts_rows(values: npt.NDArray[np.float64]) -> bool:
    return bool(values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all())


def _dates(present: Series, column: Column) -> Column | None:
    if isinstance(present.iloc[0], str) and not present.iloc[0][:1].isdigit():
        return None  # a word is not a date, whatever a parser makes of it
    values = _instants(present)
    if pd.isna(values).any():
        return None
    known = pd.Series(values)
    return replace(column, kind=DATES, note=f"{known.min():%Y-%m-%d} to {known.max():%Y-%m-%d}")


def _categories(present: Series, column: Column) -> Column:
    counts = present.astype(str).value_counts()
    if len(counts) > min(MOST_CATEGORIES, max(2.0, len(present) / 2)):
        return replace(column, kind=TEXTS, note=f"{len(counts)} different ones in {len(present)} rows")
    return replace(column, kind=CATEGORIES, note=_listed(counts))


def _listed(counts: Series) -> str:
    shown = [_short(value) for value in counts.index[:5]]
    return f"{len(counts)}: {', '.join(shown)}{', …' if len(counts) > len(shown) else ''}"


def _short(value: object) -> str:
    written = f"{value:.6g}" if isinstance(value, float) else str(value)
    return written if len(written) <= 24 else f"{written[:23]}…"


def values_of(series: Series, kind: str, decimal: str = ".") -> npt.NDArray[Any]:
    """The values of a column: numbers, NaN where missing; instants, NaT where missing; or texts, None where missing."""
    return KINDS[kind](series, decimal)


def _texts(series: Series, decimal: str) -> npt.NDArray[Any]:  # noqa: ARG001 (one signature)
    missing = series.isna().to_numpy()
    found = [None if gone else str(value) for value, gone in zip(series, missing, strict=True)]
    return np.array([*found, None], dtype=object)[:-1]  # never an array of arrays


def _floats(series: Series, decimal: str) -> npt.NDArray[np.float64]:
    """Numbers, each the float64 that is nearest to what is written; NaN for anything else."""
    if pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.array([_float(value, decimal) for value in series], dtype=np.float64)


def _float(value: Any, decimal: str) -> float:
    if isinstance(value, str):
        number = number_of(value, decimal)
        return np.nan if number is None else number
    try:
        return float(value) if isinstance(value, int | float | np.number | Decimal) else np.nan
    except OverflowError:
        return np.inf


def _instants(series: Series, decimal: str = ".") -> npt.NDArray[np.datetime64]:  # noqa: ARG001 (one signature)
    """Instants in UTC: by the first format that reads all of the column, else by whichever reads each."""
    found: Any = None
    for form in DATE_FORMATS:
        read = pd.to_datetime(series, errors="coerce", format=form, utc=True)
        found = read if found is None else found.fillna(read)
        if read.notna().all():
            found = read
            break
    return np.asarray(found.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))


KINDS: dict[str, Callable[[Series, str], npt.NDArray[Any]]] = {
    NUMBERS: _floats,
    CATEGORIES: _texts,
    DATES: _instants,
    TEXTS: _texts,
    OBJECTS: _texts,
}


# What --kind takes.
GIVEN = (NUMBERS, CATEGORIES, DATES, TEXTS)


def given_kinds(said: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """What was typed as --kind NAME=KIND."""
    known = set(names)
    found = {}
    for text in said:
        name, _, kind = text.rpartition("=")
        if name not in known:
            raise WrongUse(f"--kind names a column {name!r}, and there is none.", f"Got {text!r}.", "Write NAME=KIND.")
        if kind not in GIVEN:
            raise WrongUse(f"--kind {name}= takes a kind.", f"Got {kind!r}.", f"They are {', '.join(GIVEN)}.")
        found[name] = kind
    return found
