"""Checks of the columns, one by one and against each other."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.doctor.case import Case
from mercer.doctor.check import Seen
from mercer.doctor.findings import counted, listed

__all__ = ["collinear", "constant", "dates", "identifiers", "infinite", "missing", "outliers", "unreadable", "unscaled"]

Array = npt.NDArray[np.float64]

# Fewer different values than this say nothing about what a column is.
LEAST_VALUES = 10
# The share of a column's rows that may be outliers, and how many robust deviations away they are.
OUTLYING, FAR = 0.01, 10.0
# One column outweighs the others if its variance is so many times the median one.
OUTWEIGHS = 100.0
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?$|\d{1,2}[./]\d{1,2}[./]\d{4}$")
_DATES = frozenset({"date", "datetime", "datetime64", "Timestamp", "timedelta", "timedelta64", "Timedelta"})


def missing(case: Case, limit: float) -> Iterator[Seen]:
    """Entries that are not there."""
    found, n = case.flaws.missing, len(case.source)
    total = sum(found.values())
    if total > limit:
        worst = max(found, key=lambda name: found[name])
        yield Seen(
            f"{counted(total, 'entry')} in {counted(len(found), 'column')} missing, most of them in column {worst!r} "
            f"({found[worst] / n:.0%} of its rows).",
            {"entries": total, "share of the worst column": found[worst] / n},
            found,
            case.flaws.rows,
        )


def infinite(case: Case, limit: float) -> Iterator[Seen]:
    """Entries that are no finite number."""
    found = case.flaws.infinite
    total = sum(found.values())
    if total > limit:
        yield Seen(
            f"{counted(total, 'entry')} in {counted(len(found), 'column')} infinite: {listed(list(found))}.",
            {"entries": total},
            found,
            case.flaws.rows,
        )


def constant(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that are the same for all rows."""
    if len(case.constant) > limit:
        verb = "has" if len(case.constant) == 1 else "have"
        yield Seen(
            f"{counted(len(case.constant), 'column')} of {len(case.source.names)} {verb} one value only: "
            f"{listed(case.constant)}.",
            {"columns": len(case.constant)},
            case.constant,
        )


def unscaled(case: Case, limit: float) -> Iterator[Seen]:
    """A few columns that decide all distances, since their units are small."""
    with np.errstate(all="ignore"):
        variance = np.nanvar(case.numbers, axis=0)
    variance = np.where(np.isfinite(variance), variance, 0.0)
    d, total = len(variance), float(variance.sum())
    if d < 2 or not total > 0.0:
        return
    share = variance / total
    effective = 1.0 / float(np.square(share).sum())
    median = float(np.median(variance))
    top = int(np.argmax(variance))
    if variance[top] > OUTWEIGHS * median and effective < max(1.5, limit * d):
        yield Seen(
            f"Of the squared distances between rows, {share[top]:.1%} come from column {case.names[top]!r} alone: the "
            f"{d} columns count like {effective:.1f}. Their standard deviations reach from "
            f"{np.sqrt(variance.min()):.3g} to {np.sqrt(variance[top]):.3g}.",
            {"effective columns": effective, "share of the largest": float(share[top])},
            (case.names[top],),
        )


def outliers(case: Case, limit: float) -> Iterator[Seen]:
    """Columns in which very few rows hold most of the variance."""
    names, shares, rows = [], [], set[int]()
    for name, column in zip(case.names, case.numbers.T, strict=True):
        values = column[np.isfinite(column)]
        if len(values) < LEAST_VALUES:
            continue
        deviation = np.abs(values - np.median(values))
        robust = 1.4826 * float(np.median(deviation))
        if not robust > 0.0:
            continue
        few = max(1, int(OUTLYING * len(values)))
        squares = np.square(deviation / robust)
        far = np.partition(squares, len(squares) - few)[-few:]
        share = float(far[far > FAR**2].sum() / squares.sum())
        if share > limit:
            names.append(name)
            shares.append(share)
            place = np.flatnonzero(np.isfinite(column))[np.argsort(-squares)[:few]]
            rows.update(case.rows[place].tolist())
    if names:
        worst = int(np.argmax(shares))
        yield Seen(
            f"In {counted(len(names), 'column')} a hundredth of the rows, or fewer, hold most of the variance: "
            f"{listed(names)}; in {names[worst]!r} {shares[worst]:.0%} of it.",
            {"columns": len(names), "largest share": max(shares)},
            names,
            sorted(rows),
        )


def identifiers(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that number the rows, or name each of them."""
    found = [name for name, values in _columns(case) if len(values) >= limit and _is_identifier(values, case)]
    if found and len(case.source.names) > 1:
        yield Seen(
            f"{counted(len(found), 'column')} {'looks' if len(found) == 1 else 'look'} like the number or name of the "
            f"row: {listed(found)}. Every value occurs once.",
            {"columns": len(found)},
            found,
        )


def dates(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that hold dates or times, as text, as objects or as numbers."""
    found = [name for name, values in _columns(case) if len(values) and _share_of_dates(values) > limit]
    if found:
        yield Seen(
            f"{counted(len(found), 'column')} {'looks' if len(found) == 1 else 'look'} like a date: {listed(found)}.",
            {"columns": len(found)},
            found,
        )


def collinear(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that are, up to scale and rounding, copies of others."""
    found, kept = [], np.flatnonzero(case.standard.any(axis=0))
    if len(kept) < 2 or len(case.rows) < LEAST_VALUES:
        return
    unit = case.standard[:, kept] / np.linalg.norm(case.standard[:, kept], axis=0)
    correlation = np.abs(np.triu(unit.T @ unit, 1))
    for i, j in np.argwhere(correlation > limit):
        found.append((case.names[kept[i]], case.names[kept[j]]))
    if found:
        copies = list(dict.fromkeys(later for _, later in found))
        yield Seen(
            f"{counted(len(copies), 'column')} {'repeats' if len(copies) == 1 else 'repeat'} another: "
            f"{listed(copies)}; {found[0][1]!r} is {found[0][0]!r} up to scale, with a correlation of "
            f"{correlation.max():.6f}.",
            {"columns": len(copies), "largest correlation": float(correlation.max())},
            copies,
        )


def unreadable(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that a kernel on vectors cannot read."""
    names = list(case.others)
    if len(names) > limit:
        yield Seen(
            f"{counted(len(names), 'column')} of {len(case.source.names)} {'holds' if len(names) == 1 else 'hold'} "
            f"something else than numbers: {listed(names)}.",
            {"columns": len(names)},
            names,
            remedy=f"Give each a kernel of its own: RBF().on(numeric columns) + Delta().on({names[0]!r}).",
        )


def _columns(case: Case) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """All columns of the sample, without what is missing."""
    for name, column in zip(case.names, case.numbers.T, strict=True):
        yield name, column[np.isfinite(column)]
    for name, values in case.others.items():
        yield name, np.array([value for value in values if value is not None], dtype=object)


def _is_identifier(values: npt.NDArray[Any], case: Case) -> bool:
    if values.dtype.kind == "O":
        texts = [value for value in values if isinstance(value, str)]
        is_short = max(map(len, texts), default=0) <= 64 and not any(" " in text for text in texts)
        return len(texts) == len(values) and is_short and len(set(texts)) == len(texts)
    if not (values == np.round(values)).all() or len(np.unique(values)) < len(values):
        return False
    if _share_of_dates(values) > 0.95:
        return False
    span = float(values.max() - values.min()) + 1.0
    steps = np.diff(values)
    numbers_all = span <= 1.05 * len(case.source)  # a permutation of 1, …, n
    return numbers_all or bool((steps > 0).all() and span < 1e3 * len(case.source))


def _share_of_dates(values: npt.NDArray[Any]) -> float:
    if values.dtype.kind == "O":
        return float(np.mean([_is_date(value) for value in values]))
    if not (values == np.round(values)).all() or len(np.unique(values)) < LEAST_VALUES:
        return 0.0
    year, month, day = values // 10_000, values // 100 % 100, values % 100
    in_digits = (year >= 1900) & (year < 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    in_seconds = (values > 6.3e8) & (values < 2.1e9)  # 1990 to 2036
    return max(float(in_digits.mean()), float(in_seconds.mean()))


def _is_date(value: object) -> bool:
    return bool(_ISO_DATE.match(value)) if isinstance(value, str) else type(value).__name__ in _DATES
