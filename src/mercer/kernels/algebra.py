"""The algebra of kernels: rules 2, 3, 5, 6 and 7 as nodes, and what the operators build."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, final

from mercer.domains import Instance, RealNumber, TupleOf, is_number
from mercer.errors import NotPositive
from mercer.kernels.kernel import BUILD, Distance, Kernel, RowFunction, divided, mixed_sorts
from mercer.kernels.node import written
from mercer.kernels.pullback import over_disjoint_columns
from mercer.kernels.rows import KERNEL, UserFunction
from mercer.kernels.rules import (
    ADDITION,
    CONGRUENCE,
    CONSTANT,
    DIRECT_SUM,
    EXPONENTIAL,
    SCALING,
    SCHUR_PRODUCT,
    TENSOR,
    Rule,
    underivable,
)
from mercer.kernels.tape import Register, Tape
from mercer.notation import POWER, PRODUCT, SUM, Notation
from mercer.term import REQUIRED, param

__all__ = [
    "COEFFICIENT", "Congruence", "Constant", "Exp", "Product", "Scaled", "Sum",
]  # fmt: skip

COEFFICIENT = RealNumber(low=0.0, text="a finite number ≥ 0", error=NotPositive)
ROW_FUNCTION = Instance(RowFunction, "a function of one point")


@final
@dataclass(frozen=True, repr=False, eq=False)
class Constant(Kernel):
    """A constant, written ``k + 1.0`` inside a sum.

    k(x, z) = c. Positive because Σ cᵢcⱼ·c = c·(Σ cᵢ)² ≥ 0 for c ≥ 0 (rule constant).

    Parameters
    ----------
    value : float
        The constant c ≥ 0.

    Examples
    --------
    >>> Constant(2.0)
    Constant(2.0)
    """

    rule: ClassVar[Rule] = CONSTANT
    notation: ClassVar[Notation] = Notation(
        text="{value}", latex="{value}", bare="{value}",
        condition="c = {value} ≥ 0", condition_latex=r"c = {value} \ge 0",
    )  # fmt: skip
    value: float = param(REQUIRED, COEFFICIENT)

    def reads(self) -> tuple[str | int, ...] | None:
        """Nothing."""
        return ()

    @property
    def max_abs(self) -> float:
        """The constant itself."""
        return self.value

    def fractional(self, exponent: float) -> Kernel:
        """The power of the number."""
        return Constant(self.value**exponent)

    def lower(self, tape: Tape) -> Register:
        """The number everywhere."""
        return tape.constant(self.value)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Scaled(Kernel):
    """A multiple, written ``2.0 * k``.

    k(x, z) = c·k₁(x, z). Positive because c ≥ 0 (rule 2).

    Parameters
    ----------
    scale : float
        The factor c ≥ 0.
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> 2 * Linear()
    2.0 * Linear()
    """

    rule: ClassVar[Rule] = SCALING
    notation: ClassVar[Notation] = Notation(
        source="{scale} * {kernel:3}", text="{scale}·{kernel:3}", latex=r"{scale} \, {kernel:3}",
        source_level=PRODUCT, level=PRODUCT, condition="c = {scale} ≥ 0", condition_latex=r"c = {scale} \ge 0",
    )  # fmt: skip
    scale: float = param(REQUIRED, COEFFICIENT)
    kernel: Kernel = param(REQUIRED, KERNEL)

    @property
    def max_abs(self) -> float:
        """c times the bound of k₁."""
        return self.scale * self.kernel.max_abs if self.scale else 0.0

    def fractional(self, exponent: float) -> Kernel:
        """(c·k)ᵃ = cᵃ·kᵃ."""
        return Scaled(self.scale**exponent, self.kernel.fractional(exponent))

    def lower(self, tape: Tape) -> Register:
        """c·k₁."""
        return tape.affine(tape.fold(self.kernel), self.scale, 0.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Sum(Kernel):
    """A sum, written ``k1 + k2``.

    k(x, z) = k₁(x, z) + k₂(x, z) + …. Positive because sums of squares add (rule 3; over different columns, the rule
    direct-sum).

    Parameters
    ----------
    terms : tuple of Kernel
        The terms, at least two; nested sums are flattened.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> RBF() + Linear() + 1
    RBF() + Linear() + 1.0
    """

    rule: ClassVar[Rule] = ADDITION
    notation: ClassVar[Notation] = Notation(
        source="{terms:1| + }", text="{terms:1| + }", latex="{terms:1| + }", source_level=SUM, level=SUM
    )
    terms: tuple[Kernel, ...] = param(REQUIRED, TupleOf(KERNEL, least=2))

    def validate(self) -> None:
        """Flatten nested sums, but only nodes of exactly this class."""
        opened = (part for term in self.terms for part in (term.terms if type(term) is Sum else (term,)))
        self._set("terms", tuple(opened))

    def by(self) -> Rule:
        """Rule 3, or the direct sum over different columns."""
        return DIRECT_SUM if over_disjoint_columns(self.terms) else ADDITION

    @property
    def max_abs(self) -> float:
        """The sum of the bounds."""
        return sum(term.max_abs for term in self.terms)

    def lower(self, tape: Tape) -> Register:
        """The sum of the terms; all constants are added together at the end."""
        constant = sum(term.value for term in self.terms if isinstance(term, Constant))
        others = [term for term in self.terms if not isinstance(term, Constant)]
        if not others:
            return tape.constant(constant)
        total = tape.fold(others[0])
        for term in others[1:]:
            total = tape.add(total, tape.fold(term))
        return tape.affine(total, 1.0, constant)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Product(Kernel):
    """A product, written ``k1 * k2``.

    k(x, z) = k₁(x, z)·k₂(x, z)·…. Positive by Schur's theorem (rule 5; over different columns, the rule tensor).

    Parameters
    ----------
    factors : tuple of Kernel
        The factors, at least two; nested products are flattened.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> RBF() * (Linear() + 1)
    RBF() * (Linear() + 1.0)
    """

    rule: ClassVar[Rule] = SCHUR_PRODUCT
    notation: ClassVar[Notation] = Notation(
        source="{factors:2| * }", text="{factors:2|·}", latex=r"{factors:2| \, }", source_level=PRODUCT, level=PRODUCT
    )
    factors: tuple[Kernel, ...] = param(REQUIRED, TupleOf(KERNEL, least=2))

    def validate(self) -> None:
        """Flatten nested products, but only nodes of exactly this class."""
        opened = (part for each in self.factors for part in (each.factors if type(each) is Product else (each,)))
        self._set("factors", tuple(opened))

    def by(self) -> Rule:
        """Rule 5, or the tensor product over different columns."""
        return TENSOR if over_disjoint_columns(self.factors) else SCHUR_PRODUCT

    @property
    def max_abs(self) -> float:
        """The product of the bounds."""
        bounds = [factor.max_abs for factor in self.factors]
        return 0.0 if 0.0 in bounds else math.prod(bounds)

    def fractional(self, exponent: float) -> Kernel:
        """The product of the powers."""
        return Product(tuple(factor.fractional(exponent) for factor in self.factors))

    def lower(self, tape: Tape) -> Register:
        """The product of the factors."""
        result = tape.fold(self.factors[0])
        for factor in self.factors[1:]:
            result = tape.mul(result, tape.fold(factor))
        return result


@final
@dataclass(frozen=True, repr=False, eq=False)
class Exp(Kernel):
    """The exponential, written ``k.exp()``.

    k(x, z) = exp(k₁(x, z)). Positive because all coefficients 1/n! of the series are ≥ 0 (rule 7).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().exp()
    Linear().exp()
    """

    rule: ClassVar[Rule] = EXPONENTIAL
    notation: ClassVar[Notation] = Notation(
        source="{kernel:4}.exp()", text="exp({kernel})", latex=r"\exp\left({kernel}\right)"
    )
    kernel: Kernel = param(REQUIRED, KERNEL)

    @property
    def max_abs(self) -> float:
        """The exponential of the bound."""
        return math.exp(min(self.kernel.max_abs, 709.0)) if self.kernel.max_abs < 709.0 else math.inf

    def fractional(self, exponent: float) -> Kernel:
        """exp(k)ᵃ = exp(a·k)."""
        return Exp(Scaled(exponent, self.kernel))

    def lower(self, tape: Tape) -> Register:
        """exp(k₁)."""
        return tape.exp(tape.fold(self.kernel))


@final
@dataclass(frozen=True, repr=False, eq=False)
class Congruence(Kernel):
    """A kernel scaled by a function of each point, written ``k.scaled_by(f)``.

    k(x, z) = f(x)·k₁(x, z)·f(z). Positive because the factors go into the vector c (rule 6).

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.
    function : RowFunction
        The function f.

    Examples
    --------
    >>> from mercer.kernels import GaussianEnvelope, Linear
    >>> Linear().exp().scaled_by(GaussianEnvelope(1.0)).formula()
    'exp(−‖x‖²/(2·1²))·exp(⟨x, z⟩)·exp(−‖z‖²/(2·1²))'
    """

    rule: ClassVar[Rule] = CONGRUENCE
    notation: ClassVar[Notation] = Notation(
        source="{kernel:4}.scaled_by({function})", text="{function.x:3}·{kernel:3}·{function.z:3}",
        latex=r"{function.x:3} \, {kernel:3} \, {function.z:3}", level=PRODUCT,
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)
    function: RowFunction = param(REQUIRED, ROW_FUNCTION)

    def writing(self) -> Notation:
        """The notation, including that of the function."""
        return replace(self.notation, condition=self.function.stated, condition_latex=self.function.stated_latex)

    def lower(self, tape: Tape) -> Register:
        """f(x)·k₁·f(z)."""
        return tape.mul_rows(tape.fold(self.kernel), tape.row_values(self.function))


def _add(left: Kernel, right: Kernel | Distance | float) -> Kernel:
    if isinstance(right, Distance):
        raise mixed_sorts(f"{written(left, SUM)} + {written(right, PRODUCT)}", right)
    if isinstance(right, Kernel):
        return Sum((left, right))
    constant = _finite(right)
    if constant is None or constant < 0.0:
        raise underivable(
            f"{written(left, SUM)} + ({float(right)!r})", CONSTANT, "a finite constant c ≥ 0", repr(float(right)),
            "Try a constant ≥ 0: adding a negative one takes the constant function out of the kernel.",
        )  # fmt: skip
    return Sum((left, Constant(constant))) if constant else left


def _multiply(left: Kernel, right: Kernel | Distance | float) -> Kernel:
    if isinstance(right, Distance):
        raise mixed_sorts(f"{written(left, PRODUCT)} * {written(right, POWER)}", right)
    if isinstance(right, Kernel):
        return Product((left, right))
    factor = _finite(right)
    if factor is None or factor < 0.0:
        raise underivable(
            f"{float(right)!r} * {written(left, POWER)}", SCALING, "a finite factor c ≥ 0", repr(float(right)),
            "Try a factor ≥ 0; a negative multiple of a kernel has only eigenvalues ≤ 0.",
        )  # fmt: skip
    return Scaled(factor, left)


def _divide(left: Kernel, right: float) -> Kernel:
    return Scaled(divided(left, right, SCALING), left)


def _finite(number: float) -> float | None:
    return float(number) if is_number(number) and math.isfinite(number) else None


def _scaled_by(kernel: Kernel, function: object) -> Kernel:
    if not isinstance(function, RowFunction):
        function = UserFunction(function)  # type: ignore[arg-type]  # the field's domain checks it
    return Congruence(kernel, function)


BUILD.update(add=_add, multiply=_multiply, divide=_divide, exp=Exp, scaled_by=_scaled_by)
