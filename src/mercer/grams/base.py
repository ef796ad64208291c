"""What a solver may ask of a Gram matrix, wherever its numbers are."""

from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Factor", "Gram", "Proof", "Rows"]

Array = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.intp]


class Proof(Protocol):
    """The part of a proof that matters beside a matrix: what it rests on without deriving it."""

    @property
    def assumptions(self) -> tuple[Any, ...]:
        """Empty for a kernel that was derived."""


class Factor(Protocol):
    """Φ with K = ΦΦᵀ, some rows at a time."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        """Rows and their features, (rows, M)."""

    def __matmul__(self, W: Array) -> Array:
        """ΦW."""

    def transpose_times(self, V: Array) -> Array:
        """ΦᵀV."""

    def dense(self) -> Array:
        """All of Φ. May refuse: the bytes asked for."""


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

    def factor(self) -> Factor | None:
        """Φ with K = ΦΦᵀ where the feature map is finite, else None: the primal solver's door."""

    def native(self) -> object:
        """The handle that compiled solvers take; opaque here."""
