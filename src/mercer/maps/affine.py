"""Linear maps of vectors that act on each column alone."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.domains import NonZeroNumbers
from mercer.maps.base import StatelessMap, check_one_per_column
from mercer.notation import Notation
from mercer.points import Domain, Points, Vectors
from mercer.term import REQUIRED, param

__all__ = ["Scale"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Scale(StatelessMap):
    r"""Multiply each column by a factor.

    .. math:: x \mapsto (c_1 x_1, \ldots, c_d x_d)

    Sparse vectors stay sparse. Before ``RBF()``, factors 1/l_j give every column its own length scale l_j.

    Parameters
    ----------
    factors : float or array of shape (d,)
        One factor for all columns, or one per column; finite and not zero.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Scale([1.0, 10.0])(as_points([[1.0, 2.0], [3.0, 4.0]])).raw()
    array([[ 1., 20.],
           [ 3., 40.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="{factors} · {x:3}", latex=r"{factors} \odot {x:3}", level=2)
    factors: Any = param(REQUIRED, NonZeroNumbers)

    def out_width(self, width: int) -> int:
        """The number of columns does not change."""
        check_one_per_column("Scale", "factors", self.factors, width)
        return width

    def nonnegative_on(self, coordinates: bool) -> bool:
        """Factors > 0 change no signs."""
        return coordinates and bool(np.all(np.asarray(self.factors) > 0.0))

    def __call__(self, points: Points) -> Vectors:
        """The scaled rows, in the same precision."""
        vectors = self.read_vectors(points)
        self.out_width(vectors.width)
        factors = np.broadcast_to(np.asarray(self.factors, dtype=vectors.dtype), vectors.width)
        with np.errstate(over="ignore"):  # Vectors names the row and the column that overflow
            scaled = _scaled(vectors.csr, factors) if vectors.dense is None else vectors.dense * factors
        return Vectors(scaled, f"{self!r} of X")


def _scaled(csr: Any, factors: NDArray[np.floating[Any]]) -> Any:
    # Entry by entry: a diagonal matrix would have as many entries as there are columns.
    return sp.csr_array((csr.data * factors[csr.indices], csr.indices, csr.indptr), shape=csr.shape)
