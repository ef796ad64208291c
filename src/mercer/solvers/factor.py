"""The Cholesky factor that a direct solve leaves behind, and the error if there is none.

With s = √(c / max c) over the rows of cost c > 0, and α = S z, the equations of the squared loss are

    (S K S + ridge·I) z = S (y − B θ),      ridge = 1 / max c.                                             (1)

The scaling keeps small weights from spoiling the conditioning; for equal weights it is 1. Rows that are constraints
(c = ∞) have s = 1 and no ridge.
"""

from dataclasses import dataclass
from typing import NoReturn, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import allocate
from mercer.errors import InvalidInput, NotPositive
from mercer.grams.base import Gram
from mercer.grams.spectrum import extremes
from mercer.problems.reach import refuse_infinite, refuse_large_kernel
from mercer.solvers.lapack import STOPPED, Look, factor_in_place, forward_in_place, solve_in_place

__all__ = [
    "CholeskyFactor",
    "Indefinite",
    "Stage",
    "Stopped",
    "eliminate",
    "factorise",
    "groups",
    "refuse_without_cost",
    "scaled",
    "scaling",
]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Hager's iteration nearly always ends at the second step.
NORM_STEPS = 5


@final
class Stopped(Exception):  # not an error: the caller asked for it
    """Time ran out before the factorisation was done."""


@final
class Indefinite(NotPositive):
    """K has a negative eigenvalue, and its kernel was only assumed to be one."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class CholeskyFactor:
    """M = S K S + ridge·I = L Lᵀ over the rows of cost above 0. Use `factorise`.

    Attributes
    ----------
    rows : ndarray of shape (r,)
        Which rows of the problem.
    scale : ndarray of shape (r,)
        s.
    ridge : float
        What is added to the diagonal of S K S; NaN if soft rows and constraints share a column of costs, so that it
        differs from row to row.
    L : ndarray of shape (r, r)
        In Fortran order; only the lower triangle is valid.
    condition : float
        Estimated condition number of M, in the 1-norm.
    """

    rows: npt.NDArray[np.intp]
    scale: Array
    ridge: float
    L: Array
    condition: float

    def __repr__(self) -> str:
        return f"CholeskyFactor({len(self.rows)} rows, ridge={self.ridge:.3g}, condition={self.condition:.3g})"

    def solve(self, R: Array) -> Array:  # (r, k) -> (r, k)
        """M⁻¹ R."""
        R = np.array(R, dtype=np.float64, order="F")
        solve_in_place(self.L, R)
        return R

    def forward(self, R: Array) -> Array:  # (r, k) -> (r, k)
        """L⁻¹ R: its columns have the inner products Rᵀ M⁻¹ R."""
        R = np.array(R, dtype=np.float64, order="F")
        forward_in_place(self.L, R)
        return R

    def log_determinant(self) -> float:
        """log det M = 2 Σᵢ log Lᵢᵢ."""
        return 2.0 * float(np.log(self.L.diagonal()).sum())


@final
class Stage:
    """The part of a solve from `start` to `end`, for its progress bar."""

    def __init__(self, watch: Look, start: float, end: float) -> None:
        self._watch = watch
        self._start = start
        self._length = end - start

    def look(self, share: float, measure: str = "") -> bool:
        """As `Watch.look`, of the stage's own share."""
        return self._watch.look(self._start + self._length * share, measure)

    def interrupt(self) -> None:
        """As `Watch.interrupt`."""
        self._watch.interrupt()


def factorise(gram: Gram, cost: Array, watch: Look) -> CholeskyFactor:
    """Factorise the matrix of (1) in float64 and in place: n³/3 operations, 8 n² bytes.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K, of all rows.
    cost : ndarray of shape (n,)
        c, in [0, ∞].
    watch : Watch
        Checked between panels.

    Raises
    ------
    NotPositive
        Where rounding leaves no factor, or constraints leave a matrix that is singular to rounding; `Indefinite` where
        the kernel is not positive on this data. No jitter is ever added.
    TooLarge
        Where the matrix does not fit.
    Stopped
        If time runs out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> from mercer.solvers.watch import Watch
    >>> K = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> factor = factorise(K, np.array([1.0, 1.0]), Watch("two rows"))
    >>> factor.solve(np.array([[1.0], [0.0]])).ravel()
    array([ 0.375, -0.125])
    """
    rows = np.flatnonzero(cost > 0.0)
    scale, ridge = scaling(cost[rows])
    if rows.size < len(cost):
        gram = gram.take(rows)
    M = scaled(gram, scale, ridge)
    norm = max(map(scipy.linalg.blas.dasum, M.T), default=0.0)  # LAPACK's dlange takes twice as long
    broken = factor_in_place(M, watch)
    if broken == STOPPED:
        raise Stopped
    if broken:
        _explain_breakdown(gram, ridge / (scale * scale), broken)
    condition = norm * _inverse_norm(M)
    if np.isinf(cost).any() and condition * len(rows) * EPS > 1.0:
        raise NotPositive(
            "K is singular to double precision, and alpha = 0 leaves no way to tell its solutions apart.",
            f"Its condition number is about {condition:.1g}, above 1/(n·eps) = {1.0 / (len(rows) * EPS):.1g}.",
            'Use solver="eigen" for the least-squares solution of least norm, an alpha above 0, or remove duplicate '
            "rows; mercer adds no jitter of its own.",
        )
    return CholeskyFactor(rows, scale, float(ridge[0]) if (ridge == ridge[0]).all() else float("nan"), M, condition)


def groups(cost: Array) -> list[tuple[Array, npt.NDArray[np.intp]]]:
    """The different columns of costs, each with the targets that have it, in the order of ``np.unique(cost, axis=1)``.

    That call would give the same, but builds a record type of n fields: seconds for 200 000 rows. The bytes of
    numbers ≥ 0, the most significant first, are ordered as the numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> [(column.tolist(), targets.tolist()) for column, targets in groups(np.array([[2.0, 1.0, 2.0]]))]
    [([1.0], [1]), ([2.0], [0, 2])]
    """
    if cost.shape[1] == 1:
        return [(cost[:, 0], np.zeros(1, dtype=np.intp))]
    targets: dict[bytes, list[int]] = {}
    for target, column in enumerate(cost.T):
        targets.setdefault((column + 0.0).astype(">f8").tobytes(), []).append(target)  # −0.0 + 0.0 is 0.0
    return [(cost[:, which[0]], np.array(which, dtype=np.intp)) for _, which in sorted(targets.items())]


def refuse_without_cost(cost: Array) -> None:
    """Raise if no row has a cost."""
    if not (cost > 0.0).any():
        raise InvalidInput("No row has a cost above 0.", "All sample weights are zero.", "Give some row a weight.")


def scaling(cost: Array) -> tuple[Array, Array]:
    """s and the ridge of each row, (r,) both; refused where no cost is above 0."""
    refuse_without_cost(cost)
    if np.isfinite(cost).all():
        return np.sqrt(cost / cost.max()), np.full_like(cost, 1.0 / cost.max())
    return np.ones_like(cost), 1.0 / cost


def scaled(gram: Gram, scale: Array, ridge: Array) -> Array:
    """The matrix of (1), freshly made, in Fortran order: the only array of n² numbers that a direct solve holds."""
    n = len(scale)
    what = f"The system of {n} x {n} equations in float64"
    M = allocate((n, n), np.float64, what, "Fit fewer rows, or a sample of them.")
    gram.dense(out=M)
    refuse_large_kernel(M.diagonal())
    if (scale != 1.0).any():
        M *= scale[:, None]
        M *= scale
    M.flat[:: n + 1] += ridge
    return M.T  # symmetric: what C calls rows, Fortran calls columns


def eliminate(solved: Array, B: Array, price: Array) -> tuple[Array, Array]:
    """Eliminate the border from a solution: z (r, t) and θ (q, t) from M⁻¹ [S y, S B].

    θ solves (S B)ᵀ M⁻¹ (S B) θ = (S B)ᵀ M⁻¹ S y − p, and z = M⁻¹ S (y − B θ).

    Parameters
    ----------
    solved : ndarray of shape (r, t + q)
        M⁻¹ [S y, S B].
    B : ndarray of shape (r, q)
        S B.
    price : ndarray of shape (q,)
        p.
    """
    q = B.shape[1]
    t = solved.shape[1] - q
    z, border = solved[:, :t], solved[:, t:]
    refuse_infinite(solved)
    if q == 0:
        return z, np.zeros((0, t))
    complement = B.T @ border
    try:
        theta = np.asarray(scipy.linalg.solve(complement, B.T @ z - price[:, None], assume_a="sym"))
    except scipy.linalg.LinAlgError as error:
        raise NotPositive(
            "The intercept is lost in rounding: alpha is too small beside the values of the kernel.",
            f"In double precision 1ᵀ(K + alpha·I)⁻¹1 is {complement[0, 0]:.3g}.",
            "Raise alpha, scale the kernel down, or leave out the intercept.",
        ) from error
    return z - border @ theta, theta


def _inverse_norm(L: Array) -> float:
    """‖(L Lᵀ)⁻¹‖₁ from below, nearly always within a factor of 3 (Hager 1984, Higham 1988), by a few solves."""
    n = len(L)
    x = np.full((n, 1), 1.0 / n)
    largest = 0.0
    for _ in range(NORM_STEPS):
        y = x.copy()
        solve_in_place(L, y)
        norm = float(np.abs(y).sum())
        if not np.isfinite(norm):
            return float("inf")
        if norm <= largest:
            break
        largest = norm
        slope = np.where(y >= 0.0, 1.0, -1.0)
        solve_in_place(L, slope)
        steepest = int(np.abs(slope).argmax())
        if abs(slope[steepest, 0]) <= float((slope * x).sum()):
            break
        x = np.zeros((n, 1))
        x[steepest] = 1.0
    return largest


def _explain_breakdown(gram: Gram, ridge: Array, minor: int) -> NoReturn:
    """Explain why there is no factor: the kernel is not positive, or the conditioning exceeds double precision."""
    n = gram.shape[0]
    smallest, largest = extremes(gram)
    rounding = n * EPS * largest
    is_assumed = gram.proof is None or bool(gram.proof.assumptions)
    if is_assumed and smallest < -rounding:
        raise Indefinite(
            "K + alpha·I has no Cholesky factor: the kernel is only assumed positive, and on this data it is not.",
            f"The eigenvalues of K go from {smallest:.3g} to {largest:.3g}, rounding alone is {rounding:.1g}.",
            f"Raise alpha above {-smallest:.1g}; check_gram(K) shows a witness and repairs K.",
        )
    least = float(ridge.min())
    condition = largest / (max(smallest + least, rounding) or 1.0)
    raise NotPositive(
        f"K + alpha·I cannot be factorised in double precision: its condition number exceeds {condition:.1g}.",
        f"The eigenvalues of K go from {smallest:.3g} to {largest:.3g}, rounding alone is {rounding:.1g}, and "
        f"alpha/weight is as small as {least:.3g} (the factorisation broke down at row {minor - 1} of {n}).",
        f"Raise alpha to {10.0 * rounding:.1g} or more, or remove duplicate rows; mercer adds no jitter of its own.",
    )
