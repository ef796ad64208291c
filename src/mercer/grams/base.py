"""What a solver may ask of a Gram matrix, wherever its numbers are."""

from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Gram", "Proof", "Rows"]

Array = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.intp]


class Proof(Protocol):
    """The part of a proof that matters beside a matrix: what it rests on without deriving it."""

    @property
    def assumptions(self) -> tuple[Any, ...]:
        """Empty for a kernel that was derived."""


class Gram(Protocol):
    """The matrix K[i, j] = k(xᵢ, zⱼ): stored, tiled, or on other machines.

    Solvers use nothing else, so that scale is a choice of Gram and not of solver.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries; products with float64 vectors are float64 all the same."""

    @property
    def proof(self) -> Proof | None:
        """Why K is positive semi-definite; None where nothing is known."""

    def __matmul__(self, V: Array) -> Array:
        """K V, for V of shape (m,) or (m, t)."""

    def columns(self, j: Rows) -> Array:
        """K[:, j], one column per index."""

    def diag(self) -> Array:
        """The diagonal of a square K."""

    def dense(self, out: Array | None = None) -> Array:
        """All entries; into `out` where given, so that a solver that factors in place holds one copy and not two.

        Without `out` the array may be the store itself and must not be written to. May refuse: the bytes asked for.
        """

    def take(self, rows: Rows) -> Self:
        """The Gram matrix of some of the points, K[rows, rows]: folds, class pairs."""

    def factor(self) -> Array | None:
        """Φ with K = ΦΦᵀ where the feature map is finite, else None: the primal solver's door."""

    def native(self) -> object:
        """The handle that compiled solvers take; opaque here."""
