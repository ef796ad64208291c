"""What smoothers share: sums over the training points, weighted by a kernel or a window, all of them or all but one."""

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.domains import is_number
from mercer.errors import InvalidInput, InvalidParameter, NotPositive, shown
from mercer.estimators._bandwidth import STEP, FormulaWeights, Weights, WindowWeights
from mercer.estimators._kernels import KernelSpec
from mercer.estimators._machine import KernelMachine
from mercer.estimators.windows import TABLE as WINDOWS
from mercer.estimators.windows import Window
from mercer.kernels.bound import bind
from mercer.kernels.kernel import Kernel
from mercer.kernels.names import TABLE as NAMES
from mercer.kernels.names import named
from mercer.kernels.node import written
from mercer.notation import ATOM
from mercer.points.base import Points

__all__ = ["LEAST_SUM", "Smoother"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

LOO = "loo"
# Below this, numbers without all their digits (under 1e-308) would count in a sum of weights.
LEAST_SUM = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
# What is tried around the best of the default grid, round by round: the next width, times these powers of what one
# squaring of a weight narrows it by. Where that is little, √2 for a Gaussian, three widths in one walk are worth two.
ROUNDS = ((0.0,),) * 3
SHARED_ROUNDS = ((-1.0, 0.0, 1.0), (0.0,))
# Squarings to one step of the grid from which on they are little.
MANY_DOUBLINGS = 4
# Squarings of a weight, one after the other, that leave its relative error below 1e-12: each doubles it.
MOST_DOUBLINGS = 12
# Up to so many sums several widths are made in one walk: beyond, the products take longer than the weights.
FEW_SUMS = 4
# A new width keeps this share of the way from each known one, so that it says something new.
APART = 0.1
# γ of a named kernel for which its length scale is 1.
UNIT_GAMMA = {"rbf": 0.5}


class Smoother(KernelMachine):
    """Base of the smoothers: sums Σᵢ k(x, xᵢ) T[i] over a table T, for all points or without the point itself."""

    bandwidth: Any
    bandwidths: Any
    bandwidth_: float
    bandwidths_: Array
    loo_score_: float
    loo_scores_: Array
    _neighbour: Indices  # (n,): the nearest other training point with weight, of each that was asked for; else −1
    _table: Array  # (n, c): what is summed
    _fallback: Array  # (n, p): what is predicted beside a point where no weight is left

    @abstractmethod
    def _ratio(self, sums: Array) -> tuple[Array, Array]:  # (…, m, c) -> (…, m, p), (…, m)
        """Predictions from sums, and the sums of the weights."""

    @abstractmethod
    def _errors(self, predictions: Array) -> Array:  # (…, n, p) -> (…, n)
        """How far predictions for the training points are off."""

    def has_support(self, X: Any) -> npt.NDArray[np.bool_]:
        """Whether any training point has weight at each point; where none has, the nearest one predicts.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of bool, shape (m,)
        """
        check_is_fitted(self)
        sums = np.asarray(self.bound_.cross(self._read_checked(X)) @ self._weight)
        return np.asarray(sums >= LEAST_SUM)

    @property
    def _spec(self) -> KernelSpec:
        return KernelSpec(self.kernel, None, 3, 1.0, None)

    def _read_checked(self, X: Any, *, fitting: bool = False) -> Points:
        points = self._read(X) if fitting else self._read_new(X)
        if self._spec.is_precomputed:
            values = np.asarray(points.raw())
            if values.size and values.min() < 0.0:
                i, j = np.unravel_index(int(values.argmin()), values.shape)
                raise InvalidInput(
                    "Negative values in data passed as precomputed weights: a mean is weighted by numbers ≥ 0.",
                    f"X[{i}, {j}] is {values[i, j]:.6g}.",
                )
        return points

    def _fit(self, points: Points, table: Array, fallback: Array, weight: Array) -> None:
        """Choose the bandwidth and bind the weights."""
        self._table, self._fallback, self._weight = table, fallback, weight
        self._neighbour = np.full(len(points), -1)
        form = _form(self.kernel, self._spec, points)
        self._distance = None if self._spec.is_precomputed else form.distance()
        if isinstance(self.bandwidth, str) and self.bandwidth == LOO:
            self._choose(form, points)
        else:
            self.bandwidth_ = _positive(self.bandwidth)
            self.bound_ = bind(form.at(self.bandwidth_), points, dtype=np.float64)

    def _choose(self, form: Weights, points: Points) -> None:
        own = form.grid(points)  # also refuses what has no bandwidth
        is_own = self.bandwidths is None
        tried = own if is_own else _grid(self.bandwidths)
        self.bound_ = bind(form.at(float(tried[-1])), points, dtype=np.float64)
        doublings = form.doublings() if is_own and self._table.shape[1] <= FEW_SUMS else 0
        scores = self._scores(form, tried, doublings)
        rounds = SHARED_ROUNDS if doublings >= MANY_DOUBLINGS else ROUNDS
        for powers in rounds if is_own else ():
            if (new := _next(tried, scores)) is None:
                break
            more = np.array([new * STEP ** (power / max(doublings, 1)) for power in powers])
            tried, scores = np.append(tried, more), np.append(scores, self._scores(form, more, min(doublings, 1)))
        order = np.argsort(tried) if is_own else np.arange(tried.size)
        self.bandwidths_, self.loo_scores_ = tried[order], scores[order]
        self.bandwidth_, self.loo_score_ = _best(tried, scores), float(scores.max())
        self.bound_ = self.bound_.with_kernel(form.at(self.bandwidth_))

    def _scores(self, form: Weights, widths: Array, doublings: int) -> Array:
        """The scores of leave-one-out; so many squarings of a weight give that of the next smaller width, 0: none."""
        self._refuse_single()
        rungs = 1 + MOST_DOUBLINGS // doublings if doublings else 1
        scores = np.empty(widths.size)
        for end in range(widths.size, 0, -rungs):
            self.bound_ = self.bound_.with_kernel(form.at(float(widths[end - 1])))
            cross = self.bound_.self_cross()
            sums = cross.powers_without_diagonal(self._table, min(rungs, end), doublings)
            errors = self._errors(self._left_out(sums)) @ self._weight / self._weight.sum()  # the widest first
            scores[end - errors.size : end] = -errors[::-1]
        return scores

    def _predictions(self, points: Points) -> Array:  # (m, p)
        found, total = self._ratio(self.bound_.cross(points) @ self._table)
        return self._mended(points, found, total >= LEAST_SUM)

    def _mended(self, points: Points, found: Array, supported: npt.NDArray[np.bool_]) -> Array:
        """Predictions, with the nearest training point's where no weight is left."""
        lost = np.flatnonzero(~supported)
        if lost.size:
            found[lost] = self._fallback[self._nearest(points.take(lost), 1)[:, 0]]
        return found

    def _without_self(self) -> Array:  # (m, p)
        """The prediction for each training point by all others."""
        self._refuse_single()
        return self._left_out(self.bound_.self_cross().without_diagonal(self._table))

    def _refuse_single(self) -> None:
        if (weighted := np.count_nonzero(self._weight)) < 2:
            raise InvalidInput(
                "Leave-one-out needs two rows with a weight above 0.",
                f"Got n_samples = {len(self._weight)}, of which {weighted} have weight.",
                "Give the bandwidth as a number.",
            )

    def _left_out(self, sums: Array) -> Array:  # (…, n, c) -> (…, n, p)
        """Predictions from sums over all others; the nearest other point's where no weight is left."""
        found, total = self._ratio(sums)
        lost = np.nonzero(total < LEAST_SUM)
        if lost[-1].size:
            found[lost] = self._fallback[self._nearest_others(lost[-1])]
        return found

    def _nearest_others(self, rows: npt.NDArray[np.intp]) -> Indices:
        """The nearest other training point that has weight, of some; the same for every bandwidth."""
        unknown = np.unique(rows[self._neighbour[rows] < 0])
        if unknown.size:
            two = self._nearest(self.bound_.basis.take(unknown), 2)
            self._neighbour[unknown] = np.where(two[:, 0] == unknown, two[:, 1], two[:, 0])
        return self._neighbour[rows]

    def _nearest(self, points: Points, k: int) -> Indices:  # (m, k)
        """The nearest training points that have weight, best first, ties by index."""
        rows = np.flatnonzero(self._weight)
        k = min(k, rows.size)
        if self._distance is None:  # precomputed: all that is left of d² where k(x, ·) = 0 is k(z, z)
            order = rows[np.argsort(self.bound_.pairs()[rows], kind="stable")]
            return np.tile(order[:k], (len(points), 1))
        is_whole = rows.size == len(self._weight)
        known = self.bound_ if is_whole else self.bound_.take(rows)
        return np.asarray(rows[known.with_kernel(self._distance).cross(points).best(k, largest=False)[1]])


def _form(kernel: Any, spec: KernelSpec, points: Points) -> Weights:
    """The weights that `kernel` describes, resolved on the points and known to be ≥ 0."""
    if isinstance(kernel, str) and kernel in WINDOWS:
        kernel = Window(kernel)
    if isinstance(kernel, Window):
        return WindowWeights(kernel.resolve(points))
    if isinstance(kernel, str) and kernel not in NAMES:
        raise InvalidParameter(
            f"{kernel!r} is not the name of a kernel or a window.",
            f"Windows are {', '.join(map(repr, WINDOWS))}.",
            f"Kernels are {', '.join(map(repr, NAMES))}.",
        )
    formula = named(kernel, UNIT_GAMMA.get(kernel, 1.0)) if isinstance(kernel, str) else spec.build()
    resolved = formula.resolve(points)
    if not spec.is_precomputed:  # whose values are all there to be looked at
        _refuse_negative(resolved)
    return FormulaWeights(resolved)


def _refuse_negative(kernel: Kernel) -> None:
    doubt = kernel.doubt
    if doubt is None:
        return
    part, reason = doubt
    attempt = (
        f"Try {written(part, ATOM)} ** 2, {written(part, ATOM)}.exp() or RBF()"
        if isinstance(part, Kernel)
        else "Try a GaussianEnvelope, or no such factor"
    )
    raise NotPositive(
        f"{kernel!r} cannot weigh a mean: its values are not derived to be ≥ 0.",
        f"{part!r}, by {reason}." if isinstance(part, Kernel) else f"{part!r}: {reason}.",
        f'{attempt}; or compute the values and pass kernel="precomputed", which looks at each.\n'
        "  That it cannot be derived is not a disproof.",
    )


def _positive(bandwidth: Any) -> float:
    if not is_number(bandwidth) or not 0.0 < float(bandwidth) < np.inf:
        raise InvalidParameter('bandwidth must be a number > 0, or "loo".', f"Got {shown(bandwidth)}.")
    return float(bandwidth)


def _grid(bandwidths: Any) -> Array:
    wrong = "bandwidths must be numbers > 0, at least one."
    try:
        found = np.atleast_1d(np.asarray(bandwidths, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidParameter(wrong, f"Got {shown(bandwidths)}.") from error
    if found.ndim != 1 or found.size == 0 or not (np.isfinite(found) & (found > 0.0)).all():
        raise InvalidParameter(wrong, f"Got {shown(bandwidths)}.")
    return found


def _best(bandwidths: Array, scores: Array) -> float:
    """The width with the largest score; of equally good ones the widest, whatever their order."""
    return float(bandwidths[scores == scores.max()].max())


def _next(bandwidths: Array, scores: Array) -> float | None:
    """The width to try next: the top of the parabola, in log h, through the best width and its neighbours.

    At an end of the known widths it is the geometric mean with the only neighbour; None where there is none.
    """
    order = np.argsort(bandwidths)
    x, s = np.log(bandwidths[order]), scores[order]
    best = int(np.flatnonzero(s == s.max())[-1])
    if x.size < 2:
        return None
    if best in (0, x.size - 1):
        return float(np.exp(x[[best, 1 if best == 0 else -2]].mean()))
    left, right = x[best] - x[best - 1], x[best + 1] - x[best]
    down, up = (s[best] - s[best - 1]) * right, (s[best] - s[best + 1]) * left  # both at least 0
    shift = 0.5 * (right * down - left * up) / (down + up) if 0.0 < down + up < np.inf else 0.0
    if abs(shift) < APART * min(left, right):  # as good as known: look at the wider side
        shift = 0.5 * (right if right >= left else -left)
    return float(np.exp(x[best] + np.clip(shift, -(1.0 - APART) * left, (1.0 - APART) * right)))
