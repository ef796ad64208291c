"""Least squares by one eigendecomposition, for all penalties at once, including none.

With rows scaled by s = √(c / max c) (see `mercer.solvers.cholesky`), α = S z, and the border B taken out by the
projection P = I − QQᵀ, Q an orthonormal basis of S B, the optimum of the squared loss is

    z = z₀ + (A + ρ)⁻¹ P (S y − S K S z₀),      A = P S K S P = U diag(σ) Uᵀ,      ρ = 1 / max c,                  (1)
    θ = (S B)⁺ (S y − S K S z − ρ z),           z₀ = Q Qᵀ z with (S B)ᵀ z₀ = p,                                    (2)

(A + ρ)⁻¹ taken on the range of P: nothing is subtracted, so with an intercept a large mean of y does no harm. All
targets whose costs are proportional share A. As ρ → 0, (A + ρ)⁻¹ becomes the pseudo-inverse A⁺ up to what f does not
show: kernel least squares, of least norm. Eigenvalues up to n·eps of the largest count as zero there.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import allocate
from mercer.errors import InvalidInput, NotPositive
from mercer.grams.base import Gram
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_large_kernel
from mercer.problems.solution import Answer
from mercer.solvers.factor import refuse_without_cost
from mercer.solvers.lapack import eigen_in_place
from mercer.solvers.options import Options

__all__ = ["EPS", "Border", "Spectrum", "assemble", "border", "decompose", "eigen", "inverse", "without_rounding"]

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)

# LAPACK's divide and conquer needs the matrix, overwritten by its eigenvectors, and twice as much workspace.
COPIES = 3
# w/α for several α is the same shape up to the rounding of two divisions.
SAME_SHAPE = 8 * EPS


@final
@dataclass(frozen=True, eq=False)
class Border:
    """The columns S B that are not penalised, by their range.

    Attributes
    ----------
    Q : ndarray of shape (n, p)
        Orthonormal basis of the range; p is the rank of B.
    lift : ndarray of shape (q, p)
        (S B)⁺ = lift Qᵀ.
    """

    Q: Array
    lift: Array

    def project(self, V: Array) -> Array:  # (n, t)
        """P V = V − QQᵀV."""
        return V - self.Q @ (self.Q.T @ V)


def border(B: Array) -> Border:
    """The range of scaled columns (n, q), dependent ones left out."""
    Q, sizes, V = scipy.linalg.svd(B, full_matrices=False)
    kept = sizes > len(B) * EPS * sizes.max(initial=0.0)
    return Border(Q[:, kept], V[kept].T / sizes[kept])


@final
@dataclass(frozen=True, eq=False)
class Spectrum:
    """A = P S K S P = U diag(σ) Uᵀ on the range of P.

    Attributes
    ----------
    vectors : ndarray of shape (n, n - p)
        U, orthogonal to Q.
    values : ndarray of shape (n - p,)
        σ, ascending; negative only beyond rounding.
    border : Border
        Q.
    KQ : ndarray of shape (n, p)
        S K S Q.
    rounding : float
        n·eps times the largest eigenvalue: what an eigenvalue may differ from zero by.
    """

    vectors: Array
    values: Array
    border: Border
    KQ: Array
    rounding: float

    @property
    def rank(self) -> int:
        """How many eigenvalues are not zero to rounding."""
        return int((np.abs(self.values) > self.rounding).sum())


def inverse(values: Array, ridge: Array, rounding: float) -> Array:  # (k,), (m,) -> (k, m)
    """1/(σ + ρ), a column per ρ; where ρ = 0, 1/σ and 0 for σ that are zero to rounding.

    Raises
    ------
    NotPositive
        If K is indefinite and −ρ is one of its eigenvalues.
    """
    shifted = values[:, None] + ridge
    is_zero = np.abs(shifted) <= rounding
    is_soft = ridge > 0.0
    if (values < 0.0).any() and (is_zero & is_soft).any():
        column = int((is_zero & is_soft).any(axis=0).argmax())
        raise NotPositive(
            "K + alpha·I is singular: K is indefinite, and -alpha is one of its eigenvalues.",
            f"alpha over the largest weight is {ridge[column]:.6g}; the smallest eigenvalue is {values.min():.6g}.",
            "Change alpha, or repair the kernel: check_gram(K) shows how.",
        )
    return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=is_soft | ~is_zero)


def assemble(gram: Gram, scale: Array, columns: Border, *, form: str, copies: int) -> tuple[Array, Array, float, float]:
    """P S K S P + β QQᵀ in Fortran order, of which only the lower triangle is right; S K S Q; β; a bound of rounding.

    Q is an eigenvector of A = P S K S P to the eigenvalue 0, one among many: moved to β, beyond all others, it can be
    told from them. What rounding an eigenvalue of A may have is in proportion to its largest one, or to the last
    number where that is larger.
    """
    n = gram.shape[0]
    M = allocate(
        (n, n),
        np.float64,
        f"The {form} of {n} x {n} numbers in float64",
        'Fit fewer rows, or a kernel with few features, or one alpha with KernelRidge(solver="auto").',
        n_bytes=copies * 8 * n * n,
    )
    gram.dense(out=M)
    refuse_large_kernel(M.diagonal())
    if (scale != 1.0).any():
        M *= scale[:, None]
        M *= scale
    Q = columns.Q
    p = Q.shape[1]
    KQ = M @ Q
    M = M.T  # symmetric, and in the order that LAPACK overwrites
    if p == 0:
        return M, KQ, 0.0, 0.0
    beyond = 2.0 * min(float(np.linalg.norm(M)), float(scipy.linalg.lapack.dlange("1", M))) or 1.0
    half = KQ - 0.5 * Q @ (Q.T @ KQ + beyond * np.eye(p))
    M = scipy.linalg.blas.dsyr2k(-1.0, Q, half, beta=1.0, c=M, lower=1, overwrite_c=1)
    return M, KQ, beyond, max(float(np.linalg.norm(Q.T @ KQ, 2)), beyond / np.sqrt(n))


def without_rounding(values: Array, rounding: float, gram: Gram) -> Array:
    """Eigenvalues of a Gram matrix, with negative ones set to 0 if they are rounding or the kernel was derived."""
    is_derived = gram.proof is not None and not gram.proof.assumptions
    return np.where((values < 0.0) & (is_derived | (values >= -rounding)), 0.0, values)


def decompose(gram: Gram, scale: Array, columns: Border) -> Spectrum:
    """The eigendecomposition of P S K S P, in place: 24 n² bytes at its height, of which 8 n² stay.

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
    M, KQ, _, known = assemble(gram, scale, columns, form="eigendecomposition", copies=COPIES)
    values = eigen_in_place(M)[: n - p]
    rounding = n * EPS * float(np.abs(values).max(initial=known))
    return Spectrum(M[:, : n - p], without_rounding(values, rounding, gram), columns, KQ, rounding)


def eigen(problem: Problem, options: Options) -> Answer:  # noqa: ARG001  # every solver has this signature
    """Solve a least-squares problem by (1) and (2): about 9 n³ operations per shape of costs, 24 n² bytes.

    Rows of infinite cost (alpha = 0) are fitted in the sense of least squares, weighted by `Problem.weight`; a target
    has either no such rows or only such rows.
    """
    n, t = problem.y.shape
    coef = np.zeros((n, t))
    theta = np.zeros((problem.B.shape[1], t))
    condition, indefinite, rank = 0.0, False, n
    scales, ridges, which = _shapes(problem)
    for group, scale in enumerate(scales):
        targets = np.flatnonzero(which == group)
        rows = np.flatnonzero(scale)
        refuse_without_cost(scale)
        gram = problem.gram if rows.size == n else problem.gram.take(rows)
        s = scale[rows, None]
        spectrum = decompose(gram, s[:, 0], border(s * problem.B[rows]))
        ridge = ridges[targets]
        z, theta[:, targets] = _solve(spectrum, s * problem.y[np.ix_(rows, targets)], ridge, problem.price)
        coef[np.ix_(rows, targets)] = s * z
        condition = float(np.maximum(condition, _condition(spectrum, float(ridge.min()))))  # unlike max, keeps NaN
        indefinite |= _is_indefinite(spectrum, float(ridge.min()))
        rank = min(rank, spectrum.rank)
    of = "K, its unpenalised part taken out," if problem.B.shape[1] else "K"
    return Answer(
        coef,
        theta,
        condition=condition,
        indefinite=indefinite,
        rank=rank,
        note=f"{of} has numerical rank {rank} for {n} rows",
    )


def _shapes(problem: Problem) -> tuple[list[Array], Array, npt.NDArray[np.intp]]:
    """Different scales s (n,), the ridge ρ of each target, and which scale it has."""
    scales: list[Array] = []
    t = problem.y.shape[1]
    ridges, which = np.zeros(t), np.zeros(t, dtype=np.intp)
    for target, cost in enumerate(problem.cost.T):
        hard = np.isinf(cost)
        if hard.any():
            if (hard != (cost > 0.0)).any():
                raise InvalidInput(
                    "The eigendecomposition solves targets whose costs are all finite or all infinite.",
                    f"Target {target} has {int(hard.sum())} infinite costs of {int((cost > 0.0).sum())}.",
                    'Try solver="cholesky".',
                )
            cost = np.where(hard, problem.weight, 0.0)
        largest = float(cost.max(initial=0.0))
        scale = np.sqrt(cost / largest) if largest > 0.0 else np.zeros_like(cost)
        ridges[target] = 0.0 if hard.any() or largest == 0.0 else 1.0 / largest
        which[target] = next(
            (i for i, known in enumerate(scales) if np.allclose(scale, known, rtol=SAME_SHAPE, atol=0.0)), len(scales)
        )
        if which[target] == len(scales):
            scales.append(scale)
    return scales, ridges, which


def _solve(spectrum: Spectrum, y: Array, ridge: Array, price: Array) -> tuple[Array, Array]:
    """z (n, t) and θ (q, t) by (1) and (2), for scaled targets that each have their ρ."""
    Q, lift = spectrum.border.Q, spectrum.border.lift
    inside = lift.T @ price[:, None]  # (p, 1): z₀ = Q inside
    weights = inverse(spectrum.values, ridge, spectrum.rounding)
    right = spectrum.border.project(y - spectrum.KQ @ inside)
    z = spectrum.vectors @ (weights * (spectrum.vectors.T @ right)) + Q @ inside
    return z, lift @ (Q.T @ y - spectrum.KQ.T @ z - ridge * inside)


def _is_indefinite(spectrum: Spectrum, ridge: float) -> bool:
    """Whether the dual is not concave, so that its stationary point is no maximum."""
    return bool(spectrum.values.size and spectrum.values[0] + ridge < 0.0)


def _condition(spectrum: Spectrum, ridge: float) -> float:
    if _is_indefinite(spectrum, ridge):
        return float("nan")
    shifted = spectrum.values + ridge
    kept = shifted[shifted > (0.0 if ridge > 0.0 else spectrum.rounding)]
    return float(kept[-1] / kept[0]) if kept.size else 1.0
