"""Kernels of images that have a name of their own; others are kernels of patches, by the map `Patches`."""

from dataclasses import dataclass
from typing import ClassVar, final

from mercer.domains import Integer
from mercer.kernels.histogram import HistogramIntersection
from mercer.kernels.kernel import Kernel
from mercer.kernels.pullback import Pullback
from mercer.maps.images import Gradients
from mercer.mathml import over, row
from mercer.notation import SUM, Notation
from mercer.term import param

__all__ = ["SpatialPyramid"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class SpatialPyramid(Kernel):
    """The gradients that two images have in common, cell by cell of a pyramid.

    k(x, z) = Σ wₗ·min(hᵦ(x), hᵦ(z)) over the cells β of level l, where h counts the directions of the gradients.
    Positive because it is the intersection of histograms, which are ≥ 0 (rule minimum, rule pullback).

    k(x, x) = 1, but for an image without gradients.

    Parameters
    ----------
    levels : int, default 3
        How many levels there are: level l has 2ˡ × 2ˡ cells.
    directions : int, default 8
        Into how many bins the circle is divided.

    References
    ----------
    S. Lazebnik, C. Schmid and J. Ponce, Beyond bags of features: spatial pyramid matching, CVPR (2006).

    Examples
    --------
    >>> import numpy as np
    >>> ramp = np.arange(16.0).reshape(4, 4)
    >>> SpatialPyramid(2)([ramp, ramp.T]).round(4)
    array([[1.    , 0.3119],
           [0.3119, 1.    ]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ w·min(h({x}), h({z}))", latex=r"\sum_{{\beta}} w_l \min(h_\beta({x}), h_\beta({z}))", level=SUM,
        mathml=row(over("β"), "w_l min(h_β({x}), h_β({z}))"),
    )  # fmt: skip
    levels: int = param(3, Integer(1))
    directions: int = param(8, Integer(2))

    @property
    def max_abs(self) -> float:
        """1, for the histograms of an image add up to 1."""
        return 1.0

    def expand(self) -> Kernel:
        """The intersection of the histograms."""
        return Pullback(HistogramIntersection(), Gradients(self.levels, self.directions))
