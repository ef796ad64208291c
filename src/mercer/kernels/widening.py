"""What a bandwidth does to a formula, and what it is compared with: wider length scales, and the distance beneath."""

import numpy as np

from mercer.kernels import lengths
from mercer.kernels.algebra import Congruence, Constant, Product, Scaled, Sum
from mercer.kernels.distances import DistanceSum, Polarised
from mercer.kernels.histogram import ExponentialChiSquared
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.normalised import Normalised
from mercer.kernels.powers import FractionalPower, Power
from mercer.kernels.pullback import Pullback
from mercer.kernels.radial import Periodic
from mercer.kernels.schoenberg import Of, Radial
from mercer.maps import Scale
from mercer.points.base import Points

__all__ = ["distance_of", "has_lengths", "median_ratios", "widened"]


def widened(kernel: Kernel, h: float) -> Kernel:
    """The kernel with the length scale of every radial part multiplied by h, except those inside distances.

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


def has_lengths(kernel: Kernel) -> bool:
    """Whether any part of the kernel is widened."""
    if isinstance(kernel, Radial | Periodic | ExponentialChiSquared):
        return True
    return any(has_lengths(part) for part in kernel.parts() if isinstance(part, Kernel))


def median_ratios(kernel: Kernel, points: Points) -> list[float]:
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
    return [ratio for part in kernel.parts() if isinstance(part, Kernel) for ratio in median_ratios(part, inside)]


def _rate(kernel: Radial) -> float:
    assert isinstance(kernel.length_scale, float)
    return kernel.length_scale**-kernel.profile.length_power
