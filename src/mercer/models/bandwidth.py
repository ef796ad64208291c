"""The bandwidth of a smoother: what it means for the weights, which widths to try, and which of them is best."""

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter, MercerError
from mercer.kernels import lengths
from mercer.kernels.binding import Binding, Resolvable, bind
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.widening import distance_of, has_lengths, median_ratios, widened
from mercer.kernels.windows import Window
from mercer.models.smoothing import Others, Smoothing
from mercer.points.base import Points

__all__ = ["Choice", "FormulaWeights", "Weights", "WindowWeights", "choose", "next_width"]

Array = npt.NDArray[np.float64]

# From three thousandths of the median distance to twelve times it, four times as wide each time: the error of
# leave-one-out is smooth in the logarithm of the width, and what lies between is tried around the best.
STEP = 4.0
GRID: Array = 3e-3 * STEP ** np.arange(7.0)
# Powers of two that one step of the grid may be, of weights that are exponentials of a distance or of its square.
DOUBLINGS = (4, 2)
# The grid only needs a rough median.
SAMPLE_ROWS = 100
# What is tried around the best of the default grid, round by round: the next width, times these powers of what one
# squaring of a weight narrows it by. Where that is little, √2 for a Gaussian, three widths in one walk are worth two.
ROUNDS = ((0.0,),) * 3
SHARED_ROUNDS = ((-1.0, 0.0, 1.0), (0.0,))
# Squarings to one step of the grid from which on they are little.
MANY_DOUBLINGS = 4
# Squarings of a weight, one after the other, that leave its relative error below 1e-12: each doubles it.
MOST_DOUBLINGS = 12
# Up to this many sums, several widths share one walk; beyond, the products take longer than the weights.
FEW_SUMS = 4
# A new width stays this far from every known one, relative to their spacing, so that it is informative.
APART = 0.1


class Weights(Protocol):
    """Smoothing weights with a bandwidth."""

    def at(self, h: float) -> Resolvable:
        """The weights with the bandwidth h."""

    def doublings(self) -> int:
        """How many times the weights must be squared to be those of a bandwidth one `STEP` smaller; 0: no power is."""

    def distance(self) -> Distance:
        """The distance by which the nearest point is found where all weights vanish."""

    def grid(self, points: Points) -> Array:
        """Bandwidths to try on these points, in increasing order."""


@final
@dataclass(frozen=True)
class FormulaWeights:
    """The values of a kernel, resolved; the bandwidth multiplies its length scales."""

    kernel: Kernel

    def at(self, h: float) -> Kernel:
        """The kernel with its length scales multiplied."""
        if h != 1.0:
            self._refuse_without_lengths(f"bandwidth={h!r}")
        return widened(self.kernel, h) if h != 1.0 else self.kernel

    def doublings(self) -> int:
        """By the rules of powers: exp(−ψ/2h²)¹⁶ = exp(−ψ/2(h/4)²)."""
        narrow = widened(self.kernel, 1.0 / STEP)
        try:
            return next((d for d in DOUBLINGS if self.kernel.fractional(2.0**d) == narrow), 0)
        except MercerError:  # there is no rule
            return 0

    def distance(self) -> Distance:
        """The distance that the kernel is a function of, or the one in its feature space."""
        return distance_of(self.kernel)

    def grid(self, points: Points) -> Array:
        """Around the bandwidth at which a length scale is the median distance."""
        self._refuse_without_lengths('bandwidth="loo"')
        try:
            ratios = median_ratios(self.kernel, _sample(points))
        except InvalidInput:  # no two points differ, so every bandwidth is as good as any other
            return np.ones(1)
        return np.asarray(GRID * np.exp(np.mean(np.log(ratios))))

    def _refuse_without_lengths(self, asked: str) -> None:
        if not has_lengths(self.kernel):
            raise InvalidParameter(
                f"{asked} does not apply to {self.kernel!r}.",
                "A bandwidth multiplies the length scales of a formula, and this one has none.",
                "Use bandwidth=1.0, which takes the kernel as it is.",
            )


@final
@dataclass(frozen=True)
class WindowWeights:
    """A window, resolved."""

    window: Window

    def at(self, h: float) -> Window:
        """The window with its bandwidth multiplied."""
        return self.window.at(h)

    def doublings(self) -> int:
        """Powers of windows are not windows."""
        return 0

    def distance(self) -> Distance:
        """The window's own."""
        return self.window.distance

    def grid(self, points: Points) -> Array:
        """Around the median distance."""
        try:
            median = lengths.TABLE["median"](_sample(points), self.window.distance, 2)
        except InvalidInput:
            return np.ones(1)
        return np.asarray(GRID * median / self.window.bandwidth)


@final
@dataclass(frozen=True, eq=False)
class Choice:
    """The width that was chosen among those that were tried.

    Attributes
    ----------
    binding : Binding
        The weights of that width.
    width : float
        Of equally good ones the widest.
    tried, scores : ndarray of shape (n_widths,)
        All widths, and their scores of leave-one-out: the largest is best.
    """

    binding: Binding
    width: float
    tried: Array
    scores: Array


def choose(form: Weights, points: Points, table: Array, smoothing: Smoothing, widths: Array | None) -> Choice:
    """The width with the best score of leave-one-out, of these or of a default grid that is refined around its best."""
    own = form.grid(points)  # also refuses kernels without a bandwidth
    tried = own if widths is None else widths
    ladder = Ladder(form, points, table, smoothing, float(tried[-1]))
    doublings = form.doublings() if widths is None and table.shape[1] <= FEW_SUMS else 0
    scores = ladder.scores(tried, doublings)
    rounds = SHARED_ROUNDS if doublings >= MANY_DOUBLINGS else ROUNDS
    for powers in rounds if widths is None else ():
        if (new := next_width(tried, scores)) is None:
            break
        more = np.array([new * STEP ** (power / max(doublings, 1)) for power in powers])
        tried, scores = np.append(tried, more), np.append(scores, ladder.scores(more, min(doublings, 1)))
    order = np.argsort(tried) if widths is None else np.arange(tried.size)
    best = _best(tried, scores)
    return Choice(ladder.at(best), best, tried[order], scores[order])


@final
class Ladder:
    """The scores of leave-one-out, of widths that share what they read of the points."""

    def __init__(self, form: Weights, points: Points, table: Array, smoothing: Smoothing, width: float) -> None:
        smoothing.refuse_single()
        self._form = form
        self._table = table
        self._smoothing = smoothing
        self._binding = bind(form.at(width), points, dtype=np.float64)
        self._others = Others(smoothing, self._binding)

    def at(self, width: float) -> Binding:
        """The weights of a width."""
        return self._binding.with_kernel(self._form.at(width))

    def scores(self, widths: Array, doublings: int) -> Array:
        """One for each width; so many squarings of a weight give that of the next smaller width, 0: none."""
        weight = self._smoothing.weight
        rungs = 1 + MOST_DOUBLINGS // doublings if doublings else 1
        scores = np.empty(widths.size)
        for end in range(widths.size, 0, -rungs):
            cross = self.at(float(widths[end - 1])).self_cross()
            sums = cross.powers_without_diagonal(self._table, min(rungs, end), doublings)
            left_out = self._smoothing.left_out(sums, self._others)  # the widest first
            errors = self._smoothing.ratio.errors(self._smoothing.values, left_out) @ weight / weight.sum()
            scores[end - errors.size : end] = -errors[::-1]
        return scores


def _sample(points: Points) -> Points:
    n = len(points)
    if n <= SAMPLE_ROWS:
        return points
    return points.take(np.sort(np.random.default_rng(0).choice(n, SAMPLE_ROWS, replace=False)))


def _best(bandwidths: Array, scores: Array) -> float:
    """The width with the largest score; among ties, the widest."""
    return float(bandwidths[scores == scores.max()].max())


def next_width(bandwidths: Array, scores: Array) -> float | None:
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
    if abs(shift) < APART * min(left, right):  # too close to a known width: try the wider side
        shift = 0.5 * (right if right >= left else -left)
    return float(np.exp(x[best] + np.clip(shift, -(1.0 - APART) * left, (1.0 - APART) * right)))
