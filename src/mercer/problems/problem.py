"""The one problem of mercer's machines, and its sign conventions; support vector machines have a type of their own.

    minimise over f in the space of the kernel and θ in ℝ^q:
        P = ½ ‖f‖² + Σᵢ cᵢ ℓ(gᵢ, yᵢ) + pᵀθ,          g = Kα + B θ,   f = Σᵢ αᵢ k(xᵢ, ·),   ‖f‖² = αᵀ Kα,

    maximise over α with Bᵀ α = p:
        D = −½ αᵀ Kα − Σᵢ cᵢ ℓ*(−αᵢ/cᵢ, yᵢ).

The coefficients α are signed (there is no y in front of them): a prediction is Σᵢ αᵢ k(xᵢ, x) plus a row of B times θ.
At the optimum −αᵢ/cᵢ is a slope of ℓ(·, yᵢ) at gᵢ.

- A penalty λ and weights wᵢ enter as cᵢ = wᵢ/λ. c = 0 drops a row (then αᵢ = 0); c = ∞ makes its loss a constraint.
  Where constraints of the squared loss contradict each other, the limit λ → 0 is meant: least squares of least norm.
- An intercept is the column B = 1 with price p = 0.
- With t targets α, g, y and θ have t columns and P is the sum over them; or one loss joins the columns of a row
  (softmax), and then a row has one cost.

Support vector machines are instances of the formula too, but come in batches (pairs of classes, folds) over ranges of
the same rows of K, which one solve shares: `mercer.problems.margins` states them in the dual, many at a time.
"""

from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.grams.base import Gram
from mercer.problems.losses import Loss

__all__ = ["Problem"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A Gram matrix, targets, a loss and its costs; see the module's text for the formulas.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K.
    y : ndarray of shape (n, t)
        Targets.
    loss : Loss
        A row of `mercer.problems.losses.LOSSES`.
    cost : ndarray of shape (n, t)
        cᵢ = wᵢ/λ in [0, ∞], one column per target; (n, 1) for a loss that joins them.
    B : ndarray of shape (n, q)
        Columns that are not penalised; q may be 0.
    price : ndarray of shape (q,)
        p.
    weight : ndarray of shape (n,), optional
        Relative weights of rows of infinite cost if they cannot all hold: the limit of cᵢ = wᵢ/λ as λ → 0.
    """

    gram: Gram
    y: Array
    loss: Loss
    cost: Array
    B: Array
    price: Array
    weight: Array = field(default_factory=lambda: np.empty(0))

    usual_tol: ClassVar[float] = 1e-8

    @property
    def machine(self) -> str:
        """What is minimised, as the table of solvers and certificates call it."""
        return f"{self.loss.name} loss"

    def __post_init__(self) -> None:
        if self.weight.size == 0:
            object.__setattr__(self, "weight", np.ones(len(self.y)))
        n, t = self.y.shape
        q = self.price.shape[0]
        expected = {"gram": (n, n), "cost": (n, 1 if self.loss.is_joint else t), "B": (n, q), "weight": (n,)}
        got = {"gram": self.gram.shape, "cost": self.cost.shape, "B": self.B.shape, "weight": self.weight.shape}
        for name, shape in expected.items():
            if got[name] != shape:
                raise InvalidInput(f"{name} must have shape {shape} to match y.", f"Got {got[name]}.")
        if not (self.cost >= 0.0).all():
            raise InvalidInput("Costs must be numbers ≥ 0.", f"The smallest is {self.cost.min()}.")
        if not self.loss.targets.admits(self.y):
            raise InvalidInput(f"The targets of the {self.loss.name} loss are {self.loss.targets.value}.")
