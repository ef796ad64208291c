"""Length scales from data: the table of rules behind ``length_scale="median"``, "scale" and "auto"."""

from dataclasses import dataclass
from typing import Protocol, Self, final

import numpy as np

from mercer.errors import InvalidInput
from mercer.kernels.binding import evaluate
from mercer.kernels.tape import Lowerable, Register, Tape
from mercer.points import Domain, Indicators, Points, Vectors, require
from mercer.term import Term

__all__ = ["TABLE", "gamma_auto", "gamma_scale"]

# The median is taken over the pairs of at most this many rows.
SAMPLE_ROWS = 1000


class ResolvedDistance(Lowerable, Protocol):
    """A distance that the engine can evaluate."""

    def resolve(self, points: Points) -> "ResolvedDistance":
        """The distance with all its parameters known."""


@final
@dataclass(frozen=True)
class _Behalf:
    """A distance that is evaluated for a kernel, which messages name."""

    distance: Lowerable
    owner: Term

    def resolve(self, points: Points) -> Self:  # noqa: ARG002 (of a distance that is resolved)
        """As it is."""
        return self

    def proof(self) -> None:
        """None: nothing is claimed of it."""

    def lower(self, tape: Tape) -> Register:
        """The distance."""
        return tape.fold(self.distance, self.owner)


def _vectors(points: Points, owner: object) -> Vectors:
    found = require(points, frozenset({Domain.VECTORS}), 'gamma="scale" or "auto"' if owner is None else repr(owner))
    if isinstance(found, Indicators):
        return found.vectors()
    return found if isinstance(found, Vectors) else Vectors(found.raw())


def gamma_scale(points: Points, owner: object = None) -> float:
    """γ = 1/(d·var(X)), and 1 where the variance is 0, as scikit-learn's gamma="scale"."""
    vectors = _vectors(points, owner)
    if vectors.dense is not None:
        variance = float(np.var(vectors.dense, dtype=np.float64))
    else:
        size = len(vectors) * vectors.width
        values = vectors.csr.data.astype(np.float64)
        mean = float(values.sum()) / size
        variance = float((values**2).sum()) / size - mean**2
    return 1.0 / (vectors.width * variance) if variance > 0.0 else 1.0


def gamma_auto(points: Points, owner: object = None) -> float:
    """γ = 1/d, as scikit-learn's gamma="auto"."""
    return 1.0 / _vectors(points, owner).width


def _from_gamma(gamma: float, power: int) -> float:
    return float(1.0 / np.sqrt(2.0 * gamma)) if power == 2 else 1.0 / gamma


def _median(points: Points, distance: ResolvedDistance, power: int, owner: Term | None = None) -> float:
    rows = np.arange(len(points))
    if len(rows) > SAMPLE_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False))
    psi = evaluate(distance if owner is None else _Behalf(distance, owner), points.take(rows))
    pairs = psi[~np.tri(len(psi), dtype=bool)].astype(np.float64)
    apart = pairs[pairs > 0.0]
    if apart.size == 0:
        raise InvalidInput(
            'length_scale="median" cannot be found: all distances are zero.',
            f"Got {len(points)} points that do not differ in {distance if owner is None else owner!r}.",
            "Give the length scale as a number.",
        )
    middle = np.partition(apart, [(apart.size - 1) // 2, apart.size // 2])[[(apart.size - 1) // 2, apart.size // 2]]
    return float((middle ** (1.0 / power)).mean())


class Rule(Protocol):
    """How a length scale is found."""

    def __call__(self, points: Points, distance: ResolvedDistance, power: int, owner: Term | None = None) -> float:
        """The length ℓ, which enters ψ/ℓᵖ with the power p, for the kernel that messages name."""


def _scale(points: Points, distance: ResolvedDistance, power: int, owner: Term | None = None) -> float:  # noqa: ARG001
    return _from_gamma(gamma_scale(points, owner), power)


def _auto(points: Points, distance: ResolvedDistance, power: int, owner: Term | None = None) -> float:  # noqa: ARG001
    return _from_gamma(gamma_auto(points, owner), power)


TABLE: dict[str, Rule] = {"median": _median, "scale": _scale, "auto": _auto}
