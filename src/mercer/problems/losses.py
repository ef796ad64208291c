"""The losses, one row each: what the primal adds up, and what the dual makes of it.

A loss ℓ(g, y) is convex in the decision g. The dual needs its conjugate ℓ*(v, y) = sup_g (v g − ℓ(g, y)), taken at
v = −aᵢ/cᵢ, and the interval in which aᵢ/cᵢ must lie for that to be finite.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

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
        ℓ(g, y), entry by entry.
    conjugate : callable (v, y) -> array
        ℓ*(v, y), entry by entry, for −v inside the box.
    box : callable (y) -> (array, array)
        Least and largest aᵢ/cᵢ; infinite where there is no bound.
    curvature : float
        The largest second derivative in g, infinity where ℓ has a kink; its inverse is the curvature of the dual.
    """

    name: str
    formula: str
    conjugate_formula: str
    value: Callable[[Array, Array], Array]
    conjugate: Callable[[Array, Array], Array]
    box: Callable[[Array], tuple[Array, Array]]
    curvature: float

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


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (Loss("squared", "½ (g − y)²", "½ v² + v y", _squared, _squared_conjugate, _unbounded, curvature=1.0),)
}
