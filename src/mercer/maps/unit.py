"""Vectors on the unit sphere."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.maps.base import StatelessMap
from mercer.mathml import fraction
from mercer.notation import Notation
from mercer.points import Domain, Points, Vectors

__all__ = ["UnitRows"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class UnitRows(StatelessMap):
    r"""Divide each vector by its Euclidean norm; the zero vector stays zero.

    .. math:: x \mapsto x / \lVert x \rVert

    Sparse vectors stay sparse.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> UnitRows()(as_points([[3.0, 4.0], [0.0, 0.0]])).raw()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(
        text="{x:3} / ‖{x}‖", latex=r"{x:3} / \left\lVert {x} \right\rVert", level=2, mathml=fraction("{x}", "‖{x}‖")
    )

    def out_width(self, width: int) -> int:
        """The number of columns does not change."""
        return width

    def nonnegative_on(self, coordinates: bool) -> bool:
        """Dividing by the norm changes no signs."""
        return coordinates

    def __call__(self, points: Points) -> Vectors:
        """The rows divided by their norms, in the same precision."""
        vectors = self.read_vectors(points)
        return Vectors(_unit_csr(vectors.csr) if vectors.dense is None else _unit_dense(vectors.dense))


def _unit_dense(rows: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    # Dividing by the largest entry first keeps the squares from overflowing and from vanishing.
    unit = rows / _or_one(np.abs(rows).max(axis=1))[:, None]
    unit = unit / _or_one(np.sqrt(np.einsum("ij,ij->i", unit, unit, dtype=np.float64)))[:, None]
    same_precision: NDArray[np.floating[Any]] = unit.astype(rows.dtype, copy=False)
    return same_precision


def _unit_csr(csr: Any) -> Any:
    sizes = np.diff(csr.indptr)
    filled = sizes > 0
    largest = np.zeros(len(sizes))
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(csr.data), csr.indptr[:-1][filled])
    unit = csr.data / np.repeat(_or_one(largest), sizes)
    row = np.repeat(np.arange(len(sizes)), sizes)
    unit /= np.repeat(_or_one(np.sqrt(np.bincount(row, weights=unit * unit, minlength=len(sizes)))), sizes)
    return sp.csr_array((unit.astype(csr.dtype, copy=False), csr.indices, csr.indptr), shape=csr.shape)


def _or_one(divisors: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """The divisors, with 1 for the zero rows, which thus stay zero."""
    return np.where(divisors > 0, divisors, 1)
