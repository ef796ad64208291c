"""Functions of one point: the f of rule 6, and the values k(x, x)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.domains import Function, Instance, Integer, Length
from mercer.errors import InvalidInput, NotFinite
from mercer.kernels.called import real_values
from mercer.kernels.kernel import Kernel, RowFunction
from mercer.kernels.linear import Linear
from mercer.kernels.logs import is_steep, log_diagonal
from mercer.mathml import called, fenced, fraction, line, power, row
from mercer.notation import POWER, PRODUCT, Notation, function_name
from mercer.points.base import Points
from mercer.term import REQUIRED, param

__all__ = [
    "KERNEL", "Diagonal", "GaussianEnvelope", "InverseRoot", "IsPositive", "IsZero", "NormPower", "UserFunction",
]  # fmt: skip

Values = npt.NDArray[np.float64]

KERNEL = Instance(Kernel, "a kernel")


@final
@dataclass(frozen=True, repr=False, eq=False)
class GaussianEnvelope(RowFunction):
    """f(x) = exp(−‖x‖²/(2ℓ²)), which turns exp(⟨x, z⟩/ℓ²) into the Gaussian kernel.

    Parameters
    ----------
    length_scale : float
        The length ℓ > 0.

    Examples
    --------
    >>> GaussianEnvelope(2.0).formula()
    'exp(−‖x‖²/(2·2²))'
    """

    notation: ClassVar[Notation] = Notation(
        text="exp(−‖{x}‖²/(2·{length_scale}²))",
        latex=r"\exp\left(-\frac{{\lVert {x} \rVert^2}}{{2{length_scale:? \cdot @^2}}}\right)",
        mathml=called("exp", row(line("−"), fraction("‖{x}‖²", "2{length_scale:?·@²}"))),
    )
    length_scale: float = param(REQUIRED, Length)

    def values(self, points: Points) -> Values:
        """exp(−‖x‖²/(2ℓ²)) at each point."""
        return np.exp(self.logs(points))

    def logs(self, points: Points) -> Values:
        """−‖x‖²/(2ℓ²) at each point."""
        return Linear().diag(points) * (-0.5 / self.length_scale**2)


@final
@dataclass(frozen=True, repr=False, eq=False)
class NormPower(RowFunction):
    """f(x) = ‖x‖ⁿ, and 0 at x = 0 for every n, also n = 0.

    Parameters
    ----------
    power : int
        The exponent n ≥ 0.

    Examples
    --------
    >>> NormPower(2).formula()
    '‖x‖^2'
    """

    notation: ClassVar[Notation] = Notation(text="‖{x}‖^{power}", latex=r"\lVert {x} \rVert^{{{power}}}", level=POWER)
    power: int = param(REQUIRED, Integer(0))

    def values(self, points: Points) -> Values:
        """‖x‖ⁿ at each point."""
        squares = Linear().diag(points)
        return np.where(squares > 0.0, squares ** (0.5 * self.power), 0.0)

    def logs(self, points: Points) -> Values:
        """n·log ‖x‖ at each point, −∞ at x = 0."""
        norms = 0.5 * log_diagonal(Linear(), points)
        return np.where(norms > -np.inf, self.power * np.where(norms > -np.inf, norms, 0.0), -np.inf)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Diagonal(RowFunction):
    """f(x) = k(x, x).

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Examples
    --------
    >>> Diagonal(Linear()).formula()
    '⟨x, x⟩'
    """

    notation: ClassVar[Notation] = Notation(text="{kernel.x}", latex="{kernel.x}", level=PRODUCT)
    kernel: Kernel = param(REQUIRED, KERNEL)

    def values(self, points: Points) -> Values:
        """k(x, x) at each point."""
        return self.kernel.diag(points)


@final
@dataclass(frozen=True, repr=False, eq=False)
class InverseRoot(RowFunction):
    """f(x) = 1/√k(x, x), and 0 where k(x, x) = 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Examples
    --------
    >>> InverseRoot(Linear()).formula()
    '(⟨x, x⟩)^(−1/2)'
    """

    notation: ClassVar[Notation] = Notation(
        text="({kernel.x})^(−1/2)",
        latex=r"\left({kernel.x}\right)^{{-1/2}}",
        level=POWER,
        mathml=power(fenced("(", "{kernel.x}", ")"), "−1/2"),
    )
    kernel: Kernel = param(REQUIRED, KERNEL)

    def values(self, points: Points) -> Values:
        """1/√k(x, x) at each point."""
        if is_steep(self.kernel):
            return np.exp(self.logs(points))
        diagonal = self.kernel.diag(points)
        positive = diagonal > 0.0
        return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)

    def logs(self, points: Points) -> Values:
        """−½·log k(x, x) at each point, −∞ where k(x, x) = 0."""
        inner = log_diagonal(self.kernel, points)
        return np.where(inner > -np.inf, -0.5 * inner, -np.inf)


@final
@dataclass(frozen=True, repr=False, eq=False)
class IsZero(RowFunction):
    """f(x) = 1 where k(x, x) = 0, else 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Examples
    --------
    >>> IsZero(Linear()).formula()
    '[⟨x, x⟩ = 0]'
    """

    notation: ClassVar[Notation] = Notation(text="[{kernel.x} = 0]", latex=r"\left[{kernel.x} = 0\right]")
    kernel: Kernel = param(REQUIRED, KERNEL)

    def values(self, points: Points) -> Values:
        """Whether k(x, x) vanishes, at each point."""
        return np.where(log_diagonal(self.kernel, points) == -np.inf, 1.0, 0.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class IsPositive(RowFunction):
    """f(x) = 1 where k(x, x) > 0, else 0.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.

    Examples
    --------
    >>> IsPositive(Linear()).formula()
    '[⟨x, x⟩ > 0]'
    """

    notation: ClassVar[Notation] = Notation(text="[{kernel.x} > 0]", latex=r"\left[{kernel.x} > 0\right]")
    kernel: Kernel = param(REQUIRED, KERNEL)

    def values(self, points: Points) -> Values:
        """Whether k(x, x) is positive, at each point."""
        return np.where(log_diagonal(self.kernel, points) > -np.inf, 1.0, 0.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class UserFunction(RowFunction):
    """Any real function of a point.

    Parameters
    ----------
    fn : callable
        Receives all points at once, as plain data, and returns one finite number for each.

    Examples
    --------
    >>> def weight(X):
    ...     return X[:, 0]
    >>> Linear().scaled_by(weight)
    Linear().scaled_by(weight)
    """

    sign: ClassVar[bool] = False
    stated: ClassVar[str] = "{function.x} is a Python function"
    stated_latex: ClassVar[str] = r"{function.x} \text{{ is a Python function}}"
    notation: ClassVar[Notation] = Notation(source="{fn}", text="{fn}({x})", latex="{fn}({x})")
    fn: Callable[..., Any] = param(REQUIRED, Function)

    def values(self, points: Points) -> Values:
        """The function's values, checked: one finite number per point."""
        name = function_name(self.fn)
        found = real_values(self.fn(points.raw()), f"The function {name}")
        if found.shape != (len(points),):
            raise InvalidInput(
                f"The function {name} must return one number per point.",
                f"Got shape {found.shape} for {len(points)} points.",
            )
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found))[0])
            raise NotFinite(f"The function {name} is not finite at row {row}.", f"It gave {found[row]}.", row=row)
        return found
