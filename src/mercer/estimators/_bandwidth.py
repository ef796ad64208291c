"""What a bandwidth means for a formula: how it widens, when two points are near, and which widths are worth a try."""

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter, MercerError
from mercer.estimators.windows import Window
from mercer.kernels import lengths
from mercer.kernels.algebra import Congruence, Constant, Product, Scaled, Sum
from mercer.kernels.bound import Resolvable
from mercer.kernels.distances import DistanceSum, Polarised
from mercer.kernels.histogram import ExponentialChiSquared
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.normalised import Normalised
from mercer.kernels.powers import FractionalPower, Power
from mercer.kernels.pullback import Pullback
from mercer.kernels.radial import Periodic
from mercer.kernels.schoenberg import Of, Radial
from mercer.kernels.tape import Lowerable, Register, Tape
from mercer.maps import Scale
from mercer.points.base import Points

__all__ = ["STEP", "FormulaWeights", "Squared", "Weights", "WindowWeights", "distance_of", "widened"]

Array = npt.NDArray[np.float64]

# From three thousandths of the median distance to twelve times it, four times as wide each time: the error of
# leave-one-out is smooth in the logarithm of the width, and what lies between is tried around the best.
STEP = 4.0
GRID: Array = 3e-3 * STEP ** np.arange(7.0)
# Powers of two that one step of the grid may be, of weights that are exponentials of a distance or of its square.
DOUBLINGS = (4, 2)
# The grid needs only a rough median.
SAMPLE_ROWS = 100


class Weights(Protocol):
    """Smoothing weights with a bandwidth."""

    def at(self, h: float) -> Resolvable:
        """The weights with the bandwidth h."""

    def doublings(self) -> int:
        """How many times the weights must be squared to be those of a bandwidth one `STEP` smaller; 0: no power is."""

    def distance(self) -> Distance:
        """By which the nearest point is found where no weight is left."""

    def grid(self, points: Points) -> Array:
        """Bandwidths to try on these points, increasing."""


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
            ratios = _ratios(self.kernel, _sample(points))
        except InvalidInput:  # no two points differ, so every bandwidth is as good as any other
            return np.ones(1)
        return np.asarray(GRID * np.exp(np.mean(np.log(ratios))))

    def _refuse_without_lengths(self, asked: str) -> None:
        if not _radial_parts(self.kernel):
            raise InvalidParameter(
                f"{asked} has no meaning for {self.kernel!r}.",
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
        """No power of a window is a window."""
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
@dataclass(frozen=True)
class Squared:
    """The squares of weights, for the variance of a weighted mean."""

    weights: Resolvable

    def lower(self, tape: Tape) -> Register:
        """The square."""
        return tape.powi(tape.fold(self.weights), 2)

    def resolve(self, points: Any) -> Lowerable:  # noqa: ARG002 (of resolved weights)
        """As it is."""
        return self

    def proof(self) -> Any:
        """That of the weights."""
        return self.weights.proof()


def widened(kernel: Kernel, h: float) -> Kernel:
    """The kernel with the length scale of every radial part multiplied by h; those inside distances stay.

    For radial kernels of vectors, their sums, products and powers this is k(x/h, z/h).
    """
    if isinstance(kernel, Radial | Periodic):
        assert not isinstance(kernel.length_scale, str)  # resolved
        return kernel.replace(length_scale=h * kernel.length_scale)
    if isinstance(kernel, ExponentialChiSquared):
        return kernel.replace(gamma=kernel.gamma / h)
    parts = {name: part for name, part in kernel.full_params(deep=False).items() if isinstance(part, Kernel)}
    return kernel.replace(**{name: widened(part, h) for name, part in parts.items()}) if parts else kernel


def distance_of(kernel: Kernel) -> Distance:
    """The distance by which a kernel orders its neighbours.

    That of the profile where there is one; the sum over the parts of a sum or a product; else the distance
    k(x, x) − 2k(x, z) + k(z, z) in feature space.
    """
    match kernel:
        case Of():
            return kernel.distance * _rate(kernel.kernel)
        case Radial():
            if kernel.is_isotropic:
                return kernel.metric * _rate(kernel)
            return kernel.metric.on(Scale(1.0 / np.asarray(kernel.length_scale)))
        case Periodic() | FractionalPower() | ExponentialChiSquared():
            return distance_of(kernel.expand())
        case Scaled() | Power() | Congruence() | Normalised():
            return distance_of(kernel.kernel)
        case Pullback():
            return distance_of(kernel.kernel).on(kernel.map)
        case Sum(terms=parts) | Product(factors=parts):
            distances = tuple(distance_of(part) for part in parts if not isinstance(part, Constant))
            if distances:
                return distances[0] if len(distances) == 1 else DistanceSum(distances)
    return Polarised(kernel)


def _rate(kernel: Radial) -> float:
    assert isinstance(kernel.length_scale, float)
    return kernel.length_scale**-kernel.profile.length_power


def _radial_parts(kernel: Kernel) -> list[Kernel]:
    """The parts that a bandwidth widens."""
    if isinstance(kernel, Radial | Periodic | ExponentialChiSquared):
        return [kernel]
    return [found for part in kernel.parts() if isinstance(part, Kernel) for found in _radial_parts(part)]


def _sample(points: Points) -> Points:
    n = len(points)
    if n <= SAMPLE_ROWS:
        return points
    return points.take(np.sort(np.random.default_rng(0).choice(n, SAMPLE_ROWS, replace=False)))


def _ratios(kernel: Kernel, points: Points) -> list[float]:
    """For every radial part, the median of its distances in units of its length scale."""
    if isinstance(kernel, Radial) and not kernel.is_isotropic:
        kernel = kernel.anisotropic()
    if isinstance(kernel, ExponentialChiSquared):
        kernel = kernel.expand()
    if isinstance(kernel, Of | Radial):
        radial, distance = (kernel, kernel.metric) if isinstance(kernel, Radial) else (kernel.kernel, kernel.distance)
        median = lengths.TABLE["median"](points, distance, radial.profile.length_power)
        return [median / float(radial.length_scale)]
    if isinstance(kernel, Periodic):
        found = kernel.replace(length_scale="median").resolve_on(points).length_scale
        return [float(found) / float(np.exp(np.mean(np.log(kernel.length_scale))))]
    inside = kernel.points_inside(points)
    return [ratio for part in kernel.parts() if isinstance(part, Kernel) for ratio in _ratios(part, inside)]
