"""The nearest of many vectors, found by quick keys and proved in float64.

Every query gets a few more candidates than it needs, by a quick key: the distance of the vectors rounded to whole
numbers (`whole.py`; Euclidean only), or one in float32. Their distances are made again in float64, as sums over the
differences of coordinates. The answer is proved when no other vector can be as near: the key of the last candidate,
less the most that rounding can have added to it, still exceeds the k-th distance. Queries without that proof are asked
again by the next kind of key, at last in float64, and where even that cannot tell (ties), all vectors are compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.budget import CACHED, row_blocks
from mercer.errors import NotFinite
from mercer.kernels.binding import Binding, bind
from mercer.kernels.distances import L1
from mercer.kernels.tape import Register, Tape
from mercer.points.base import Points
from mercer.points.vectors import Vectors
from mercer.search.whole import Matrix, WholeVectors

__all__ = ["CITY_BLOCK", "EUCLIDEAN", "Metric", "Screen"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Candidates beyond k: enough for a gap behind the k-th neighbour, which the proof needs; more where that failed.
_EXTRA, _MORE = 2, 30
# Whole numbers are coarser, and in many dimensions many vectors are about as near: one more for so many columns.
_WHOLE_COLUMNS = 32
# Queries that are tried first; if a key proves too few of them, the others go straight to the next kind of key.
_PILOT = 256
# The largest coordinates whose squares, and sums of them, float32 and float64 hold.
_SINGLE, _DOUBLE = 1e12, 1e150


@final
class _SquaredNorm:
    """‖x‖² of the rows as they were rounded."""

    def values(self, points: Points) -> Array:
        """‖x‖² at each point."""
        rows = np.asarray(points.raw())
        found = np.empty(len(rows))
        for block in row_blocks(len(rows), rows.shape[1], CACHED):
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

    def __repr__(self) -> str:
        return "‖x − z‖²"

    def lower(self, tape: Tape) -> Register:
        """−2⟨x, z⟩ + ‖x‖² + ‖z‖²."""
        return tape.add_rows(tape.affine(tape.inner(), -2.0, 0.0), tape.row_values(_SquaredNorm()))


@final
@dataclass(frozen=True)
class Metric:
    """A distance ψ of vectors and what rounding does to its key.

    With u the unit roundoff and s = ‖x‖ + ‖z‖ the error of a key is at most c(d)·u·sᵖ.
    """

    key: Any  # lowered by the engine
    power: int  # p, with ψ^(1/p) a norm of x − z
    norm: Callable[[Matrix], Array]
    distance: Callable[[Array], Array]  # ψ of the differences, along the last axis; the differences may be overwritten
    constant: Callable[[int], float]  # c(d)


def _norms(rows: Matrix) -> Array:
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
    """Vectors among which nearest neighbours are searched. Ties are broken by index.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        float32 or float64.
    metric : Metric
        EUCLIDEAN or CITY_BLOCK.
    """

    def __init__(self, rows: Matrix, metric: Metric) -> None:
        self.rows = rows
        self.metric = metric
        self.whole = _largest_whole(rows)
        self._made: dict[tuple[type, bool], Binding] = {}
        # Moving all vectors changes no distance, and smaller norms mean smaller errors. The scale, a power of two,
        # keeps squares inside the range of float32.
        self._range = _range(rows)
        self._centre = _centre(rows, self._range)
        self._span = _span(self._range, self._centre)
        span = max(self._span, 1e-6 * _span(self._range, np.zeros(1))) or 1.0
        self._scale = float(2.0 ** -np.clip(np.ceil(np.log2(span)), -400, 400))

    def __len__(self) -> int:
        return len(self.rows)

    def nearest(self, queries: Matrix, k: int) -> tuple[Array, Index]:
        """ψ and the indices of the k nearest vectors to each query, nearest first: (m, k) each."""
        psi, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.intp)
        left = np.arange(len(queries))
        if self.metric.power == 2 and self._span * self._scale < _DOUBLE:
            extra = min(_EXTRA + queries.shape[1] // _WHOLE_COLUMNS, _MORE)
            left = self._try(partial(self._ask_whole, queries, psi, index), left, extra)
        if len(left):
            self._ask_rounded(queries, left, psi, index)
        if not np.isfinite(psi).all():
            raise NotFinite(
                f"{'The square of a' if self.metric.power == 2 else 'A'} distance between points overflows float64.",
                f"The training points lie within {self._span:.3g} of their centre.",
                "Scale the data: distances must be below 1e150.",
            )
        return psi, index

    def _ask_rounded(self, queries: Matrix, left: Index, psi: Array, index: Index) -> None:
        """Fill in the nearest of some queries from keys that are rounded."""
        reach = max(_span(_range(queries), self._centre), self._span) * self._scale
        if reach < _SINGLE and self.rows.shape[1] <= 1 << 18:  # float32 holds squares, and its error's bound: d·u ≪ 1
            left = self._try(partial(self._ask, np.float32, queries, psi, index), left, _EXTRA)
        if reach >= _DOUBLE:
            far = self._is_far(queries[left])
            self._compare_all(queries, left[far], psi, index)
            left = left[~far]
        left = self._ask(np.float64, queries, psi, index, left, _EXTRA)
        if len(left):
            self._ask_all(queries, left, psi, index)

    def _try(self, ask: Callable[[Index, int], Index], left: Index, extra: int) -> Index:
        """Search some queries by a quick key, and all of them if that proves most; return those without a proof."""
        pilot, rest = (left[:_PILOT], left[_PILOT:]) if len(left) > 4 * _PILOT else (left, left[:0])
        unproved = ask(pilot, extra)
        if len(unproved) > len(pilot) // 4:
            return np.concatenate([unproved, rest])
        return ask(np.concatenate([unproved, ask(rest, extra)]), _MORE)

    def exact(self, queries: Matrix, candidates: npt.NDArray[np.integer[Any]]) -> Array:
        """ψ between each query and its candidates, (m, c), as a sum over differences in float64."""
        found = np.empty(candidates.shape)
        with np.errstate(over="ignore"):  # becomes infinite, which is refused at the end
            for block in row_blocks(len(queries), candidates.shape[1] * self.rows.shape[1], CACHED):
                differences = self.rows.take(candidates[block], axis=0).astype(np.float64)
                differences -= queries[block, None, :].astype(np.float64)
                found[block] = self.metric.distance(differences)
        return found

    def _ask_whole(self, queries: Matrix, psi: Array, index: Index, which: Index, extra: int) -> Index:
        """Fill in the nearest of some queries, found in integers; return those without a proof."""
        if not len(which):
            return which
        n, k = len(self), psi.shape[1]
        asked = queries[which]
        lengths, candidates, off = self._whole_vectors.nearest(asked, min(n, k + extra))
        self._rank(asked, candidates, which, psi, index)
        if lengths.shape[1] == n:
            return which[:0]
        rounding = 1.0 - 4.0 * (self.rows.shape[1] + 4) * float(np.finfo(np.float64).eps)
        proved = (rounding * lengths[:, -1] - off > np.sqrt(psi[which, -1] + self._lost)) | (off == 0.0)
        return np.asarray(which[~proved])

    def _rank(self, asked: Matrix, candidates: Index, which: Index, psi: Array, index: Index) -> None:
        """Fill in the nearest of the candidates."""
        distances = self.exact(asked, candidates)
        ranks = np.lexsort((candidates, distances))[:, : psi.shape[1]]
        psi[which], index[which] = np.take_along_axis(distances, ranks, 1), np.take_along_axis(candidates, ranks, 1)

    def _ask(self, dtype: type, queries: Matrix, psi: Array, index: Index, which: Index, extra: int) -> Index:
        """Fill in the nearest of some queries from keys of this type; returns those without a proof."""
        if not len(which):
            return which
        n, k = len(self), psi.shape[1]
        asked = queries[which]
        if self._is_exact(dtype, asked):  # no key is rounded, and equal keys are sorted by index
            psi[which], index[which] = (
                self._binding(dtype, exact=True).cross(asked.astype(dtype)).best(k, largest=False)
            )
            return which[:0]
        prepared = self._prepared(asked, dtype)
        keys, candidates = self._binding(dtype, exact=False).cross(prepared).best(min(n, k + extra), largest=False)
        self._rank(asked, candidates, which, psi, index)
        if keys.shape[1] == n:
            return which[:0]
        threshold = (psi[which, -1] + self._lost) * self._unit
        proved = keys[:, -1] - self._error(dtype, prepared, threshold) > threshold
        return np.asarray(which[~proved])

    def _ask_all(self, queries: Matrix, which: Index, psi: Array, index: Index) -> None:
        """Fill in the nearest of some queries from every vector whose key in float64 may belong to one of them."""
        binding, k = self._binding(np.float64, exact=False), psi.shape[1]
        for block in row_blocks(len(which), len(self)):
            part = which[block]
            prepared = self._prepared(queries[part], np.float64)
            threshold = (psi[part, -1] + self._lost) * self._unit  # of k vectors: the k-th nearest is not farther
            limit = threshold + self._error(np.float64, prepared, threshold)
            close = binding.cross(prepared).dense() <= limit[:, None]
            for row, chosen in zip(part, close, strict=True):
                candidates = np.flatnonzero(chosen)
                distances = self.exact(queries[row, None], candidates[None])[0]
                ranks = np.lexsort((candidates, distances))[:k]
                psi[row], index[row] = distances[ranks], candidates[ranks]

    def _compare_all(self, queries: Matrix, which: Index, psi: Array, index: Index) -> None:
        """Fill in the nearest of some queries from all vectors: where no key can be computed."""
        n, k = len(self), psi.shape[1]
        everyone, distances = np.arange(n), np.empty(n)
        for row in which:
            for block in row_blocks(n, self.rows.shape[1], CACHED):
                distances[block] = self.exact(queries[row, None], everyone[None, block])[0]
            index[row] = np.argsort(distances, kind="stable")[:k]
            psi[row] = distances[index[row]]

    def _is_far(self, queries: Matrix) -> npt.NDArray[np.bool_]:
        """Whether the square of a key would overflow, scaled as the vectors are."""
        if self._span * self._scale >= _DOUBLE:
            return np.ones(len(queries), dtype=bool)
        with np.errstate(over="ignore"):
            return np.asarray(np.abs(queries - self._centre).max(axis=1) * self._scale >= _DOUBLE)

    def _error(self, dtype: type, prepared: Matrix, threshold: Array) -> Array:
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
    def _lost(self) -> float:
        """How much a sum of squares in float64 may have lost to underflow."""
        return float((self.rows.shape[1] + 8) * np.finfo(np.float64).tiny)

    @property
    def _unit(self) -> float:
        """What the scale of the prepared rows does to ψ."""
        return float(self._scale**self.metric.power)

    def _prepared(self, rows: Matrix, dtype: type) -> Matrix:
        """The rows centred and scaled, block by block, because touching new memory would cost more than that."""
        out: Matrix = np.empty(rows.shape, dtype=dtype)
        for block in row_blocks(len(rows), rows.shape[1], CACHED):
            centred = rows[block] - self._centre
            np.multiply(centred, self._scale, out=out[block], casting="same_kind")
        return out

    def _is_exact(self, dtype: type, queries: Matrix) -> bool:
        """Whether all numbers are integers small enough that no sum of squared differences is rounded."""
        largest = max(self.whole, _largest_whole(queries))
        return bool(2.0 * largest < (self.rows.shape[1] * float(np.finfo(dtype).eps)) ** -0.5)

    @cached_property
    def _whole_vectors(self) -> WholeVectors:
        is_whole = bool(np.isfinite(self.whole))
        centre = np.rint(self._centre) if is_whole else self._centre
        return WholeVectors(self.rows, centre, _span(self._range, centre) or 1.0, is_whole=is_whole)

    def _binding(self, dtype: type, *, exact: bool) -> Binding:
        if (dtype, exact) not in self._made:
            rows = self.rows.astype(dtype) if exact else self._prepared(self.rows, dtype)
            self._made[dtype, exact] = bind(self.metric.key, rows, dtype=dtype)
        return self._made[dtype, exact]


def _range(rows: Matrix) -> tuple[Array, Array]:
    """The smallest and largest value of each column. Sixteen rows at a time, since NumPy is slow on short rows."""
    together = 16
    whole = len(rows) // together * together
    wide, rest = rows[:whole].reshape(-1, together * rows.shape[1]), rows[whole:]
    if not whole:
        return rest.min(axis=0).astype(np.float64), rest.max(axis=0).astype(np.float64)
    low, high = (found.reshape(together, -1) for found in (wide.min(axis=0), wide.max(axis=0)))
    return np.vstack([low, rest]).min(axis=0).astype(np.float64), np.vstack([high, rest]).max(axis=0).astype(np.float64)


def _centre(rows: Matrix, known: tuple[Array, Array]) -> Array:
    """The mean, or where its sum overflows the middle of the range."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = rows.mean(axis=0, dtype=np.float64)
    return np.asarray(mean if np.isfinite(mean).all() else 0.5 * known[0] + 0.5 * known[1])


def _span(known: tuple[Array, Array], centre: Array) -> float:
    """The largest |x − c| of all coordinates of rows with this range."""
    low, high = known
    with np.errstate(over="ignore"):
        return float(max((high - centre).max(), (centre - low).max()))


def _largest_whole(rows: Matrix) -> float:
    """The largest modulus of whole numbers; infinite when some number is not whole."""
    if (rows[:1] != np.rint(rows[:1])).any():  # the first row usually decides
        return np.inf
    return float(np.max(np.abs(rows))) if (rows == np.rint(rows)).all() else np.inf
