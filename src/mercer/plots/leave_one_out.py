"""Leave-one-out of a fitted ridge machine for any penalty, by the exact formula; nothing is fitted again."""

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.grams.choose import gram_to_solve
from mercer.models.uncertainty import Uncertainty
from mercer.plots.reading import Machine
from mercer.solvers.path import Path

__all__ = ["path_of", "penalties_of"]

Array = npt.NDArray[np.float64]

# An n × n matrix is decomposed.
MOST_ROWS = 5_000


def path_of(machine: Machine) -> Path:
    """The path of penalties of the problem that a ridge machine has solved, weights relative to the largest."""
    known = _known(machine)
    rows = len(known.targets)
    is_small = machine.model.weights is not None  # as many features as there are decide, not rows
    if rows > MOST_ROWS and not is_small:
        raise InvalidInput(
            f"Leave-one-out of {rows} rows decomposes an n × n matrix.",
            f"More than {MOST_ROWS} rows take minutes.",
            "Fit the machine on a sample of the rows.",
        )
    model = machine.model
    gram = gram_to_solve(model.binding, primal=model.weights is not None)
    weight = known.cost[:, 0] / known.cost[:, 0].max()
    return Path(gram, known.targets, weight, np.ones((rows, int(known.has_intercept))))


def penalties_of(machine: Machine) -> Array:
    """λ of each target, for weights relative to the largest."""
    known = _known(machine)
    return np.asarray(1.0 / known.cost.max(axis=0), dtype=np.float64)


def _known(machine: Machine) -> Uncertainty:
    known = machine.model.uncertainty
    if known is None:
        raise InvalidInput(
            f"{type(machine.last).__name__} has no formula for leave-one-out.",
            "",
            "KernelRidge and KernelRidgeCV have.",
        )
    if np.isinf(known.cost).any():
        raise InvalidInput("Leave-one-out needs a penalty above 0.", "The machine was fitted with alpha = 0.")
    return known
