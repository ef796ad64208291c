"""The sorts: kernels, distances and functions of one point, and the operators that combine them.

Operators build nodes that are defined in later files and are themselves kernels or distances. `BUILD` is the table
of these constructors; each file adds its rows, and the package's ``__init__`` imports them all.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mercer.domains import is_number
from mercer.errors import InvalidArgument, InvalidParameter, MercerError, shown
from mercer.kernels.binding import diagonal, evaluate
from mercer.kernels.featuremap import FeatureMap
from mercer.kernels.logs import logarithm
from mercer.kernels.node import Node, written
from mercer.kernels.proof import Proof, prove
from mercer.kernels.rules import ADDITION, DISTANCE_SCALING, DISTANCE_SUM, SCALING, SCHUR_PRODUCT, Rule, underivable
from mercer.notation import ATOM, POWER, PRODUCT, SUM
from mercer.points.adapt import as_points
from mercer.points.base import Points

__all__ = ["BUILD", "Distance", "Kernel", "RowFunction"]

BUILD: dict[str, Callable[..., Any]] = {}


class RowFunction(Node):
    """A real function of one point, the f of rule 6."""

    is_premise: ClassVar[bool] = False
    sign: ClassVar[bool] = True  # whether its values are ≥ 0
    stated: ClassVar[str] = "f(x) = {function.x}"  # how a proof by rule 6 says what f is
    stated_latex: ClassVar[str] = "f(x) = {function.x}"

    @abstractmethod
    def values(self, points: Points) -> npt.NDArray[np.float64]:
        """The function at each point: (n,)."""

    def logs(self, points: Points) -> npt.NDArray[np.float64]:
        """log |f| at each point, −∞ where f = 0: also where f itself would round to 0 or overflow."""
        return logarithm(np.abs(self.values(points)))

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002 (the sort's own fact)
        """Whether the values are ≥ 0."""
        return self.sign

    def doubt_on(self, coordinates: bool) -> tuple[Node, str] | None:
        """The function itself, where its values may have any sign."""
        return None if self.nonnegative_on(coordinates) else (self, "a function of one point may change its sign")


class _Sort(Node):
    """What kernels and distances share: values, proof, resolution."""

    def __call__(self, X: Any, Z: Any = None) -> npt.NDArray[Any]:
        """The matrix of values, (len X, len Z); Z is X where it is not given."""
        return evaluate(self, X, Z)

    def resolve(self, points: Any) -> Self:
        """Replace rules such as ``length_scale="median"`` by numbers, computed from the points."""
        return self.resolve_on(as_points(points)) if self.unresolved else self

    def proof(self) -> Proof:
        """Why this is positive semi-definite (a kernel) or conditionally negative definite (a distance)."""
        return prove(self)


class Kernel(_Sort):
    """Kernels: functions k(x, z) whose Gram matrices are all positive semi-definite.

    ``k(X)`` is the Gram matrix of the points X, ``k(X, Z)`` that of X and Z. Kernels are immutable, equal if their
    formulas are, and combine by what the rules allow: ``k1 + k2``, ``k1 * k2``, ``2.0 * k``, ``k + 1.0``, ``k ** 3``,
    ``k.exp()``, ``k.scaled_by(f)``, ``k.normalised()``, ``k.summed()``, ``k.on(map)``, ``k.on("column")``. What no rule
    derives is refused with `NotPositive`.

    Examples
    --------
    >>> from mercer import RBF, Linear
    >>> k = RBF(2.0) + 0.5 * Linear() ** 2
    >>> k([[0.0], [1.0]], [[1.0]]).round(3)
    array([[0.882],
           [1.5  ]])
    >>> k.replace(length_scale=1.0)
    RBF() + 0.5 * Linear() ** 2
    """

    @property
    def max_abs(self) -> float:
        """A derived bound on |k(x, z)|; inf if none is derived."""
        return float("inf")

    def diag(self, X: Any) -> npt.NDArray[np.float64]:
        """The values k(x, x): (n,)."""
        return diagonal(self, X)

    def fractional(self, exponent: float) -> "Kernel":
        """The kernel that equals self ** exponent for a real exponent ≥ 0; refused if there is no rule."""
        raise BUILD["no_power"](self, exponent)

    def __add__(self, other: object) -> "Kernel":
        if isinstance(other, Node) or _is_number(other):
            kernel: Kernel = BUILD["add"](self, other)
            return kernel
        return NotImplemented

    def __radd__(self, other: object) -> "Kernel":
        return self + other if _is_number(other) else NotImplemented

    def __mul__(self, other: object) -> "Kernel":
        if isinstance(other, Node) or _is_number(other):
            kernel: Kernel = BUILD["multiply"](self, other)
            return kernel
        return NotImplemented

    def __rmul__(self, other: object) -> "Kernel":
        return self * other if _is_number(other) else NotImplemented

    def __truediv__(self, other: object) -> "Kernel":
        if isinstance(other, Node):
            raise _quotient(self, other)
        if not _is_number(other):
            return NotImplemented
        kernel: Kernel = BUILD["divide"](self, other)
        return kernel

    def __rtruediv__(self, other: object) -> "Kernel":
        if _is_number(other):
            raise _quotient(other, self)
        return NotImplemented

    def __pow__(self, exponent: object) -> "Kernel":
        if not _is_number(exponent):
            return NotImplemented
        kernel: Kernel = BUILD["power"](self, exponent)
        return kernel

    def __neg__(self) -> "Kernel":
        raise underivable(f"-{written(self, ATOM)}", SCALING, "a factor c ≥ 0", "-1.0", "Try the kernel itself.")

    def __sub__(self, other: object) -> "Kernel":
        if isinstance(other, Node) or _is_number(other):
            raise _difference(self, other)
        return NotImplemented

    def __rsub__(self, other: object) -> "Kernel":
        if _is_number(other):
            raise _difference(other, self)
        return NotImplemented

    def on(self, *target: object) -> "Kernel":
        """The pullback k(φ(x), φ(z)) along a map, a function of points, or columns by name or index."""
        kernel: Kernel = BUILD["pullback"](self, *target)
        return kernel

    def of(self, distance: object) -> "Kernel":
        """The same profile of another distance; only for radial kernels."""
        kernel: Kernel = BUILD["of"](self, distance)
        return kernel

    def exp(self) -> "Kernel":
        """exp(k), rule 7."""
        kernel: Kernel = BUILD["exp"](self)
        return kernel

    def normalised(self) -> "Kernel":
        """k(x, z)/√(k(x, x)·k(z, z)), and 0 where k(x, x) = 0: rule 6."""
        kernel: Kernel = BUILD["normalised"](self)
        return kernel

    def summed(self) -> "Kernel":
        """The convolution kernel Σᵢⱼ k(xᵢ, zⱼ) over the parts of two bags; `averaged` divides by their numbers."""
        kernel: Kernel = BUILD["summed"](self)
        return kernel

    def averaged(self) -> "Kernel":
        """The mean of k(xᵢ, zⱼ) over the pairs of parts of two bags, 0 where one of them is empty."""
        kernel: Kernel = BUILD["averaged"](self)
        return kernel

    def scaled_by(self, function: object) -> "Kernel":
        """f(x)·k(x, z)·f(z), rule 6. A Python function receives all points at once and returns one number for each."""
        kernel: Kernel = BUILD["scaled_by"](self, function)
        return kernel

    def feature_map(self, X: Any, order: int | None = None) -> FeatureMap:
        """The explicit feature map φ with ⟨φ(x), φ(z)⟩ = k(x, z), fitted on X, where it is finite.

        With an order p, also where exponentials occur: exp(k) by its terms of degree ≤ p, with an error bound. See
        `mercer.kernels.features.feature_map`.
        """
        phi: FeatureMap = BUILD["feature_map"](self, X, order)
        return phi

    def n_features(self, width: int) -> int:
        """The number of features of the explicit map on vectors of this width, if the width determines it."""
        count: int = BUILD["n_features"](self, width)
        return count


class Distance(_Sort):
    """Distances: conditionally negative definite functions ψ(x, z) that are zero on the diagonal, hence ≥ 0.

    They behave like squared distances: √ψ is a metric in a Hilbert space.
    """

    def __add__(self, other: object) -> "Distance":
        if isinstance(other, Distance):
            distance: Distance = BUILD["add_distances"](self, other)
            return distance
        if _is_number(other) and other == 0:  # so that sum() works
            return self
        if _is_number(other) or isinstance(other, Kernel):
            raise underivable(
                f"{written(self, SUM)} + {_operand(other, PRODUCT)}", DISTANCE_SUM, "distances, zero on the diagonal",
                _described(other), "Try k.of(distance), or the distance of a kernel, Polarised(k).",
            )  # fmt: skip
        return NotImplemented

    def __radd__(self, other: object) -> "Distance":
        return self + other if _is_number(other) else NotImplemented

    def __mul__(self, other: object) -> "Distance":
        if _is_number(other):
            distance: Distance = BUILD["scale_distance"](self, other)
            return distance
        if isinstance(other, Distance):
            raise underivable(
                f"{written(self, PRODUCT)} * {written(other, POWER)}", DISTANCE_SCALING, "a number c ≥ 0",
                "another distance: a product of distances is in general not a distance",
                "Try the sum of the distances, or the product of two kernels of them.",
            )  # fmt: skip
        if isinstance(other, Kernel):
            raise mixed_sorts(f"{written(self, PRODUCT)} * {written(other, POWER)}", self)
        return NotImplemented

    def __rmul__(self, other: object) -> "Distance":
        return self * other if _is_number(other) else NotImplemented

    def __truediv__(self, other: object) -> "Distance":
        if isinstance(other, Node):
            raise underivable(
                f"{written(self, PRODUCT)} / {written(other, POWER)}", DISTANCE_SCALING, "a number c ≥ 0",
                "a quotient of functions", "Try the distance over a number > 0.",
            )  # fmt: skip
        if not _is_number(other):
            return NotImplemented
        distance: Distance = BUILD["divide_distance"](self, other)
        return distance

    def __pow__(self, exponent: object) -> "Distance":
        if not _is_number(exponent):
            return NotImplemented
        distance: Distance = BUILD["bernstein_power"](self, exponent)
        return distance

    def __neg__(self) -> "Distance":
        raise underivable(f"-{written(self, ATOM)}", DISTANCE_SCALING, "a factor c ≥ 0", "-1.0", "Try RBF().of(…).")

    def __sub__(self, other: object) -> "Distance":
        if isinstance(other, Node) or _is_number(other):
            raise underivable(
                f"{written(self, SUM)} - {_operand(other, PRODUCT)}", DISTANCE_SUM, "distances added, never subtracted",
                "a difference", "Try the sum of the distances.",
            )  # fmt: skip
        return NotImplemented

    def log1p(self) -> "Distance":
        """log(1 + ψ), a Bernstein function of ψ."""
        distance: Distance = BUILD["log1p"](self)
        return distance

    def on(self, *target: object) -> "Distance":
        """The pullback ψ(φ(x), φ(z)) along a map, a function of points, or columns by name or index."""
        distance: Distance = BUILD["pullback_distance"](self, *target)
        return distance

    def of(self, other: object) -> "Distance":
        """Refused: only a kernel has a profile."""
        raise InvalidParameter(
            f"{self!r}.of({other!r}) is not defined.", f"{self!r} is a distance; .of belongs to radial kernels.",
            f"Try RBF().of({self!r}).",
        )  # fmt: skip


def _is_number(operand: object) -> bool:
    """Whether an operand is a number; an integer beyond every float is refused for what it is."""
    if isinstance(operand, int) and not isinstance(operand, bool) and not is_number(operand):
        raise InvalidArgument("Numbers in a formula must not be beyond every float.", f"Got {shown(operand)}.")
    return is_number(operand)


def _operand(value: object, level: int) -> str:
    return written(value, level) if isinstance(value, Node) else repr(_number(value))


def _described(value: object) -> str:
    return f"the kernel {value!r}" if isinstance(value, Kernel) else f"the number {_number(value)!r}"


def _number(operand: object) -> float:
    return float(operand)  # type: ignore[arg-type]  # what is no node is a number


def _difference(left: object, right: object) -> MercerError:
    return underivable(
        f"{_operand(left, SUM)} - {_operand(right, PRODUCT)}", ADDITION, "kernels added, never subtracted",
        "a difference", "Try the sum, or the product with a kernel between 0 and 1.",
    )  # fmt: skip


def _quotient(left: object, right: object) -> MercerError:
    return underivable(
        f"{_operand(left, PRODUCT)} / {_operand(right, POWER)}", SCHUR_PRODUCT, "kernels multiplied, never divided by",
        "a quotient", "Try k.normalised(), which divides by √(k(x, x)·k(z, z)), or a kernel over a number > 0.",
    )  # fmt: skip


def divided(left: Kernel | Distance, divisor: float, rule: Rule) -> float:
    """The factor 1/c of a quotient by a number c, refused unless c > 0."""
    factor = 1.0 / float(divisor) if math.isfinite(divisor) and divisor > 0 else math.nan
    if not math.isfinite(factor):
        raise underivable(
            f"{written(left, PRODUCT)} / {_operand(divisor, POWER)}", rule, "a finite factor 1/c ≥ 0",
            f"c = {float(divisor)!r}", "Try a number c > 0.",
        )  # fmt: skip
    return factor


def mixed_sorts(expression: str, distance: Distance) -> MercerError:
    """The refusal of an operation between a kernel and a distance."""
    return underivable(
        expression, ADDITION, "kernels", f"{distance!r}, which is a distance (conditionally negative definite)",
        f"Try a kernel of that distance: RBF().of({distance!r}).",
    )  # fmt: skip
