"""Smoothing: sums over the training points, weighted by a kernel or a window, all of them or all but one.

A smoother's coefficients are a table T of what is summed, Σᵢ k(x, xᵢ) T[i]: the weighted values, and (for means) the
weights themselves. What is predicted is the ratio of these sums.
"""

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.kernels.binding import Binding, Resolvable
from mercer.kernels.kernel import Distance
from mercer.kernels.tape import Register, Tape
from mercer.points.base import Points

__all__ = ["Mean", "Others", "Shares", "Smoothing", "of_classes", "of_targets"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

# Below this sum of weights, subnormal weights (under 1e-308, with fewer digits) would matter.
LEAST_SUM = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
# If one point has more than this share of the weight, nothing is known about the noise.
ALONE = 1.0 - 1e-8


class Ratio(Protocol):
    """What sums of weights are made into."""

    def of(self, sums: Array) -> tuple[Array, Array]:  # (…, m, c) -> (…, m, p), (…, m)
        """Predictions from sums, and the sums of the weights."""

    def errors(self, values: Array, predictions: Array) -> Array:  # (n, p), (…, n, p) -> (…, n)
        """How far predictions for the training points are off."""


@final
@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of targets, centred and scaled so that large offsets cost no digits and a constant stays what it is.

    Attributes
    ----------
    offset, scale : ndarray of shape (t,)
        A target is offset + scale · value.
    lowest, highest : ndarray of shape (t,)
        Of the values.
    """

    offset: Array
    scale: Array
    lowest: Array
    highest: Array

    def of(self, sums: Array) -> tuple[Array, Array]:
        """Means, in the units of the values, and the sums of the weights."""
        total = sums[..., -1]
        means = sums[..., :-1] / np.where(total >= LEAST_SUM, total, 1.0)[..., None]
        # A mean lies within the range of its values; a rounded one may not.
        return np.clip(means, self.lowest, self.highest), total

    def errors(self, values: Array, predictions: Array) -> Array:
        """Squared errors, the mean over the targets."""
        return np.asarray(np.square(self.scale * (values - predictions)).mean(axis=-1))

    def targets(self, values: Array) -> Array:
        """Values as targets."""
        return np.asarray(self.offset + self.scale * values)


@final
@dataclass(frozen=True)
class Shares:
    """The share of the votes that each class has."""

    def of(self, sums: Array) -> tuple[Array, Array]:
        """Shares, and the sums of the votes."""
        votes = np.maximum(sums, 0.0)
        total = votes.sum(axis=-1)
        return votes / np.where(total >= LEAST_SUM, total, 1.0)[..., None], total

    def errors(self, values: Array, predictions: Array) -> Array:
        """Brier scores."""
        return np.asarray(np.square(values - predictions).sum(axis=-1))


@final
@dataclass(frozen=True, eq=False)
class Smoothing:
    """How a smoother's sums become predictions.

    Attributes
    ----------
    weight : ndarray of shape (n,)
        Of the training points, the largest 1.
    values : ndarray of shape (n, p)
        What each training point says, 0 where it has no weight: this is predicted beside it where no weight is left.
    ratio : Mean or Shares
        What is made of sums.
    distance : Distance, optional
        By which the nearest point is found; None for precomputed weights, which know none.
    """

    weight: Array
    values: Array
    ratio: Mean | Shares
    distance: Distance | None = None

    def has_support(self, binding: Binding, points: Points) -> Mask:  # (m,)
        """Whether any training point has weight at each point."""
        return np.asarray(np.asarray(binding.cross(points) @ self.weight) >= LEAST_SUM)

    def predictions(self, binding: Binding, points: Points, sums: Array) -> Array:  # (m, c) -> (m, p)
        """What the sums at some points predict, or the nearest training point where no weight is left."""
        found, total = self.ratio.of(sums)
        return self._mended(binding, points, found, total >= LEAST_SUM)

    def with_errors(self, binding: Binding, coef: Array, points: Points) -> tuple[Array, Array]:  # (m, t) each
        """Means of targets and their standard errors, inf where one point has all the weight or none has any."""
        t = self.values.shape[1]
        squares = self.weight[:, None] * np.square(self.values)
        sums = np.asarray(binding.cross(points) @ np.column_stack([coef, squares]))
        mean, total = self.ratio.of(sums[:, : t + 1])
        known = total >= np.sqrt(LEAST_SUM)  # below, the squares of the weights vanish
        safe = np.where(known, total, 1.0)
        variance = np.maximum(sums[:, t + 1 :] / safe[:, None] - mean**2, 0.0)
        squared = binding.with_kernel(Squared(binding.kernel)).cross(points)
        share = np.asarray(squared @ np.square(self.weight)) / safe**2  # 1/(the number of points that count)
        known &= share < ALONE
        factor = np.where(known, share / (1.0 - np.where(known, share, 0.0)), np.inf)[:, None]
        with np.errstate(invalid="ignore"):
            std = np.where(known[:, None], np.sqrt(variance * factor), np.inf)
        return self._mended(binding, points, mean, total >= LEAST_SUM), std

    def left_out(self, sums: Array, others: "Others") -> Array:  # (…, n, c) -> (…, n, p)
        """Predictions for the training points by all others; the nearest other point's where no weight is left."""
        found, total = self.ratio.of(sums)
        lost = np.nonzero(total < LEAST_SUM)
        if lost[-1].size:
            found[lost] = self.values[others.nearest(lost[-1])]
        return found

    def refuse_single(self) -> None:
        """Refuse to leave out the only row that has weight."""
        if (weighted := np.count_nonzero(self.weight)) < 2:
            raise InvalidInput(
                "Leave-one-out needs two rows with a weight above 0.",
                f"Got n_samples = {len(self.weight)}, of which {weighted} have weight.",
                "Give the bandwidth as a number.",
            )

    def nearest(self, binding: Binding, points: Points, k: int) -> Index:  # (m, k)
        """The nearest training points that have weight, best first, ties by index."""
        rows = np.flatnonzero(self.weight)
        k = min(k, rows.size)
        if self.distance is None:  # precomputed: all that is left of d² where k(x, ·) = 0 is k(z, z)
            order = rows[np.argsort(binding.pairs()[rows], kind="stable")]
            return np.tile(order[:k], (len(points), 1))
        is_whole = rows.size == len(self.weight)
        known = binding if is_whole else binding.take(rows)
        return np.asarray(rows[known.with_kernel(self.distance).cross(points).best(k, largest=False)[1]])

    def _mended(self, binding: Binding, points: Points, found: Array, supported: Mask) -> Array:
        lost = np.flatnonzero(~supported)
        if lost.size:
            found[lost] = self.values[self.nearest(binding, points.take(lost), 1)[:, 0]]
        return found


def of_targets(targets: Array, weight: Array) -> tuple[Array, Smoothing]:  # (n, t), (n,) -> (n, t + 1)
    """The table of sums for weighted means of targets, and how means are made of it."""
    weight = weight / weight.max()
    offset = np.average(targets, axis=0, weights=weight)
    centred = targets - offset
    spread = np.abs(centred[weight > 0.0]).max(axis=0)
    scale = np.where(spread > 0.0, spread, 1.0)
    values = np.where(weight[:, None] > 0.0, centred / scale, 0.0)
    mean = Mean(offset, scale, values.min(axis=0), values.max(axis=0))
    return np.column_stack([weight[:, None] * values, weight]), Smoothing(weight, values, mean)


def of_classes(codes: Index, k: int, weight: Array) -> tuple[Array, Smoothing]:  # (n,), (n,) -> (n, k)
    """The table of sums for weighted votes for k classes, and how shares are made of it."""
    weight = weight / weight.max()
    values = np.zeros((len(codes), k))
    values[np.arange(len(codes)), codes] = 1.0
    return weight[:, None] * values, Smoothing(weight, values, Shares())


@final
class Others:
    """The nearest other training point that has weight, found for those that are asked for, once for all bandwidths."""

    def __init__(self, smoothing: Smoothing, binding: Binding) -> None:
        self._smoothing = smoothing
        self._binding = binding
        self._known = np.full(len(binding), -1, dtype=np.intp)

    def nearest(self, rows: Index) -> Index:
        """Of some training points."""
        unknown = np.unique(rows[self._known[rows] < 0])
        if unknown.size:
            two = self._smoothing.nearest(self._binding, self._binding.basis.take(unknown), 2)
            self._known[unknown] = np.where(two[:, 0] == unknown, two[:, 1], two[:, 0])
        return self._known[rows]


@final
@dataclass(frozen=True)
class Squared:
    """The squares of weights, for the variance of a weighted mean."""

    weights: Resolvable

    def lower(self, tape: Tape) -> Register:
        """The square."""
        return tape.powi(tape.fold(self.weights), 2)

    def resolve(self, points: Any) -> Resolvable:  # noqa: ARG002 (of resolved weights)
        """As it is."""
        return self

    def proof(self) -> Any:
        """That of the weights."""
        return self.weights.proof()
