"""Rows of a precomputed Gram matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput
from mercer.points.base import Domain, Points, Selection, as_selection, read_only
from mercer.points.vectors import Vectors

__all__ = ["Places", "Stored"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Stored:
    """Points known only by their kernel values: row i of ``matrix`` holds k(z_i, x_1), ..., k(z_i, x_m).

    Parameters
    ----------
    matrix : array-like of shape (n, m)
        Real, finite kernel values between these n points and the m points of the basis.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    matrix : ndarray of shape (n, m)
        C-contiguous and read-only.
    rows : int64 ndarray of shape (n,)
        Where each point stood in the matrix first given: if these points are the basis, column ``rows[j]`` belongs to
        point j, also after ``take``.

    Examples
    --------
    >>> K = Stored([[2.0, 1.0], [1.0, 2.0]])
    >>> K
    Stored(2 x 2, float64)
    >>> K.take([1]).matrix, K.take([1]).rows
    (array([[1., 2.]]), array([1]))
    """

    domain: ClassVar[Domain] = Domain.GRAM
    matrix: NDArray[np.floating[Any]]
    rows: NDArray[np.int64]

    def __init__(self, matrix: object, name: str = "X") -> None:
        vectors = Vectors(matrix, name)
        if vectors.dense is None:
            raise InvalidInput(
                f"Sparse input {name} is not supported as a precomputed matrix.",
                f"Got a sparse matrix of shape {vectors.shape}.",
                "Convert it with X.toarray().",
            )
        object.__setattr__(self, "matrix", vectors.dense)
        object.__setattr__(self, "rows", read_only(np.arange(len(vectors), dtype=np.int64)))

    @classmethod
    def _trusted(cls, matrix: NDArray[np.floating[Any]], rows: NDArray[np.int64]) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "matrix", read_only(matrix))
        object.__setattr__(self, "rows", read_only(rows))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[Any], NDArray[Any]]]:
        return (self._trusted, (self.matrix, self.rows))

    @property
    def width(self) -> int:
        """Number of points in the basis."""
        return int(self.matrix.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.matrix.dtype

    def __len__(self) -> int:
        return len(self.matrix)

    def __repr__(self) -> str:
        return f"Stored({len(self)} x {self.width}, {self.dtype})"

    def take(self, rows: Selection) -> Self:
        """The chosen rows; all columns stay."""
        index = as_selection(rows, len(self))
        return self._trusted(np.ascontiguousarray(self.matrix[index]), self.rows[index])

    def raw(self) -> NDArray[np.floating[Any]]:
        """The read-only matrix."""
        return self.matrix

    def places(self) -> "Places":
        """Where the points stand in the matrix, without its values."""
        return Places(self.rows, self.width)


@final
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Places:
    """Points of which nothing is known but their columns in a precomputed matrix: the basis of a model fitted on one.

    Parameters
    ----------
    rows : int64 ndarray of shape (s,)
        The column of each point.
    width : int
        The number of columns of the whole matrix.

    Examples
    --------
    >>> Stored([[2.0, 1.0], [1.0, 2.0]]).take([1]).places().columns_of(Stored([[3.0, 4.0]]))
    array([[4.]])
    """

    domain: ClassVar[Domain] = Domain.GRAM
    rows: NDArray[np.int64]
    width: int

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Places({len(self)} of {self.width})"

    def take(self, rows: Selection) -> "Places":
        """The chosen points."""
        return Places(read_only(self.rows[as_selection(rows, len(self))]), self.width)

    def raw(self) -> NDArray[np.int64]:
        """The columns."""
        return self.rows

    def columns_of(self, points: Points) -> NDArray[np.float64]:
        """The kernel values between new points and these."""
        if not isinstance(points, Stored) or points.width != self.width:
            raise InvalidInput(
                f"A precomputed kernel needs the (m, {self.width}) matrix of kernel values to the training points.",
                f"Got {points!r}.",
                "Pass K(new, training) against all training points.",
            )
        return np.asarray(points.matrix[:, self.rows], dtype=np.float64)
