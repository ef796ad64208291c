"""Kernels with ones on the diagonal, computed where k(x, x) itself is beyond every float.

A factor is normalised by itself, and exp(k) becomes exp(−½·(k(x, x) + k(z, z) − 2k(x, z))): the Gaussian kernel of the
distance that k makes. So only leaves are ever divided by their roots.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.kernels.algebra import Congruence
from mercer.kernels.distances import Polarised
from mercer.kernels.kernel import BUILD, Kernel, RowFunction
from mercer.kernels.logs import is_steep, log_diagonal
from mercer.kernels.powers import Power
from mercer.kernels.rows import KERNEL, InverseRoot
from mercer.kernels.rules import (
    ADDITION,
    ALIGNMENTS,
    CONGRUENCE,
    DIRECT_SUM,
    EXPONENTIAL,
    POLYNOMIAL,
    PULLBACK,
    SCALING,
    SCHUR_PRODUCT,
    TENSOR,
    Rule,
)
from mercer.kernels.tape import Register, Tape
from mercer.mathml import fraction, root
from mercer.notation import PRODUCT, Notation
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["Normalised", "Sign", "Weight"]

Values = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Normalised(Kernel):
    """A kernel with ones on the diagonal, written ``k.normalised()``.

    k(x, z) = k₁(x, z)/√(k₁(x, x)·k₁(z, z)), and 0 where k₁(x, x) = 0. Positive because this is f(x)·k₁(x, z)·f(z)
    with f(x) = k₁(x, x)^(−1/2), or 0 (rule 6).

    The values are right also where those of k₁ overflow, as exp and powers soon do.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().normalised().expand()
    Linear().scaled_by(InverseRoot(Linear()))
    >>> Linear().exp().normalised()([[30.0, 40.0]], [[30.0, 39.0]])
    array([[0.60653066]])
    """

    notation: ClassVar[Notation] = Notation(
        source="{kernel:4}.normalised()", text="{kernel:3}/√({kernel.x:3}·{kernel.z:3})",
        latex=r"\frac{{{kernel}}}{{\sqrt{{{kernel.x:3} \, {kernel.z:3}}}}}", level=PRODUCT,
        mathml=fraction("{kernel:1}", root("{kernel.x:3}·{kernel.z:3}")),
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)

    @property
    def max_abs(self) -> float:
        """1, by the Cauchy-Schwarz inequality."""
        return 1.0

    def fractional(self, exponent: float) -> Kernel:
        """The normalised power."""
        return Normalised(self.kernel.fractional(exponent))

    def expand(self) -> Kernel:
        """Rule 6 with f(x) = k₁(x, x)^(−1/2)."""
        return Congruence(self.kernel, InverseRoot(self.kernel))

    def lower(self, tape: Tape) -> Register:
        """The quotient; where k₁ may overflow, from the normalised parts of k₁."""
        kernel = self.kernel
        if not is_steep(kernel):
            return tape.mul_rows(tape.fold(kernel), tape.row_values(InverseRoot(kernel)))
        rule = kernel.by()
        return tape.fold(Normalised(kernel.expand())) if rule is None else PARTS[rule](kernel, tape)  # type: ignore[arg-type]


@final
@dataclass(frozen=True)
class Weight:
    """f(x) = √(k₁(x, x)/k(x, x)), never more than 1: the part of a term k₁ in the normalised sum k."""

    term: Kernel
    whole: Kernel

    def values(self, points: Points) -> Values:
        """The weight at each point, 0 where k₁(x, x) = 0."""
        part = log_diagonal(self.term, points)
        some = part > -np.inf
        return np.where(some, np.exp(0.5 * (part - np.where(some, log_diagonal(self.whole, points), 0.0))), 0.0)


@final
@dataclass(frozen=True)
class Sign:
    """What is left of a factor f(x) in a normalised kernel: its sign."""

    function: RowFunction

    def values(self, points: Points) -> Values:
        """1, −1 or 0 at each point."""
        if self.function.sign:
            return np.where(self.function.logs(points) > -np.inf, 1.0, 0.0)
        return np.sign(self.function.values(points))


def _weighted(whole: Kernel, terms: list[Kernel], tape: Tape) -> Register:
    """Σ wᵢ(x)·kᵢ(x, z)·wᵢ(z) of normalised terms kᵢ."""
    parts = [tape.mul_rows(tape.fold(Normalised(term)), tape.row_values(Weight(term, whole))) for term in terms]
    return reduce(tape.add, parts) if parts else tape.constant(0.0)


def _polynomial(node: Any, tape: Tape) -> Register:
    powers = [(degree, coefficient * Power(node.kernel, degree)) for degree, coefficient in node.monomials()]
    if len(powers) != 1:
        return _weighted(node, [term for _, term in powers], tape)
    return tape.powi(tape.fold(Normalised(node.kernel)), powers[0][0])


# How a kernel that may overflow is normalised, by the rule that makes it: (node, tape) -> its register.
PARTS: dict[Rule, Callable[[Any, Tape], Register]] = {
    ALIGNMENTS: lambda node, tape: node.lower_normalised(tape),
    EXPONENTIAL: lambda node, tape: tape.decay(tape.affine(tape.fold(Polarised(node.kernel)), -0.5, 0.0)),
    SCALING: lambda node, tape: tape.fold(Normalised(node.kernel)),
    ADDITION: lambda node, tape: _weighted(node, node.terms, tape),
    DIRECT_SUM: lambda node, tape: _weighted(node, node.terms, tape),
    SCHUR_PRODUCT: lambda node, tape: reduce(tape.mul, (tape.fold(Normalised(each)) for each in node.factors)),
    TENSOR: lambda node, tape: reduce(tape.mul, (tape.fold(Normalised(each)) for each in node.factors)),
    POLYNOMIAL: _polynomial,
    CONGRUENCE: lambda node, tape: tape.mul_rows(
        tape.fold(Normalised(node.kernel)), tape.row_values(Sign(node.function))
    ),
    PULLBACK: lambda node, tape: tape.through(node.map).fold(Normalised(node.kernel)),
}

BUILD["normalised"] = Normalised
