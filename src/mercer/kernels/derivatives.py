"""The instructions of a tape in NumPy, with the derivative of each: one table.

The engine computes kernels; this table is for what needs their derivatives, such as learning parameters. Where a
derivative does not exist, as that of √a at 0, it counts as 0: the points are the same there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["DERIVATIVES", "Derivatives", "Operands"]

Array = npt.NDArray[np.float64]


@final
@dataclass(slots=True)
class Operands:
    """What an instruction reads, and what it has written.

    Attributes
    ----------
    a, b : ndarray of shape (rows, n)
        Registers.
    s, t : float
        Its numbers.
    left : ndarray of shape (rows, 1)
        The values of a function of one point at the rows.
    right : ndarray of shape (1, n)
        Those at the columns.
    out : ndarray of shape (rows, n)
        The result.
    """

    a: Any = None
    b: Any = None
    s: float = 0.0
    t: float = 0.0
    left: Any = None
    right: Any = None
    out: Any = None


Rule = Callable[[Operands], Any]


@final
@dataclass(frozen=True, slots=True)
class Derivatives:
    """A row of the table.

    Attributes
    ----------
    value : callable
        The result.
    a, b, s, t, left : callable, optional
        The derivative of the result by each operand that the instruction has; `right` has that of `left`, transposed.
    """

    value: Rule
    a: Rule | None = None
    b: Rule | None = None
    s: Rule | None = None
    t: Rule | None = None
    left: Rule | None = None


def _one(_: Operands) -> float:
    return 1.0


def _over(above: Any, below: Any, otherwise: float = 0.0) -> Array:
    """above/below, and `otherwise` where below is 0."""
    shape = np.broadcast_shapes(np.shape(above), np.shape(below))
    out = np.full(shape, otherwise)
    np.divide(above, below, out=out, where=np.broadcast_to(below != 0.0, shape))
    return out


def _log(a: Array) -> Array:
    return np.log(a, out=np.zeros_like(a), where=a > 0.0)


def _angle(chord: Array) -> Array:
    """θ of the squared chord 2 − 2 cos θ."""
    chord = np.clip(chord, 0.0, 4.0)
    return np.asarray(2.0 * np.arctan2(np.sqrt(chord), np.sqrt(4.0 - chord)))


def _arccosine(i: Operands) -> Array:
    theta = _angle(i.a)
    rest, sine, cosine = np.pi - theta, np.sin(theta), np.cos(theta)
    values = (
        lambda: rest,
        lambda: sine + rest * cosine,
        lambda: 3.0 * sine * cosine + rest * (1.0 + 2.0 * cosine**2),
    )
    return np.asarray(values[int(i.s)]() / np.pi)


def _arccosine_slope(i: Operands) -> Array:
    # J' by θ, over dθ/da = 1/(2 sin θ).
    theta = _angle(i.a)
    rest, sine, cosine = np.pi - theta, np.sin(theta), np.cos(theta)
    slopes = (
        lambda: _over(-0.5, sine),
        lambda: -0.5 * rest,
        lambda: -2.0 * (sine + rest * cosine),
    )
    return np.asarray(slopes[int(i.s)]() / np.pi)


def _whole(i: Operands) -> Array:
    return i.left + i.right - i.a  # type: ignore[no-any-return]


DERIVATIVES: dict[str, Derivatives] = {
    "constant": Derivatives(lambda i: i.s, s=_one),
    "affine": Derivatives(lambda i: i.s * i.a + i.t, a=lambda i: i.s, s=lambda i: i.a, t=_one),
    "add": Derivatives(lambda i: i.a + i.b, a=_one, b=_one),
    "mul": Derivatives(lambda i: i.a * i.b, a=lambda i: i.b, b=lambda i: i.a),
    "div": Derivatives(lambda i: _over(i.a, i.b), a=lambda i: _over(1.0, i.b), b=lambda i: -_over(i.out, i.b)),
    "exp": Derivatives(lambda i: np.exp(i.a), a=lambda i: i.out),
    "decay": Derivatives(lambda i: np.exp(i.a), a=lambda i: i.out),
    "log1p": Derivatives(lambda i: np.log1p(i.a), a=lambda i: 1.0 / (1.0 + i.a)),
    "sqrt": Derivatives(lambda i: np.sqrt(i.a), a=lambda i: _over(0.5, i.out)),
    "pow": Derivatives(lambda i: i.a**i.s, a=lambda i: i.s * _over(i.out, i.a), s=lambda i: i.out * _log(i.a)),
    "powi": Derivatives(lambda i: i.a ** int(i.s), a=lambda i: i.s * i.a ** max(int(i.s) - 1, 0)),
    "tanh": Derivatives(lambda i: np.tanh(i.a), a=lambda i: 1.0 - i.out**2),
    "clamp0": Derivatives(lambda i: np.maximum(i.a, 0.0), a=lambda i: (i.a > 0.0).astype(np.float64)),
    "arccosine": Derivatives(_arccosine, a=_arccosine_slope),
    "add_rows": Derivatives(lambda i: i.a + (i.left + i.right), a=_one, left=_one),
    "mul_rows": Derivatives(
        lambda i: i.a * (i.left * i.right), a=lambda i: i.left * i.right, left=lambda i: i.a * i.right
    ),
    "tanimoto": Derivatives(
        lambda i: _over(i.a, _whole(i), 1.0),
        a=lambda i: _over(i.left + i.right, _whole(i) ** 2),
        left=lambda i: -_over(i.a, _whole(i) ** 2),
    ),
    "inverse_sum": Derivatives(lambda i: _over(1.0, i.left + i.right), left=lambda i: -(i.out**2)),
}
