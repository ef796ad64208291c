"""What a solver may ask of a Gram matrix, wherever its numbers are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from mercer.grams.landmarks import LandmarkFeatures

__all__ = ["Array", "Coded", "FeatureMatrix", "Gram", "Positions", "Proof"]

Array = npt.NDArray[Any]
Positions = slice | npt.NDArray[np.intp]


class Proof(Protocol):
    """The part of a proof that matters for a matrix: what it assumes."""

    @property
    def assumptions(self) -> tuple[Any, ...]:
        """Empty for a kernel that was derived."""


class FeatureMatrix(Protocol):
    """Φ with K = ΦΦᵀ, in blocks of rows."""

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
        """All of Φ, or an error that says how many bytes it needs."""


class Coded(Protocol):
    """The entries of a square K as whole numbers of 16 bits, k = low + step·code."""

    @property
    def code(self) -> tuple[float, float]:
        """(low, step)."""

    def upper(self) -> npt.NDArray[np.uint16]:
        """The codes above the diagonal, and a few more, freshly made; the others are not touched."""


class Gram(Protocol):
    """The matrix K[i, j] = k(xᵢ, zⱼ): stored, tiled, or on other machines.

    Solvers use nothing else, so that scale is a choice of Gram and not of solver. What does not change (the diagonal,
    the proof, the feature map) is made when it is first asked for, and once.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries; products with float64 vectors are float64 in any case."""

    @property
    def proof(self) -> Proof | None:
        """Why K is positive semi-definite; None if nothing is known."""

    @property
    def is_stored(self) -> bool:
        """Whether all entries are in memory, so that a product only reads them."""

    @property
    def evaluations(self) -> int:
        """How many entries were computed so far; for a stored K, to store it."""

    def __matmul__(self, V: Array) -> Array:
        """K V, for V of shape (m,) or (m, t)."""

    def columns(self, j: Positions) -> Array:
        """K[:, j], one column per index."""

    def diag(self) -> Array:
        """The diagonal of a square K; not to be written to."""

    def dense(self, out: Array | None = None) -> Array:
        """All entries; written to `out` if given, so that a solver that factorises in place needs only one copy.

        Without `out` the array may be the stored one and must not be written to. Raises `TooLarge` if it cannot fit.
        """

    def take(self, rows: Positions) -> Self:
        """The Gram matrix of some of the points, K[rows, rows]: folds, class pairs."""

    def features(self) -> FeatureMatrix | None:
        """Φ with K = ΦΦᵀ if the feature map is finite, else None: what the primal solver needs."""

    def restricted(self) -> "LandmarkFeatures | None":
        """Φ over landmarks if K is what they represent of the kernel, else None: what a solver on landmarks needs."""

    def coded(self) -> Coded | None:
        """The entries in 16 bits, where they can be made so; None where they are in memory, or come from features."""

    def native(self) -> object:
        """The handle that compiled solvers take; opaque here."""
