"""Kernels of series: by their alignments, and by their signatures."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from mercer.domains import Integer, Length, ParameterDomain, is_number, refusal
from mercer.errors import InvalidParameter
from mercer.kernels.algebra import Scaled
from mercer.kernels.binding import diagonal
from mercer.kernels.distances import SquaredEuclidean
from mercer.kernels.featureseries import series_of_points
from mercer.kernels.kernel import Kernel
from mercer.kernels.lengths import TABLE
from mercer.kernels.linear import Linear
from mercer.kernels.node import Node
from mercer.kernels.radial import RBF
from mercer.kernels.rules import ALIGNMENTS, SIGNATURES, Rule
from mercer.kernels.tape import Register, Tape
from mercer.notation import SUM, Notation
from mercer.points import Points, Series, Vectors
from mercer.term import param

__all__ = ["GlobalAlignment", "Signature"]

MEDIAN = "median"


@final
@dataclass(frozen=True)
class _OrNone:
    """A value of a domain, or None."""

    domain: ParameterDomain

    @property
    def text(self) -> str:
        return f"{self.domain.text}, or None"

    def check(self, owner: str, name: str, value: Any) -> Any:
        return None if value is None else self.domain.check(owner, name, value)


@final
@dataclass(frozen=True)
class _LengthOrMedian:
    """One length, or the rule that finds it."""

    text: str = 'a finite number > 0, from 1e-150 to 1e150, or the rule "median"'

    def check(self, owner: str, name: str, value: Any) -> float | str:
        if value == MEDIAN and isinstance(value, str):
            return value
        if not is_number(value):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return Length.check(owner, name, value)


def _median(series: Series, owner: Kernel) -> float:
    """The median distance of the points of all series."""
    parts = series.parts
    return TABLE[MEDIAN](Vectors(parts if len(parts) else np.zeros((1, 1))), SquaredEuclidean(), 2, owner)


@final
@dataclass(frozen=True, repr=False, eq=False)
class GlobalAlignment(Kernel):
    """All alignments of two series, each worth the product of how near the aligned points are.

    k(x, z) = Σ Π c(i, j) over all alignments, the paths of pairs (i, j) from the first points of both series to the
    last in which i, j or both advance by one; c = ρ/(1 − ρ) with ρ = ½·w(i, j)·exp(−‖xᵢ − zⱼ‖²/(2ℓ²)), and w = 1, or
    with `triangular` = T the weight max(0, 1 − |i − j|/T). Positive because c = ρ + ρ² + ρ³ + …, so that k is the sum
    of Π ρ over all ways to repeat the points of both series, each any number of times; and ρ is a kernel of points and
    their places (rule alignments).

    The number of alignments grows by a factor of up to 5.8 a point: k itself leaves float64 beyond 400 points, while
    ``k.normalised()`` is right at any length. It is what machines want, and it is 1 for equal series. Two empty series
    have k = 1, an empty series and another 0.

    Parameters
    ----------
    length_scale : float or "median", default "median"
        ℓ. "median" is the median distance of the points of all series, times the root of their median length.
    triangular : int, optional
        T ≥ 1: points are aligned only if they stand less than T places apart, which costs less time. None: any.

    Notes
    -----
    A pair of series takes time proportional to the product of their lengths, or to T times the longer.

    References
    ----------
    M. Cuturi, J.-P. Vert, Ø. Birkenes and T. Matsui, A kernel for time series based on global alignments, ICASSP
    (2007). M. Cuturi, Fast global alignment kernels, ICML (2011).

    Examples
    --------
    >>> k = GlobalAlignment(1.0).normalised()
    >>> from mercer.points import Series
    >>> k(Series([[1.0, 2.0, 3.0], [1.0, 1.0, 2.0, 3.0], [3.0, 1.0]])).round(3)
    array([[1.   , 0.711, 0.005],
           [0.711, 1.   , 0.001],
           [0.005, 0.001, 1.   ]])
    """

    rule: ClassVar[Rule] = ALIGNMENTS
    length_scale: float | str = param(MEDIAN, _LengthOrMedian())
    triangular: int | None = param(None, _OrNone(Integer(1)))

    def writing(self) -> Notation:
        """The sum, with its weights where there are any."""
        if self.triangular is None:
            return Notation(
                text="Σ Π ρ/(1 − ρ), ρ = exp(−‖{x}ᵢ − {z}ⱼ‖²/(2·{length_scale}²))/2",
                latex=r"\sum_{{\pi}} \prod_{{(i, j) \in \pi}} \frac{{\rho}}{{1 - \rho}}, \; \rho = \tfrac12 "
                r"\exp\left(-\frac{{\lVert {x}_i - {z}_j \rVert^2}}{{2 \cdot {length_scale}^2}}\right)", level=SUM,
            )  # fmt: skip
        return Notation(
            text="Σ Π ρ/(1 − ρ), ρ = max(0, 1 − |i − j|/{triangular})·exp(−‖{x}ᵢ − {z}ⱼ‖²/(2·{length_scale}²))/2",
            latex=r"\sum_{{\pi}} \prod_{{(i, j) \in \pi}} \frac{{\rho}}{{1 - \rho}}, \; \rho = \tfrac12 "
            r"\left(1 - \tfrac{{|i - j|}}{{{triangular}}}\right)_{{\!+}} "
            r"\exp\left(-\frac{{\lVert {x}_i - {z}_j \rVert^2}}{{2 \cdot {length_scale}^2}}\right)", level=SUM,
            condition="max(0, 1 − |i − j|/{triangular}) is a kernel of the places i, j",
            condition_latex=r"(1 - |i - j| / {triangular})_+ \text{{ is a kernel of }} i, j",
        )  # fmt: skip

    def premises(self) -> tuple[Node, ...]:
        """The kernel ρ of points, which is at most ½."""
        return (Scaled(0.5, RBF(self.length_scale)),)

    def waits(self) -> bool:
        """Whether the length is that of the points to come."""
        return self.length_scale == MEDIAN

    def resolved_here(self, points: Points) -> Self:
        """The length in place of its rule."""
        if not self.waits():
            return self
        series = series_of_points(points, repr(self))
        return self.replace(length_scale=_median(series, self) * float(np.sqrt(max(np.median(series.sizes), 1.0))))

    def lower(self, tape: Tape) -> Register:
        """The sum, by the recursion over pairs of beginnings."""
        return tape.value("alignment", *self._numbers(), 0)

    def lower_normalised(self, tape: Tape) -> Register:
        """The quotient of three sums that may each be beyond every float."""
        return tape.value("alignment", *self._numbers(), 1)

    def log_diagonal(self, points: Points) -> npt.NDArray[np.float64]:
        """The values log k(x, x)."""
        return diagonal(_Log(self), points)

    def _numbers(self) -> tuple[float, int]:
        assert isinstance(self.length_scale, float)  # resolved
        return self.length_scale, self.triangular or 0


@final
@dataclass(frozen=True)
class _Log:
    """log k of a kernel of alignments."""

    kernel: GlobalAlignment

    def resolve(self, points: Any) -> Self:  # noqa: ARG002 (of a kernel that is resolved)
        return self

    def proof(self) -> None:
        return None

    def lower(self, tape: Tape) -> Register:
        return tape.value("alignment", *self.kernel._numbers(), 2)  # noqa: SLF001 (of the same file)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Signature(Kernel):
    """The inner product of the signatures of two series: all iterated sums of products of their steps.

    k(x, z) = ⟨S(x), S(z)⟩ where S(x) is the product of e(δ₁), e(δ₂), … over the steps δᵢ = xᵢ₊₁ − xᵢ in the tensor
    algebra, and e(δ) = 1 + δ + δ⊗δ/2! + …, up to the power `order`. Positive because it is an inner product of tensors
    (rule signatures): exactly so for each order and level, not only in a limit, as it is with schemes for the
    differential equation that k satisfies. As the order grows, S(x) becomes the signature of the path of straight lines
    through the points, fast where steps are short: the error of order p is about ‖δ‖ᵖ⁺¹/(p + 1)! a step.

    k does not see where a series begins, nor how fast it passes, unless time is a channel of its own. Series with fewer
    than two points have the signature 1.

    Parameters
    ----------
    level : int, optional
        The highest degree of the products that count; None: all of them. The level is exact where `order` reaches it.
    order : int, default 4
        The highest power in each exponential, from 1 to 6.
    length_scale : float or "median", optional
        ℓ: the points stand for their features under exp(−‖x − z‖²/(2ℓ²)), of which the path is made then; "median" is
        the median distance of the points of all series. None: the points themselves.

    Notes
    -----
    A pair of series takes time proportional to the product of their lengths, to the square of the order, and to the
    level where one is given. Values grow like exp of the lengths of both paths: scale series that are long or wild.

    References
    ----------
    F. J. Király and H. Oberhauser, Kernels for sequentially ordered data, Journal of Machine Learning Research 20
    (2019). C. Salvi, T. Cass, J. Foster, T. Lyons and W. Yang, The signature kernel is the solution of a Goursat PDE,
    SIAM Journal on Mathematics of Data Science 3 (2021).

    Examples
    --------
    >>> up, bent = [[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    >>> Signature(level=2)([up, bent])  # the area below the bend is a coordinate of level 2
    array([[4. , 4. ],
           [4. , 4.5]])
    """

    rule: ClassVar[Rule] = SIGNATURES
    level: int | None = param(None, _OrNone(Integer(1)))
    order: int = param(4, Integer(1, 6))
    length_scale: float | str | None = param(None, _OrNone(_LengthOrMedian()))

    def writing(self) -> Notation:
        """The inner product, of all levels or of some."""
        upto, upto_latex = ("", "") if self.level is None else (", up to level {level}", r"^{{\le {level}}}")
        if self.length_scale is None:
            return Notation(
                text=f"⟨S({{x}}), S({{z}})⟩{upto}, exp to order {{order}}",
                latex=rf"\langle S_{{{{{{order}}}}}}({{x}}), S_{{{{{{order}}}}}}({{z}}) \rangle{upto_latex}", level=SUM,
            )  # fmt: skip
        return Notation(
            text=f"⟨S(φ({{x}})), S(φ({{z}}))⟩{upto}, exp to order {{order}}, ℓ = {{length_scale}}",
            latex=rf"\langle S_{{{{{{order}}}}}}(\varphi_{{{{{{length_scale}}}}}}({{x}})), "
            rf"S_{{{{{{order}}}}}}(\varphi_{{{{{{length_scale}}}}}}({{z}})) \rangle{upto_latex}", level=SUM,
        )  # fmt: skip

    def premises(self) -> tuple[Node, ...]:
        """The kernel of points, which makes the inner products of steps."""
        return (Linear() if self.length_scale is None else RBF(self.length_scale),)

    def waits(self) -> bool:
        """Whether the length is that of the points to come."""
        return self.length_scale == MEDIAN

    def resolved_here(self, points: Points) -> Self:
        """The length in place of its rule."""
        return self.replace(length_scale=_median(series_of_points(points, repr(self)), self)) if self.waits() else self

    def lower(self, tape: Tape) -> Register:
        """The sum over chains of pairs of steps."""
        assert not isinstance(self.length_scale, str)  # resolved
        return tape.value("signature", self.level or 0, self.order, self.length_scale or 0.0)
