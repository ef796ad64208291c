"""The losses, one row each: what the primal adds up, and its counterpart in the dual.

A loss ℓ(g, y) is convex in the decision g. The dual needs its conjugate ℓ*(v, y) = sup_g (v g − ℓ(g, y)), taken at
v = −αᵢ/cᵢ, and the interval in which αᵢ/cᵢ must lie for that to be finite. Newton's method needs slope and Hessian; the
referee needs, of a loss whose slope is continuous, a decision of any given slope.

The losses of logistic regression are negative logarithms of probabilities, and their conjugates negative entropies:
their slope is −v = y − p for the probabilities p of the classes, whatever g was.

Solvers and the referee ask a loss for its properties, never for its name: a new loss is a row.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.special

from mercer.errors import InvalidParameter

__all__ = ["LOSSES", "Loss", "Targets", "huber"]

Array = npt.NDArray[np.float64]


class Targets(Enum):
    """What y may be; the value is how messages say it."""

    REAL = "numbers"
    SIGNS = "−1 or +1"
    COUNTS = "numbers ≥ 0"
    ONE_HOT = "rows of zeros and a single 1"

    def admits(self, y: Array) -> bool:
        """Whether y is that."""
        return _ADMITS[self](y)


_ADMITS: dict[Targets, Callable[[Array], bool]] = {
    Targets.REAL: lambda _: True,
    Targets.SIGNS: lambda y: bool((np.abs(y) == 1.0).all()),
    Targets.COUNTS: lambda y: bool((y >= 0.0).all()),
    Targets.ONE_HOT: lambda y: bool(((y == 0.0) | (y == 1.0)).all() and (y.sum(axis=1) == 1.0).all()),
}


@final
@dataclass(frozen=True)
class Loss:
    """One row of the table.

    Attributes
    ----------
    name : str
        Its key.
    formula, conjugate_formula : str
        As printed.
    targets : Targets
        What y may be.
    value : callable (g, y) -> array
        ℓ(g, y), entry by entry; (n, 1) for a loss that joins the columns.
    slope : callable (g, y) -> array
        ∂ℓ/∂g, of the shape of g; where ℓ has a kink, a subgradient.
    conjugate : callable (v, y) -> array
        ℓ*(v, y), entry by entry, for −v inside the box; (n, 1) for a loss that joins the columns.
    box : callable (y) -> (array, array)
        The smallest and largest αᵢ/cᵢ; infinite if there is no bound.
    curvature : float
        The largest second derivative in g, infinity where ℓ has a kink or bends without bound.
    hessian : callable (g, y) -> array, optional
        d, of the shape of g: the second derivatives, those of one side where the slope has a kink. The Hessian of a row
        is diag(d), and diag(d) − d dᵀ of a loss that joins the columns. None where the slope is not continuous.
    decision : callable (v, y) -> array, optional
        A g whose slope is v, where there is a Hessian; for a v outside the box, one whose slope is the nearest.
    is_joint : bool
        Whether one loss joins all t columns of a row, so that a row has one cost instead of t.
    is_quadratic : bool
        Whether the optimum is a linear system.
    """

    name: str
    formula: str
    conjugate_formula: str
    targets: Targets
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]
    box: Callable[[Array], tuple[Array, Array]]
    curvature: float
    hessian: Callable[[Array, Array], Array] | None = None
    decision: Callable[[Array, Array], Array] | None = None
    is_joint: bool = False
    is_quadratic: bool = False

    @property
    def is_smooth(self) -> bool:
        """Whether the slope is continuous, as Newton's method needs it."""
        return self.hessian is not None

    def bend(self, g: Array, y: Array) -> Array:
        """`hessian` of a smooth loss."""
        assert self.hessian is not None, f"the {self.name} loss has kinks; is_smooth says so"
        return self.hessian(g, y)

    def inverse(self, v: Array, y: Array) -> Array:
        """`decision` of a smooth loss."""
        assert self.decision is not None, f"the {self.name} loss has kinks; is_smooth says so"
        return self.decision(v, y)


def _unbounded(y: Array) -> tuple[Array, Array]:
    return np.full_like(y, -np.inf), np.full_like(y, np.inf)


def _shifted_square(v: Array, y: Array) -> Array:
    return v * (0.5 * v + y)


def _added(v: Array, y: Array) -> Array:
    return y + v


def _squared(g: Array, y: Array) -> Array:
    return 0.5 * (g - y) ** 2


# Huber's loss: the squared one up to a residual of δ, and straight from there.


def _huber(delta: float, g: Array, y: Array) -> Array:
    r = g - y
    v = np.clip(r, -delta, delta)
    return np.asarray(v * (r - 0.5 * v))


def _huber_slope(delta: float, g: Array, y: Array) -> Array:
    return np.clip(g - y, -delta, delta)


def _huber_hessian(delta: float, g: Array, y: Array) -> Array:
    return (np.abs(g - y) <= delta).astype(np.float64)


def _huber_box(delta: float, y: Array) -> tuple[Array, Array]:
    return np.full_like(y, -delta), np.full_like(y, delta)


# The squared hinge: ½ m², m = max(0, 1 − y g).


def _short(g: Array, y: Array) -> Array:
    return np.asarray(np.maximum(1.0 - y * g, 0.0))


def _squared_hinge_box(y: Array) -> tuple[Array, Array]:
    return np.where(y > 0.0, 0.0, -np.inf), np.where(y > 0.0, np.inf, 0.0)


# Poisson regression: y is a count with the mean exp(g), and u = y + v that mean.


def _exp(g: Array) -> Array:
    with np.errstate(over="ignore"):  # such a mean is infinite, and no optimum
        return np.asarray(np.exp(g))


def _poisson_conjugate(v: Array, y: Array) -> Array:
    u = np.maximum(y + v, 0.0)
    return np.asarray(scipy.special.xlogy(u, u) - u)


def _poisson_box(y: Array) -> tuple[Array, Array]:
    return np.full_like(y, -np.inf), y.copy()


# Probabilities and means are kept above this, so that their logarithms are numbers.
LEAST = float(np.finfo(np.float64).tiny)
MOST = 1.0 - float(np.finfo(np.float64).epsneg)


def _logistic(g: Array, y: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, -y * g))


def _logistic_slope(g: Array, y: Array) -> Array:
    return np.asarray(-y * scipy.special.expit(-y * g))


def _logistic_hessian(g: Array, y: Array) -> Array:  # noqa: ARG001 (a column of the table)
    return np.asarray(scipy.special.expit(g) * scipy.special.expit(-g))


def _logistic_conjugate(v: Array, y: Array) -> Array:
    u = np.clip(-v * y, 0.0, 1.0)  # the probability of the other class
    return np.asarray(scipy.special.xlogy(u, u) + scipy.special.xlog1py(1.0 - u, -u))


def _to_y(y: Array) -> tuple[Array, Array]:
    return np.minimum(y, 0.0), np.maximum(y, 0.0)


def _logistic_decision(v: Array, y: Array) -> Array:
    u = np.clip(-v * y, LEAST, MOST)
    return np.asarray(y * (np.log1p(-u) - np.log(u)))


def _softmax(g: Array, y: Array) -> Array:
    largest: Array = np.asarray(scipy.special.logsumexp(g, axis=1, keepdims=True))
    return np.asarray(largest - (y * g).sum(axis=1, keepdims=True))


def _chances(g: Array) -> Array:
    return np.asarray(scipy.special.softmax(g, axis=1))


def _softmax_slope(g: Array, y: Array) -> Array:
    # p − 1 of the right class is minus what the others have: a difference would leave rounding of a small one.
    wrong = np.where(y > 0.0, 0.0, _chances(g))
    return np.asarray(wrong - y * wrong.sum(axis=1, keepdims=True))


def _softmax_log(v: Array, y: Array) -> Array:
    """log p of p = y + v; of the right class by v, for a p that is nearly 1 has lost its digits."""
    log: Array = np.log(np.clip(y + v, LEAST, 1.0))
    return np.asarray(np.log1p(np.clip(v, -MOST, 0.0), out=log, where=y > 0.0))


def _softmax_conjugate(v: Array, y: Array) -> Array:
    return np.asarray((np.clip(y + v, 0.0, 1.0) * _softmax_log(v, y)).sum(axis=1, keepdims=True))


def _softmax_box(y: Array) -> tuple[Array, Array]:
    return y - 1.0, y.copy()


def huber(delta: float = 1.0) -> Loss:
    """Huber's loss with the residual δ from which on it is a straight line."""
    if not 0.0 < delta < np.inf:
        raise InvalidParameter("delta must be a number above 0.", f"Got {delta!r}.")
    return Loss(
        "huber",
        "½ r² up to |r| = |g − y| = δ, then δ |r| − ½ δ²",
        "½ v² + v y",
        Targets.REAL,
        partial(_huber, delta),
        partial(_huber_slope, delta),
        _shifted_square,
        partial(_huber_box, delta),
        curvature=1.0,
        hessian=partial(_huber_hessian, delta),
        decision=_added,
    )


# Positional: name, formula, conjugate's formula, targets, value, slope, conjugate, box.
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss(
            "squared",
            "½ (g − y)²",
            "½ v² + v y",
            Targets.REAL,
            _squared,
            lambda g, y: g - y,
            _shifted_square,
            _unbounded,
            curvature=1.0,
            hessian=lambda g, _: np.ones_like(g),
            decision=_added,
            is_quadratic=True,
        ),
        huber(),
        Loss(
            "hinge",
            "max(0, 1 − y g)",
            "v y",
            Targets.SIGNS,
            _short,
            lambda g, y: np.where(y * g < 1.0, -y, 0.0),
            lambda v, y: v * y,
            _to_y,
            curvature=np.inf,
        ),
        Loss(
            "squared hinge",
            "½ max(0, 1 − y g)²",
            "½ v² + v y",
            Targets.SIGNS,
            lambda g, y: 0.5 * _short(g, y) ** 2,
            lambda g, y: -y * _short(g, y),
            _shifted_square,
            _squared_hinge_box,
            curvature=1.0,
            hessian=lambda g, y: (y * g <= 1.0).astype(np.float64),
            decision=_added,
        ),
        Loss(
            "poisson",
            "exp(g) − y g",
            "u log u − u, u = y + v",
            Targets.COUNTS,
            lambda g, y: _exp(g) - y * g,
            lambda g, y: _exp(g) - y,
            _poisson_conjugate,
            _poisson_box,
            curvature=np.inf,
            hessian=lambda g, _: _exp(g),
            decision=lambda v, y: np.log(np.maximum(y + v, LEAST)),
        ),
        Loss(
            "logistic",
            "log(1 + exp(−y g))",
            "u log u + (1 − u) log(1 − u), u = −v y",
            Targets.SIGNS,
            _logistic,
            _logistic_slope,
            _logistic_conjugate,
            _to_y,
            curvature=0.25,
            hessian=_logistic_hessian,
            decision=_logistic_decision,
        ),
        Loss(
            "softmax",
            "log Σⱼ exp(gⱼ) − ⟨y, g⟩",
            "Σⱼ pⱼ log pⱼ, p = y + v",
            Targets.ONE_HOT,
            _softmax,
            _softmax_slope,
            _softmax_conjugate,
            _softmax_box,
            curvature=0.5,
            hessian=lambda g, _: _chances(g),
            decision=_softmax_log,
            is_joint=True,
        ),
    )
}
