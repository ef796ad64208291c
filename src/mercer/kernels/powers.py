"""Powers and polynomials of kernels: rule 4, and the real powers of exponential families."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

from mercer.domains import FiniteReal, Integer, TupleOf
from mercer.errors import MercerError, NotPositive
from mercer.kernels.algebra import COEFFICIENT
from mercer.kernels.kernel import BUILD, Kernel
from mercer.kernels.node import written
from mercer.kernels.rows import KERNEL
from mercer.kernels.rules import POLYNOMIAL, Rule, underivable
from mercer.kernels.tape import Register, Tape
from mercer.notation import ATOM, POWER, SUM, Notation
from mercer.term import REQUIRED, param

__all__ = ["FractionalPower", "PolynomialOf", "Power", "polynomial"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Power(Kernel):
    """An integer power, written ``k ** 3``.

    k(x, z) = k₁(x, z)ⁿ. Positive because tⁿ is a polynomial with coefficients ≥ 0 (rule 4).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.
    exponent : int
        The exponent n ≥ 0.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() + 1) ** 2
    (Linear() + 1.0) ** 2
    """

    rule: ClassVar[Rule] = POLYNOMIAL
    notation: ClassVar[Notation] = Notation(
        source="{kernel:4} ** {exponent}", text="{kernel:4}^{exponent}", latex="{kernel:4}^{{{exponent}}}",
        source_level=POWER, level=POWER, condition="g(t) = t^{exponent}", condition_latex="g(t) = t^{{{exponent}}}",
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)
    exponent: int = param(REQUIRED, Integer(0, error=NotPositive))

    def monomials(self) -> tuple[tuple[int, float], ...]:
        """The degree and coefficient of each term of the polynomial: one."""
        return ((self.exponent, 1.0),)

    @property
    def never_negative(self) -> bool:
        """Whether the exponent is even."""
        return self.exponent % 2 == 0

    @property
    def max_abs(self) -> float:
        """The power of the bound."""
        return self.kernel.max_abs**self.exponent

    def lower(self, tape: Tape) -> Register:
        """k₁ⁿ."""
        return tape.powi(tape.fold(self.kernel), self.exponent)


@final
@dataclass(frozen=True, repr=False, eq=False)
class FractionalPower(Kernel):
    """A real power of an exponential kernel, written ``k ** 0.5``.

    k(x, z) = k₁(x, z)ᵃ. Positive because exp(k)ᵃ = exp(a·k): it equals a kernel of the same family (see `expand`), for
    RBF, Laplacian, rational quadratic, Cauchy, exp(k), and multiples, products and pullbacks of such; others are
    refused.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.
    exponent : float
        The exponent a ≥ 0, not an integer.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> (RBF(2.0) ** 0.25).expand()
    RBF(4.0)
    """

    notation: ClassVar[Notation] = Notation(
        source="{kernel:4} ** {exponent}", text="{kernel:4}^{exponent}", latex="{kernel:4}^{{{exponent}}}",
        source_level=POWER, level=POWER,
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)
    exponent: float = param(REQUIRED, COEFFICIENT)

    def validate(self) -> None:
        """Refuse a power without a rule, naming the smallest part that has none."""
        self.expand()

    @property
    def max_abs(self) -> float:
        """The bound of the expansion."""
        return self.expand().max_abs

    def expand(self) -> Kernel:
        """The kernel of the same family that this power is."""
        return self.kernel.fractional(self.exponent)


@final
@dataclass(frozen=True, repr=False, eq=False)
class PolynomialOf(Kernel):
    """A polynomial of a kernel, written ``polynomial(k, [1, 0, 2])``.

    k(x, z) = Σ aₙ·k₁(x, z)ⁿ. Positive because all aₙ ≥ 0 (rule 4).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.
    coefficients : sequence of float
        The coefficients a₀, a₁, a₂, …, each ≥ 0.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> polynomial(Linear(), [1, 0, 2]).formula()
    '1 + 2·⟨x, z⟩^2'
    """

    rule: ClassVar[Rule] = POLYNOMIAL
    kernel: Kernel = param(REQUIRED, KERNEL)
    coefficients: tuple[float, ...] = param(REQUIRED, TupleOf(FiniteReal))

    def validate(self) -> None:
        """Refuse a negative coefficient."""
        for degree, coefficient in enumerate(self.coefficients):
            if coefficient < 0.0:
                kept = [max(each, 0.0) for each in self.coefficients]
                raise underivable(
                    f"polynomial({self.kernel!r}, {list(self.coefficients)})", POLYNOMIAL, "coefficients ≥ 0",
                    f"{coefficient!r} for degree {degree}", f"Try polynomial({self.kernel!r}, {kept}).",
                )  # fmt: skip

    def writing(self) -> Notation:
        """The terms with coefficients other than zero."""
        text, latex = [], []
        for degree, coefficient in enumerate(self.coefficients):
            if coefficient:
                number = f"{coefficient:.6g}"
                text.append((number, f"{number}·{{kernel:4}}", f"{number}·{{kernel:4}}^{degree}")[min(degree, 2)])
                power = f"{number} \\, {{kernel:4}}^{{{{{degree}}}}}"
                latex.append((number, f"{number} \\, {{kernel:4}}", power)[min(degree, 2)])
        return Notation(
            source="polynomial({kernel}, {coefficients})", text=" + ".join(text) or "0", latex=" + ".join(latex) or "0",
            level=SUM, condition="coefficients {coefficients} ≥ 0", condition_latex=r"{coefficients} \ge 0",
        )  # fmt: skip

    def monomials(self) -> tuple[tuple[int, float], ...]:
        """The degree and coefficient of each term that is not zero."""
        return tuple((degree, each) for degree, each in enumerate(self.coefficients) if each)

    @property
    def never_negative(self) -> bool:
        """Whether only even powers occur."""
        return not any(self.coefficients[1::2])

    def confines(self) -> bool:
        """As the kernel does, unless it is only a constant, which reads no points."""
        return len(self._down_to_the_last()) > 1 and self.kernel.confines()

    @property
    def max_abs(self) -> float:
        """The polynomial of the bound."""
        return sum(a * self.kernel.max_abs**n for n, a in enumerate(self.coefficients) if a)

    def lower(self, tape: Tape) -> Register:
        """Horner's scheme, without powers that do not occur: 0 times what overflows is no number."""
        *others, last = self._down_to_the_last()
        result = tape.constant(last)
        for index, coefficient in enumerate(reversed(others)):
            k = tape.fold(self.kernel)
            product = tape.affine(k, last, 0.0) if index == 0 else tape.mul(result, k)
            result = tape.affine(product, 1.0, coefficient)
        return result

    def _down_to_the_last(self) -> tuple[float, ...]:
        """The coefficients up to the last that is not zero; one at least."""
        degree = max((n for n, a in enumerate(self.coefficients) if a), default=0)
        return self.coefficients[: degree + 1]


def polynomial(kernel: Kernel, coefficients: list[float] | tuple[float, ...]) -> PolynomialOf:
    """The polynomial Σ aₙ·kⁿ with coefficients a₀, a₁, … ≥ 0 (rule 4).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> polynomial(Linear(), [1, 0, 2])
    polynomial(Linear(), [1.0, 0.0, 2.0])
    """
    return PolynomialOf(kernel, coefficients)  # type: ignore[arg-type]  # the field's domain checks it


def _power(kernel: Kernel, exponent: float) -> Kernel:
    if not math.isfinite(exponent) or exponent < 0:
        raise _no_power(kernel, exponent)
    return Power(kernel, int(exponent)) if float(exponent).is_integer() else FractionalPower(kernel, float(exponent))


def _no_power(kernel: Kernel, exponent: float) -> MercerError:
    number = float(exponent)
    shown = repr(int(number)) if number.is_integer() else repr(number)
    near = max(2, math.floor(number)) if math.isfinite(number) else 2
    return underivable(
        f"{written(kernel, ATOM)} ** {shown}", POLYNOMIAL, "a non-negative integer exponent", shown,
        f"Try ** {near} or ** {near + 1}; real exponents ≥ 0 work for RBF, Laplacian and exp(k).",
    )  # fmt: skip


BUILD.update(power=_power, no_power=_no_power)
