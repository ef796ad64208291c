"""Least squares by one Cholesky factorisation, in float64 and in place.

For ℓ = ½ (g − y)² the optimum solves

    (K + C⁻¹) α + B θ = y,      Bᵀ α = p,                                                        (1)

with C = diag(c); for ridge regression C⁻¹ = diag(λ/wᵢ). Rows with c = 0 have α = 0 and are left out. (1) is solved in
the scaled form of `mercer.solvers.factor`, for S y and S B together, and θ comes from the q × q Schur complement.

A kernel that is only assumed to be one may have no Cholesky factor. Then the system is solved by LDLᵀ (Bunch-Kaufman),
as a stationary point; a derived kernel that has none is badly conditioned, and that is an error.
"""

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.factor import (
    CholeskyFactor,
    Indefinite,
    Stage,
    Stopped,
    eliminate,
    factorise,
    groups,
    scaled,
    scaling,
)
from mercer.solvers.lapack import Look
from mercer.solvers.options import Options

__all__ = ["cholesky"]

Array = npt.NDArray[np.float64]

# Factors of several distinct columns of costs are kept for later use up to this many bytes; a single one always is.
KEPT = 1 << 30


def cholesky(problem: Problem, options: Options) -> Answer:
    """Solve a least-squares problem directly; n³/3 operations per different column of costs, 8 n² bytes."""
    watch = options.watch("cholesky")
    try:
        return _solve(problem, watch)
    except Stopped:
        n, t = problem.y.shape
        return Answer(
            np.zeros((n, t)),
            np.zeros((problem.B.shape[1], t)),
            stopped=True,
            note="time ran out before the factorisation was done, and half a factor solves nothing",
        )
    finally:
        watch.close()


def _solve(problem: Problem, watch: Look) -> Answer:
    n, t = problem.y.shape
    coef = np.zeros((n, t))
    theta = np.zeros((problem.B.shape[1], t))
    condition, indefinite = 0.0, False
    factors: list[CholeskyFactor] = []
    parts = groups(problem.cost)
    is_kept = len(parts) == 1 or 8 * n * n * len(parts) <= KEPT
    for part, (cost, targets) in enumerate(parts):
        rows = np.flatnonzero(cost > 0.0)
        right = np.hstack([problem.y[np.ix_(rows, targets)], problem.B[rows]])
        factor = _factor(problem, cost, Stage(watch, part / len(parts), (part + 1) / len(parts)))
        if factor is None:
            scale, solved = _stationary(problem, cost, right)
            condition, indefinite = float("nan"), True
        else:
            scale, solved = factor.scale, factor.solve(factor.scale[:, None] * right)
            condition = float(np.maximum(condition, factor.condition))  # unlike max, keeps NaN
            if is_kept:
                factors.append(factor)
        z, theta[:, targets] = eliminate(solved, scale[:, None] * problem.B[rows], problem.price)
        coef[np.ix_(rows, targets)] = scale[:, None] * z
        del factor  # if not kept, free it for the next
    kept = () if indefinite else tuple(factors)
    return Answer(coef, theta, condition=condition, indefinite=indefinite, factors=kept)


def _factor(problem: Problem, cost: Array, watch: Look) -> CholeskyFactor | None:
    """None where K is indefinite. The matrix goes with the exception that held it, before a second one is made."""
    try:
        return factorise(problem.gram, cost, watch)
    except Indefinite:
        return None


def _stationary(problem: Problem, cost: Array, right: Array) -> tuple[Array, Array]:
    """s and the solution of the indefinite system, in one call that cannot be interrupted."""
    rows = np.flatnonzero(cost > 0.0)
    scale, ridge = scaling(cost[rows])
    M = scaled(problem.gram if rows.size == len(cost) else problem.gram.take(rows), scale, ridge)
    _, _, solved, _ = scipy.linalg.lapack.dsysv(M, scale[:, None] * right, lower=1, overwrite_a=1)
    return scale, solved
