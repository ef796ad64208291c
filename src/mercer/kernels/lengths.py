"""Length scales from data: the table of rules behind ``length_scale="median"``, "scale" and "auto"."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from mercer.errors import InvalidInput
from mercer.kernels.bound import evaluate
from mercer.kernels.tape import Lowerable
from mercer.points import Domain, Indicators, Points, Vectors, require

__all__ = ["TABLE", "gamma_auto", "gamma_scale"]

# The median is taken over the pairs of at most this many rows.
SAMPLE_ROWS = 1000


class ResolvedDistance(Lowerable, Protocol):
    """A distance that the engine can evaluate."""

    def resolve(self, points: Points) -> "ResolvedDistance":
        """The distance with all its parameters known."""


def _vectors(points: Points) -> Vectors:
    found = require(points, frozenset({Domain.VECTORS}), 'the rule "scale" or "auto"')
    if isinstance(found, Indicators):
        return found.vectors()
    return found if isinstance(found, Vectors) else Vectors(found.raw())


def gamma_scale(points: Points) -> float:
    """γ = 1/(d·var(X)), and 1 where the variance is 0, as scikit-learn's gamma="scale"."""
    vectors = _vectors(points)
    if vectors.dense is not None:
        variance = float(np.var(vectors.dense, dtype=np.float64))
    else:
        size = len(vectors) * vectors.width
        values = vectors.csr.data.astype(np.float64)
        mean = float(values.sum()) / size
        variance = float((values**2).sum()) / size - mean**2
    return 1.0 / (vectors.width * variance) if variance > 0.0 else 1.0


def gamma_auto(points: Points) -> float:
    """γ = 1/d, as scikit-learn's gamma="auto"."""
    return 1.0 / _vectors(points).width


def _from_gamma(gamma: float, power: int) -> float:
    return float(1.0 / np.sqrt(2.0 * gamma)) if power == 2 else 1.0 / gamma


def _median(points: Points, distance: ResolvedDistance, power: int) -> float:
    rows = np.arange(len(points))
    if len(rows) > SAMPLE_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False))
    psi = evaluate(distance, points.take(rows))
    pairs = psi[~np.tri(len(psi), dtype=bool)].astype(np.float64)
    apart = pairs[pairs > 0.0]
    if apart.size == 0:
        raise InvalidInput(
            'length_scale="median" cannot be found: all distances are zero.',
            f"Got {len(points)} points that do not differ in {distance!r}.",
            "Give the length scale as a number.",
        )
    middle = np.partition(apart, [(apart.size - 1) // 2, apart.size // 2])[[(apart.size - 1) // 2, apart.size // 2]]
    return float((middle ** (1.0 / power)).mean())


# Rule -> (points, the distance, the power p of ℓ in ψ/ℓᵖ) -> ℓ.
TABLE: dict[str, Callable[[Points, ResolvedDistance, int], float]] = {
    "median": _median,
    "scale": lambda points, distance, power: _from_gamma(gamma_scale(points), power),
    "auto": lambda points, distance, power: _from_gamma(gamma_auto(points), power),
}
