"""What nearest neighbours say together: the weight of each vote, and the mean or the shares of the votes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.search.featurespace import FeatureSpace, Found

__all__ = ["Votes"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Votes:
    """How many neighbours vote, what each vote weighs, and what is voted on.

    Attributes
    ----------
    n_neighbors : int
        How many neighbours vote.
    weights : {"uniform", "distance", "kernel"} or callable
        What a vote weighs: 1; 1/d, where a training point at distance 0 outvotes all others; k(x, z) ≥ 0, where the
        nearest decides if all are 0; or a function of the distances (m, k) that returns as many weights.
    n_classes : tuple of int
        Of each output of a classifier, whose coefficients are the numbers of the classes (the table of n × n_classes
        zeros and ones that they stand for would be larger); none for targets, whose mean is taken.
    """

    n_neighbors: int
    weights: str | Callable[[Array], Any]
    n_classes: tuple[int, ...] = ()

    def mean(self, space: FeatureSpace, found: Found, targets: Array) -> Array:  # (n, t) -> (m, t)
        """The weighted mean of the neighbours' targets."""
        votes = self.of(space, found)
        total = np.einsum("mk,mkt->mt", votes, targets[found.index])
        return np.asarray(total / votes.sum(axis=1, keepdims=True))

    def shares(self, space: FeatureSpace, found: Found, codes: Array) -> list[Array]:  # (n, outputs) -> (m, classes)
        """For each output, the share of the votes that each class has."""
        votes = self.of(space, found)
        rows = np.arange(len(votes))
        shares = []
        for output, n_classes in enumerate(self.n_classes):
            labels = codes[found.index, output].astype(np.intp)
            share = np.zeros((len(votes), n_classes))
            for neighbour in range(votes.shape[1]):
                share[rows, labels[:, neighbour]] += votes[:, neighbour]
            shares.append(share / share.sum(axis=1, keepdims=True))
        return shares

    def of(self, space: FeatureSpace, found: Found) -> Array:  # (m, k)
        """What each neighbour's vote weighs, of a sum other than 0 in every row."""
        if not isinstance(self.weights, str):
            return _asked(self.weights, space.distances(found))
        return WEIGHTS[self.weights](space, found)


def _uniform(_space: FeatureSpace, found: Found) -> Array:
    return np.ones(found.index.shape)


def _inverse_distances(space: FeatureSpace, found: Found) -> Array:
    distances = space.distances(found)
    exact = distances == 0.0
    # A point that coincides with training points listens to those alone.
    with np.errstate(divide="ignore"):
        return np.where(exact.any(axis=1, keepdims=True), exact, 1.0 / distances)


def _kernel_values(space: FeatureSpace, found: Found) -> Array:
    values = space.values(found)
    if (values < 0.0).any():
        raise InvalidInput(
            'weights="kernel" needs kernel values ≥ 0: a vote cannot have a negative weight.',
            f"The smallest value of a neighbour is {values.min():.6g}.",
            'Use a kernel of values ≥ 0, such as RBF(), or weights="distance".',
        )
    # If all values have underflowed to 0, the nearest decides, as it does in the limit.
    silent = ~values.any(axis=1)
    values[silent, 0] = 1.0
    return values


WEIGHTS: dict[str, Callable[[FeatureSpace, Found], Array]] = {
    "uniform": _uniform,
    "distance": _inverse_distances,
    "kernel": _kernel_values,
}


def _asked(function: Callable[[Array], Any], distances: Array) -> Array:
    """The votes of a user's function, checked."""
    votes = np.asarray(function(distances), dtype=np.float64)
    if votes.shape != distances.shape:
        raise InvalidInput(
            "The function weights must return one number for each distance.",
            f"Got shape {votes.shape} for distances of shape {distances.shape}.",
        )
    if not np.isfinite(votes).all():
        wrong = ~np.isfinite(votes)
        raise InvalidInput(
            "The function weights must return finite numbers.",
            f"Got {votes[wrong][0]} for the distance {distances[wrong][0]:.6g}.",
        )
    if (votes.sum(axis=1) == 0.0).any():
        raise InvalidInput(
            "All neighbors of some sample is getting zero weights.",
            "",
            "Please modify 'weights' to avoid this case if you are using a user-defined function.",
        )
    return votes
