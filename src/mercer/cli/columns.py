"""What the columns of a table hold: inferred once, stored in the model, and made into values the same way ever after."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.cli.dialect import is_number
from mercer.cli.outcome import BadData, WrongUse

__all__ = ["KINDS", "Column", "given_kinds", "infer", "infer_all", "values_of"]

# A column of numbers may have this share of other texts, which count as missing.
JUNK_SHARE = 0.05
# Categories are fewer than these, and come back at least twice on average.
MOST_CATEGORIES = 100
# Tried in this order; a column holds dates where one of them reads all of it.
DATE_FORMATS = ("ISO8601", "%d.%m.%Y", "%Y/%m/%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M")
SECONDS_A_DAY = 86_400.0
NUMBERS, CATEGORIES, DATES, LEFT_OUT = "numbers", "categories", "dates", "left out"
# Between "dates" and the format they are written in, in the name of a kind.
AS = " as "

Series = Any


@final
@dataclass(frozen=True)
class Column:
    """A column: what it holds, and what was concluded about it.

    Attributes
    ----------
    name : str
    kind : str
        "numbers", "categories", "dates as <format>", or "left out".
    note : str
        What is good to know: the range or the categories; of a column that is left out, why.
    missing : int
        Rows without a value.
    """

    name: str
    kind: str
    note: str
    missing: int = 0

    @property
    def is_used(self) -> bool:
        """Whether the model sees it."""
        return self.kind != LEFT_OUT


def infer_all(frame: pd.DataFrame, given: Mapping[str, str], decimal: str = ".") -> list[Column]:
    """What each column holds; `given` is what the user says about some."""
    return [infer(frame[name], str(name), given.get(str(name)), decimal) for name in frame.columns]


def infer(series: Series, name: str, given: str | None = None, decimal: str = ".") -> Column:
    """What a column holds.

    Examples
    --------
    >>> infer(pd.Series(["1.5", "2", None, "4"], dtype=object), "a")
    Column(name='a', kind='numbers', note='1.5 to 4', missing=1)
    >>> infer(pd.Series(["red", "blue", "red", "red"], dtype=object), "b").note
    '2: red, blue'
    >>> infer(pd.Series(["2024-01-31", "2024-02-29"]), "c").kind
    'dates as ISO8601'
    """
    is_there = series.notna().to_numpy()
    missing = int((~is_there).sum())
    present = series[is_there]
    if given is not None:
        return _as_given(present, name, given, missing, decimal)
    if not len(present):
        return Column(name, LEFT_OUT, "no row has a value", missing)
    if any(isinstance(value, list | dict | set | np.ndarray) for value in present.iloc[:100]):
        return Column(name, LEFT_OUT, "it holds lists or objects", missing)
    counts = present.astype(str).value_counts()
    if len(counts) == 1 and not missing:
        return Column(name, LEFT_OUT, f"all rows hold {_short(counts.index[0])}", missing)
    if pd.api.types.is_datetime64_any_dtype(series):
        return Column(name, f"{DATES}{AS}ISO8601", f"{present.min()} to {present.max()}", missing)
    return (
        _numbers(present, name, missing, decimal)
        or _dates(present, name, missing)
        or _categories(counts, name, missing, len(present))
    )


def _as_given(present: Series, name: str, given: str, missing: int, decimal: str) -> Column:
    if given == NUMBERS:
        values = _floats(present, decimal)
        return Column(name, NUMBERS, _range(values), missing + int(np.isnan(values).sum()))
    if given == DATES:
        found = _dates(present, name, missing)
        if found is None:
            raise BadData(
                f"Column {name!r} holds no dates that can be read.",
                f"Its first value is {present.iloc[0]!r}.",
                "Write them as 2024-12-31, or as 2024-12-31T23:59:59.",
            )
        return found
    if given == CATEGORIES:
        counts = present.astype(str).value_counts()
        return Column(name, CATEGORIES, _listed(counts), missing)
    return Column(name, LEFT_OUT, "you said so", missing)


def _numbers(present: Series, name: str, missing: int, decimal: str) -> Column | None:
    values = _floats(present, decimal)
    junk = int(np.isnan(values).sum())
    if junk > JUNK_SHARE * len(values):
        return None
    note = _range(values)
    if junk:
        odd = [text for text, value in zip(present, values, strict=True) if np.isnan(value)]
        note += f"; {junk} other texts, such as {_short(odd[0])}, count as missing"
    elif len(values) > 2 and not missing and _counts_rows(values):
        return Column(name, LEFT_OUT, "it counts the rows", missing)
    texts = present.astype(str)
    if any(len(t) > 1 and t[0] == "0" and t.isdigit() for t in texts):
        note += f"; zeros in front: is it a code? Then say --kind {name}=categories"
    return Column(name, NUMBERS, note, missing + junk)


def _counts_rows(values: npt.NDArray[np.float64]) -> bool:
    return bool(values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all())


def _range(values: npt.NDArray[np.float64]) -> str:
    known = values[~np.isnan(values)]
    return f"{known.min():.6g} to {known.max():.6g}" if len(known) else "none is a number"


def _dates(present: Series, name: str, missing: int) -> Column | None:
    texts = present.astype(str)
    for form in DATE_FORMATS:
        # A word is not a date, whatever a parser makes of it.
        if not texts.iloc[0][:1].isdigit():
            return None
        found = _instants(texts, form)
        if not np.isnan(found).any():
            kind = f"{DATES}{AS}{form}"
            return Column(name, kind, f"{_short(texts.min())} to {_short(texts.max())}, as days", missing)
    return None


def _categories(counts: Series, name: str, missing: int, n: int) -> Column:
    if len(counts) > min(MOST_CATEGORIES, max(2.0, n / 2)):
        why = f"{len(counts)} different texts in {n} rows; --kind {name}=categories takes them all"
        return Column(name, LEFT_OUT, why, missing)
    return Column(name, CATEGORIES, _listed(counts), missing)


def _listed(counts: Series) -> str:
    shown = [_short(value) for value in counts.index[:5]]
    return f"{len(counts)}: {', '.join(shown)}{', …' if len(counts) > len(shown) else ''}"


def _short(text: object) -> str:
    written = str(text)
    return written if len(written) <= 24 else f"{written[:23]}…"


def values_of(series: Series, kind: str, decimal: str = ".") -> npt.NDArray[Any]:
    """The values of a column, as a machine gets them: numbers, NaN where missing; or texts, "" where missing."""
    return KINDS[kind.partition(AS)[0]](series, kind.partition(AS)[2], decimal)


def _number_values(series: Series, form: str, decimal: str) -> npt.NDArray[Any]:  # noqa: ARG001 (one signature)
    return _floats(series, decimal)


def _date_values(series: Series, form: str, decimal: str) -> npt.NDArray[Any]:  # noqa: ARG001 (one signature)
    return _instants(series, form or DATE_FORMATS[0])


def _category_values(series: Series, form: str, decimal: str) -> npt.NDArray[Any]:  # noqa: ARG001 (one signature)
    missing = series.isna().to_numpy()
    return np.array(["" if gone else str(value) for value, gone in zip(series, missing, strict=True)], dtype=object)


KINDS: dict[str, Callable[[Series, str, str], npt.NDArray[Any]]] = {
    NUMBERS: _number_values,
    CATEGORIES: _category_values,
    DATES: _date_values,
}


def _instants(series: Series, form: str) -> npt.NDArray[np.float64]:
    """Days since 1970; NaN where there is none."""
    found = pd.to_datetime(series, errors="coerce", format=form, utc=True)
    since = pd.DatetimeIndex(found).tz_localize(None).astype("datetime64[ns]")
    days = since.to_numpy().astype(np.int64) / (1e9 * SECONDS_A_DAY)
    return np.where(since.isna(), np.nan, days)


def _floats(series: Series, decimal: str) -> npt.NDArray[np.float64]:
    """Numbers, each the float64 that is nearest to what is written; NaN for anything else."""
    if pd.api.types.is_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.array([_float(value, decimal) for value in series], dtype=np.float64)


def _float(value: Any, decimal: str) -> float:
    if isinstance(value, str):
        return float(value.replace(decimal, ".")) if is_number(value, decimal) else np.nan
    if isinstance(value, int | float | np.number):
        try:
            return float(value)
        except OverflowError:
            return np.inf
    return np.nan


def given_kinds(said: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """What was typed as --kind NAME=KIND."""
    known = set(names)
    found = {}
    for text in said:
        name, _, kind = text.rpartition("=")
        if name not in known:
            raise WrongUse(f"--kind names a column {name!r}, and there is none.", f"Got {text!r}.", "Write NAME=KIND.")
        if kind not in KINDS:
            raise WrongUse(f"--kind {name}= takes a kind.", f"Got {kind!r}.", f"They are {', '.join(KINDS)}.")
        found[name] = kind
    return found
