"""Search in the feature space of a kernel: d²(x, z) = k(x, x) − 2k(x, z) + k(z, z)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.budget import row_blocks
from mercer.errors import InvalidInput, NotFinite
from mercer.kernels.binding import Binding, bind
from mercer.kernels.custom import Precomputed
from mercer.kernels.distances import Polarised
from mercer.kernels.kernel import Kernel
from mercer.kernels.ordering import Order, order_of
from mercer.kernels.tape import Register, Tape, compile_plan
from mercer.maps.base import FittedMap
from mercer.points.base import Points
from mercer.points.vectors import Vectors
from mercer.search.screen import CITY_BLOCK, EUCLIDEAN, Screen

__all__ = ["FeatureSpace", "Found"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

_METRICS = {"dot": EUCLIDEAN, "l1": CITY_BLOCK}
# A dense tile of ψ in float64 is this near to the ψ that is made of differences: relatively, and where squares vanish.
_TILE_ERROR, _VANISHED = 1e-9, 1e-290
# What rounding does to d² = 2f(0) − 2f(ψ), in units of f(0).
_PROFILE_ERROR = 16.0 * float(np.finfo(np.float64).eps)


@final
@dataclass(frozen=True)
class Found:
    """Neighbours of some points.

    Parameters
    ----------
    index : ndarray of shape (m, k)
        Which training points.
    key : ndarray of shape (m, k)
        What they are ordered by: d²; or ψ, of which d² is an increasing function; or, with a precomputed kernel,
        d² − k(x, x).
    points : Points, optional
        The points whose neighbours they are; None for the training points.
    """

    index: Index
    key: Array
    points: Points | None


@final
class FeatureSpace:
    """The training points in the feature space of their kernel.

    Parameters
    ----------
    binding : Binding
        The kernel on the training points.
    """

    def __init__(self, binding: Binding) -> None:
        assert isinstance(binding.kernel, Kernel)
        self.binding = binding
        self._is_stored = isinstance(binding.kernel, Precomputed)
        self._order = None if self._is_stored else order_of(binding.kernel)
        self._maps: tuple[FittedMap, ...] = ()
        self._is_square = True  # whether ψ is ‖·‖², and not ‖·‖₁
        self._screen = None if self._order is None else self._screened(self._order)

    def nearest(self, points: Points | None, k: int) -> Found:
        """The k nearest training points of each point, ties by index; a training point is not its own neighbour."""
        if points is not None:
            return Found(*self._nearest(points, k), points)
        index, key = self._nearest(self.binding.basis, k + 1)
        others = index != np.arange(len(index))[:, None]
        # With many duplicates, a point may not be among its own neighbours; then the last neighbour is dropped.
        others[others.all(axis=1), -1] = False
        return Found(index[others].reshape(-1, k), key[others].reshape(-1, k), None)

    def within(self, points: Points | None, radius: float) -> Iterator[tuple[Array, Index]]:
        """Distances and indices of the training points within a radius of each point, in the order of the indices."""
        limit = self._key_limit(radius)
        asked = self.binding.basis if points is None else points
        for block in row_blocks(len(asked), len(self.binding)):
            part = asked.take(block)
            tile = self._keys.cross(part).dense()
            if self._is_stored:
                tile += self._diagonal(points, block)[:, None]
            vectors = None if self._screen is None else self._vectors(part)
            for row in range(len(part)):
                index = np.flatnonzero(tile[row] <= limit)
                if points is None:
                    index = index[index != block.start + row]
                key = tile[row, index]
                if vectors is not None and self._screen is not None:
                    key = self._screen.exact(vectors[row, None], index[None])[0]
                distance = np.sqrt(self._squared(key))
                inside = distance <= radius
                yield distance[inside], index[inside]

    def distances(self, found: Found) -> Array:
        """d of each neighbour, (m, k), non-decreasing along each row."""
        key = found.key + self._diagonal(found.points)[:, None] if self._is_stored else found.key
        # Keys are sorted; rounding of a profile must not disturb their order.
        lengths: Array = np.maximum.accumulate(np.sqrt(self._squared(key)), axis=1)
        if lengths.size and not np.isfinite(lengths[:, -1]).all():
            raise NotFinite(
                "The square of a distance in feature space overflows float64.",
                "",
                "Scale the data, or multiply the kernel by a smaller number.",
            )
        return lengths

    def values(self, found: Found) -> Array:
        """k(x, z) of each neighbour: (m, k)."""
        if self._line is not None:
            return self._profile(found.key)
        theirs = self._own[found.index]
        if self._is_stored:
            return 0.5 * (theirs - found.key)
        return 0.5 * (self._diagonal(found.points)[:, None] + theirs - self._squared(found.key))

    def _nearest(self, points: Points, k: int) -> tuple[Index, Array]:
        if self._screen is not None:
            key, index = self._screen.nearest(self._vectors(points), k)
            return index, key
        # Copies of the training points are treated as new points: k(x, x) enters neither key.
        asked = points.take(slice(None)) if self._is_stored else points
        key, found = self._keys.cross(asked).best(k, largest=False)
        return found.astype(np.intp), key

    @cached_property
    def _keys(self) -> Binding:
        """What points are ordered by where there is no screen, or when all within a radius are asked for."""
        if self._is_stored:
            return bind(_StoredKey(self.binding.basis), self.binding.basis, dtype=np.float64)
        if self._order is not None:
            return bind(self._order.psi, self.binding.basis, dtype=np.float64)
        assert isinstance(self.binding.kernel, Kernel)
        return bind(Polarised(self.binding.kernel), self.binding.basis, dtype=np.float64)

    @cached_property
    def _line(self) -> Binding | None:
        """The kernel as a function of ψ, where it is one."""
        line = None if self._order is None else self._order.line
        return None if line is None else bind(line, [[0.0]], dtype=np.float64)

    def _screened(self, order: Order) -> Screen | None:
        """A screen, if ψ is a distance between dense vectors."""
        plan = compile_plan(order.psi)
        leaf = plan.leaves[0]
        self._is_square = leaf.kind == "dot"
        seen: Points = self.binding.basis
        for m in plan.views[leaf.view]:
            fitted = m.fit(seen)
            seen = fitted(seen)
            self._maps = (*self._maps, fitted)
        if not isinstance(seen, Vectors) or seen.dense is None:
            return None
        return Screen(seen.dense, _METRICS[leaf.kind])

    def _vectors(self, points: Points) -> npt.NDArray[np.floating[Any]]:
        for m in self._maps:
            points = m(points)
        found = Vectors(points)
        return found.dense if found.dense is not None else np.asarray(found.csr.toarray())

    @property
    def _own(self) -> Array:
        """k(z, z) of the training points."""
        return self.binding.diag()

    def _diagonal(self, points: Points | None, block: slice | None = None) -> Array:
        """k(x, x) of the points, or of a block of them."""
        rows = slice(None) if block is None else block
        if points is None:
            return self._own[rows]
        if self._is_stored:
            raise InvalidInput(
                "Distances need k(x, x) of the new points, which a precomputed kernel does not know.",
                "",
                'Use return_distance=False, or weights="uniform" or weights="kernel".',
            )
        return self.binding.diag(points)[rows]

    def _squared(self, key: Array) -> Array:
        """d² of keys."""
        if self._order is None:
            return np.maximum(key, 0.0)
        if self._order.factor is not None:
            with np.errstate(over="ignore"):  # infinite, and refused or outside
                return self._order.factor * key
        return np.maximum(2.0 * (self._profile(np.zeros(1)) - self._profile(key)), 0.0)

    def _profile(self, psi: Array) -> Array:
        """f(ψ), by the kernel on the line: between 0 and a number r with ψ(r, 0) = ψ."""
        assert self._line is not None
        if not psi.size:
            return psi
        line = np.sqrt(psi) if self._is_square else psi
        return self._line.cross(line.reshape(-1, 1)).dense().reshape(psi.shape)

    def _key_limit(self, radius: float) -> float:
        """A key that no point within the radius exceeds."""
        square = radius * radius
        if self._order is None:
            limit = square
        elif self._order.factor is not None:
            limit = square / self._order.factor
        else:
            limit = self._largest_within(square)
        return (1.0 + _TILE_ERROR) * limit + _VANISHED

    def _largest_within(self, square: float) -> float:
        """The largest ψ with d² up to a number and its rounding."""
        square += _PROFILE_ERROR * float(self._profile(np.zeros(1))[0])
        inside, outside = 0.0, 1.0
        while self._squared(np.array([outside]))[0] <= square:
            inside, outside = outside, 16.0 * outside
            if outside > 1e250:  # no two points are that far apart
                return np.inf
        for _ in range(64):
            middle = 0.5 * (inside + outside)
            if self._squared(np.array([middle]))[0] <= square:
                inside = middle
            else:
                outside = middle
        return outside


@final
class _OwnDiagonal:
    """k(z, z) of the basis, and 0 for all other points, which are known by their rows alone."""

    def __init__(self, basis: Points) -> None:
        self.basis = basis

    def values(self, points: Points) -> Array:
        """The diagonal, or zeros."""
        return Precomputed().diag(points) if points is self.basis else np.zeros(len(points))


@final
class _StoredKey:
    """k(z, z) − 2k(x, z) of a precomputed matrix: d² without k(x, x), which changes no order."""

    def __init__(self, basis: Points) -> None:
        self.basis = basis

    def resolve(self, _points: Any) -> "_StoredKey":
        """Nothing waits for data."""
        return self

    def proof(self) -> None:
        """No kernel."""

    def lower(self, tape: Tape) -> Register:
        """−2k(x, z) + k(z, z)."""
        minus_two = tape.affine(tape.fold(Precomputed()), -2.0, 0.0)
        return tape.add_rows(minus_two, tape.row_values(_OwnDiagonal(self.basis)))
