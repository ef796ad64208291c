"""Kernels of histograms: vectors without negative entries, checked when points are bound."""

from dataclasses import dataclass
from typing import ClassVar, final

from mercer.domains import Positive
from mercer.kernels.discrete import Tanimoto
from mercer.kernels.distances import Polarised
from mercer.kernels.kernel import Kernel
from mercer.kernels.radial import Laplacian
from mercer.kernels.rules import CHI_SQUARED, MINIMUM, Rule
from mercer.kernels.schoenberg import Of
from mercer.kernels.tape import Register, Tape
from mercer.mathml import called, fenced, fraction, line, over, row, subscript
from mercer.notation import PRODUCT, SUM, Notation
from mercer.term import param

__all__ = ["ChiSquared", "ExponentialChiSquared", "HistogramIntersection", "MinMax"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class HistogramIntersection(Kernel):
    """The common part of two histograms.

    k(x, z) = Σ min(xᵢ, zᵢ) for x, z ≥ 0. Positive because min(x, z) = ∫ 1[t ≤ x]·1[t ≤ z] dt (rule minimum).

    Examples
    --------
    >>> HistogramIntersection().formula()
    'Σ min(x, z)'
    """

    rule: ClassVar[Rule] = MINIMUM
    notation: ClassVar[Notation] = Notation(
        text="Σ min({x}, {z})", latex=r"\sum_i \min({x}, {z})_i", level=SUM,
        mathml=row(over("i"), line("min({x}, {z})_i")),
        condition="x ≥ 0, checked when points are bound", condition_latex=r"x \ge 0",
    )  # fmt: skip

    def lower(self, tape: Tape) -> Register:
        """Σ min(x, z)."""
        return tape.value("min")


@final
@dataclass(frozen=True, repr=False, eq=False)
class MinMax(Kernel):
    """The common part of two histograms as a share of what they cover together (Ruzicka).

    k(x, z) = Σ min(xᵢ, zᵢ)/Σ max(xᵢ, zᵢ) for x, z ≥ 0, and 1 for two histograms that are 0. Positive because with
    k₁ = Σ min it is the Tanimoto similarity k₁/(k₁(x, x) + k₁(z, z) − k₁): Σ max(x, z) = Σ x + Σ z − Σ min(x, z) (rule
    minimum, and those of `Tanimoto`). Of counted sets, lists of `collections.Counter`, it is
    ``Tanimoto(SetIntersection())``.

    References
    ----------
    S. Ioffe, Improved consistent sampling, weighted minhash and L1 sketching, ICDM (2010).

    Examples
    --------
    >>> MinMax()([[1.0, 2.0]], [[1.0, 2.0], [3.0, 0.0]])
    array([[1. , 0.2]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ min({x}, {z})/Σ max({x}, {z})",
        latex=r"\frac{{\sum_i \min({x}, {z})_i}}{{\sum_i \max({x}, {z})_i}}", level=PRODUCT,
        mathml=fraction(row(over("i"), line("min({x}, {z})_i")), row(over("i"), line("max({x}, {z})_i"))),
    )  # fmt: skip

    @property
    def max_abs(self) -> float:
        """1."""
        return 1.0

    def expand(self) -> Kernel:
        """The Tanimoto similarity of the common part."""
        return Tanimoto(HistogramIntersection())


@final
@dataclass(frozen=True, repr=False, eq=False)
class ChiSquared(Kernel):
    """The additive χ² kernel.

    k(x, z) = Σ 2xᵢzᵢ/(xᵢ + zᵢ), 0/0 = 0, for x, z ≥ 0. Positive because 1/(x + z) = ∫ e^(−tx)·e^(−tz) dt (rule
    chi-squared). scikit-learn's additive_chi2_kernel, −Σ (xᵢ − zᵢ)²/(xᵢ + zᵢ), is another function, and not a kernel.

    Examples
    --------
    >>> ChiSquared().formula()
    'Σ 2·x·z/(x + z)'
    """

    rule: ClassVar[Rule] = CHI_SQUARED
    notation: ClassVar[Notation] = Notation(
        text="Σ 2·{x:3}·{z:3}/({x} + {z:2})",
        latex=r"\sum_i \left(\frac{{2 \, {x:3} \, {z:3}}}{{{x} + {z:2}}}\right)_i",
        mathml=row(over("i"), subscript(fenced("(", fraction("2·{x:3}·{z:3}", "{x} + {z:2}"), ")"), "i")),
        level=SUM, condition="x ≥ 0, checked when points are bound", condition_latex=r"x \ge 0",
    )  # fmt: skip

    def lower(self, tape: Tape) -> Register:
        """Σ 2xz/(x + z)."""
        return tape.value("chi2")


@final
@dataclass(frozen=True, repr=False, eq=False)
class ExponentialChiSquared(Kernel):
    """The exponential χ² kernel, scikit-learn's chi2_kernel.

    k(x, z) = exp(−γ·Σ (xᵢ − zᵢ)²/(xᵢ + zᵢ)), 0/0 = 0, for x, z ≥ 0. Positive because the sum is the polarisation of the
    additive χ² kernel and exp(−γt) completely monotone (rules chi-squared, polarisation, schoenberg).

    Parameters
    ----------
    gamma : float, default 1.0
        The factor γ > 0.

    Examples
    --------
    >>> ExponentialChiSquared(0.5).expand()
    Laplacian(2.0).of(Polarised(ChiSquared()))
    """

    notation: ClassVar[Notation] = Notation(
        text="exp(−{gamma}·Σ ({x} − {z:2})²/({x} + {z:2}))",
        latex=r"\exp\left(-{gamma} \sum_i \left(\frac{{({x} - {z:2})^2}}{{{x} + {z:2}}}\right)_i\right)",
        mathml=called(
            "exp",
            row(
                line("−{gamma:?@·}"),
                over("i"),
                subscript(fenced("(", fraction("({x} − {z:2})²", "{x} + {z:2}"), ")"), "i"),
            ),
        ),
    )
    gamma: float = param(1.0, Positive)

    @property
    def max_abs(self) -> float:
        """1."""
        return 1.0

    def fractional(self, exponent: float) -> Kernel:
        """exp(−γψ)ᵃ = exp(−aγψ)."""
        return ExponentialChiSquared(self.gamma * exponent)

    def expand(self) -> Kernel:
        """Schoenberg's theorem for the polarisation of the additive kernel."""
        return Of(Laplacian(1.0 / self.gamma), Polarised(ChiSquared()))
