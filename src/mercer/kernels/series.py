"""Power series of kernels with coefficients ≥ 0."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

from mercer.domains import Choice
from mercer.errors import NotPositive
from mercer.kernels.kernel import Kernel
from mercer.kernels.rows import KERNEL, Diagonal, IsPositive
from mercer.kernels.rules import INVERSE_SUM, POWER_SERIES, Rule
from mercer.kernels.tape import Register, Tape
from mercer.mathml import fraction, line, row
from mercer.notation import PRODUCT, Notation, Raw
from mercer.term import REQUIRED, param

__all__ = ["TABLE", "InverseSum", "PowerSeries", "Series", "Share"]


@final
@dataclass(frozen=True)
class Series:
    """One power series: its sum, its coefficients, the radius inside which |k| must stay, and its program."""

    name: str
    text: str
    latex: str
    coefficients: str
    radius: float
    closed: bool  # whether the series also converges on the radius itself
    nonnegative: bool  # whether the sum is ≥ 0 everywhere inside the radius
    fold: Callable[[Tape, Register], Register]
    citation: str  # a key of rules.CITATIONS
    mathml: str = ""  # where it is more than the text in one line


def _geometric(tape: Tape, t: Register) -> Register:
    return tape.div(t, tape.affine(t, -1.0, 1.0))


def _arccosine(order: int) -> Callable[[Tape, Register], Register]:
    # cos θ = t has the squared chord 2 − 2t.
    return lambda tape, t: tape.arccosine(tape.clamp0(tape.affine(t, -2.0, 2.0)), order)


TABLE: dict[str, Series] = {
    series.name: series
    for series in (
        Series(
            "geometric", "{kernel:4}/(1 − {kernel:2})", r"\frac{{{kernel}}}{{1 - {kernel:2}}}",
            "aₙ = 1 for n ≥ 1", 1.0, False, False, _geometric, "shawe-taylor",
            fraction("{kernel}", "1 − {kernel:2}"),
        ),
        Series(
            "arccosine0", "J₀({kernel})/π", r"\tfrac1\pi J_0\left({kernel}\right)",
            "1 − θ/π = ½ + arcsin(t)/π with cos θ = t", 1.0, True, True, _arccosine(0), "cho-saul",
            row(fraction("1", "π"), line("J₀({kernel})")),
        ),
        Series(
            "arccosine1", "J₁({kernel})/π", r"\tfrac1\pi J_1\left({kernel}\right)",
            "(sin θ + (π − θ)·cos θ)/π with cos θ = t: its derivative is order 0",
            1.0, True, True, _arccosine(1), "cho-saul",
            row(fraction("1", "π"), line("J₁({kernel})")),
        ),
        Series(
            "arccosine2", "J₂({kernel})/π", r"\tfrac1\pi J_2\left({kernel}\right)",
            "(3·sin θ·cos θ + (π − θ)·(1 + 2·cos² θ))/π with cos θ = t: its derivative is 4 times order 1",
            1.0, True, True, _arccosine(2), "cho-saul",
            row(fraction("1", "π"), line("J₂({kernel})")),
        ),
    )
}  # fmt: skip


@final
@dataclass(frozen=True, repr=False, eq=False)
class PowerSeries(Kernel):
    """A power series of a bounded kernel.

    k(x, z) = Σ aₙ·k₁(x, z)ⁿ. Positive because all aₙ ≥ 0 and |k₁| stays inside the radius (rule power-series).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁, with a derived bound.
    series : {"geometric", "arccosine0", "arccosine1", "arccosine2"}
        The row of the table of series.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> PowerSeries(Cosine(), "arccosine1").rule.name
    'power-series'
    """

    rule: ClassVar[Rule] = POWER_SERIES
    kernel: Kernel = param(REQUIRED, KERNEL)
    series: str = param(REQUIRED, Choice(tuple(TABLE)))

    def validate(self) -> None:
        """The kernel must have a bound inside the radius."""
        row, max_abs = self.row, self.kernel.max_abs
        less = "≤" if row.closed else "<"
        if not (max_abs <= row.radius if row.closed else max_abs < row.radius):
            raise NotPositive(
                f"PowerSeries({self.kernel!r}, {self.series!r}) cannot be derived as a kernel.",
                f"{POWER_SERIES.label.capitalize()} needs |k| {less} {row.radius:g}; derived |k| ≤ {max_abs:g}.",
                "Try k.normalised(), or a multiple below the radius. That it cannot be derived is not a disproof.",
            )

    @property
    def row(self) -> Series:
        """The row of the table."""
        return TABLE[self.series]

    @property
    def never_negative(self) -> bool:
        """Whether the sum is ≥ 0 everywhere inside the radius."""
        return self.row.nonnegative

    def writing(self) -> Notation:
        """The sum of the series."""
        return Notation(
            text=self.row.text, latex=self.row.latex, level=PRODUCT, mathml=self.row.mathml,
            condition="aₙ ≥ 0: {coefficients}; |k| ≤ {limit}", condition_latex=r"\lvert k \rvert \le {limit}",
        )  # fmt: skip

    def slot(self, name: str) -> Any:
        """The fields, the coefficients and the bound."""
        if name == "coefficients":
            return Raw(self.row.coefficients, self.row.coefficients)
        return self.kernel.max_abs if name == "limit" else getattr(self, name)

    def lower(self, tape: Tape) -> Register:
        """The sum of the series."""
        return self.row.fold(tape, tape.fold(self.kernel))


@final
@dataclass(frozen=True, repr=False, eq=False)
class InverseSum(Kernel):
    """The inverse of a sum of two self-similarities.

    k(x, z) = 1/(k₁(x, x) + k₁(z, z)) where both are > 0, else 0. Positive because 1/(a + b) = ∫ e^(−ta)·e^(−tb) dt
    (rule inverse-sum).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> InverseSum(Linear()).formula()
    '1/(⟨x, x⟩ + ⟨z, z⟩)'
    """

    rule: ClassVar[Rule] = INVERSE_SUM
    notation: ClassVar[Notation] = Notation(
        text="1/({kernel.x} + {kernel.z:2})", latex=r"\frac{{1}}{{{kernel.x} + {kernel.z:2}}}", level=PRODUCT,
        mathml=fraction("1", "{kernel.x} + {kernel.z:2}"),
        condition="a(x) = {kernel.x}; 0 where a = 0", condition_latex=r"a(x) = {kernel.x}",
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)

    def premises(self) -> tuple[Kernel, ...]:
        """The kernel, whose diagonal is ≥ 0."""
        return (self.kernel,)

    def lower(self, tape: Tape) -> Register:
        """1/(a(x) + a(z)), masked: for a point with a = 0 the integral would not converge."""
        inverse = tape.inverse_sum(tape.row_values(Diagonal(self.kernel)))
        return tape.mul_rows(inverse, tape.row_values(IsPositive(self.kernel)))


@final
@dataclass(frozen=True, repr=False, eq=False)
class Share(Kernel):
    """A kernel divided by the sum of the two self-similarities.

    k(x, z) = k₁(x, z)/(k₁(x, x) + k₁(z, z)), and 0 where k₁(x, x) = 0. Positive because it is the product of k₁ and
    1/(k₁(x, x) + k₁(z, z)) (rule 5); never more than ½.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Share(Linear()).expand()
    Linear() * InverseSum(Linear())
    """

    notation: ClassVar[Notation] = Notation(
        text="{kernel:3}/({kernel.x} + {kernel.z:2})",
        latex=r"\frac{{{kernel}}}{{{kernel.x} + {kernel.z:2}}}",
        mathml=fraction("{kernel}", "{kernel.x} + {kernel.z:2}"),
        level=PRODUCT,
    )
    kernel: Kernel = param(REQUIRED, KERNEL)

    @property
    def max_abs(self) -> float:
        """½: |k(x, z)| ≤ √(k(x, x)·k(z, z)) ≤ (k(x, x) + k(z, z))/2."""
        return 0.5

    def expand(self) -> Kernel:
        """The product with the inverse sum."""
        return self.kernel * InverseSum(self.kernel)
