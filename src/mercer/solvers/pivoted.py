"""A partial Cholesky factor by random pivots, a block of them at a time.

Of A = S K S a few columns are taken: A ≈ F Fᵀ, F (n, r), with the residual A − F Fᵀ positive semi-definite and zero in
the rows and columns of the pivots. Pivots are drawn with probabilities proportional to the residual's diagonal, which
is nearly as good as the best approximation of that rank, for every A (Chen, Epperly, Tropp and Webber 2024).

The accelerated form (Epperly, Tropp and Webber 2024) draws a block of candidates from the diagonal as it was before
the block, and then keeps each with the probability (its residual now) / (its residual then), by a small Cholesky
factorisation of the block. What remains is distributed as if drawn one by one, but comes into F by one product of
matrices and one triangular solve: n r² operations and n r kernel values, at the speed of BLAS.

References
----------
E. N. Epperly, J. A. Tropp and R. J. Webber, Embrace rejection: kernel matrix approximation by accelerated randomly
pivoted Cholesky, arXiv:2410.03969 (2024).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.grams.base import Gram
from mercer.solvers.lapack import Look

__all__ = ["Pivoted", "pivoted_cholesky"]

Array = npt.NDArray[np.float64]

# Candidates per block: a fifth of the rank, so that there are several blocks and their products are still large.
BLOCKS = 5
# The smallest block, for when most candidates are rejected.
SMALLEST_BLOCK = 10
# A residual below n rounding errors of its diagonal entry, and these besides, is zero: that row is exhausted.
ROUNDINGS = 32


class Pivoted(NamedTuple):
    """A ≈ F Fᵀ, from below.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        F, in Fortran order, float32 or float64 as asked for.
    pivots : ndarray of shape (r,)
        Rows of A, in the order in which they were taken.
    diagonal : ndarray of shape (n,)
        Of A − F Fᵀ, ≥ 0.
    trace : float
        Its sum, an upper bound on ‖A − F Fᵀ‖.
    """

    factor: npt.NDArray[Any]
    pivots: npt.NDArray[np.intp]
    diagonal: Array
    trace: float


def pivoted_cholesky(
    gram: Gram,
    scale: Array,
    rank: int,
    *,
    stop: float,
    rng: np.random.Generator,
    watch: Look,
    dtype: Any = np.float64,
) -> Pivoted:
    """Approximate A = S K S by F Fᵀ from at most `rank` of its columns.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; only its diagonal and some of its columns are asked for.
    scale : ndarray of shape (n,)
        The diagonal of S.
    rank : int
        The most columns to take. Fewer where the residual's trace falls to `stop`, where A is exhausted (its rank is
        lower), or where the watch is over.
    stop : float
        The trace of the residual that is small enough.
    rng : Generator
        Draws the pivots.
    watch : Watch
        Checked between blocks.
    dtype : float32 or float64
        Of F. In float32 the residual is known to some 1e-7 of A's diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> from mercer.solvers.watch import Watch
    >>> K = DenseGram(np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 9.0]]))
    >>> found = pivoted_cholesky(K, np.ones(3), 3, stop=0.0, rng=np.random.default_rng(0), watch=Watch("pivots"))
    >>> found.factor.shape  # the matrix has rank 2
    (3, 2)
    >>> np.allclose(found.factor @ found.factor.T, K.dense())
    True
    """
    n = gram.shape[0]
    rank = min(rank, n)
    diagonal = np.maximum(scale * scale * np.asarray(gram.diag(), dtype=np.float64), 0.0)
    rounding = (n + ROUNDINGS) * float(np.finfo(dtype).eps) * diagonal
    F = np.empty((n, rank), dtype=dtype, order="F")
    # All by SciPy's BLAS: threads of NumPy's, which is another, would still be spinning while these work.
    multiply, divide = scipy.linalg.get_blas_funcs(("gemm", "trsm"), (F,))
    pivots = np.empty(rank, dtype=np.intp)
    taken = 0
    most = block = max(rank // BLOCKS, SMALLEST_BLOCK)
    while taken < rank and diagonal.sum() > stop:
        candidates = _draw(diagonal, min(block, 2 * (rank - taken)), rng)
        columns = scale[:, None] * gram.columns(candidates)  # (n, b)
        columns *= scale[candidates]
        known = F[candidates, :taken].astype(np.float64)
        accepted, L = _sift(columns[candidates] - known @ known.T, rounding[candidates], rank - taken, rng)
        if accepted.size == 0:  # what is left of the diagonal is rounding
            diagonal[candidates] = 0.0
            continue
        new = slice(taken, taken + accepted.size)
        pivots[new] = candidates[accepted]
        F[:, new] = columns[:, accepted]
        G = F[:, new]
        if taken:
            G = multiply(-1.0, F[:, :taken], F[pivots[new], :taken], 1.0, G, trans_b=1, overwrite_c=1)
        F[:, new] = divide(1.0, L.astype(dtype), G, side=1, lower=1, trans_a=1, overwrite_b=1)  # by Lᵀ
        diagonal -= np.square(F[:, new], dtype=np.float64).sum(axis=1)
        diagonal[diagonal <= rounding] = 0.0
        diagonal[pivots[new]] = 0.0  # exactly 0 by construction
        taken += accepted.size
        block = min(most, max(SMALLEST_BLOCK, 2 * accepted.size))
        if watch.look(taken / rank, f"{taken} pivots"):
            break
    return Pivoted(F[:, :taken], pivots[:taken], diagonal, float(diagonal.sum()))


def _draw(diagonal: Array, count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Rows drawn in proportion to the diagonal, in the order drawn; repetitions, always refused later, are left out."""
    sums = np.cumsum(diagonal)
    drawn = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    # Rounding can put a draw on the far side of the last row that has anything left.
    drawn = np.minimum(drawn, np.flatnonzero(diagonal)[-1])
    _, first = np.unique(drawn, return_index=True)
    return np.asarray(drawn[np.sort(first)], dtype=np.intp)


def _sift(
    H: Array, rounding: Array, most: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Which candidates to keep, and the Cholesky factor of their block.

    Each is kept with probability (residual after those kept before it) / (residual H[j, j] before the block), and never
    if that residual is only rounding.
    """
    before = H.diagonal().copy()
    now = before.copy()
    chances = rng.random(len(H))
    L = np.zeros_like(H)
    kept: list[int] = []
    for j in range(len(H)):
        if len(kept) == most:
            break
        if now[j] > rounding[j] and chances[j] * before[j] < now[j]:
            k = len(kept)
            L[:, k] = (H[:, j] - L[:, :k] @ L[j, :k]) / np.sqrt(now[j])
            L[j, k] = np.sqrt(now[j])
            now -= L[:, k] ** 2
            kept.append(j)
    accepted = np.array(kept, dtype=np.intp)
    return accepted, np.tril(L[accepted, : len(kept)])
