"""Functions of the inner product: polynomials, cosines, arc-cosines."""

from dataclasses import dataclass
from typing import ClassVar, Self, final

from mercer.domains import GammaOrRule, Integer, NonNegative
from mercer.errors import InvalidParameter
from mercer.kernels import lengths
from mercer.kernels.algebra import Congruence
from mercer.kernels.kernel import Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.normalised import Normalised
from mercer.kernels.powers import Power
from mercer.kernels.rows import NormPower
from mercer.kernels.series import PowerSeries
from mercer.kernels.tape import Register, Tape
from mercer.maps import UnitRows
from mercer.mathml import fenced, fraction, line, power, row
from mercer.notation import POWER, PRODUCT, Notation
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["GAMMA_RULES", "ArcCosine", "Cosine", "Polynomial"]

# The rules for γ, as in scikit-learn.
GAMMA_RULES = {"scale": lengths.gamma_scale, "auto": lengths.gamma_auto}


@final
@dataclass(frozen=True, repr=False, eq=False)
class Polynomial(Kernel):
    """The polynomial kernel.

    k(x, z) = (γ⟨x, z⟩ + c)^d. Positive because γ ≥ 0, c ≥ 0 and the power has coefficients ≥ 0 (rules 1, 2, 3, 4).

    Parameters
    ----------
    degree : int
        The degree d ≥ 0.
    offset : float, default 1.0
        The constant c ≥ 0, coef0 of scikit-learn.
    gamma : float, "scale" or "auto", default 1.0
        The factor γ > 0; "scale" is 1/(d·var(X)), "auto" is 1/d.

    Examples
    --------
    >>> Polynomial(3).expand()
    (Linear() + 1.0) ** 3
    """

    notation: ClassVar[Notation] = Notation(
        text="({gamma}·⟨{x}, {z}⟩ + {offset})^{degree}",
        latex=r"\left({gamma} \, \langle {x}, {z} \rangle + {offset}\right)^{{{degree}}}", level=POWER,
        mathml=power(fenced("(", "{gamma:?@·}⟨{x}, {z}⟩ + {offset}", ")"), "{degree}"),
    )  # fmt: skip
    degree: int = param(REQUIRED, Integer(0))
    offset: float = param(1.0, NonNegative)
    gamma: float | str = param(1.0, GammaOrRule)

    def waits(self) -> bool:
        """Whether γ is a rule."""
        return isinstance(self.gamma, str)

    def resolved_here(self, points: Points) -> Self:
        """γ found on the points."""
        return self.replace(gamma=GAMMA_RULES[self.gamma](points, self)) if isinstance(self.gamma, str) else self

    def expand(self) -> Kernel:
        """The power of a sum; factors of 1 and terms of 0 are left out."""
        if isinstance(self.gamma, str):
            raise InvalidParameter(
                f"{self!r} is not resolved yet.", f"Its gamma is the rule {self.gamma!r}.",
                "Call kernel.resolve(X) first.",
            )  # fmt: skip
        scaled = Linear() if self.gamma == 1.0 else self.gamma * Linear()
        return Power(scaled + self.offset, self.degree)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Cosine(Kernel):
    """The cosine of the angle between two vectors.

    k(x, z) = ⟨x, z⟩/(‖x‖·‖z‖), and 0 where x = 0. Positive because it is the normalised inner product (rules 1, 6).

    Examples
    --------
    >>> Cosine().expand()
    Linear().normalised()
    """

    notation: ClassVar[Notation] = Notation(text="cos({x}, {z})", latex=r"\cos({x}, {z})")

    @property
    def max_abs(self) -> float:
        """1."""
        return 1.0

    def expand(self) -> Kernel:
        """The normalised inner product."""
        return Normalised(Linear())


@final
@dataclass(frozen=True, repr=False, eq=False)
class ArcCosine(Kernel):
    """The arc-cosine kernel: one layer of a network with infinitely many units.

    k(x, z) = ‖x‖ⁿ·‖z‖ⁿ·Jₙ(θ)/π, with θ the angle, J₀ = π − θ, J₁ = sin θ + (π − θ)·cos θ,
    J₂ = 3·sin θ·cos θ + (π − θ)·(1 + 2·cos² θ), and 0 where x = 0. Positive because Jₙ is a power series of cos θ with
    coefficients ≥ 0, scaled by f(x) = ‖x‖ⁿ (rules power-series, 6).

    Parameters
    ----------
    order : {0, 1, 2}, default 1
        The order n: steps, ramps, or squared ramps.

    References
    ----------
    Y. Cho, L. K. Saul, Kernel methods for deep learning, NIPS 2009.

    Examples
    --------
    >>> ArcCosine(0).expand()
    PowerSeries(Cosine(), 'arccosine0').scaled_by(NormPower(0))
    """

    notation: ClassVar[Notation] = Notation(
        text="‖{x}‖^{order}·‖{z}‖^{order}·J_{order}(θ({x}, {z}))/π",
        latex=r"\tfrac1\pi \lVert {x} \rVert^{{{order}}} \lVert {z} \rVert^{{{order}}} J_{{{order}}}(\theta)",
        level=PRODUCT, mathml=row(fraction("1", "π"), line("‖{x}‖^{order}‖{z}‖^{order}J_{order}(θ)")),
    )  # fmt: skip
    order: int = param(1, Integer(0, 2))

    def expand(self) -> Kernel:
        """Rule 6 of a power series of the cosine."""
        return Congruence(PowerSeries(Cosine(), f"arccosine{self.order}"), NormPower(self.order))

    def lower(self, tape: Tape) -> Register:
        """Through the chord of unit vectors, which keeps the digits of small angles that the cosine loses."""
        series = tape.arccosine(tape.through(UnitRows()).sqdist(), self.order)
        return tape.mul_rows(series, tape.row_values(NormPower(self.order)))
