"""A Gram matrix stored as one array."""

from typing import Any, final

import numpy as np

from mercer.errors import InvalidInput
from mercer.grams.base import Array, Positions, Proof
from mercer.points.vectors import refuse_masked

__all__ = ["DenseGram"]

# Rows converted at a time if entries are float32 and vectors float64: a few megabytes, never a second matrix.
ROWS_AT_ONCE = 256


@final
class DenseGram:
    """K in memory, as one array.

    Parameters
    ----------
    matrix : ndarray of shape (n, m)
        The entries, float32 or float64; kept, not copied, and never written to.
    proof : Proof, optional
        Why the matrix is positive semi-definite; None if nothing is known.
    evaluations : int
        How many of its entries were computed for it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> K = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> K @ np.array([1.0, -1.0])
    array([ 1., -1.])
    """

    __slots__ = ("_evaluations", "_matrix", "_proof")

    def __init__(self, matrix: Array, proof: Proof | None = None, evaluations: int = 0) -> None:
        if matrix.ndim != 2 or matrix.dtype not in (np.float32, np.float64):
            raise InvalidInput(
                "A dense Gram matrix is a two-dimensional array of float32 or float64.",
                f"Got shape {matrix.shape} of {matrix.dtype}.",
            )
        self._matrix = matrix.view()
        self._matrix.flags.writeable = False
        self._proof = proof
        self._evaluations = evaluations

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._matrix.shape
        return rows, columns

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return self._matrix.dtype

    @property
    def proof(self) -> Proof | None:
        """Why K is positive semi-definite; None if nothing is known."""
        return self._proof

    @property
    def is_stored(self) -> bool:
        """It is."""
        return True

    @property
    def evaluations(self) -> int:
        """How many entries were computed to store it."""
        return self._evaluations

    def __matmul__(self, V: Array) -> Array:
        """K V; float64 if either is."""
        refuse_masked(V, "V")
        if V.dtype == self.dtype:
            return np.asarray(self._matrix @ V)
        wide = np.result_type(V.dtype, self.dtype)
        product = np.empty((self.shape[0], *V.shape[1:]), dtype=wide)
        for start in range(0, self.shape[0], ROWS_AT_ONCE):
            block = slice(start, start + ROWS_AT_ONCE)
            product[block] = self._matrix[block].astype(wide, copy=False) @ V
        return product

    def columns(self, j: Positions) -> Array:
        """K[:, j], one column per index."""
        return self._matrix[:, j]

    def diag(self) -> Array:
        """The diagonal."""
        return self._matrix.diagonal()

    def dense(self, out: Array | None = None) -> Array:
        """The array itself, read-only; or its entries in `out`."""
        if out is None:
            return self._matrix
        np.copyto(out, self._matrix)
        return out

    def take(self, rows: Positions) -> "DenseGram":
        """K[rows, rows]: a view for a slice, a copy for an index array."""
        index = (rows, rows) if isinstance(rows, slice) else np.ix_(rows, rows)
        return DenseGram(self._matrix[index], self._proof)

    def features(self) -> None:
        """None: a stored matrix does not know its points."""
        return

    def restricted(self) -> None:
        """None: the entries are those of the kernel, or were given."""
        return

    def coded(self) -> None:
        """None: its entries are there already."""
        return

    def native(self) -> Array:
        """The array."""
        return self._matrix
