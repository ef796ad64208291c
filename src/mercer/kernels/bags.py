"""Kernels of bags: any kernel of their parts, summed over all pairs (Haussler's convolution kernel)."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.kernels.algebra import Congruence
from mercer.kernels.kernel import BUILD, Kernel, RowFunction
from mercer.kernels.parts import bags_of, parts_of
from mercer.kernels.rows import KERNEL
from mercer.kernels.rules import CONVOLUTION, Rule
from mercer.kernels.tape import Register, Tape
from mercer.mathml import fenced, fraction, over, row
from mercer.notation import ATOM, PRODUCT, SUM, Notation, Operand, Style
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = ["Averaged", "InverseSize", "Summed"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Summed(Kernel):
    """A kernel of the parts, summed over all pairs of parts of two bags, written ``k.summed()``.

    k(x, z) = Σᵢⱼ k₁(xᵢ, zⱼ) over the parts of the bags x and z, 0 where one of them is empty. Positive because it is
    the inner product of Σᵢ φ(xᵢ) and Σⱼ φ(zⱼ), φ the features of k₁ (rule convolution).

    ``k.averaged()`` divides by the numbers of parts, ``k.summed().normalised()`` by the norms. A power of the part
    kernel, ``(k ** p).summed()``, gives more weight to the pairs that are most alike: for large p one part in common is
    enough, as in learning from multiple instances.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁ of parts: any formula.

    References
    ----------
    D. Haussler, Convolution kernels on discrete structures, technical report UCSC-CRL-99-10 (1999).
    T. Gärtner, P. A. Flach, A. Kowalczyk and A. J. Smola, Multi-instance kernels, ICML (2002).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> bags = [[[1.0], [2.0]], [[3.0]], []]
    >>> Linear().summed()(bags)
    array([[9., 9., 0.],
           [9., 9., 0.],
           [0., 0., 0.]])
    """

    rule: ClassVar[Rule] = CONVOLUTION
    notation: ClassVar[Notation] = Notation(
        source="{kernel:4}.summed()", text="Σᵢⱼ {kernel:2}", latex=r"\sum_{{i, j}} {kernel:2}", level=SUM,
        mathml=row(over(row("i, j")), "{kernel:2}"),
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:
        """The parts xᵢ and zⱼ."""
        return _part(style, x, "i"), _part(style, z, "j")

    def points_inside(self, points: Points) -> Points:
        """The parts of the bags."""
        return parts_of(points, self)

    def reads(self) -> tuple[str | int, ...] | None:
        """Whatever it is given: columns that k₁ names are those of parts."""
        return None

    def inner_coordinates(self, coordinates: bool) -> bool:  # noqa: ARG002 (bags have none)
        """What the kernel of parts requires of them."""
        return self.kernel.confines()

    def confines(self) -> bool:
        """No: the kernel refuses parts, not points."""
        return False

    def lower(self, tape: Tape) -> Register:
        """One leaf, which holds the program of k₁."""
        return tape.summed(self.kernel)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Averaged(Kernel):
    """A kernel of the parts, averaged over all pairs of parts of two bags, written ``k.averaged()``.

    k(x, z) = Σᵢⱼ k₁(xᵢ, zⱼ)/(|x|·|z|), and 0 where one of the bags is empty. Positive because it is
    f(x)·Σᵢⱼ k₁(xᵢ, zⱼ)·f(z) with f(x) = 1/|x|, or 0 (rule convolution, rule 6).

    This is the inner product of the mean features of two bags, their mean embeddings.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁ of parts.

    References
    ----------
    T. Gärtner, P. A. Flach, A. Kowalczyk and A. J. Smola, Multi-instance kernels, ICML (2002).
    A. Smola, A. Gretton, L. Song and B. Schölkopf, A Hilbert space embedding for distributions, ALT (2007).

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear().averaged()([[[1.0], [2.0]], [[3.0]], []])
    array([[2.25, 4.5 , 0.  ],
           [4.5 , 9.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    """

    notation: ClassVar[Notation] = Notation(
        source="{kernel:4}.averaged()", text="Σᵢⱼ {kernel:2}/(|{x}|·|{z}|)",
        latex=r"\frac{{1}}{{|{x}| \, |{z}|}} \sum_{{i, j}} {kernel:2}", level=SUM,
        mathml=row(fraction("1", "|{x}|·|{z}|"), over(row("i, j")), "{kernel:2}"),
    )  # fmt: skip
    kernel: Kernel = param(REQUIRED, KERNEL)

    @property
    def max_abs(self) -> float:
        """The bound of k₁."""
        return self.kernel.max_abs

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:
        """The parts xᵢ and zⱼ."""
        return _part(style, x, "i"), _part(style, z, "j")

    def points_inside(self, points: Points) -> Points:
        """The parts of the bags."""
        return parts_of(points, self)

    def reads(self) -> tuple[str | int, ...] | None:
        """Whatever it is given: columns that k₁ names are those of parts."""
        return None

    def expand(self) -> Kernel:
        """Rule 6 with f(x) = 1/|x|."""
        return Congruence(Summed(self.kernel), InverseSize())


@final
@dataclass(frozen=True, repr=False, eq=False)
class InverseSize(RowFunction):
    """f(x) = 1/|x| of a bag with |x| parts, and 0 of an empty one.

    Examples
    --------
    >>> InverseSize().formula()
    '1/|x|'
    """

    notation: ClassVar[Notation] = Notation(
        text="1/|{x}|", latex=r"\frac{{1}}{{|{x}|}}", level=PRODUCT, mathml=fraction("1", fenced("|", "{x}", "|"))
    )

    def values(self, points: Points) -> npt.NDArray[np.float64]:
        """1/|x| at each point."""
        sizes = bags_of(points, repr(self)).sizes
        return np.where(sizes > 0, 1.0 / np.maximum(sizes, 1), 0.0)


_INDICES = {"i": "ᵢ", "j": "ⱼ"}


def _part(style: Style, bag: Operand, index: str) -> Operand:
    if style is Style.MATHML:
        return Operand(f"<msub>{row(bag.written)}<mi>{index}</mi></msub>", ATOM)
    if style is Style.LATEX:
        return Operand(f"{{{bag.written}}}_{{{index}}}", ATOM)
    return Operand(bag.written + _INDICES[index], ATOM)


BUILD.update(summed=Summed, averaged=Averaged)
