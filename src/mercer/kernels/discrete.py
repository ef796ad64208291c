"""Kernels of sets, and of values that can only be compared for equality."""

from dataclasses import dataclass
from typing import ClassVar, final

from mercer.kernels.algebra import Congruence, Constant, Exp, Sum
from mercer.kernels.kernel import Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.pullback import Pullback
from mercer.kernels.rows import KERNEL, Diagonal, IsZero
from mercer.kernels.rules import DELTA, Rule
from mercer.kernels.series import PowerSeries, Share
from mercer.kernels.tape import Register, Tape
from mercer.maps import Indicator
from mercer.mathml import fraction
from mercer.notation import PRODUCT, Notation
from mercer.term import param

__all__ = ["Delta", "IntersectionExp", "SetIntersection", "Tanimoto"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Delta(Kernel):
    """Equality of points, compared by their original, unrounded values.

    k(x, z) = 1 where x = z, else 0. Positive because Σ cᵢcⱼ[xᵢ = xⱼ] is a sum of squares, one for each value (rule
    delta).

    Examples
    --------
    >>> Delta().on("colour")
    Delta().on('colour')
    """

    rule: ClassVar[Rule] = DELTA
    notation: ClassVar[Notation] = Notation(text="[{x} = {z}]", latex=r"\left[{x} = {z}\right]")

    @property
    def max_abs(self) -> float:
        """1."""
        return 1.0

    def fractional(self, exponent: float) -> Kernel:
        """Powers of 0 and 1 are unchanged."""
        return self if exponent > 0.0 else Constant(1.0)

    def lower(self, tape: Tape) -> Register:
        """Whether the points are equal."""
        return tape.value("equal")


@final
@dataclass(frozen=True, repr=False, eq=False)
class SetIntersection(Kernel):
    """The number of common items of two sets.

    k(S, T) = |S ∩ T|. Positive because it is the inner product of indicator vectors (rule 1, rule pullback).

    Examples
    --------
    >>> SetIntersection().expand()
    Linear().on(Indicator())
    """

    notation: ClassVar[Notation] = Notation(text="|{x} ∩ {z}|", latex=r"\lvert {x} \cap {z} \rvert")

    def expand(self) -> Kernel:
        """The inner product of indicator vectors."""
        return Pullback(Linear(), Indicator())


@final
@dataclass(frozen=True, repr=False, eq=False)
class IntersectionExp(Kernel):
    """The exponential of the number of common items of two sets.

    k(S, T) = exp|S ∩ T|. Positive because it is the exponential of the inner product of indicator vectors (rules 1, 7,
    rule pullback).

    Examples
    --------
    >>> IntersectionExp().expand()
    Linear().on(Indicator()).exp()
    """

    notation: ClassVar[Notation] = Notation(text="exp|{x} ∩ {z}|", latex=r"\exp \lvert {x} \cap {z} \rvert")

    def expand(self) -> Kernel:
        """Rule 7 of the inner product of indicator vectors."""
        return Exp(Pullback(Linear(), Indicator()))


@final
@dataclass(frozen=True, repr=False, eq=False)
class Tanimoto(Kernel):
    """The Tanimoto (Jaccard) similarity that a kernel makes.

    k(x, z) = k₁(x, z)/(k₁(x, x) + k₁(z, z) − k₁(x, z)), and 1 for two points with k₁(x, x) = 0. Positive because with
    u = k₁(x, z)/(k₁(x, x) + k₁(z, z)) ≤ ½ it is u + u² + u³ + … (rules 5, inverse-sum, power-series), plus rule 6 for
    the points with k₁(x, x) = 0.

    Parameters
    ----------
    kernel : Kernel, default Linear()
        The kernel k₁; ``Tanimoto(SetIntersection())`` is |S ∩ T|/|S ∪ T|, with T(∅, ∅) = 1.

    References
    ----------
    L. Ralaivola et al., Graph kernels for chemical informatics, Neural Networks 18 (2005).

    Examples
    --------
    >>> Tanimoto(SetIntersection())
    Tanimoto(SetIntersection())
    """

    notation: ClassVar[Notation] = Notation(
        text="{kernel:3}/({kernel.x} + {kernel.z:2} − {kernel:2})",
        latex=r"\frac{{{kernel}}}{{{kernel.x} + {kernel.z:2} - {kernel:2}}}", level=PRODUCT,
        mathml=fraction("{kernel}", "{kernel.x} + {kernel.z:2} − {kernel:2}"),
    )  # fmt: skip
    kernel: Kernel = param(Linear(), KERNEL)

    @property
    def max_abs(self) -> float:
        """1: u/(1 − u) for u ≤ ½."""
        return 1.0

    def expand(self) -> Kernel:
        """The geometric series of k₁/(k₁(x, x) + k₁(z, z)), plus 1 for pairs of empty points."""
        series = PowerSeries(Share(self.kernel), "geometric")
        return Sum((series, Congruence(Constant(1.0), IsZero(self.kernel))))

    def lower(self, tape: Tape) -> Register:
        """k₁/(k₁(x, x) + k₁(z, z) − k₁)."""
        return tape.tanimoto(tape.fold(self.kernel), tape.row_values(Diagonal(self.kernel)))
