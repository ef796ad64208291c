"""Linear maps of vectors that mix columns."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.domains import RealMatrix, Text
from mercer.errors import InvalidInput
from mercer.maps.base import StatelessMap
from mercer.notation import Notation
from mercer.points import Domain, Points, Vectors
from mercer.term import REQUIRED, param

__all__ = ["Transform"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Transform(StatelessMap):
    r"""Multiply each point by a matrix.

    .. math:: x \mapsto P x

    Parameters
    ----------
    matrix : array of shape (m, d)
        The matrix P; the images have m columns. Sparse vectors become dense.
    owner : str
        Whose matrix it is, for messages.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Transform([[1.0, 1.0]])(as_points([[1.0, 2.0], [3.0, 4.0]])).raw()
    array([[3.],
           [7.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="{matrix} · {x:3}", latex=r"{matrix} \, {x:3}", level=2)
    matrix: npt.NDArray[np.float64] = param(REQUIRED, RealMatrix)
    owner: str = param("Transform", Text)

    def out_width(self, width: int) -> int:
        """One column for each row of the matrix."""
        if width != self.matrix.shape[1]:
            raise InvalidInput(
                f"X has {width} features, but {self.owner} is expecting {self.matrix.shape[1]} features as input.",
                f"The matrix has {self.matrix.shape[1]} columns.",
            )
        return int(self.matrix.shape[0])

    def __call__(self, points: Points) -> Vectors:
        """The transformed rows, in the same precision."""
        vectors = self.read_vectors(points)
        self.out_width(vectors.width)
        product = vectors.raw() @ self.matrix.T.astype(vectors.dtype)
        return Vectors(np.asarray(product))
