"""The referee: primal, dual and gap from the published coefficients, for every solver alike.

Nothing of the solver's is used: f is recomputed from the coefficients in float64. The dual point is α, moved onto the
constraints (its box and Bᵀα = p) if it misses them; by weak duality P − D is then a bound that needs no trust.

With α' = α + δ the feasible point, the difference of P and D is

    gap = ½ δᵀKδ + Σᵢ cᵢ [ℓ(gᵢ, yᵢ) + ℓ*(−α'ᵢ/cᵢ, yᵢ) + gᵢ α'ᵢ/cᵢ],

a sum of terms that are ≥ 0 (Fenchel-Young), and is computed as that sum: the difference of two large numbers would be
rounding and nothing else. Where α' could not be brought to Bᵀα' = p, by more than rounding, |θ|ᵀ|Bᵀα' − p| is added.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mercer.budget import CACHED, row_blocks
from mercer.problems.certificate import Certificate, Status
from mercer.problems.feasible import feasible
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_infinite
from mercer.problems.solution import Answer, ErrorBound, Solution

__all__ = ["Measured", "certify", "measure"]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# A quadratic form below this, relative to its size without cancellation, is truly negative, not rounding.
NEGATIVE = 1e-10
# Rounding of αᵀKα up to this share of P is accepted, whatever tol is.
LOST = 1e-6
# If the feasible point is within this many roundings of α, K times the difference is below the rounding of Kα, and
# its energy far less.
ROUNDINGS = 16.0 * EPS


def certify(problem: Problem, answer: Answer, *, solver: str, tol: float) -> Solution:
    """The solution with its certificate.

    Parameters
    ----------
    problem : Problem
        What was to be minimised.
    answer : Answer
        What the solver claims.
    solver : str
        Its name, for the record.
    tol : float
        Relative gap up to which the solution counts as optimal.
    """
    a = np.asarray(answer.coef, dtype=np.float64)
    theta = np.asarray(answer.theta, dtype=np.float64)
    refuse_infinite(np.vstack([a, theta]))
    seen = measure(problem, a, theta)
    energy, g = seen.energy, seen.g
    hard = np.isinf(problem.cost)
    violation = _violation(problem, g, hard)
    normal_residual = _normal_residual(problem, g, hard)
    if answer.indefinite or (energy < 0.0 and energy < -NEGATIVE * _size(problem, a)):
        status = Status.INDEFINITE
    elif hard.any():
        status = Status.INTERPOLATING if violation <= tol else Status.INEXACT
        if status is Status.INEXACT and answer.rank >= 0 and normal_residual <= tol:
            status = Status.LEAST_SQUARES
    else:
        is_solved = seen.relative_gap <= tol and not _is_lost(problem, a, seen, max(tol, LOST))
        status = Status.OPTIMAL if is_solved else Status.INEXACT
    if status is Status.INEXACT and answer.stopped:
        status = Status.STOPPED
    certificate = Certificate(
        status=status,
        machine=problem.machine,
        solver=solver,
        rows=len(a),
        columns=a.shape[1],
        primal=seen.primal,
        dual=seen.dual,
        gap=seen.gap,
        relative_gap=seen.relative_gap,
        moved=_ratio(float(np.linalg.norm(seen.delta)), float(np.linalg.norm(a))),
        violation=violation,
        residual=_residual(problem, g, a, hard),
        normal_residual=normal_residual,
        condition=answer.condition,
        rank=answer.rank,
        steps=answer.iterations,
        trace=answer.trace,
        assumptions=() if problem.gram.proof is None else problem.gram.proof.assumptions,
        note=answer.note,
    )
    error = _error_bound(problem, g + seen.Kdelta, a + seen.delta, seen.delta, seen.Kdelta, hard)
    return Solution(a, theta, certificate, error, answer.factors, answer.weights)


class Measured(NamedTuple):
    """What `measure` finds.

    Attributes
    ----------
    primal, dual, gap, relative_gap : float
        As in `Certificate`.
    energy : float
        ½ αᵀKα.
    g : ndarray of shape (n, t)
        Kα + B θ.
    delta, Kdelta : ndarray of shape (n, t)
        The step to the feasible point, and K times it; zeros if that is below rounding.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    energy: float
    g: Array
    delta: Array
    Kdelta: Array


def measure(
    problem: Problem,
    a: Array,
    theta: Array,
    Ka: Array | None = None,
    *,
    unless_above: float = float("inf"),
    times: Callable[[Array], Array] | None = None,
) -> Measured:
    """P, D and their gap at a point, for the referee and for solvers that stop by the gap.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    a, theta : ndarray of shape (n, t) and (q, t)
        The point.
    Ka : ndarray of shape (n, t), optional
        If a solver has it already; the referee recomputes it.
    unless_above : float
        If the gap exceeds this even without K δ, return that lower bound, with zeros for K δ: one product saved.
    times : callable, optional
        V ↦ K V, if a solver has a faster way.
    """
    delta = feasible(problem, a) - a
    is_feasible = float(np.abs(delta).sum()) <= ROUNDINGS * float(np.abs(a).sum())
    Kdelta: Array | None = np.zeros_like(a) if is_feasible else None
    if Ka is None and is_feasible:
        Ka = np.asarray(problem.gram @ a, dtype=np.float64)
    elif Ka is None:  # both in one pass over the matrix
        Ka, Kdelta = np.hsplit(np.asarray(problem.gram @ np.hstack([a, delta]), dtype=np.float64), 2)
    g = Ka + problem.B @ theta
    terms = _terms(problem, g, a + delta)
    energy = 0.5 * float(np.vdot(a, Ka))
    primal = energy + terms.losses + float((problem.price @ theta).sum())
    if Kdelta is None:
        is_far = terms.excess > unless_above * max(abs(primal), energy, terms.rounding)
        product = problem.gram.__matmul__ if times is None else times
        Kdelta = np.zeros_like(a) if is_far else np.asarray(product(delta), dtype=np.float64)
    moved_energy = 0.5 * float(np.vdot(delta, Kdelta))
    dual = -(energy + float(np.vdot(delta, Ka)) + moved_energy) - terms.conjugates
    gap = max(moved_energy, 0.0) + terms.excess + _missed(problem, a + delta, theta)
    if np.isinf(problem.cost).any():
        gap = float("nan")
    relative_gap = _ratio(gap, max(abs(primal), abs(dual), energy, terms.rounding))
    return Measured(primal, dual, gap, relative_gap, energy, g, delta, Kdelta)


def _size(problem: Problem, a: Array) -> float:
    """Σ (Σᵢ |αᵢ| √kᵢᵢ)² over the columns: what αᵀKα is small against, since Kα itself may be nothing but rounding."""
    roots = np.sqrt(np.maximum(np.asarray(problem.gram.diag(), dtype=np.float64), 0.0))
    return float(((roots @ np.abs(a)) ** 2).sum())


def _is_lost(problem: Problem, a: Array, seen: Measured, share: float) -> bool:
    """Whether the rounding of αᵀKα may be more than this share of P, for a loss that has no residual to show it.

    Coefficients can be as large as the costs. Where those or K are huge they cancel in Kα, and what is left has no
    correct digits, though the solver may have found the minimum in another way.
    """
    scale = max(abs(seen.primal), abs(seen.dual), seen.energy)
    return not problem.loss.is_quadratic and EPS * _size(problem, a) > share * scale > 0.0


def _missed(problem: Problem, a: Array, theta: Array) -> float:
    """|θ|ᵀ|Bᵀα − p|, where that is more than the rounding of the sums."""
    missed = np.abs(problem.B.T @ a - problem.price[:, None])
    rounding = len(a) * EPS * (np.abs(problem.B).T @ np.abs(a))
    return float((np.abs(theta) * np.where(missed > rounding, missed, 0.0)).sum())


class _Terms(NamedTuple):
    losses: float  # Σ c ℓ(g, y)
    conjugates: float  # Σ c ℓ*(−α/c, y)
    excess: float  # Σ c [ℓ + ℓ* + g α/c], each ≥ 0
    rounding: float  # eps · Σ c ℓ(0, y): the size of P below which it is zero, as for a constant y with an intercept


def _terms(problem: Problem, g: Array, a: Array) -> _Terms:
    """The sums over rows, in blocks: a dozen arrays as long as the data would cost more than its products."""
    parts = [_terms_of(problem, rows, g[rows], a[rows]) for rows in row_blocks(len(a), a.shape[1], CACHED)]
    return _Terms(*map(math.fsum, zip(*parts, strict=True)))


def _terms_of(problem: Problem, rows: slice, g: Array, a: Array) -> _Terms:
    """For some rows. Those of infinite cost add no loss, and −a y to the dual; rows without cost add nothing."""
    cost, y, loss = problem.cost[rows], problem.y[rows], problem.loss
    hard = np.isinf(cost)
    soft = (cost > 0.0) & ~hard
    c, slope = np.where(soft, cost, 0.0), -a / np.where(soft, cost, 1.0)
    if not soft.all():
        g = np.where(soft, g, 0.0)  # 0 times a loss that may be infinite
    losses, conjugates = loss.value(g, y), loss.conjugate(slope, y)
    joined = (slope * g).sum(axis=1, keepdims=True) if loss.is_joint else slope * g
    excess = np.maximum(losses + conjugates - joined, 0.0)
    nothing = loss.value(np.zeros_like(g), y)
    return _Terms(
        losses=float(np.vdot(c, losses)),
        conjugates=float(np.vdot(c, conjugates)) - (float(a[hard] @ y[hard]) if hard.any() else 0.0),
        excess=float(np.vdot(c, excess)),
        rounding=EPS * float(np.vdot(c, nothing)),
    )


def _violation(problem: Problem, g: Array, hard: npt.NDArray[np.bool_]) -> float:
    if not hard.any():
        return float("nan")
    y = problem.y[hard]
    return _ratio(float(problem.loss.value(g[hard], y).max()), float(problem.loss.value(np.zeros_like(y), y).max()))


def _remainder(cost: Array, missing: Array, a: Array) -> Array:  # (n, t)
    """√c r with r = (y − g) − α/c, zero for rows without cost: the residual of the equations of the squared loss."""
    root = np.sqrt(cost)
    return root * missing - np.divide(a, root, out=np.zeros_like(a), where=root > 0.0)


def _residual(problem: Problem, g: Array, a: Array, hard: npt.NDArray[np.bool_]) -> float:
    if not problem.loss.is_quadratic:
        return float("nan")
    # In a column of infinite costs these cancel: α/c is nothing, and the weights remain.
    is_hard, weight, y = hard.any(axis=0), problem.weight[:, None], problem.y

    def cost(rows: slice) -> Array:
        return np.where(is_hard, weight[rows] * (problem.cost[rows] > 0.0), problem.cost[rows])

    left = _norms(y.shape, lambda rows: _remainder(cost(rows), y[rows] - g[rows], np.where(is_hard, 0.0, a[rows])))
    whole = _norms(y.shape, lambda rows: np.sqrt(cost(rows)) * y[rows])
    return max(_ratio(float(part), float(of)) for part, of in zip(left, whole, strict=True))


def _norms(shape: tuple[int, int], made: Callable[[slice], Array]) -> Array:  # (t,)
    """The column norms of a matrix that is computed in blocks of rows."""
    squares = (np.square(made(rows)).sum(axis=0) for rows in row_blocks(*shape, CACHED))
    return np.asarray(np.sqrt(sum(squares, start=np.zeros(shape[1]))))


def _normal_residual(problem: Problem, g: Array, hard: npt.NDArray[np.bool_]) -> float:
    if not (hard.any() and problem.loss.is_quadratic):
        return float("nan")
    weight = problem.weight[:, None] * (problem.cost > 0.0)
    both = problem.gram @ np.hstack([weight * (problem.y - g), weight * problem.y])
    left, whole = np.hsplit(np.asarray(both, dtype=np.float64), 2)
    return _ratio(float(np.linalg.norm(left)), float(np.linalg.norm(whole)))


def _error_bound(
    problem: Problem, g: Array, a: Array, delta: Array, Kdelta: Array, hard: npt.NDArray[np.bool_]
) -> ErrorBound | None:
    """From the feasible point a with its decisions g; δ is how far the published one is from it."""
    has_intercept = problem.B.shape[1] == 1 and bool((problem.B == 1.0).all())
    if not problem.loss.is_quadratic or hard.any() or not (has_intercept or problem.B.shape[1] == 0):
        return None
    cost, y = problem.cost, problem.y
    t = y.shape[1]
    if not has_intercept:
        left_norms = _norms(y.shape, lambda rows: _remainder(cost[rows], y[rows] - g[rows], a[rows]))
        return ErrorBound(0.5 * left_norms, np.zeros(t), np.zeros(t))
    left, root = _remainder(cost, y - g, a), np.sqrt(cost)
    mean = (root * left).sum(axis=0) / cost.sum(axis=0)
    moved = np.sqrt(np.maximum((delta * Kdelta).sum(axis=0), 0.0))
    return ErrorBound(0.5 * np.linalg.norm(left - root * mean, axis=0), np.abs(mean), moved)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else (0.0 if part == 0.0 else float("inf"))
