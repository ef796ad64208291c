"""Least squares in the primal: M unknowns where the feature map is finite and M is less than n.

With K = ΦΦᵀ, C = diag(c), and the part that is not penalised eliminated by Φ̃ = Φ − B (BᵀCB)⁻¹ BᵀCΦ,

    (Φ̃ᵀCΦ̃ + I) w = Φ̃ᵀ C y,      θ = (BᵀCB)⁻¹ BᵀC (y − Φw),                                      (1)

an M × M system made in one pass over blocks of rows; nothing n × n exists. The dual coefficients that every solver
publishes are the weighted residuals α = C (y − Φw − Bθ), and Φᵀα = w: how far that fails is the residual of (1), which
is refined down to rounding.

Rows of infinite cost (alpha = 0) drop the identity of (1), and G⁺ stands for the inverse of G = Φ̃ᵀWΦ̃: least squares of
least norm, with α = W Φ̃ G⁺ w, so that again Φᵀα = w and Bᵀα = 0.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.budget import refuse_too_large
from mercer.errors import InvalidInput, NotPositive
from mercer.grams.base import FeatureMatrix
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_infinite, refuse_large_kernel
from mercer.problems.solution import Answer
from mercer.solvers.factor import groups
from mercer.solvers.options import Options
from mercer.solvers.watch import Watch

__all__ = ["primal"]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Features that differ among the rows by so many roundings of themselves are constant.
DIGITS = 8.0
# Refinement steps for (1); each costs one pass over the features, and the second rarely changes anything.
REFINEMENTS = 3


def primal(problem: Problem, options: Options) -> Answer:
    """Solve a least-squares problem in its features; n M² operations per different column of costs, 8 M² bytes."""
    phi = problem.gram.features()
    assert phi is not None, "the table's refusal asks for a finite map"
    n, t = problem.y.shape
    m = phi.shape[1]
    refuse_too_large(
        8 * m * m, f"The system of {m} x {m} equations in float64", "Use fewer features, or another solver."
    )
    coef, theta, weights = np.zeros((n, t)), np.zeros((problem.B.shape[1], t)), np.zeros((m, t))
    condition, rank = 0.0, -1
    watch = options.watch("primal")
    for cost, targets in groups(problem.cost):
        hard = bool(np.isinf(cost).any())
        weight = np.where(cost > 0.0, problem.weight, 0.0) if hard else cost
        system = _system(phi, problem.y[:, targets], weight, problem.B, watch)
        if system is None:
            return Answer(coef, theta, stopped=True, condition=float("nan"))
        if hard:
            coef[:, targets], theta[:, targets], weights[:, targets], rank = _least_squares(phi, weight, system)
            condition = float("nan")
        else:
            y = problem.y[:, targets]
            coef[:, targets], theta[:, targets], weights[:, targets], found = _ridge(phi, y, weight, system)
            condition = float(np.maximum(condition, found))
    watch.close()
    note = f"{m} features in place of {n} rows"
    return Answer(coef, theta, condition=condition, rank=rank, note=note, weights=weights)


@final
@dataclass(frozen=True)
class _System:
    """What one pass over the features leaves: Φ̃ᵀCΦ̃, Φ̃ᵀCy, and the border's part."""

    matrix: Array  # (M, M)
    right: Array  # (M, t)
    B: Array  # (n, q)
    border: Array  # (q, q): BᵀCB
    to_border: Array  # (q, M): (BᵀCB)⁻¹ BᵀCΦ
    means: Array  # (q, t): (BᵀCB)⁻¹ BᵀCy
    rounding: float  # of the matrix, where the rows of Φ differ in their last digits only

    def theta(self, w: Array) -> Array:  # (q, t)
        return self.means - self.to_border @ w


def _system(phi: FeatureMatrix, y: Array, cost: Array, B: Array, watch: Watch) -> _System | None:
    n, m = phi.shape
    q, t = B.shape[1], y.shape[1]
    matrix, right, crossed = np.zeros((m, m)), np.zeros((m, t)), np.zeros((m, q))
    is_even = bool((cost == cost[0]).all())
    root = np.sqrt(cost)[:, None]
    weighted_y, weighted_B = cost[:, None] * y, cost[:, None] * B
    # Beside an intercept Φ̃ is the same from any origin. From a row of Φ what is constant is 0, not a rounding of it.
    has_intercept = q == 1 and bool((B == 1.0).all())
    origin: Array | None = None
    squares = np.zeros(m)
    for rows, block in phi:
        squares += np.einsum("ij,ij->j", block, block)
        if has_intercept and cost[rows].any():
            if origin is None:
                origin = block[int(cost[rows].argmax())].copy()
            block = block - origin
        # NumPy makes half of AᵀA where both are the same array.
        scaled = block if is_even else root[rows] * block
        matrix += scaled.T @ scaled
        right += block.T @ weighted_y[rows]
        crossed += block.T @ weighted_B[rows]
        if watch.look(rows.stop / n):
            return None
    refuse_large_kernel(squares)
    refuse_large_kernel(matrix.diagonal())
    if is_even:
        matrix *= cost[0]
    refuse_infinite(matrix)
    refuse_infinite(right)
    border = B.T @ weighted_B
    to_border, means = _border_solve(border, crossed.T), _border_solve(border, weighted_B.T @ y)
    matrix -= crossed @ to_border
    right -= crossed @ means
    rounding = (DIGITS * EPS) ** 2 * float(cost.max() * squares.sum())
    return _System(matrix, right, B, border, to_border if origin is None else to_border + origin, means, rounding)


def _border_solve(border: Array, right: Array) -> Array:
    if len(border) == 0:
        return right
    try:
        return np.asarray(scipy.linalg.solve(border, right, assume_a="sym"))
    except scipy.linalg.LinAlgError as error:
        raise InvalidInput("The columns of B are linearly dependent.", f"BᵀCB is\n{border}.") from error


def _ridge(phi: FeatureMatrix, y: Array, cost: Array, system: _System) -> tuple[Array, Array, Array, float]:
    """Coefficients, θ, w and the condition number of (1)."""
    matrix = np.array(system.matrix, order="F")
    matrix.flat[:: len(matrix) + 1] += 1.0
    norm = scipy.linalg.lapack.dlange("1", matrix)
    L, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise NotPositive(
            "ΦᵀΦ + alpha·I cannot be factorised in double precision.",
            f"Its condition number exceeds {norm:.1g} (the factorisation broke down at feature {failed - 1}).",
            "Scale the features, raise alpha, or use another solver; mercer adds no jitter of its own.",
        )
    inverse, _ = scipy.linalg.lapack.dpocon(L, norm, uplo="L")
    w, _ = scipy.linalg.lapack.dpotrs(L, system.right, lower=1)
    coef, best, left = np.zeros_like(y), (system.theta(w), w), np.full_like(w, np.inf)
    # Of Φᵀα, by ‖√C Φ‖ ‖α/√C‖: a smaller error is none.
    root = np.sqrt(cost)[:, None]
    rounding = float(EPS * np.sqrt(np.trace(system.matrix)))
    is_refined = False
    for _ in range(REFINEMENTS):
        theta = system.theta(w)
        found = _residuals(phi, y, cost, system.B, w, theta)
        error = found.transposed - w
        if not np.linalg.norm(error) < 0.5 * np.linalg.norm(left):
            break
        coef, best, left = found.coef, (theta, w), error
        length = np.divide(coef, root, out=np.zeros_like(coef), where=root > 0.0)
        is_refined = bool(np.linalg.norm(error) <= rounding * np.linalg.norm(length))
        if is_refined:
            break
        step, _ = scipy.linalg.lapack.dpotrs(L, error, lower=1)
        w = w + step
    if not is_refined:
        coef = _refined(phi, cost, system, L, coef, best[1], left)
    return coef, *best, 1.0 / inverse if inverse > 0.0 else float("inf")


@final
@dataclass(frozen=True)
class _Residuals:
    coef: Array  # α = C (y − Φw − Bθ)
    transposed: Array  # Φᵀα


def _residuals(phi: FeatureMatrix, y: Array, cost: Array, B: Array, w: Array, theta: Array) -> _Residuals:
    coef = np.empty_like(y)
    transposed = np.zeros_like(w)
    for rows, block in phi:
        coef[rows] = cost[rows, None] * (y[rows] - block @ w - B[rows] @ theta)
        transposed += block.T @ coef[rows]
    return _Residuals(coef, transposed)


def _refined(phi: FeatureMatrix, cost: Array, system: _System, L: Array, coef: Array, w: Array, error: Array) -> Array:
    """α with a smaller Φᵀα − w, of which the error is given, by refinement of the equations of α itself.

    Where Φw is y to rounding, y − Φw has no digits left for α. A step of (C⁻¹ + K) α = y − Bθ is, by Woodbury's
    identity, −C Φ̃ (Φ̃ᵀCΦ̃ + I)⁻¹ (Φᵀα − w), where nothing cancels. First α is brought onto Bᵀα = 0, which steps keep.
    """
    missed = system.B.T @ coef
    coef = coef - cost[:, None] * (system.B @ _border_solve(system.border, missed))
    error = error - system.to_border.T @ missed
    for _ in range(REFINEMENTS):
        step, _ = scipy.linalg.lapack.dpotrs(L, error, lower=1)
        behind = system.to_border @ step
        moved, found = np.empty_like(coef), -w
        for rows, block in phi:
            moved[rows] = coef[rows] - cost[rows, None] * (block @ step - system.B[rows] @ behind)
            found = found + block.T @ moved[rows]
        if not np.linalg.norm(found) < 0.5 * np.linalg.norm(error):
            break
        coef, error = moved, found
    return coef


def _least_squares(phi: FeatureMatrix, weight: Array, system: _System) -> tuple[Array, Array, Array, int]:
    """Coefficients, θ, w and the numerical rank for alpha = 0."""
    values, vectors = scipy.linalg.eigh(system.matrix)
    keep = values > max(max(phi.shape) * EPS * values[-1], system.rounding)
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    w = inverse @ system.right
    behind = inverse @ w
    coef = weight[:, None] * (phi @ behind - system.B @ (system.to_border @ behind))
    return coef, system.theta(w), w, int(keep.sum())
