"""A kernel for data that nobody has described: one part for each column, with the reason for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, final

import numpy as np

from mercer.errors import InvalidInput
from mercer.kernels.bags import Averaged
from mercer.kernels.discrete import Delta, SetIntersection, Tanimoto
from mercer.kernels.distances import Polarised, SquaredEuclidean
from mercer.kernels.graphs import WeisfeilerLehman
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.missing import OrMissing
from mercer.kernels.normalised import Normalised
from mercer.kernels.radial import RBF
from mercer.kernels.strings import BlendedSpectrum
from mercer.kernels.timeseries import GlobalAlignment
from mercer.maps import Map, Ranks, Standardised, Torus, UnitRows, Words
from mercer.maps.words import words_of
from mercer.points import Bags, Column, Domain, Objects, Points, Table, Vectors, as_points
from mercer.points.column import BOOLEANS, LARGE, MIXED, NUMBERS, STRINGS
from mercer.points.frames import CATEGORIES, ORDERED
from mercer.points.times import AWARE, CALENDAR, DATES, DURATIONS, TIMES_OF_DAY

__all__ = ["DOMAINS", "Proposal", "Reason", "auto"]

# From so many rows on, values that all differ are taken for names of the rows.
MANY_ROWS = 20
# Strings of so many words on average, of which more than half differ, are texts.
TEXT_WORDS = 3.0
# Strings of so many letters on average and of letters alone, of which more than half differ, are sequences.
SEQUENCE_LETTERS = 20.0


@final
@dataclass(frozen=True)
class Reason:
    """Why some columns are treated as they are.

    Attributes
    ----------
    columns : tuple of str
        Their names; empty where the points have no named columns.
    kind : str
        What they hold.
    reason : str
        What is done with them, and why.
    """

    columns: tuple[str, ...]
    kind: str
    reason: str


@final
@dataclass(frozen=True)
class Proposal:
    """A kernel with a reason for each of its parts, made by `auto`.

    Attributes
    ----------
    kernel : Kernel
        The formula. Rules such as ``length_scale="median"`` are replaced by numbers when a machine is fitted.
    reasons : tuple of Reason
        One for each group of columns that are treated alike, the columns that are left out among them.
    """

    kernel: Kernel
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        width = max(len(each.kind) for each in self.reasons)
        rows = (f"  {each.kind:<{width}}  {', '.join(each.columns) or 'X'}: {each.reason}" for each in self.reasons)
        return "\n".join([repr(self.kernel), *rows])


@final
@dataclass(frozen=True)
class _Part:
    """What one column becomes: a kernel and its distance, which do not name it yet, or nothing.

    All columns with the distance of standardised numbers join one, of the vector of them.
    """

    kind: str
    reason: str
    kernel: Kernel | None = None
    distance: Distance | None = None


def auto(X: Any) -> Proposal:
    """Propose a kernel for a table, a matrix, strings, graphs, sets, bags or other values.

    Each column of a table makes a distance in which two random rows are about 2 apart: the squared difference of
    standardised numbers, 2 for two different categories. The kernel is the Gaussian one of their sum, so rows are
    alike where they are alike in every column, and its length is the median distance. A missing value is a value of its
    own. Columns that cannot help (one value, or another one in each row) are left out.

    Parameters
    ----------
    X : table, array-like, sparse matrix, `Bags`, or list of strings, graphs, sets or other values
        The training data, without the target.

    Returns
    -------
    Proposal
        With `kernel` and `reasons`; printing it shows both.

    Examples
    --------
    >>> print(auto({"age": [31, 45, 27], "city": ["Bonn", "Ulm", "Bonn"], "pay": [2.5, None, 3.5]}))
    RBF('median').of(SquaredEuclidean().on(Standardised()).on('age') + Polarised(Delta().on('city')) +
    Polarised(OrMissing(Linear().on(Standardised()).on('pay'))))
      numbers  age: standardised, so that their unit does not matter
      strings  city: equal or not
      numbers  pay: standardised, so that their unit does not matter; missing is a value of its own
    """
    points = as_points(X)
    if isinstance(points, Table):
        return _of_table(points)
    if isinstance(points, Bags):
        return _of_bags(points)
    if points.domain is Domain.ARRAYS:
        raise InvalidInput(
            "No kernel can be proposed: arrays may be bags, images or series, which need different kernels.",
            f"Got {points!r}.",
            "For bags pass mercer.points.Bags(X); for images give the kernel, such as SpatialPyramid().",
        )
    part = _of_points(points)
    reasons = (Reason((), part.kind, part.reason),)
    if part.kernel is None:
        raise _nothing(reasons)
    return Proposal(part.kernel, reasons)


SUBSTRINGS = Normalised(BlendedSpectrum()), "the common substrings of up to three letters"
# A domain other than vectors and objects -> the kernel that is proposed for it, and why; others add their rows.
DOMAINS: dict[Domain, tuple[Kernel, str]] = {
    Domain.SETS: (Tanimoto(SetIntersection()), "the share of common items"),
    Domain.SERIES: (Normalised(GlobalAlignment()), "all alignments, by how near aligned points are"),
    Domain.GRAPHS: (Normalised(WeisfeilerLehman()), "the common neighbourhoods of nodes, up to four edges away"),
    Domain.STRINGS: SUBSTRINGS,
}


def _of_bags(bags: Bags) -> Proposal:
    """The mean over pairs of parts, by what is proposed for these."""
    of_parts = auto(bags.parts)
    how = Reason((), Domain.BAGS.value, "the mean over all pairs of parts, as a cosine")
    return Proposal(Normalised(Averaged(of_parts.kernel)), (how, *of_parts.reasons))


def _of_table(table: Table) -> Proposal:
    parts = {name: _of_column(column) for name, column in table.columns.items()}
    reasons = _reasons(parts.items())
    kernels = {name: part.kernel.on(name) for name, part in parts.items() if part.kernel is not None}
    if not kernels:
        raise _nothing(reasons)
    whole = {name for name in kernels if not table.columns[name].missing().any()}
    vectors = [name for name in kernels if name in whole and parts[name].distance == STANDARD[1]]
    if len(vectors) == len(kernels):
        return Proposal(RBF("median").on(Standardised()).on(*vectors), reasons)
    kernels = {name: k if name in whole else OrMissing(k) for name, k in kernels.items()}
    if len(kernels) == 1 and (only := next(iter(kernels.values()))).max_abs == 1.0:
        return Proposal(only, reasons)
    distances: list[Distance] = [STANDARD[1].on(*vectors)] if vectors else []
    for name in (name for name in kernels if name not in vectors):
        distance = parts[name].distance if name in whole else None
        distances.append(Polarised(kernels[name]) if distance is None else distance.on(name))
    return Proposal(RBF("median").of(reduce(add, distances)), reasons)


def _reasons(parts: Iterable[tuple[str, _Part]]) -> tuple[Reason, ...]:
    """One for all columns that are of one kind and treated alike, in the order of the first of each."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, part in parts:
        groups.setdefault((part.kind, part.reason), []).append(name)
    return tuple(Reason(tuple(names), kind, reason) for (kind, reason), names in groups.items())


def _nothing(reasons: tuple[Reason, ...]) -> InvalidInput:
    got = "; ".join(f"{', '.join(each.columns) or 'X'} ({each.kind}: {each.reason})" for each in reasons)
    return InvalidInput(
        "No kernel can be proposed: nothing tells two rows apart.",
        f"Got {got}.",
        "Pass more rows or other columns, or give the kernel as a formula.",
    )


def _of_column(column: Column) -> _Part:
    missing = column.missing()
    kind = column.kind or column.domain.value
    present = column.values[~missing]
    if not len(present):
        return _Part(kind, "left out, because every value is missing")
    part = _of_values(present, column, kind)
    if not missing.any():
        return part
    if part.kernel is None and part.reason == ONE_VALUE:
        return _Part(kind, "one value, or missing", Delta())
    return _Part(part.kind, f"{part.reason}; missing is a value of its own", part.kernel) if part.kernel else part


ONE_VALUE = "left out, because all values are the same"
NAMES = "left out, because every value differs: they name the rows"


def _of_values(values: Any, column: Column, kind: str) -> _Part:
    """What the values of a column, none of them missing, become."""
    if column.domain is Domain.VECTORS:
        if values.dtype.kind == "c":
            return _Part("complex numbers", "left out, because kernels read real numbers")
        if values.min() == values.max():
            return _Part(kind, ONE_VALUE)
        if kind == NUMBERS and _counts_rows(values):
            return _Part(kind, "left out, because they number the rows")
        return _Part(kind, *_VECTORS[kind])
    if column.domain in DOMAINS:
        kernel, reason = DOMAINS[column.domain]
        return _Part(kind, reason, kernel)
    if column.domain is not Domain.OBJECTS:
        return _Part(kind, "left out, because no kernel is proposed for them")
    return _of_objects(list(values), kind)


def _along(*maps: Map) -> tuple[Kernel, Distance]:
    """The inner product and the squared distance of images, the last map first."""
    kernel: Kernel = Linear()
    distance: Distance = SquaredEuclidean()
    for m in maps:
        kernel, distance = kernel.on(m), distance.on(m)
    return kernel, distance


STANDARD = _along(Standardised())
# What a numeric column holds -> why, the kernel, and the distance where it is not made from the kernel.
_VECTORS: dict[str, tuple[str, Kernel, Distance | None]] = {
    NUMBERS: ("standardised, so that their unit does not matter", *STANDARD),
    BOOLEANS: ("equal or not", Delta(), None),
    TIMES_OF_DAY: ("around the clock, so that 23:59 is near 0:00", *_along(Torus(1.0))),
    DURATIONS: ("as numbers of days, standardised", *STANDARD),
    **dict.fromkeys((DATES, CALENDAR, AWARE), ("as days since 1970-01-01, standardised", *STANDARD)),
}


def _counts_rows(values: Any) -> bool:
    """Whether numbers are 1, 2, 3, … from anywhere, in any order."""
    n = len(values)
    if n < MANY_ROWS or values.max() - values.min() != n - 1:
        return False
    return bool((np.diff(np.sort(values)) == 1).all())


def _of_objects(values: list[Any], kind: str) -> _Part:
    """What values become that are equal or not."""
    try:
        different = len(set(values))
    except TypeError:
        other = next(type(value).__name__ for value in values if type(value).__hash__ is None)
        return _Part(kind, f"left out, because a {other} cannot be compared as a whole")
    if different == 1:
        return _Part(kind, ONE_VALUE)
    if kind == ORDERED:
        return _Part(kind, "ranks in their declared order, standardised", *_along(Standardised(), Ranks()))
    if kind == STRINGS and 2 * different > len(values) and _are_texts(values):
        return _Part("texts", "the share of common words", Tanimoto(SetIntersection()).on(Words()))
    if kind == STRINGS and 2 * different > len(values) and _are_sequences(values):
        return _Part("sequences", SUBSTRINGS[1], SUBSTRINGS[0])
    if different == len(values) >= MANY_ROWS and kind in _NAMING:
        return _Part(kind, NAMES)
    return _Part(kind, "equal or not", Delta())


_NAMING = frozenset({STRINGS, LARGE, CATEGORIES, MIXED, Domain.OBJECTS.value})


def _differ(values: list[Any]) -> bool:
    """Whether most differ; of few, whether all do."""
    different = len(set(values))
    return 2 * different > len(values) if len(values) >= MANY_ROWS else different == len(values)


def _some(values: list[str]) -> list[str]:
    return values[:: max(1, len(values) // 1000)]


def _are_sequences(values: list[str]) -> bool:
    some = _some(values)
    return all(map(str.isalpha, some)) and sum(map(len, some)) >= SEQUENCE_LETTERS * len(some)


def _are_texts(values: list[str]) -> bool:
    some = _some(values)
    return sum(len(words_of(value)) for value in some) >= TEXT_WORDS * len(some)


def _of_points(points: Points) -> _Part:
    if isinstance(points, Vectors):
        return _of_vectors(points)
    if isinstance(points, Objects):
        present = [value for value in points.raw() if value is not None]
        are_strings = all(isinstance(value, str) for value in present)
        if not present:
            return _Part("values", "every value is missing")
        kind = points.kind or (STRINGS if are_strings else Domain.OBJECTS.value)
        part = _of_objects(points.raw(), kind if len(present) == len(points) else Domain.OBJECTS.value)
        # Where nothing else is known of a row, what is in its name is all that there is to compare.
        is_name = part.reason == NAMES or part.kernel == Delta()
        if is_name and all(isinstance(value, str | bytes) for value in points.raw()) and _differ(points.raw()):
            return _Part(STRINGS, SUBSTRINGS[1], SUBSTRINGS[0])
        return part
    if points.domain in DOMAINS:
        kernel, reason = DOMAINS[points.domain]
        return _Part(points.domain.value, reason, kernel)
    return _Part(points.domain.value, "no kernel is proposed for them")


def _of_vectors(points: Vectors) -> _Part:
    if points.dense is None:
        return _Part("sparse rows", "compared by their direction", RBF("median").on(UnitRows()))
    low, high = (edge.astype(np.float64) for edge in (points.dense.min(axis=0), points.dense.max(axis=0)))
    ranges = (high - low)[high > low]
    if not len(ranges):
        return _Part(NUMBERS, ONE_VALUE)
    if np.mean(2.0 * ranges >= high.max() - low.min()) > 0.5 and len(ranges) > 1:
        return _Part(NUMBERS, "as they are, since the columns share one range", RBF("median"))
    return _Part(NUMBERS, _VECTORS[NUMBERS][0], RBF("median").on(Standardised()))
