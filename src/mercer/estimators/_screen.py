"""The nearest of many vectors, found in float32 and proved in float64.

Every query gets a few more candidates than it wants, by a quick key in float32. Their distances are made again in
float64, as sums over the differences of coordinates. The answer is proved when no other vector can be as near: the key
of the last candidate, less the most that rounding can have added to it, still exceeds the k-th distance. Queries
without that proof are asked again in float64, and where even that cannot tell (ties), all vectors are compared.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.kernels.bound import Bound, bind
from mercer.kernels.distances import L1
from mercer.kernels.tape import Register, Tape
from mercer.points.base import Points
from mercer.points.vectors import Vectors

__all__ = ["CITY_BLOCK", "EUCLIDEAN", "Metric", "Screen", "row_blocks"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.floating[Any]]
Index = npt.NDArray[np.intp]

# Candidates beyond k: enough that the proof rarely fails for want of a gap behind the k-th neighbour; and where it did.
_EXTRA, _MORE = 2, 30
# Queries that are tried first; where float32 does not prove most of them, the others are asked in float64 at once.
_PILOT = 256
# Numbers that a dense tile may hold, and the coordinates of a block of candidates, which should stay in the cache.
_TILE = 1 << 22
_CACHED = 1 << 16


@final
class _SquaredNorm:
    """‖x‖² of the rows as they were rounded."""

    def values(self, points: Points) -> Array:
        """‖x‖² at each point."""
        rows = np.asarray(points.raw())
        found = np.empty(len(rows))
        for block in row_blocks(len(rows), rows.shape[1], _CACHED):
            part = rows[block].astype(np.float64, copy=False)
            np.einsum("ij,ij->i", part, part, out=found[block])
        return found


@final
class _EuclideanKey:
    """‖x‖² + ‖z‖² − 2⟨x, z⟩ as it rounds: unlike the engine's distances, not mended where it cancels."""

    def resolve(self, _points: Any) -> "_EuclideanKey":
        """Nothing waits for data."""
        return self

    def proof(self) -> None:
        """No kernel."""

    def lower(self, tape: Tape) -> Register:
        """−2⟨x, z⟩ + ‖x‖² + ‖z‖²."""
        return tape.add_rows(tape.affine(tape.inner(), -2.0, 0.0), tape.rows(_SquaredNorm()))


@final
@dataclass(frozen=True)
class Metric:
    """A distance ψ of vectors and what rounding does to its key.

    With u the unit roundoff and s = ‖x‖ + ‖z‖ the error of a key is at most c(d)·u·sᵖ.
    """

    key: Any  # lowered by the engine
    power: int  # p, with ψ^(1/p) a norm of x − z
    norm: Callable[[Rows], Array]
    distance: Callable[[Array], Array]  # ψ of the differences, along the last axis; the differences may be overwritten
    constant: Callable[[int], float]  # c(d)


def _norms(rows: Rows) -> Array:
    return np.sqrt(_SquaredNorm().values(Vectors(rows)))


def _sum_of_squares(differences: Array) -> Array:
    found: Array = np.square(differences, out=differences).sum(axis=-1)
    return found


def _sum_of_moduli(differences: Array) -> Array:
    found: Array = np.abs(differences, out=differences).sum(axis=-1)
    return found


# d roundings of a sum from −‖z‖²/2 to ⟨x, z⟩ − ‖z‖²/2, twice, with ‖z‖² + 2‖x‖‖z‖ ≤ s²: d. Rounding of the norms and
# of the key: 3.1. Rounding of the coordinates moves √ψ by u·s, and ψ by 2.1·u·s². The rest is for 1/(1 − d·u) and
# products.
EUCLIDEAN = Metric(_EuclideanKey(), 2, _norms, _sum_of_squares, lambda d: 1.05 * (d + 6.0))
# d roundings of the sum, one of each difference, and one of each coordinate.
CITY_BLOCK = Metric(
    L1(), 1, lambda rows: np.abs(rows).sum(axis=1, dtype=np.float64), _sum_of_moduli, lambda d: 1.05 * (d + 3.0)
)


@final
class Screen:
    """Vectors that can be asked for the nearest to others. Ties are broken by index.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        float32 or float64.
    metric : Metric
        EUCLIDEAN or CITY_BLOCK.
    """

    def __init__(self, rows: Rows, metric: Metric) -> None:
        self.rows = rows
        self.metric = metric
        self.whole = _largest_whole(rows)
        self._made: dict[tuple[type, bool], Bound] = {}
        # Distances do not change when all vectors move, and errors shrink with the norms. The scale, a power of two,
        # keeps squares inside the range of float32.
        self._centre = rows.mean(axis=0, dtype=np.float64)
        span = max(_span(rows, self._centre), 1e-6 * _span(rows, np.zeros(1))) or 1.0
        self._scale = float(2.0 ** -np.clip(np.ceil(np.log2(span)), -400, 400))

    def __len__(self) -> int:
        return len(self.rows)

    def nearest(self, queries: Rows, k: int) -> tuple[Array, Index]:
        """ψ and the indices of the k nearest vectors to each query, nearest first: (m, k) each."""
        psi, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        left = np.arange(len(queries))
        if self._fits_single(queries):
            pilot, rest = (left[:_PILOT], left[_PILOT:]) if len(left) > 4 * _PILOT else (left, left[:0])
            open_rows = self._ask(np.float32, queries, pilot, psi, index)
            if len(open_rows) <= len(pilot) // 4:
                open_rows = np.concatenate([open_rows, self._ask(np.float32, queries, rest, psi, index)])
                open_rows = self._ask(np.float32, queries, open_rows, psi, index, _MORE)
            else:
                open_rows = np.concatenate([open_rows, rest])
            left = open_rows
        left = self._ask(np.float64, queries, left, psi, index)
        self._ask_all(queries, left, psi, index)
        return psi, index

    def exact(self, queries: Rows, candidates: npt.NDArray[np.integer[Any]]) -> Array:
        """ψ between each query and its candidates, (m, c), as a sum over differences in float64."""
        found = np.empty(candidates.shape)
        for block in row_blocks(len(queries), candidates.shape[1] * self.rows.shape[1], _CACHED):
            differences = self.rows.take(candidates[block], axis=0).astype(np.float64)
            differences -= queries[block, None, :].astype(np.float64)
            found[block] = self.metric.distance(differences)
        return found

    def _ask(self, dtype: type, queries: Rows, which: Index, psi: Array, index: Index, extra: int = _EXTRA) -> Index:
        """Fill in the nearest of some queries from keys of this type; returns those without a proof."""
        if not len(which):
            return which
        n, k = len(self), psi.shape[1]
        asked = queries[which]
        if self._is_exact(dtype, asked):  # no key is rounded, and equal keys are sorted by index
            psi[which], index[which] = self._bound(dtype, exact=True).cross(asked.astype(dtype)).best(k, largest=False)
            return which[:0]
        prepared = self._prepared(asked, dtype)
        keys, candidates = self._bound(dtype, exact=False).cross(prepared).best(min(n, k + extra), largest=False)
        distances = self.exact(asked, candidates)
        ranks = np.lexsort((candidates, distances))[:, :k]
        psi[which], index[which] = np.take_along_axis(distances, ranks, 1), np.take_along_axis(candidates, ranks, 1)
        if keys.shape[1] == n:
            return which[:0]
        threshold = psi[which, -1] * self._unit
        proved = keys[:, -1] - self._error(dtype, prepared, threshold) > threshold
        return np.asarray(which[~proved])

    def _ask_all(self, queries: Rows, which: Index, psi: Array, index: Index) -> None:
        """Fill in the nearest of some queries from every vector whose key in float64 may belong to one of them."""
        bound, k = self._bound(np.float64, exact=False), psi.shape[1]
        for block in row_blocks(len(which), len(self)):
            part = which[block]
            prepared = self._prepared(queries[part], np.float64)
            threshold = psi[part, -1] * self._unit  # of k vectors: the k-th nearest is not farther
            limit = threshold + self._error(np.float64, prepared, threshold)
            close = bound.cross(prepared).dense() <= limit[:, None]
            for row, chosen in zip(part, close, strict=True):
                candidates = np.flatnonzero(chosen)
                distances = self.exact(queries[row, None], candidates[None])[0]
                ranks = np.lexsort((candidates, distances))[:k]
                psi[row], index[row] = distances[ranks], candidates[ranks]

    def _error(self, dtype: type, prepared: Rows, threshold: Array) -> Array:
        """The most by which a key can differ from ψ, for vectors that could be among the nearest.

        Those lie within the threshold t of the query x: ‖z‖ ≤ ‖x‖ + t^(1/p), so that s ≤ 2‖x‖ + t^(1/p).
        """
        info, d = np.finfo(dtype), self.rows.shape[1]
        reach = 2.0 * self.metric.norm(prepared) + 1.001 * threshold ** (1.0 / self.metric.power)
        rounding = self.metric.constant(d) * (0.5 * float(info.eps)) * reach**self.metric.power
        underflow = 16.0 * (d + 8) * float(info.tiny)
        # The distances of the candidates, in float64, are rounded too.
        return np.asarray(rounding + underflow + 2.0 * (d + 4) * np.finfo(np.float64).eps * threshold)

    @property
    def _unit(self) -> float:
        """What the scale of the prepared rows does to ψ."""
        return float(self._scale**self.metric.power)

    def _prepared(self, rows: Rows, dtype: type) -> Rows:
        """The rows centred and scaled, block by block: memory touched for the first time costs more than this."""
        out: Rows = np.empty(rows.shape, dtype=dtype)
        for block in row_blocks(len(rows), rows.shape[1], _CACHED):
            centred = rows[block] - self._centre
            np.multiply(centred, self._scale, out=out[block], casting="same_kind")
        return out

    def _fits_single(self, queries: Rows) -> bool:
        """Whether float32 holds the queries' squares, and its bound of the error (d·u ≪ 1)."""
        if self.rows.shape[1] > 1 << 18:
            return False
        return _span(queries, self._centre) * self._scale < 1e12

    def _is_exact(self, dtype: type, queries: Rows) -> bool:
        """Whether all are whole numbers so small that no sum of squares of differences is rounded."""
        largest = max(self.whole, _largest_whole(queries))
        return bool(self.rows.shape[1] * (2.0 * largest) ** 2 < 1.0 / float(np.finfo(dtype).eps))

    def _bound(self, dtype: type, *, exact: bool) -> Bound:
        if (dtype, exact) not in self._made:
            rows = self.rows.astype(dtype) if exact else self._prepared(self.rows, dtype)
            self._made[dtype, exact] = bind(self.metric.key, rows, dtype=dtype)
        return self._made[dtype, exact]


def _span(rows: Rows, centre: Array) -> float:
    """The largest |x − c| of all coordinates."""
    return float(max((rows.max(axis=0) - centre).max(), (centre - rows.min(axis=0)).max()))


def _largest_whole(rows: Rows) -> float:
    """The largest modulus of whole numbers; infinite when some number is not whole."""
    if (rows[:1] != np.rint(rows[:1])).any():  # most often the first row tells
        return np.inf
    return float(np.max(np.abs(rows))) if (rows == np.rint(rows)).all() else np.inf


def row_blocks(n: int, numbers: int, most: int = _TILE) -> Iterator[slice]:
    """Blocks of n rows, each row of so many numbers, that hold a bounded number of them."""
    step = max(1, most // max(numbers, 1))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))
