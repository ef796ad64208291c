"""A metric of vectors: a linear map that makes (x − z)ᵀA(x − z) the squared distance."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.domains import PsdMatrixOrDiagonal
from mercer.errors import InvalidInput
from mercer.maps.base import StatelessMap
from mercer.notation import Notation
from mercer.points import Domain, Points, Vectors
from mercer.term import REQUIRED, param

__all__ = ["Metric", "root_of"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Metric(StatelessMap):
    r"""Measure vectors by a positive semi-definite matrix.

    .. math:: x \mapsto P x, \qquad A = P^\top P

    The inner product of images is xᵀAz, their squared distance (x − z)ᵀA(x − z). So ``RBF().on(Metric(A))`` is
    exp(−(x − z)ᵀA(x − z)/2): a kernel, because a kernel of images is one (rule pullback), and because A = PᵀP for some
    P when A is positive semi-definite (rule 8).

    Parameters
    ----------
    A : array of shape (d, d) or (d,)
        A symmetric positive semi-definite matrix, or the diagonal of one; checked, and refused with what refutes it.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> seen = Metric([[2.0, 1.0], [1.0, 2.0]])(as_points([[1.0, 0.0], [0.0, 1.0]])).raw()
    >>> (seen @ seen.T).round(12)
    array([[2., 1.],
           [1., 2.]])
    >>> Metric([4.0, 0.0])(as_points([[1.0, 5.0]])).raw()
    array([[2.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="{A}^½ · {x:3}", latex=r"{A}^{{1/2}} {x:3}", level=2)
    A: npt.NDArray[np.float64] = param(REQUIRED, PsdMatrixOrDiagonal)

    @property
    def condition(self) -> str:
        """What makes it a map: A has a root."""
        smallest = float((np.linalg.eigvalsh(self.A) if self.A.ndim == 2 else np.sort(self.A))[0])
        return f"rule 8: smallest eigenvalue of A = {smallest:.6g} ≥ 0 to rounding"

    @cached_property
    def root(self) -> npt.NDArray[np.float64]:
        """P, (rank, d)."""
        return root_of(self.A)

    def out_width(self, width: int) -> int:
        """The rank of A."""
        if width != len(self.A):
            raise InvalidInput(
                f"X has {width} features, but Metric is expecting {len(self.A)} features as input.",
                f"A has {len(self.A)} columns.",
            )
        return len(self.root)

    def __call__(self, points: Points) -> Vectors:
        """The images, dense, in the same precision."""
        vectors = self.read_vectors(points)
        self.out_width(vectors.width)
        with np.errstate(over="ignore"):  # Vectors names the row and the column that overflow
            product = vectors.raw() @ self.root.T.astype(vectors.dtype)
        return Vectors(np.asarray(product), f"{type(self).__name__} of X")


def root_of(A: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """A matrix P of full row rank with A = PᵀP up to rounding, (rank, d), of A or of its diagonal.

    Examples
    --------
    >>> root_of(np.array([4.0, 0.0]))
    array([[2., 0.]])
    """
    if A.ndim == 1:
        kept = A > 0.0
        kept[0] |= not kept.any()  # that of zeros keeps one row of zeros
        return np.asarray(np.diag(np.sqrt(A))[kept])
    values, vectors = np.linalg.eigh(A)
    kept = values > np.finfo(np.float64).eps * len(values) * values[-1]
    kept[-1] = True  # the zero matrix keeps one row of zeros
    root: npt.NDArray[np.float64] = (vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))).T
    return root
