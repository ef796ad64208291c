"""The preconditioner of conjugate gradients on a Gram matrix: a few columns of it, and a multiple of the identity.

For M = A + ridge·I, A = S K S, it is

    P = F Fᵀ + μ I,      A ≈ F Fᵀ by `mercer.solvers.pivoted`,   μ = ridge + trace(A − F Fᵀ) / n.           (1)

P⁻¹ is applied by Woodbury's formula,

    P⁻¹ r = (r − G Gᵀ r) / μ,      G = F L⁻ᵀ,   L Lᵀ = FᵀF + μI:                                          (2)

two products with G, n r operations each. One μ for all points is better than one for each, diag(A − F Fᵀ): that saves a
third of the iterations for an RBF in 20 dimensions, and takes twice as many in 2.
"""

import math
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import memory_there
from mercer.grams.base import Gram
from mercer.solvers.coarse import deflated
from mercer.solvers.factor import Stage
from mercer.solvers.held import FEW_COLUMNS
from mercer.solvers.lapack import Look
from mercer.solvers.pivoted import pivoted_cholesky

__all__ = ["Preconditioner", "rank_for"]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# F in float32, at half the cost, where the ridge is above this share of the trace: its rounding is then far below P.
SINGLE = 1e-6
# Ranks: a few rows are factorised completely; beyond the last rank n r² operations cost more than they save.
SMALL_RANK, LARGE_RANK = 100, 2_000
# Bytes per row and pivot: F, and blocks on the way to it.
BYTES_PER_PIVOT = 16
POWER_STEPS = 20


def rank_for(n: int) -> int:
    """Pivots of the preconditioner: min(n/10, 10 √n, 2000), but all of the first 100, and no more than fit.

    Measured for an RBF in 20 dimensions, n from 5 000 to 20 000: half or twice as many never saved much more than a
    tenth of the time.
    """
    rule = min(n // 10, int(10.0 * math.sqrt(n)), LARGE_RANK)
    return min(n, max(SMALL_RANK, rule), memory_there() // (BYTES_PER_PIVOT * n))


@final
class Preconditioner:
    """R ↦ P⁻¹ R of (1).

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; only its diagonal and some columns are asked for.
    scale : ndarray of shape (n,)
        The diagonal of S.
    ridge : float
        Above 0. Columns are added until the residual's trace is no larger: the condition of P⁻¹ M is then at most 2.
    watch : Watch
        Checked between blocks of columns; when time runs out, the columns so far are used.
    most : int, optional
        The maximum number of columns.

    Attributes
    ----------
    rank : int
        Columns of F.
    mu : float
        μ.
    largest : float
        The largest eigenvalue of F Fᵀ, from below; where F has no columns, the trace of A.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> from mercer.solvers.watch import Watch
    >>> K = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> P = Preconditioner(K, np.ones(2), 1e-3, Watch("two rows"))
    >>> P(K @ np.array([[1.0], [0.0]])).round(2).ravel()
    array([1., 0.])
    """

    def __init__(self, gram: Gram, scale: Array, ridge: float, watch: Look, most: int | None = None) -> None:
        n = len(scale)
        trace = float((scale * scale * np.asarray(gram.diag(), dtype=np.float64)).sum())
        dtype: Any = np.float32 if ridge > SINGLE * trace else np.float64
        pivoted = pivoted_cholesky(
            gram,
            scale,
            rank_for(n) if most is None else min(rank_for(n), most),
            stop=ridge,
            rng=np.random.default_rng(0),
            watch=Stage(watch, 0.0, 0.0),  # the bar begins with the iterations
            dtype=dtype,
        )
        G = pivoted.factor
        self.rank = G.shape[1]
        inner = _lower_gram(G)
        self.largest = _largest_eigenvalue(inner) if self.rank else pivoted.trace
        # A μ below the rounding of FᵀF would only be noise. This changes P alone, never the equations.
        self.mu = max(ridge + pivoted.trace / n, EPS * trace)
        L, failed = scipy.linalg.lapack.dpotrf(inner + self.mu * np.eye(self.rank), lower=1)
        while failed and math.isfinite(self.mu):
            self.mu *= 10.0
            L, failed = scipy.linalg.lapack.dpotrf(inner + self.mu * np.eye(self.rank), lower=1)
        if self.rank:
            divide = scipy.linalg.get_blas_funcs("trsm", (G,))
            G = divide(1.0, L.astype(G.dtype), G, side=1, lower=1, trans_a=1, overwrite_b=1)
        self._G = G

    def __call__(self, R: Array) -> Array:  # (n, k) -> (n, k)
        """P⁻¹ R by (2)."""
        if self.rank == 0:
            return R / self.mu
        G = self._G
        if G.dtype == np.float32 and R.shape[1] <= FEW_COLUMNS:
            return deflated(G, R) / self.mu
        result: Array = R - G @ (G.T @ R.astype(G.dtype, copy=False))
        result /= self.mu
        return result


def _lower_gram(F: npt.NDArray[Any]) -> Array:
    """FᵀF, of which only the lower triangle is filled."""
    if F.shape[1] == 0:
        return np.zeros((0, 0))
    product = scipy.linalg.get_blas_funcs("syrk", (F,))(1.0, F, trans=1, lower=1)
    return np.asarray(product, dtype=np.float64)


def _largest_eigenvalue(A: Array) -> float:
    """Of a symmetric matrix given by its lower triangle, from below, by power iteration."""
    v = np.random.default_rng(0).standard_normal(len(A))
    value = 0.0
    for _ in range(POWER_STEPS):
        v = scipy.linalg.blas.dsymv(1.0, A, v, lower=1)
        value = float(np.linalg.norm(v))
        if value == 0.0:
            break
        v /= value
    return value
