"""What the leaves of a plan take from the points: one row of the table `SOURCES` for each kind of source.

A source is made from the basis once and keeps what it learnt there (a dictionary of values, a format); it then
prepares any other points in the same way, for the other side of the matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer import _core
from mercer.budget import allocate
from mercer.domains import is_hashable
from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.kernels.called import FORMS
from mercer.kernels.plan import LEAVES, Leaf
from mercer.maps.alphabet import Alphabet
from mercer.maps.networks import Networks
from mercer.points import Domain, Indicators, Points, Series, Stored, Strings, Vectors, require

__all__ = ["SOURCES", "Source", "source_of", "values_of", "vectors_of"]


# The engine keeps a number for each column, which wider rows may not pay for: those with few entries are narrowed.
WIDE = 1 << 20


class Source(Protocol):
    """How the points of one leaf reach the engine."""

    @classmethod
    def fit(cls, leaf: Leaf, owner: str, basis: Points, /) -> Self:
        """Learn from the basis what stays fixed for new points."""

    def add(self, side: _core.Side, points: Points) -> None:
        """Give the points to a side of the matrix."""


@final
@dataclass(frozen=True)
class _Inner:
    """Rows for inner products: dense, sparse, or the indicators of sets."""

    owner: str
    sparse: bool
    occupied: npt.NDArray[np.int32] | None  # the columns that the basis has entries in, where the others are many

    @classmethod
    def fit(cls, _leaf: Leaf, owner: str, basis: Points, /) -> Self:
        found = vectors_of(basis, owner)
        if isinstance(found, Indicators) or not found.is_sparse:
            return cls(owner, isinstance(found, Indicators), None)
        is_wide = found.width > max(WIDE, 16 * found.csr.nnz)
        return cls(owner, True, np.unique(found.csr.indices) if is_wide else None)

    def add(self, side: _core.Side, points: Points) -> None:
        found = vectors_of(points, self.owner)
        if isinstance(found, Indicators):
            side.sparse(found.offsets, found.codes, None, max(found.n_items, 1), found.sizes.astype(np.float64))
        elif self.sparse:
            rows = found.csr if found.is_sparse else sp.csr_array(found.dense)
            if self.occupied is not None:
                rows = _narrowed(rows, self.occupied)
            offsets, columns = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
            side.sparse(offsets, columns, rows.data, rows.shape[1], None)
        else:
            side.dense(_dense(found, self.owner))


def _narrowed(rows: Any, occupied: npt.NDArray[np.int32]) -> Any:
    """The rows on the occupied columns, and in one more column the norm of what lies outside them.

    So norms are exact, and so are inner products and distances to rows that have nothing outside.
    """
    n, m = rows.shape[0], len(occupied)
    codes = np.searchsorted(occupied, rows.indices)
    known = codes < m
    known[known] = occupied[codes[known]] == rows.indices[known]
    row = np.repeat(np.arange(n), np.diff(rows.indptr))
    outside = np.bincount(row[~known], weights=rows.data[~known].astype(np.float64) ** 2, minlength=n)
    apart = np.flatnonzero(outside)
    values = np.concatenate([rows.data[known], np.sqrt(outside[apart]).astype(rows.dtype)])
    places = np.concatenate([row[known], apart]), np.concatenate([codes[known], np.full(len(apart), m)])
    return sp.csr_array((values, places), shape=(n, m + 1))


@final
@dataclass(frozen=True)
class _Coordinates:
    """Dense rows for sums over coordinates; `signed` says whether negative numbers are allowed."""

    owner: str
    signed: bool

    @classmethod
    def fit(cls, leaf: Leaf, owner: str, _basis: Points, /) -> Self:
        return cls(owner, LEAVES[leaf.kind].takes == "coordinates")

    def add(self, side: _core.Side, points: Points) -> None:
        found = vectors_of(points, self.owner)
        if isinstance(found, Indicators):
            raise DomainMismatch(
                f"{self.owner} takes sums over coordinates, which the indicators of sets do not have.",
                "Items that are not in the dictionary have no coordinate.",
                "Use SetIntersection(), or SquaredEuclidean().on(Indicator()) for the size of the difference.",
            )
        rows = _dense(found, self.owner)
        if not self.signed and (negative := rows.min()) < 0:
            i, j = (int(at) for at in np.argwhere(rows < 0)[0])
            raise InvalidInput(
                f"{self.owner} is a kernel on non-negative numbers only.",
                f"X[{i}, {j}] is {rows[i, j]:.6g}; the smallest number is {negative:.6g}.",
                "Shift or clip the columns, or use a kernel for any real numbers, such as RBF() or Laplacian().",
            )
        side.dense(rows)


@final
@dataclass(frozen=True)
class _Values:
    """Points as codes: equal points have equal codes, and a point outside the basis has none of its codes."""

    owner: str
    codes: dict[Any, int]

    @classmethod
    def fit(cls, _leaf: Leaf, owner: str, basis: Points, /) -> Self:
        return cls(owner, {value: code for code, value in enumerate(dict.fromkeys(values_of(basis, owner)))})

    def add(self, side: _core.Side, points: Points) -> None:
        side.codes(np.array([self.codes.get(value, -1) for value in values_of(points, self.owner)], dtype=np.int64))


@final
@dataclass(frozen=True)
class _Entries:
    """Entries of a precomputed matrix: its rows on the left, its columns at the basis."""

    owner: str
    columns: npt.NDArray[np.int64]

    @classmethod
    def fit(cls, _leaf: Leaf, owner: str, basis: Points, /) -> Self:
        found = require(basis, frozenset({Domain.GRAM}), owner)
        assert isinstance(found, Stored)
        return cls(owner, found.rows)

    def add(self, side: _core.Side, points: Points) -> None:
        found = require(points, frozenset({Domain.GRAM}), self.owner)
        assert isinstance(found, Stored)
        if self.columns.max() >= found.width:
            raise InvalidInput(
                f"{self.owner} needs a column for each point of the basis.",
                f"The matrix has {found.width} columns, and the basis reaches point {self.columns.max()}.",
                "Pass the rows K(new, training) against all training points; to fit, a square matrix.",
            )
        whole = len(self.columns) == found.width and bool(np.all(np.diff(self.columns) == 1))
        side.matrix(found.matrix if whole else np.ascontiguousarray(found.matrix[:, self.columns]))


@final
@dataclass(frozen=True)
class _Calls:
    """A Python function of two points, or of two collections of points."""

    fn: Callable[..., Any]
    form: str
    basis: Points

    @classmethod
    def fit(cls, leaf: Leaf, _owner: str, basis: Points, /) -> Self:
        assert leaf.fn is not None
        return cls(leaf.fn, leaf.form, basis)

    def add(self, side: _core.Side, points: Points) -> None:
        fill = FORMS[self.form]

        def block(i0: int, i1: int, j0: int, j1: int) -> npt.NDArray[np.float64]:
            left, right = points.take(slice(i0, i1)).raw(), self.basis.take(slice(j0, j1)).raw()
            return fill(self.fn, left, right, (i1 - i0, j1 - j0))

        side.call(block)


@final
@dataclass(frozen=True)
class _Letters:
    """Strings of numbered letters, those of the basis first."""

    owner: str
    alphabet: Alphabet

    @classmethod
    def fit(cls, _leaf: Leaf, owner: str, basis: Points, /) -> Self:
        return cls(owner, Alphabet(_strings(basis, owner)))

    def add(self, side: _core.Side, points: Points) -> None:
        found = _strings(points, self.owner)
        side.letters(found.offsets, self.alphabet.codes(found, self.owner))


def _strings(points: Points, owner: str) -> Strings:
    found = require(points, frozenset({Domain.STRINGS}), owner)
    assert isinstance(found, Strings)
    return found


@final
@dataclass(frozen=True)
class _Parts:
    """Series, all with the channels of the basis; those without points have any number."""

    owner: str
    channels: int | None

    @classmethod
    def fit(cls, _leaf: Leaf, owner: str, basis: Points, /) -> Self:
        found = _series(basis, owner)
        return cls(owner, found.channels if len(found.parts) else None)

    def add(self, side: _core.Side, points: Points) -> None:
        found, channels = _series(points, self.owner), self.channels or 1
        parts = found.parts
        if not len(parts):
            parts = np.empty((0, channels), dtype=found.dtype)
        elif self.channels is None:
            # Nothing in the basis can be compared with what they hold, but how many points there are counts.
            parts = np.zeros((len(parts), 1), dtype=found.dtype)
        elif found.channels != self.channels:
            raise InvalidInput(
                f"{self.owner} was given series of {found.channels} channels, but its basis has {self.channels}.",
                "", "Pass the same channels, in the same order.",
            )  # fmt: skip
        side.parts(found.offsets, np.ascontiguousarray(parts))


@final
@dataclass(frozen=True)
class _Networks:
    """Graphs in numbers: those on which sums of walks converge, with the decay that is the leaf's parameter."""

    networks: Networks

    @classmethod
    def fit(cls, leaf: Leaf, owner: str, basis: Points, /) -> Self:
        return cls(Networks(owner, basis, leaf.parameters[0]))

    def add(self, side: _core.Side, points: Points) -> None:
        side.networks(*self.networks(points))


def _series(points: Points, owner: str) -> Series:
    found = require(points, frozenset({Domain.SERIES}), owner)
    assert isinstance(found, Series)
    return found


def vectors_of(points: Points, owner: str) -> Vectors | Indicators:
    """The points as rows that have inner products."""
    found = require(points, frozenset({Domain.VECTORS}), owner)
    assert isinstance(found, Vectors | Indicators)
    return found


def _dense(points: Vectors, owner: str) -> npt.NDArray[np.floating[Any]]:
    if points.dense is not None:
        return points.dense
    out = allocate(
        points.shape,
        points.dtype,
        f"The dense copy of the sparse rows that {owner} needs",
        "Use a kernel of inner products, which takes sparse rows as they are, or select columns.",
    )
    return np.asarray(points.csr.toarray(out=out))


_ANY = frozenset({Domain.VECTORS, Domain.OBJECTS, Domain.SETS})


def values_of(points: Points, owner: str) -> list[Any]:
    """One hashable value per point: equal values for equal points, and only for those."""
    found = require(points, _ANY, owner)
    if isinstance(found, Vectors):
        # + 0.0 turns −0.0 into 0.0: they are equal as numbers but not as bytes.
        rows = np.ascontiguousarray(_dense(found, owner), dtype=np.float64) + 0.0
        return rows.view(np.dtype((np.void, rows.shape[1] * 8))).ravel().tolist()
    if isinstance(found, Indicators):
        # Sets with items outside the dictionary equal no set of the basis; their true size tells them apart.
        bounds = zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), found.sizes.tolist(), strict=True)
        return [(size, found.codes[a:b].tobytes()) for a, b, size in bounds]
    values = list(found.raw())
    for row, value in enumerate(values):
        if not is_hashable(value):
            raise InvalidInput(
                f"{owner} compares values by their hash, and that of row {row} has none.",
                f"It is {shown(value)}.",
                "Choose the columns that can be compared, or pass tuples and frozensets in place of lists and sets.",
            )
    return values


# By what a leaf takes.
SOURCES: dict[str, type[Source]] = {
    "vectors": _Inner,
    "coordinates": _Coordinates,
    "amounts": _Coordinates,
    "codes": _Values,
    "entries": _Entries,
    "calls": _Calls,
    "letters": _Letters,
    "parts": _Parts,
    "networks": _Networks,
}


def source_of(leaf: Leaf, owner: str, basis: Points) -> Source:
    """What a leaf, first read by the node `owner`, takes from a basis and from other points like it."""
    return SOURCES[LEAVES[leaf.kind].takes].fit(leaf, owner, basis)
