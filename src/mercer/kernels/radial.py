"""Radial kernels by name: the rows of the table of profiles."""

import math
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from mercer.domains import HalfInteger, Positive, PositiveNumbers, PositiveOrRule
from mercer.kernels import profiles
from mercer.kernels.algebra import Congruence, Exp, Scaled
from mercer.kernels.distances import L1, SquaredEuclidean
from mercer.kernels.kernel import BUILD, Distance, Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.profiles import Profile
from mercer.kernels.pullback import Pullback
from mercer.kernels.rows import GaussianEnvelope
from mercer.kernels.schoenberg import LengthScale, Of, Radial
from mercer.kernels.tape import Register, Tape
from mercer.maps import Torus
from mercer.maps.percolumn import PerColumn
from mercer.mathml import called, fenced, fraction, line, over, root, row
from mercer.notation import ATOM, PRODUCT, Notation
from mercer.points.adapt import require
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["RBF", "Cauchy", "Laplacian", "Matern", "Periodic", "RationalQuadratic"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class RBF(Radial):
    """The Gaussian kernel.

    k(x, z) = exp(−‖x − z‖²/(2ℓ²)). Positive because it is f(x)·exp(⟨x, z⟩/ℓ²)·f(z) with f(x) = exp(−‖x‖²/(2ℓ²))
    (rules 1, 2, 7, 6).

    Parameters
    ----------
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ. γ of scikit-learn is 1/(2ℓ²). An array gives each column its own. "median" is the median of the
        distances √ψ that are not zero between at most 1000 points; "scale" is γ = 1/(d·var(X)), "auto" γ = 1/d.

    Examples
    --------
    >>> RBF(2.0).formula()
    'exp(−‖x − z‖²/(2·2²))'
    >>> RBF(0.5).expand()
    (4.0 * Linear()).exp().scaled_by(GaussianEnvelope(0.5))
    """

    profile: ClassVar[Profile] = profiles.TABLE["gaussian"]
    length_scale: LengthScale = param(1.0, PositiveOrRule)

    def derivation(self) -> Kernel:
        """Rules 1, 2, 7, 6; Schoenberg's theorem while the length scale is not known."""
        if not isinstance(self.length_scale, float):
            return Of(self, SquaredEuclidean())
        return Congruence(Exp(Scaled(self.length_scale**-2, Linear())), GaussianEnvelope(self.length_scale))

    def fractional(self, exponent: float) -> Kernel:
        """exp(−ψ/(2ℓ²))ᵃ = exp(−ψ/(2(ℓ/√a)²))."""
        return _stretched(self, exponent, exponent**-0.5)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Laplacian(Radial):
    """The Laplacian kernel, of the city-block distance, as in scikit-learn.

    k(x, z) = exp(−‖x − z‖₁/ℓ). Positive because exp(−t/ℓ) is completely monotone and ‖·‖₁ conditionally negative
    definite (rule schoenberg). The one of the Euclidean distance is ``Matern(0.5)``.

    Parameters
    ----------
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ. γ of scikit-learn is 1/ℓ. "median" is the median of the distances ‖x − z‖₁.

    Examples
    --------
    >>> Laplacian(0.5).expand()
    Laplacian(0.5).of(L1())
    """

    profile: ClassVar[Profile] = profiles.TABLE["exponential"]
    metric: ClassVar[Distance] = L1()
    length_scale: LengthScale = param(1.0, PositiveOrRule)

    def derivation(self) -> Kernel:
        """Schoenberg's theorem for ‖·‖₁."""
        return Of(self, L1())

    def fractional(self, exponent: float) -> Kernel:
        """exp(−ψ/ℓ)ᵃ = exp(−ψ/(ℓ/a))."""
        return _stretched(self, exponent, 1.0 / exponent)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Matern(Radial):
    """The Matérn kernel of half-integer order.

    k(x, z) = Σ aⱼ sʲ·exp(−s), s = √(2ν)·‖x − z‖/ℓ, a polynomial of degree p = ν − ½ with a₀ = 1. Positive because, as a
    function of ψ = ‖x − z‖², it is a mixture of exp(−c·ψ), hence completely monotone (rule schoenberg).

    Parameters
    ----------
    nu : float
        The order ν = 0.5, 1.5, 2.5, …; functions in its space have ν − ½ derivatives.
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ.

    Examples
    --------
    >>> Matern(1.5).formula()
    '(1 + √(3·‖x − z‖²))·exp(−√(3·‖x − z‖²))'
    """

    profile: ClassVar[Profile] = profiles.TABLE["matern"]
    nu: float = param(REQUIRED, HalfInteger)
    length_scale: LengthScale = param(1.0, PositiveOrRule)

    def writing(self) -> Notation:
        """The explicit polynomial for the usual orders, M_ν for the others."""
        if not self.is_isotropic:
            return Notation(text="{scaled}", latex="{scaled}", level=PRODUCT)
        if self.nu > 2.5:
            return Notation(text=self.profile.text, latex=self.profile.latex, mathml=self.profile.mathml)
        root, root_latex = (
            f"√({2 * self.nu:g}·{{psi:3}}){{length_scale:?/@}}",
            rf"\sqrt{{{{{2 * self.nu:g} \, {{psi:3}}}}}}{{length_scale:? / @}}",
        )
        if self.nu == 0.5:
            root, root_latex = "√({psi}){length_scale:?/@}", r"\sqrt{{{psi}}}{length_scale:? / @}"
        decay, decay_latex = f"exp(−{root})", rf"\exp\left(-{root_latex}\right)"
        square, square_latex = (
            " + 5·{psi:3}/(3·{length_scale}²)",
            r" + \frac{{5 \, {psi:3}}}{{3{length_scale:? \cdot @^2}}}",
        )
        degree = round(self.nu - 0.5)
        polynomial = ("", f"(1 + {root})·", f"(1 + {root}{square})·")[degree]
        polynomial_latex = ("", rf"\left(1 + {root_latex}\right) ", rf"\left(1 + {root_latex}{square_latex}\right) ")[
            degree
        ]
        return Notation(
            text=polynomial + decay,
            latex=polynomial_latex + decay_latex,
            level=PRODUCT if degree else ATOM,
            mathml=_matern(2 * self.nu, degree),
        )

    def derivation(self) -> Kernel:
        """Schoenberg's theorem for ‖·‖²."""
        return Of(self, SquaredEuclidean())


@final
@dataclass(frozen=True, repr=False, eq=False)
class RationalQuadratic(Radial):
    """The rational quadratic kernel.

    k(x, z) = (1 + ‖x − z‖²/(2αℓ²))^(−α). Positive because it is a mixture of Gaussian kernels of all lengths
    (rule schoenberg).

    Parameters
    ----------
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ.
    alpha : float, default 1.0
        The weight α > 0 of long lengths against short; α → ∞ is the Gaussian kernel.

    Examples
    --------
    >>> RationalQuadratic(2.0, 3.0).formula()
    '(1 + ‖x − z‖²/(2·3·2²))^(−3)'
    """

    profile: ClassVar[Profile] = profiles.TABLE["rational_quadratic"]
    length_scale: LengthScale = param(1.0, PositiveOrRule)
    alpha: float = param(1.0, Positive)

    def derivation(self) -> Kernel:
        """Schoenberg's theorem for ‖·‖²."""
        return Of(self, SquaredEuclidean())

    def fractional(self, exponent: float) -> Kernel:
        """The same base with α·a for α, and the length ℓ/√a that keeps 2αℓ²."""
        return _stretched(self, exponent, exponent**-0.5).replace(alpha=self.alpha * exponent)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Cauchy(Radial):
    """The Cauchy kernel.

    k(x, z) = 1/(1 + ‖x − z‖²/ℓ²). Positive because 1/(1 + t) is completely monotone (rule schoenberg).

    Parameters
    ----------
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ.

    Examples
    --------
    >>> Cauchy(2.0).formula()
    '1/(1 + ‖x − z‖²/2²)'
    """

    profile: ClassVar[Profile] = profiles.TABLE["cauchy"]
    length_scale: LengthScale = param(1.0, PositiveOrRule)

    def derivation(self) -> Kernel:
        """Schoenberg's theorem for ‖·‖²."""
        return Of(self, SquaredEuclidean())

    def fractional(self, exponent: float) -> Kernel:
        """A rational quadratic kernel with α = a and 2αℓ'² = ℓ²."""
        return _stretched(RationalQuadratic(self.length_scale, exponent), exponent, (2.0 * exponent) ** -0.5)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Periodic(Kernel):
    """A kernel of periodic functions, in any dimension.

    k(x, z) = exp(−2·Σ sin²(π(xᵢ − zᵢ)/p)/ℓ²). Positive because it is the Gaussian kernel on the torus (rule pullback);
    the common formula with sin²(π‖x − z‖/p) is positive in one dimension only.

    Parameters
    ----------
    length_scale : float, array of shape (d,), "median", "scale" or "auto", default 1.0
        The length ℓ on the circle of radius 1.
    period : float or array of shape (d,), default 1.0
        The period p.

    Examples
    --------
    >>> Periodic(2.0, 24.0).expand()
    RBF(2.0).on(Torus(24.0))
    """

    notation: ClassVar[Notation] = Notation(
        text="exp(−2·Σ sin²(π({x} − {z:2})/{period})/{length_scale}²)",
        latex=r"\exp\left(-2 \sum_i \sin^2(\pi({x} - {z:2})_i{period:? / @}){length_scale:? / @^2}\right)",
        mathml=called(
            "exp", row(line("−2·"), over("i"), line("sin² (π({x} − {z:2})_i{period:?/@}){length_scale:?/@²}"))
        ),
    )
    length_scale: LengthScale = param(1.0, PositiveOrRule)
    period: float | npt.NDArray[np.float64] = param(1.0, PositiveNumbers)

    @property
    def max_abs(self) -> float:
        """1, as for the Gaussian kernel."""
        return 1.0

    def waits(self) -> bool:
        """Whether the length scale is a rule."""
        return isinstance(self.length_scale, str)

    def resolved_here(self, points: Points) -> Self:
        """The length scale found on the torus."""
        torus = Torus(self.period)
        seen = torus(require(points, torus.needs, repr(self)))
        return self.replace(length_scale=RBF(self.length_scale).resolved_by(RBF.metric, seen, self).length_scale)

    def expand(self) -> Kernel:
        """The Gaussian kernel on the torus; each column becomes a cosine and a sine."""
        length = self.length_scale
        return Pullback(RBF(np.repeat(length, 2) if isinstance(length, np.ndarray) else length), Torus(self.period))

    def lower(self, tape: Tape) -> Register:
        """The Gaussian kernel on the torus."""
        for name, value in self.fields().items():
            if isinstance(value, np.ndarray):
                tape = tape.through(PerColumn("Periodic", name, value))
        return tape.fold(self.expand())

    def fractional(self, exponent: float) -> Kernel:
        """The power of the Gaussian kernel on the torus."""
        return self.replace(length_scale=_divided(self, self.length_scale, exponent, exponent**-0.5))


def _matern(factor: float, degree: int) -> str:
    """The MathML of the orders ½, 3/2 and 5/2: a polynomial of degree 0, 1 or 2."""
    rooted = row(root(f"{factor:g}·{{psi:3}}" if degree else "{psi}"), line("{length_scale:?/@}"))
    square = row(line("+"), fraction("5·{psi:3}", "3{length_scale:?·@²}")) if degree == 2 else ""
    polynomial = fenced("(", row(line("1 +"), rooted, square), ")") if degree else ""
    return row(polynomial, called("exp", row(line("−"), rooted)))


def _divided(kernel: Kernel, length: LengthScale, exponent: float, factor: float) -> LengthScale:
    if isinstance(length, str) or not math.isfinite(factor):
        raise BUILD["no_power"](kernel, exponent)
    stretched: LengthScale = length * factor
    return stretched


def _stretched(kernel: Radial, exponent: float, factor: float) -> Radial:
    return kernel.replace(length_scale=_divided(kernel, kernel.length_scale, exponent, factor))
