"""The losses, one row each: what the primal adds up, and what the dual makes of it.

A loss ℓ(g, y) is convex in the decision g. The dual needs its conjugate ℓ*(v, y) = sup_g (v g − ℓ(g, y)), taken at
v = −aᵢ/cᵢ, and the interval in which aᵢ/cᵢ must lie for that to be finite.

The two losses of logistic regression are negative logarithms of probabilities, and their conjugates negative entropies:
their slope is −v = y − p for the probabilities p of the classes, whatever g was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.special

__all__ = ["LOSSES", "Loss"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True)
class Loss:
    """One row of the table.

    Attributes
    ----------
    name : str
        Its key.
    formula, conjugate_formula : str
        As they are printed.
    value : callable (g, y) -> array
        ℓ(g, y), entry by entry; (n, 1) for a loss that joins the columns.
    slope : callable (g, y) -> array
        ∂ℓ/∂g, of the shape of g; of the squared loss, the residual g − y.
    conjugate : callable (v, y) -> array
        ℓ*(v, y), entry by entry, for −v inside the box; (n, 1) for a loss that joins the columns.
    box : callable (y) -> (array, array)
        Least and largest aᵢ/cᵢ; infinite where there is no bound.
    curvature : float
        The largest second derivative in g, infinity where ℓ has a kink; its inverse is the curvature of the dual.
    is_joint : bool
        Whether one loss joins all t columns of a row, so that a row has one cost and not t.
    probabilities : callable (g) -> array, optional
        Of a loss that is −log of a probability: p of the classes, one column less than there are for two of them. The
        second derivative is then diag(p) − p pᵀ in every row.
    decision : callable (v, y) -> array, optional
        Of such a loss: a g whose slope is v; where v misses the simplex, of the nearest slope entry by entry.
    """

    name: str
    formula: str
    conjugate_formula: str
    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]
    box: Callable[[Array], tuple[Array, Array]]
    curvature: float
    is_joint: bool = False
    probabilities: Callable[[Array], Array] | None = None
    decision: Callable[[Array, Array], Array] | None = None

    @property
    def is_squared(self) -> bool:
        """Whether its optimum is a linear system."""
        return self.name == "squared"


def _squared(g: Array, y: Array) -> Array:
    return 0.5 * (g - y) ** 2


def _squared_conjugate(v: Array, y: Array) -> Array:
    return v * (0.5 * v + y)


def _unbounded(y: Array) -> tuple[Array, Array]:
    return np.full_like(y, -np.inf), np.full_like(y, np.inf)


# Probabilities are kept above this, so that their logarithms are numbers.
LEAST = float(np.finfo(np.float64).tiny)
MOST = 1.0 - float(np.finfo(np.float64).epsneg)


def _logistic(g: Array, y: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, -y * g))


def _logistic_slope(g: Array, y: Array) -> Array:
    return np.asarray(-y * scipy.special.expit(-y * g))


def _logistic_conjugate(v: Array, y: Array) -> Array:
    u = np.clip(-v * y, 0.0, 1.0)  # the probability of the other class
    return np.asarray(scipy.special.xlogy(u, u) + scipy.special.xlog1py(1.0 - u, -u))


def _logistic_box(y: Array) -> tuple[Array, Array]:
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


# Positional: name, formula, conjugate's formula, value, slope, conjugate, box.
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss(
            "squared",
            "½ (g − y)²",
            "½ v² + v y",
            _squared,
            lambda g, y: g - y,
            _squared_conjugate,
            _unbounded,
            curvature=1.0,
        ),
        # y is −1 or +1.
        Loss(
            "logistic",
            "log(1 + exp(−y g))",
            "u log u + (1 − u) log(1 − u), u = −v y",
            _logistic,
            _logistic_slope,
            _logistic_conjugate,
            _logistic_box,
            curvature=0.25,
            probabilities=lambda g: np.asarray(scipy.special.expit(g)),
            decision=_logistic_decision,
        ),
        # y is one-hot, a row of t numbers.
        Loss(
            "softmax",
            "log Σⱼ exp(gⱼ) − ⟨y, g⟩",
            "Σⱼ pⱼ log pⱼ, p = y + v",
            _softmax,
            _softmax_slope,
            _softmax_conjugate,
            _softmax_box,
            curvature=0.5,
            is_joint=True,
            probabilities=_chances,
            decision=_softmax_log,
        ),
    )
}
