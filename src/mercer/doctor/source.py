"""The data as a doctor sees it: also what no machine would take (missing values), and never all of it twice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.budget import row_blocks
from mercer.errors import InvalidInput
from mercer.points.adapt import as_points
from mercer.points.base import Domain, Points
from mercer.points.column import Column
from mercer.points.table import Table
from mercer.points.times import AWARE, CALENDAR, DATES, DURATIONS, TIMES_OF_DAY
from mercer.points.vectors import Vectors

__all__ = ["Flaws", "Source", "source_of"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Of sparse rows and of very wide ones, so many columns are looked at one by one: those with most entries.
MOST_COLUMNS = 1_000
# Columns that are stored as numbers of days, and that no kernel reads as numbers unless it names them.
DAYS = frozenset({AWARE, CALENDAR, DATES})
TIMES = DAYS | {DURATIONS, TIMES_OF_DAY}


@final
@dataclass(frozen=True)
class Flaws:
    """How many entries of each column are missing, and how many infinite; and some rows with such entries."""

    missing: dict[str, int]
    infinite: dict[str, int]
    rows: tuple[int, ...]


class Source(Protocol):
    """A collection of points, whole or flawed."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns; none where the points have no columns."""

    @property
    def numeric(self) -> tuple[str, ...]:
        """The columns of numbers that are looked at."""

    def __len__(self) -> int:
        """How many points."""

    def flaws(self) -> Flaws:
        """What is missing or infinite, anywhere."""

    def constant(self) -> list[str]:
        """Columns with one value, anywhere."""

    def numbers(self, rows: Index) -> Array:  # (len(rows), len(numeric))
        """Entries of the numeric columns, missing ones as NaN."""

    def others(self, rows: Index) -> Mapping[str, npt.NDArray[Any]]:
        """The other columns, as objects; missing values are None."""

    def keys(self) -> npt.NDArray[np.uint64]:  # (n,)
        """A number for each row: the same for equal rows, and (but for odds of 2⁻⁶⁴ a pair) only for them."""

    def points(self, rows: Index) -> Points:
        """These rows as points for a kernel; refused where they have flaws."""


def source_of(X: Any) -> Source:
    """Data of any kind that mercer reads, flawed or not."""
    if sp.issparse(X):
        return _Sparse.of(X)
    array = _numbers_of(X)
    if array is not None:
        return _Dense.of(array)
    points = as_points(X)
    if isinstance(points, Table):
        return _Tabular(points)
    if isinstance(points, Vectors):
        return _Sparse.of(points.csr) if points.is_sparse else _Dense.of(points.raw())
    return _Opaque(points)


def _numbers_of(X: Any) -> npt.NDArray[Any] | None:
    """A two-dimensional array of real numbers, or None if X is something else."""
    if isinstance(X, np.ndarray):
        array = X
    elif isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple | np.ndarray):
        try:
            array = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    else:
        return None
    if array.dtype.kind == "O" and array.ndim == 2:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    is_plain = array.ndim == 2 and array.dtype.kind in "fiub" and array.size > 0
    return array if is_plain and not isinstance(array, np.ma.MaskedArray) else None


@final
@dataclass(frozen=True)
class _Dense:
    array: npt.NDArray[Any]
    names: tuple[str, ...]
    shown: Index  # the columns that are looked at one by one

    @classmethod
    def of(cls, array: npt.NDArray[Any]) -> "_Dense":
        d = array.shape[1]
        return cls(array, _numbered(d), np.unique(np.linspace(0, d - 1, min(d, MOST_COLUMNS)).astype(np.intp)))

    @property
    def numeric(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.shown)

    def __len__(self) -> int:
        return len(self.array)

    def flaws(self) -> Flaws:
        d = self.array.shape[1]
        missing, infinite, rows = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64), list[int]()
        if self.array.dtype.kind == "f":
            for block in row_blocks(*self.array.shape):
                part = self.array[block]
                if np.isfinite(part).all():
                    continue
                bad = ~np.isfinite(part)
                missing += np.isnan(part).sum(axis=0)
                infinite += np.isinf(part).sum(axis=0)
                rows += (block.start + np.flatnonzero(bad.any(axis=1))).tolist()
        return Flaws(_by_name(self.names, missing), _by_name(self.names, infinite), tuple(rows))

    def constant(self) -> list[str]:
        with np.errstate(invalid="ignore"):
            first = self.array[0]
            same = np.ones(len(first), dtype=bool)
            for block in row_blocks(*self.array.shape):
                same &= ((self.array[block] == first) | (np.isnan(self.array[block]) & np.isnan(first))).all(axis=0)
        return [name for name, is_same in zip(self.names, same, strict=True) if is_same]

    def numbers(self, rows: Index) -> Array:
        return self.array[np.ix_(rows, self.shown)].astype(np.float64)

    def others(self, rows: Index) -> Mapping[str, npt.NDArray[Any]]:  # noqa: ARG002 (of the protocol)
        return {}

    def keys(self) -> npt.NDArray[np.uint64]:
        found = np.zeros(len(self.array), dtype=np.uint64)
        for block in row_blocks(*self.array.shape):
            part = self.array[block].astype(np.float64) + 0.0  # −0.0 + 0.0 is 0.0
            found[block] = _mixed(part, np.arange(part.shape[1], dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        return found

    def points(self, rows: Index) -> Points:
        return Vectors(self.array[rows])


@final
@dataclass(frozen=True)
class _Sparse:
    csr: Any
    names: tuple[str, ...]
    shown: Index

    @classmethod
    def of(cls, matrix: Any) -> "_Sparse":
        csr = sp.csr_array(matrix).astype(np.float64)
        if csr.ndim != 2 or not all(csr.shape):
            raise InvalidInput("X must have at least one row and one column.", f"Got shape {csr.shape}.")
        csr.sum_duplicates()
        csr.eliminate_zeros()
        filled = np.bincount(csr.indices, minlength=csr.shape[1])
        most = np.sort(np.argsort(-filled, kind="stable")[: MOST_COLUMNS // 5])
        return cls(csr, _numbered(csr.shape[1]), most)

    @property
    def numeric(self) -> tuple[str, ...]:
        return tuple(self.names[j] for j in self.shown)

    def __len__(self) -> int:
        return int(self.csr.shape[0])

    def flaws(self) -> Flaws:
        values, columns = self.csr.data, self.csr.indices
        bad = np.flatnonzero(~np.isfinite(values))
        rows = np.unique(np.searchsorted(self.csr.indptr, bad, side="right") - 1)
        d = self.csr.shape[1]
        missing, infinite = (np.bincount(columns[is_so(values)], minlength=d) for is_so in (np.isnan, np.isinf))
        return Flaws(_by_name(self.names, missing), _by_name(self.names, infinite), tuple(rows.tolist()))

    def constant(self) -> list[str]:
        n, d = self.csr.shape
        filled = np.bincount(self.csr.indices, minlength=d)
        low, high = np.full(d, np.inf), np.full(d, -np.inf)
        np.minimum.at(low, self.csr.indices, self.csr.data)
        np.maximum.at(high, self.csr.indices, self.csr.data)
        same = (filled == 0) | ((filled == n) & (low == high))
        return [self.names[j] for j in np.flatnonzero(same)]

    def numbers(self, rows: Index) -> Array:
        return np.asarray(self.csr[rows][:, self.shown].toarray(), dtype=np.float64)

    def others(self, rows: Index) -> Mapping[str, npt.NDArray[Any]]:  # noqa: ARG002 (of the protocol)
        return {}

    def keys(self) -> npt.NDArray[np.uint64]:
        each = _mixed(self.csr.data, self.csr.indices.astype(np.uint64))
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
        found: npt.NDArray[np.uint64] = sums[self.csr.indptr[1:]] - sums[self.csr.indptr[:-1]]
        return found

    def points(self, rows: Index) -> Points:
        return Vectors(self.csr[rows])


@final
@dataclass(frozen=True)
class _Tabular:
    table: Table

    @property
    def names(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def numeric(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, column in self.table.columns.items()
            if column.domain is Domain.VECTORS and column.kind not in TIMES and column.values.dtype.kind in "fiub"
        )

    def __len__(self) -> int:
        return len(self.table)

    def flaws(self) -> Flaws:
        missing, infinite = {}, {}
        bad = np.zeros(len(self), dtype=bool)
        for name, column in self.table.columns.items():
            values = column.values
            if values.dtype.kind == "O":
                lost = np.fromiter((value is None for value in values), dtype=bool, count=len(values))
                endless = np.zeros_like(lost)
            else:
                lost, endless = np.isnan(values), np.isinf(values)
            if lost.any():
                missing[name] = int(lost.sum())
            if endless.any():
                infinite[name] = int(endless.sum())
            bad |= lost | endless
        return Flaws(missing, infinite, tuple(np.flatnonzero(bad).tolist()))

    def constant(self) -> list[str]:
        return [name for name, column in self.table.columns.items() if _is_constant(column.values)]

    def numbers(self, rows: Index) -> Array:
        found = np.empty((len(rows), len(self.numeric)))
        for j, name in enumerate(self.numeric):
            found[:, j] = self.table.columns[name].values[rows]
        return found

    def others(self, rows: Index) -> Mapping[str, npt.NDArray[Any]]:
        rest = [name for name in self.names if name not in self.numeric]
        return {name: _as_objects(self.table.columns[name], rows) for name in rest}

    def keys(self) -> npt.NDArray[np.uint64]:
        found = np.zeros(len(self), dtype=np.uint64)
        for j, column in enumerate(self.table.columns.values()):
            values = column.values
            codes = coded(values) if values.dtype.kind == "O" else values
            found += _mixed(codes.astype(np.float64) + 0.0, np.uint64(j))
        return found

    def points(self, rows: Index) -> Points:
        return self.table.take(rows)


def _as_objects(column: Column, rows: Index) -> npt.NDArray[np.object_]:
    """Values that are not numbers: dates, which are stored as days since 1970, as dates again."""
    values = column.values[rows]
    if column.kind not in DAYS or values.dtype.kind != "f":
        return values.astype(object)
    seconds = np.where(np.isfinite(values), np.round(values * 86_400.0), 0.0).astype("datetime64[s]")
    return np.array(
        [date if known else None for date, known in zip(seconds, np.isfinite(values), strict=True)], dtype=object
    )


@final
@dataclass(frozen=True)
class _Opaque:
    collection: Points
    names: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.collection)

    def flaws(self) -> Flaws:
        return Flaws({}, {}, ())

    def constant(self) -> list[str]:
        return []

    def numbers(self, rows: Index) -> Array:
        return np.empty((len(rows), 0))

    def others(self, rows: Index) -> Mapping[str, npt.NDArray[Any]]:  # noqa: ARG002 (of the protocol)
        return {}

    def keys(self) -> npt.NDArray[np.uint64]:
        raw = self.collection.raw()
        objects = np.fromiter(raw, dtype=np.object_, count=len(self)) if isinstance(raw, list) else None
        if objects is None:  # nothing is known of when two are equal
            return np.arange(len(self), dtype=np.uint64)
        return coded(objects).astype(np.uint64)

    def points(self, rows: Index) -> Points:
        return self.collection.take(rows)


def coded(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Numbers for values of any kind, the same for equal ones; sets of equal items are equal."""
    numbers: dict[Any, int] = {}
    return np.fromiter(
        (numbers.setdefault(_hashable(value), len(numbers)) for value in values), dtype=np.int64, count=len(values)
    )


def _hashable(value: Any) -> Any:
    made = next((made for kind, made in _KEYS if isinstance(value, kind)), None)
    key = value if made is None else made(value)
    try:
        hash(key)
    except TypeError:
        return id(value)
    return key


def _bytes(value: npt.NDArray[Any]) -> tuple[Any, ...]:
    return (value.shape, value.dtype.str, value.tobytes())


_KEYS: tuple[tuple[type, Callable[[Any], Any]], ...] = ((set, frozenset), (np.ndarray, _bytes), (list, tuple))


def _is_constant(values: npt.NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        return len(np.unique(coded(values))) == 1
    return bool((values == values[0]).all() or np.isnan(values).all())


def _numbered(d: int) -> tuple[str, ...]:
    return tuple(map(str, range(d)))


def _by_name(names: tuple[str, ...], counts: npt.NDArray[np.int64]) -> dict[str, int]:
    return {names[j]: int(counts[j]) for j in np.flatnonzero(counts)}


def _mixed(values: Array, column: Any) -> npt.NDArray[np.uint64]:
    """Bits that are as good as random, from a number and its column: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        x = np.ascontiguousarray(values).view(np.uint64) + (column + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)), dtype=np.uint64)
