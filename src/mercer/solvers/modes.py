"""A matrix in coordinates in which every penalty is cheap: what a path of penalties needs from its decomposition.

Coordinates are vectorsᵀ times what lies along the rows; (1), (2) and (3) are those of `mercer.solvers.path`.
"""

from dataclasses import dataclass
from typing import Protocol, Self, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.grams.base import Gram
from mercer.problems.reach import refuse_large_kernel
from mercer.solvers.eigen import EPS, Border, decompose, inverse
from mercer.solvers.tridiagonal import Tridiagonal, tridiagonalise

__all__ = ["Modes", "Reduced", "Spectral", "of_features", "of_gram"]

Array = npt.NDArray[np.float64]

# Columns of U squared at a time.
SQUARED_AT_ONCE = 256


class Modes(Protocol):
    """What (1) or (3) needs of a matrix."""

    @property
    def vectors(self) -> Array:  # (r, k)
        """V of the tridiagonal form or U of (1), or T of (3)."""

    @property
    def lifted(self) -> Array:  # (p, k)
        """What f adds to Qᵀ S y, in coordinates."""

    @property
    def name(self) -> str:
        """Of the decomposition: "tridiagonal", "eigen", or "primal" for features."""

    @property
    def is_thin(self) -> bool:
        """Whether (3) holds, and not (1)."""

    def allows(self, ridge: float) -> bool:
        """Whether this penalty, and all larger ones, can be divided by."""

    def expand(self, cross: Array, scale: Array) -> Array:  # (m, r) or (m, M) -> (m, k)
        """Kernel values to the rows, or features, in coordinates: f is this times theirs."""

    def divide(self, ridge: Array, C: Array) -> Array:  # (b,), (k, t) -> (k, b, t)
        """Coordinates over σ + ρ, for every ρ."""

    def solve(self, right: Array, ridge: Array, coordinates: Array) -> Array:  # (k, …) -> (r, …)
        """G times the targets, from their coordinates over σ + ρ; the targets and ρ broadcast against these."""

    def diagonal(self, ridge: Array) -> Array:  # (b,) -> (r, b)
        """Gᵢᵢ by (2) or (3)."""

    def trace(self, ridge: Array) -> Array:  # (b,) -> (b,)
        """Σ Gᵢᵢ."""

    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest σ, among them 0 where there are fewer vectors than directions."""

    @property
    def rank(self) -> int:
        """How many σ are not zero to rounding."""


@final
@dataclass(frozen=True, eq=False)
class Spectral:
    """Eigenvalues σ and their vectors: U of (1), or with `axes` V the T of (3)."""

    vectors: Array  # (r, k)
    values: Array  # (k,)
    lifted: Array  # (p, k)
    rounding: float
    border: Border
    axes: Array | None = None  # (M, k)

    @property
    def name(self) -> str:
        """Of what was decomposed."""
        return "primal" if self.is_thin else "eigen"

    @property
    def is_thin(self) -> bool:
        """Whether features were decomposed."""
        return self.axes is not None

    def allows(self, ridge: float) -> bool:  # noqa: ARG002 (of every kind of modes)
        """Always; `inverse` refuses what is singular."""
        return True

    def expand(self, cross: Array, scale: Array) -> Array:
        """By the eigenvectors."""
        return np.asarray((cross * scale) @ self.vectors if self.axes is None else cross @ self.axes)

    def divide(self, ridge: Array, C: Array) -> Array:
        """By σ + ρ, elementwise."""
        return np.asarray(self._shrunk(ridge)[:, :, None] * C[:, None, :])

    def solve(self, right: Array, ridge: Array, coordinates: Array) -> Array:
        """By (1), or by (3)."""
        z = _combined(self.vectors, coordinates)
        if self.is_thin:
            np.subtract(right, z, out=z)
            z /= ridge
        return z

    def diagonal(self, ridge: Array) -> Array:
        """By the squares of the vectors."""
        shrunk = self._shrunk(ridge)
        out = np.zeros((len(self.vectors), len(ridge)))
        for start in range(0, len(self.values), SQUARED_AT_ONCE):
            part = slice(start, start + SQUARED_AT_ONCE)
            out += np.square(self.vectors[:, part]) @ shrunk[part]
        if not self.is_thin:
            return out
        outside = 1.0 - np.einsum("ij,ij->i", self.border.Q, self.border.Q)
        return np.asarray((outside[:, None] - out) / ridge)

    def trace(self, ridge: Array) -> Array:
        """By the eigenvalues; every direction that has no vector here has the eigenvalue ρ."""
        r, p = self.border.Q.shape
        return np.asarray(self._shrunk(ridge).sum(axis=0) + (r - p - len(self.values)) / ridge)

    def extremes(self) -> tuple[float, float]:
        """The first and the last."""
        r, p = self.border.Q.shape
        is_full = len(self.values) == r - p and self.values.size > 0
        return float(self.values[0]) if is_full else 0.0, float(self.values.max(initial=0.0))

    @property
    def rank(self) -> int:
        """By the eigenvalues."""
        return int((np.abs(self.values) > self.rounding).sum())

    @classmethod
    def of_gram(cls, gram: Gram, scale: Array, columns: Border) -> Self:
        """U of (1)."""
        spectrum = decompose(gram, scale, columns)
        lifted = spectrum.KQ.T @ spectrum.vectors
        return cls(spectrum.vectors, spectrum.values, lifted, spectrum.rounding, columns)

    def _shrunk(self, ridge: Array) -> Array:  # (b,) -> (k, b)
        return inverse(self.values, ridge, self.rounding)


@final
@dataclass(frozen=True, eq=False)
class Reduced:
    """The tridiagonal form, for penalties large enough to make it certainly positive."""

    matrix: Tridiagonal
    lifted: Array  # (p, k)
    name = "tridiagonal"
    is_thin = False

    @property
    def vectors(self) -> Array:
        """V."""
        return self.matrix.vectors

    def allows(self, ridge: float) -> bool:
        """Whether the smallest eigenvalue and ρ are above 0 together."""
        return self.matrix.allows(ridge)

    def expand(self, cross: Array, scale: Array) -> Array:
        """By V."""
        return np.asarray((cross * scale) @ self.matrix.vectors)

    def divide(self, ridge: Array, C: Array) -> Array:
        """By T + ρ."""
        return self.matrix.divide(ridge, C)

    def solve(self, right: Array, ridge: Array, coordinates: Array) -> Array:  # noqa: ARG002 (of every kind)
        """By (1)."""
        return _combined(self.matrix.vectors, coordinates)

    def diagonal(self, ridge: Array) -> Array:
        """By a recurrence for each row."""
        return self.matrix.inverse_diagonal(ridge)

    def trace(self, ridge: Array) -> Array:
        """The sum of the diagonal."""
        return np.asarray(self.diagonal(ridge).sum(axis=0))

    def extremes(self) -> tuple[float, float]:
        """By bisection."""
        return self.matrix.smallest, self.matrix.largest

    @property
    def rank(self) -> int:
        """By counting signs."""
        return self.matrix.rank


def of_gram(gram: Gram, scale: Array, columns: Border) -> Modes:
    """The cheapest form that serves most penalties."""
    matrix = tridiagonalise(gram, scale, columns)
    if matrix is None:
        return Spectral.of_gram(gram, scale, columns)
    return Reduced(matrix, matrix.KQ.T @ matrix.vectors)


def of_features(phi: Array, scale: Array, columns: Border) -> Modes:
    """T and V of (3)."""
    scaled = phi * scale[:, None]
    corner = columns.Q.T @ scaled
    scaled -= columns.Q @ corner
    refuse_large_kernel(np.einsum("ij,ij->j", scaled, scaled))
    values, V = scipy.linalg.eigh(scaled.T @ scaled, overwrite_a=True, check_finite=False, driver="evd")
    rounding = len(phi) * EPS * float(values.max(initial=0.0))
    return Spectral(scaled @ V, np.maximum(values, 0.0), corner @ V, rounding, columns, V)


def _combined(vectors: Array, coordinates: Array) -> Array:  # (r, k), (k, …) -> (r, …)
    k, *shape = coordinates.shape
    return np.asarray((vectors @ coordinates.reshape(k, -1)).reshape(-1, *shape))
