"""A symmetric matrix in tridiagonal form, A = V T Vᵀ: every penalty by a recurrence, and no eigenvector.

With T + ρ = L D Lᵀ, L with ones on its diagonal and one number beside each, (T + ρ)⁻¹ C takes O(n) operations a column
of C, and so does an entry

    [V (T + ρ)⁻¹ Vᵀ]ᵢᵢ = Σⱼ wⱼ²/Dⱼ,      w = L⁻¹ vᵢ,      vᵢ the i-th row of V,                                     (1)

a sum of terms of one sign. T and V take 8n³/3 operations; the eigenvectors of T, and their product with V, which (1)
does without, take more than as many again. All this asks for T + ρ that is positive.

In place of A = P S K S P (`mercer.solvers.eigen`) it is A + β QQᵀ that is brought into this form, β beyond all
eigenvalues of A. On the range of P both are the same, and on that of Q its inverse is QQᵀ/(β + ρ).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.linalg.lapack import dpttrf, dpttrs

from mercer import _core
from mercer.grams.base import Gram
from mercer.solvers.eigen import EPS, Border, assemble, without_rounding
from mercer.solvers.householder import tridiagonal_in_place

__all__ = ["Tridiagonal", "tridiagonalise"]

Array = npt.NDArray[np.float64]

# A penalty this many times the rounding of an eigenvalue keeps T + ρ positive if K is.
CLEAR = 16.0
# Below this, an eigendecomposition is as fast.
FEWEST_ROWS = 8
# Replaces a zero pivot.
TINY = float(np.finfo(np.float64).tiny)


@final
@dataclass(frozen=True, eq=False)
class Tridiagonal:
    """A + β QQᵀ = V T Vᵀ.

    Attributes
    ----------
    vectors : ndarray of shape (n, n)
        V, in Fortran order.
    diagonal, beside : ndarray of shape (n,), (n - 1,)
        Of T.
    border : Border
        Q, of p columns.
    KQ : ndarray of shape (n, p)
        S K S Q.
    beyond : float
        β.
    smallest, largest : float
        The extreme eigenvalues of A on the range of P; the smallest is negative only beyond rounding.
    rounding : float
        What an eigenvalue may differ from zero by.
    """

    vectors: Array
    diagonal: Array
    beside: Array
    border: Border
    KQ: Array
    beyond: float
    smallest: float
    largest: float
    rounding: float

    def allows(self, ridge: float) -> bool:
        """Whether T + ρ is positive for this ρ, and so for every larger one."""
        return ridge > CLEAR * self.rounding and not dpttrf(self.diagonal + ridge, self.beside)[-1]

    def divide(self, ridge: Array, C: Array) -> Array:  # (b,), (n, t) -> (n, b, t)
        """(T + ρ)⁻¹ C for every ρ."""
        out = np.empty((len(C), ridge.size, C.shape[1]))
        for i, value in enumerate(ridge):
            pivots, steps, _ = dpttrf(self.diagonal + value, self.beside)
            out[:, i], _ = dpttrs(pivots, steps, C)
        return out

    def inverse_diagonal(self, ridge: Array) -> Array:  # (b,) -> (n, b)
        """Of (A + ρ)⁻¹ on the range of P, by (1)."""
        found = _core.tridiagonal_diagonals(self.vectors.T, self.diagonal, self.beside, ridge)
        assert found is not None  # as `allows` has checked
        inside = np.einsum("ij,ij->i", self.border.Q, self.border.Q)
        return np.asarray(found.T - inside[:, None] / (self.beyond + ridge))

    @property
    def rank(self) -> int:
        """How many eigenvalues of A are not zero to rounding."""
        below, up_to = (_below(self.diagonal, self.beside, x) for x in (-self.rounding, self.rounding))
        return len(self.diagonal) - int(self.border.Q.shape[1]) - (up_to - below)


def tridiagonalise(gram: Gram, scale: Array, columns: Border) -> Tridiagonal | None:
    """The tridiagonal form of P S K S P, in place: 8 n² bytes; None for a few rows.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K.
    scale : ndarray of shape (n,)
        s > 0.
    columns : Border
        Of S B.
    """
    n, p = columns.Q.shape
    if n < FEWEST_ROWS or p + 1 >= n:
        return None
    M, KQ, beyond, known = assemble(gram, scale, columns, form="tridiagonal form", copies=1)
    diagonal, beside = tridiagonal_in_place(M)
    smallest, largest = (_eigenvalue(diagonal, beside, at) for at in (0, n - p - 1))
    rounding = n * EPS * max(abs(smallest), abs(largest), known)
    smallest, largest = without_rounding(np.array([smallest, largest]), rounding, gram)
    return Tridiagonal(M, diagonal, beside, columns, KQ, beyond, float(smallest), float(largest), rounding)


def _below(diagonal: Array, beside: Array, x: float) -> int:
    """How many eigenvalues of T are below x: the negative pivots of T − x."""
    count, pivot = 0, 1.0
    for centre, side in zip(diagonal.tolist(), [0.0, *beside.tolist()], strict=True):
        pivot = centre - x - side * side / pivot
        pivot = pivot if abs(pivot) > TINY else -TINY
        count += pivot < 0.0
    return count


def _eigenvalue(diagonal: Array, beside: Array, at: int) -> float:
    try:
        found = scipy.linalg.eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(at, at))
    except scipy.linalg.LinAlgError:  # where many eigenvalues are nearly the same, LAPACK may lose count
        return _bisected(diagonal, beside, at)
    return float(found[0])


def _bisected(diagonal: Array, beside: Array, at: int) -> float:
    """The same by the counts alone, which never fail, in n operations of Python for each of its bits."""
    scale = float(max(np.abs(diagonal).max(), np.abs(beside).max(initial=0.0)))
    if scale == 0.0:
        return 0.0
    centres, sides = diagonal / scale, beside / scale
    low, high = -3.0, 3.0  # by Gershgorin's circles
    while high - low > EPS:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _below(centres, sides, middle) > at else (middle, high)
    return scale * 0.5 * (low + high)
