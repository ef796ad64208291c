"""Least squares by one Cholesky factorisation, in float64 and in place.

For ℓ = ½ (g − y)² the optimum solves

    (K + C⁻¹) a + B θ = y,      Bᵀ a = p,                                                        (1)

with C = diag(c); for ridge regression C⁻¹ = diag(λ/wᵢ). Rows with c = 0 have a = 0 and are left out. To keep small
weights from spoiling the conditioning, (1) is scaled by s = √(c / max c): with a = S z,

    (S K S + I / max c) z = S (y − B θ),                                                          (2)

which for equal weights is (1) itself. The border is eliminated: θ from the q × q Schur complement Bᵀ S M⁻¹ S B.

A kernel that is only assumed to be one may have no Cholesky factor. Then (2) is solved by LDLᵀ (Bunch-Kaufman), as a
stationary point; a derived kernel that has none is badly conditioned, and that is an error.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import refuse_too_large
from mercer.errors import InvalidInput, NotPositive
from mercer.grams.base import Gram
from mercer.grams.spectrum import extremes
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.options import Options

__all__ = ["cholesky"]

Array = npt.NDArray[np.float64]


def cholesky(problem: Problem, options: Options) -> Answer:  # noqa: ARG001  # every solver has this signature
    """Solve a least-squares problem directly; n³/3 operations per different column of costs, 8 n² bytes."""
    n, t = problem.y.shape
    coef = np.zeros((n, t))
    theta = np.zeros((problem.B.shape[1], t))
    condition, indefinite = 0.0, False
    costs, which = np.unique(problem.cost, axis=1, return_inverse=True)
    for group, cost in enumerate(costs.T):
        targets = np.flatnonzero(which.reshape(-1) == group)
        rows = np.flatnonzero(cost > 0.0)
        if rows.size == 0:
            raise InvalidInput("No row has a cost above 0.", "All sample weights are zero.", "Give some row a weight.")
        gram = problem.gram if rows.size == n else problem.gram.take(rows)
        part = _solve(gram, problem.y[np.ix_(rows, targets)], cost[rows], problem.B[rows], problem.price)
        coef[np.ix_(rows, targets)] = part.coef
        theta[:, targets] = part.theta
        condition = float(np.maximum(condition, part.condition))  # unlike max, keeps NaN
        indefinite |= part.indefinite
    return Answer(coef, theta, condition=condition, indefinite=indefinite)


class _Part(NamedTuple):
    coef: Array
    theta: Array
    condition: float
    indefinite: bool


def _solve(gram: Gram, y: Array, cost: Array, B: Array, price: Array) -> _Part:
    """Equations (1) and (2) for targets that share their costs, all above 0."""
    n, t = y.shape
    scale = np.sqrt(cost / cost.max()) if np.isfinite(cost).all() else np.ones(n)
    ridge = scale * scale / cost
    refuse_too_large(
        8 * n * n,
        f"The system of {n} x {n} equations in float64",
        "Fit fewer rows, or a sample of them.",
    )
    M = _system(gram, scale, ridge, np.empty((n, n)))
    norm = scipy.linalg.lapack.dlange("1", M)
    right = scale[:, None] * np.hstack([y, B])
    L, failed = scipy.linalg.lapack.dpotrf(M, lower=1, clean=0, overwrite_a=1)
    if failed:
        _explain_breakdown(gram, ridge / (scale * scale), int(failed))
        _, _, solved, _ = scipy.linalg.lapack.dsysv(_system(gram, scale, ridge, M.T), right, lower=1, overwrite_a=1)
        condition = float("nan")
    else:
        solved, _ = scipy.linalg.lapack.dpotrs(L, right, lower=1)
        inverse, _ = scipy.linalg.lapack.dpocon(L, norm, uplo="L")
        condition = 1.0 / inverse if inverse > 0.0 else float("inf")
    z, border = solved[:, :t], solved[:, t:]
    theta = np.zeros((B.shape[1], t))
    if B.shape[1]:
        scaled = scale[:, None] * B
        theta = _schur(scaled.T @ border, scaled.T @ z - price[:, None])
        z = z - border @ theta
    return _Part(scale[:, None] * z, theta, condition, bool(failed))


def _system(gram: Gram, scale: Array, ridge: Array, out: Array) -> Array:
    """The matrix of (2), in `out`; handed on as its transpose (it is symmetric), which LAPACK overwrites in place."""
    gram.dense(out=out)
    if (scale != 1.0).any():
        out *= scale[:, None]
        out *= scale
    out.flat[:: len(out) + 1] += ridge
    return out.T


def _schur(S: Array, right: Array) -> Array:
    try:
        return np.asarray(scipy.linalg.solve(S, right, assume_a="sym"))
    except scipy.linalg.LinAlgError as error:
        raise InvalidInput("The columns of B are linearly dependent.", f"Their Schur complement is\n{S}.") from error


def _explain_breakdown(gram: Gram, ridge: Array, minor: int) -> None:
    """Return if K is indefinite and no more than assumed to be positive; else say why there is no factor.

    Rounding is never mended by jitter.
    """
    n = gram.shape[0]
    smallest, largest = extremes(gram)
    rounding = n * float(np.finfo(np.float64).eps) * largest
    is_assumed = gram.proof is None or bool(gram.proof.assumptions)
    if is_assumed and smallest < -rounding:
        return
    least = float(ridge.min())
    condition = largest / max(smallest + least, rounding)
    raise NotPositive(
        f"K + alpha·I cannot be factorised in double precision: its condition number exceeds {condition:.1g}.",
        f"The eigenvalues of K go from {smallest:.3g} to {largest:.3g}, rounding alone is {rounding:.1g}, and "
        f"alpha/weight is as small as {least:.3g} (the factorisation broke down at row {minor - 1} of {n}).",
        f"Raise alpha to {10.0 * rounding:.1g} or more, or remove duplicate rows; mercer adds no jitter of its own.",
    )
