"""Distances: conditionally negative definite functions, and the operations that preserve this."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, final

from mercer.domains import RealNumber, TupleOf
from mercer.errors import MercerError, NotPositive
from mercer.kernels.algebra import COEFFICIENT
from mercer.kernels.kernel import BUILD, Distance, Kernel, divided
from mercer.kernels.linear import Linear
from mercer.kernels.node import written
from mercer.kernels.pullback import DISTANCE
from mercer.kernels.rows import KERNEL, Diagonal
from mercer.kernels.rules import (
    ADDITION,
    BERNSTEIN,
    CITY_BLOCK,
    CONSTANT,
    DIRECT_SUM,
    DISTANCE_SCALING,
    DISTANCE_SUM,
    INNER_PRODUCT,
    POLARISATION,
    PULLBACK,
    QUADRATIC_FORM,
    SCALING,
    Rule,
    underivable,
)
from mercer.kernels.tape import Register, Tape
from mercer.maps.transform import Transform
from mercer.mathml import fenced, power
from mercer.notation import ATOM, POWER, PRODUCT, SUM, Notation
from mercer.term import REQUIRED, param

__all__ = [
    "L1", "BernsteinLog", "BernsteinPower", "DistanceSum", "Polarised", "ScaledDistance", "SquaredEuclidean",
]  # fmt: skip


@final
@dataclass(frozen=True, repr=False, eq=False)
class SquaredEuclidean(Distance):
    """The squared Euclidean distance.

    ψ(x, z) = ‖x − z‖². A distance because it is the polarisation of ⟨x, z⟩.

    Examples
    --------
    >>> SquaredEuclidean().expand()
    Polarised(Linear())
    """

    notation: ClassVar[Notation] = Notation(text="‖{x} − {z:2}‖²", latex=r"\lVert {x} - {z:2} \rVert^2", level=POWER)

    def expand(self) -> Distance:
        """The polarisation of the inner product."""
        return Polarised(Linear())

    def lower(self, tape: Tape) -> Register:
        """‖x − z‖²."""
        return tape.sqdist()


@final
@dataclass(frozen=True, repr=False, eq=False)
class L1(Distance):
    """The city-block distance.

    ψ(x, z) = Σ |xᵢ − zᵢ|. A distance because |x − z| = ∫ (1[t ≤ x] − 1[t ≤ z])² dt (rule city-block).

    Examples
    --------
    >>> print(L1().proof())
    L1() is a distance: conditionally negative definite, zero on the diagonal.
      1. ‖x − z‖₁  rule city-block
    """

    rule: ClassVar[Rule] = CITY_BLOCK
    notation: ClassVar[Notation] = Notation(text="‖{x} − {z:2}‖₁", latex=r"\lVert {x} - {z:2} \rVert_1")

    def lower(self, tape: Tape) -> Register:
        """Σ |x − z|."""
        return tape.value("l1")


@final
@dataclass(frozen=True, repr=False, eq=False)
class Polarised(Distance):
    """The squared distance in the feature space of a kernel.

    ψ(x, z) = k(x, x) + k(z, z) − 2k(x, z) = ‖φ(x) − φ(z)‖². A distance because, for Σ cᵢ = 0, Σ cᵢcⱼψ = −2·Σ cᵢcⱼk ≤ 0
    (rule polarisation). Values that rounding makes negative are set to 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> RBF().of(Polarised(Linear() ** 2))
    RBF().of(Polarised(Linear() ** 2))
    """

    rule: ClassVar[Rule] = POLARISATION
    notation: ClassVar[Notation] = Notation(
        text="{kernel.x} + {kernel.z:2} − 2·{kernel:3}", latex=r"{kernel.x} + {kernel.z:2} - 2 \, {kernel:3}", level=SUM
    )
    kernel: Kernel = param(REQUIRED, KERNEL)

    def lower(self, tape: Tape) -> Register:
        """k(x, x) + k(z, z) − 2k(x, z); of inner products ‖x − z‖², which the engine knows without cancellation."""
        kernel = self.kernel
        rule = kernel.by()
        if rule is None and _is_of_inner_products(kernel):
            return tape.fold(Polarised(kernel.expand()))  # type: ignore[arg-type]  # what has no rule expands
        if rule in PARTS:
            return PARTS[rule](kernel, tape)
        minus_two = tape.affine(tape.fold(kernel), -2.0, 0.0)
        return tape.clamp0(tape.add_rows(minus_two, tape.row_values(Diagonal(kernel))))


def _is_of_inner_products(kernel: Any) -> bool:
    """Whether the kernel is ⟨φ(x), φ(z)⟩ for maps φ that are seen through."""
    rule = kernel.by()
    if rule is None:
        return _is_of_inner_products(kernel.expand())
    return rule in PARTS and all(map(_is_of_inner_products, kernel.premises()))


def _sum_of_distances(node: Any, tape: Tape) -> Register:
    parts = [tape.fold(Polarised(term)) for term in node.terms if term.by() is not CONSTANT]
    return reduce(tape.add, parts) if parts else tape.constant(0.0)


# The distance that a kernel makes, from those of its parts: rule -> (node, tape) -> its register.
PARTS: dict[Rule | None, Callable[[Any, Tape], Register]] = {
    INNER_PRODUCT: lambda node, tape: tape.sqdist(),
    QUADRATIC_FORM: lambda node, tape: tape.through(Transform(node.root(), "Quadratic")).sqdist(),
    CONSTANT: lambda node, tape: tape.constant(0.0),
    SCALING: lambda node, tape: tape.affine(tape.fold(Polarised(node.kernel)), node.scale, 0.0),
    ADDITION: _sum_of_distances,
    DIRECT_SUM: _sum_of_distances,
    PULLBACK: lambda node, tape: tape.through(node.map).fold(Polarised(node.kernel)),
}


@final
@dataclass(frozen=True, repr=False, eq=False)
class DistanceSum(Distance):
    """A sum of distances, written ``d1 + d2``.

    ψ(x, z) = ψ₁(x, z) + ψ₂(x, z) + …. A distance because sums of numbers ≤ 0 are ≤ 0 (rule distance-sum).

    Parameters
    ----------
    terms : tuple of Distance
        The terms, at least two; nested sums are flattened.

    Examples
    --------
    >>> SquaredEuclidean() + 2 * L1()
    SquaredEuclidean() + 2.0 * L1()
    """

    rule: ClassVar[Rule] = DISTANCE_SUM
    notation: ClassVar[Notation] = Notation(
        source="{terms:1| + }", text="{terms:1| + }", latex="{terms:1| + }", source_level=SUM, level=SUM
    )
    terms: tuple[Distance, ...] = param(REQUIRED, TupleOf(DISTANCE, least=2))

    def validate(self) -> None:
        """Flatten nested sums, but only nodes of exactly this class."""
        opened = (part for term in self.terms for part in (term.terms if type(term) is DistanceSum else (term,)))
        self._set("terms", tuple(opened))

    def lower(self, tape: Tape) -> Register:
        """The sum of the terms."""
        total = tape.fold(self.terms[0])
        for term in self.terms[1:]:
            total = tape.add(total, tape.fold(term))
        return total


@final
@dataclass(frozen=True, repr=False, eq=False)
class ScaledDistance(Distance):
    """A multiple of a distance, written ``2.0 * d``.

    ψ(x, z) = c·ψ₁(x, z). A distance because c ≥ 0 (rule distance-scaling).

    Parameters
    ----------
    scale : float
        The factor c ≥ 0.
    distance : Distance
        The distance ψ₁.

    Examples
    --------
    >>> 2 * L1()
    2.0 * L1()
    """

    rule: ClassVar[Rule] = DISTANCE_SCALING
    notation: ClassVar[Notation] = Notation(
        source="{scale} * {distance:3}", text="{scale}·{distance:3}", latex=r"{scale} \, {distance:3}",
        source_level=PRODUCT, level=PRODUCT, condition="c = {scale} ≥ 0", condition_latex=r"c = {scale} \ge 0",
    )  # fmt: skip
    scale: float = param(REQUIRED, COEFFICIENT)
    distance: Distance = param(REQUIRED, DISTANCE)

    def lower(self, tape: Tape) -> Register:
        """c·ψ₁."""
        return tape.affine(tape.fold(self.distance), self.scale, 0.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class BernsteinPower(Distance):
    """A power of a distance, written ``d ** 0.5``.

    ψ(x, z) = ψ₁(x, z)ᵃ. A distance because tᵃ is a Bernstein function for 0 < a ≤ 1 (rule bernstein).

    Parameters
    ----------
    distance : Distance
        The distance ψ₁.
    exponent : float
        The exponent, 0 < a ≤ 1.

    Examples
    --------
    >>> SquaredEuclidean() ** 0.5
    SquaredEuclidean() ** 0.5
    """

    rule: ClassVar[Rule] = BERNSTEIN
    notation: ClassVar[Notation] = Notation(
        source="{distance:4} ** {exponent}", text="({distance})^{exponent}",
        latex=r"\left({distance}\right)^{{{exponent}}}", source_level=POWER, level=POWER,
        mathml=power(fenced("(", "{distance}", ")"), "{exponent}"),
        condition="b(t) = t^{exponent}, 0 < {exponent} ≤ 1",
        condition_latex=r"b(t) = t^{{{exponent}}},\; 0 < {exponent} \le 1",
    )  # fmt: skip
    distance: Distance = param(REQUIRED, DISTANCE)
    exponent: float = param(
        REQUIRED, RealNumber(0.0, 1.0, closed=False, text="a number a, 0 < a ≤ 1", error=NotPositive)
    )

    def lower(self, tape: Tape) -> Register:
        """ψ₁ᵃ."""
        psi = tape.fold(self.distance)
        return tape.sqrt(psi) if self.exponent == 0.5 else tape.pow(psi, self.exponent)


@final
@dataclass(frozen=True, repr=False, eq=False)
class BernsteinLog(Distance):
    """The logarithm of a distance, written ``d.log1p()``.

    ψ(x, z) = log(1 + ψ₁(x, z)). A distance because log(1 + t) is a Bernstein function (rule bernstein).

    Parameters
    ----------
    distance : Distance
        The distance ψ₁.

    Examples
    --------
    >>> L1().log1p()
    L1().log1p()
    """

    rule: ClassVar[Rule] = BERNSTEIN
    notation: ClassVar[Notation] = Notation(
        source="{distance:4}.log1p()", text="log(1 + {distance:1})", latex=r"\log\left(1 + {distance:1}\right)",
        condition="b(t) = log(1 + t)", condition_latex=r"b(t) = \log(1 + t)",
    )  # fmt: skip
    distance: Distance = param(REQUIRED, DISTANCE)

    def lower(self, tape: Tape) -> Register:
        """log(1 + ψ₁)."""
        return tape.log1p(tape.fold(self.distance))


def _scale(distance: Distance, factor: float) -> Distance:
    if not math.isfinite(factor) or factor < 0:
        raise underivable(
            f"{float(factor)!r} * {written(distance, POWER)}", DISTANCE_SCALING, "a finite factor c ≥ 0",
            repr(float(factor)), "Try a factor ≥ 0.",
        )  # fmt: skip
    return ScaledDistance(float(factor), distance)


def _divide(distance: Distance, divisor: float) -> Distance:
    return ScaledDistance(divided(distance, divisor, DISTANCE_SCALING), distance)


def _power(distance: Distance, exponent: float) -> Distance:
    if not 0.0 < exponent <= 1.0:
        raise _no_power(distance, float(exponent))
    return BernsteinPower(distance, float(exponent))


def _no_power(distance: Distance, exponent: float) -> MercerError:
    shown = repr(int(exponent)) if exponent.is_integer() else repr(exponent)
    return underivable(
        f"{written(distance, ATOM)} ** {shown}", BERNSTEIN, "an exponent a with 0 < a ≤ 1", shown,
        "Try ** 0.5, or .log1p(), or the distance itself.",
    )  # fmt: skip


BUILD.update(
    add_distances=lambda left, right: DistanceSum((left, right)),
    scale_distance=_scale,
    divide_distance=_divide,
    bernstein_power=_power,
    log1p=BernsteinLog,
)
