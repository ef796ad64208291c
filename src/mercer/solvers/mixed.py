"""Least squares by a Cholesky factor in 16 bits or in float32, and conjugate gradients in float64.

A factor in float32 takes half the memory and half the time of one in float64. Alone it solves to some 1e-7 times the
condition number; as the preconditioner of conjugate gradients on

    (S K S + ridge·I) z = S [y, B],                                                                (1)

(see `mercer.solvers.factor`), whose products are made in float64, it solves to the tolerance in a few steps, and goes
on converging, in more of them, where plain refinement would diverge.

A factor in 16 bits (`cpp/include/mercer/coarse.hpp`) halves both once more. It leaves errors of some 1e-3, so it is for
ridges that are not far below that, and for few right-hand sides.

Where rounding to float32 leaves no factor, that of the matrix plus τ·I is taken, τ = 4 u trace (u the rounding unit, so
that τ is 4 n u of a mean diagonal entry) and doubled until there is one. This changes the preconditioner alone, never
the equations (1) that are solved.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from mercer.budget import allocate, refuse_too_large
from mercer.errors import NotPositive
from mercer.grams.base import Gram
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.coarse import coded_solver
from mercer.solvers.factor import Stage, Stopped, eliminate, groups, scaling
from mercer.solvers.held import LARGEST, code_error, coded
from mercer.solvers.lapack import STOPPED, Look, factor_in_place, solve_in_place
from mercer.solvers.options import Options

__all__ = ["is_coarse", "mixed"]

Array = npt.NDArray[np.float64]
Single = npt.NDArray[np.float32]
Columns = npt.NDArray[np.intp]
Preconditioner = Callable[[Array], Array]  # R ↦ (L Lᵀ)⁻¹ R

UNIT = 2.0**-24
# Iterations if the options give no limit; with a factor as preconditioner more would not help.
MAX_ITER = 200
# A shift that was doubled this often is no longer rounding.
DOUBLINGS = 16
# The errors of 16 bits may be so many times the ridge, and what they are shifted by where they leave no factor.
COARSE_NUISANCE = 4.0
COARSE_SHIFTS = (0.0, 2.0, 8.0)
# The share of a solve that is the factorisation.
FACTOR_SHARE = 0.9
# The true residual must fall by this factor between restarts, or rounding prevents convergence.
PROGRESS = 0.5


def mixed(problem: Problem, options: Options) -> Answer:
    """Solve a least-squares problem; n³/3 operations in float32 per different column of costs, 4 n² bytes.

    Every column of the right-hand side is iterated to a relative residual of `tol`, and to a relative gap of `tol`.
    """
    watch = options.watch("mixed")
    try:
        return _solve(problem, options, watch)
    finally:
        watch.close()


def _solve(problem: Problem, options: Options, watch: Look) -> Answer:
    n, t = problem.y.shape
    coef = np.zeros((n, t))
    theta = np.zeros((problem.B.shape[1], t))
    trace: list[float] = []
    notes: list[str] = []
    stopped = False
    parts = groups(problem.cost)
    for part, (cost, targets) in enumerate(parts):
        rows = np.flatnonzero(cost > 0.0)
        scale, ridge = scaling(cost[rows])
        system = _System(problem.gram if rows.size == n else problem.gram.take(rows), scale, ridge)
        right = scale[:, None] * np.hstack([problem.y[np.ix_(rows, targets)], problem.B[rows]])
        stage = Stage(watch, part / len(parts), (part + 1) / len(parts))
        try:
            found = _iterate(system, right, options, stage)
        except Stopped:
            stopped = True
            notes.append("time ran out before the factorisation was done")
            break
        z, theta[:, targets] = eliminate(found.solved, right[:, targets.size :], problem.price)
        coef[np.ix_(rows, targets)] = scale[:, None] * z
        trace += found.trace
        notes += [note for note in found.notes if note not in notes]
        stopped |= found.stopped
    return Answer(coef, theta, iterations=len(trace), trace=tuple(trace), stopped=stopped, note="; ".join(notes))


@final
@dataclass(frozen=True, eq=False)
class _System:
    """The matrix M of (1)."""

    gram: Gram
    scale: Array  # (r,)
    ridge: Array  # (r,)

    def __matmul__(self, V: Array) -> Array:  # (r, k) -> (r, k)
        product = np.asarray(self.gram @ (self.scale[:, None] * V), dtype=np.float64)
        return self.scale[:, None] * product + self.ridge[:, None] * V

    def diagonal(self) -> Array:  # (r,)
        return self.scale**2 * np.asarray(self.gram.diag(), dtype=np.float64) + self.ridge

    def single(self, shift: float, out: Single) -> Single:
        """M + shift·I in float32, written into `out`; handed on as its transpose, which is in Fortran order."""
        self.gram.dense(out=out)
        if (self.scale != 1.0).any():
            narrow = self.scale.astype(np.float32)
            out *= narrow[:, None]
            out *= narrow
        # From the diagonal in float64: a ridge below the rounding of K would be lost if it were added afterwards.
        out.flat[:: len(out) + 1] = self.diagonal() + shift
        return out.T


class _Found(NamedTuple):
    solved: Array  # (r, k)
    trace: list[float]
    stopped: bool
    notes: list[str]


def _iterate(system: _System, right: Array, options: Options, watch: Look) -> _Found:
    """Conjugate gradients for all columns, restarted from the true residual until that one is small enough, too."""
    factoring = Stage(watch, 0.0, FACTOR_SHARE)
    precondition, notes = _coarse(system, right.shape[1], factoring) or _preconditioner(system, factoring)
    steps = _Steps(system, precondition, right, options, Stage(watch, FACTOR_SHARE, 1.0))
    every = np.arange(right.shape[1])
    X, R = np.zeros_like(right), right.copy()
    stalled = np.zeros(every.size, dtype=bool)
    while not steps.is_over:
        going = np.flatnonzero(~(steps.is_small(every, X, R) | stalled))
        if going.size == 0:
            break
        before = steps.relative(going, R[:, going])
        X[:, going] += steps.descend(going, R[:, going], X[:, going])
        R[:, going] = right[:, going] - system @ X[:, going]
        stalled[going] = steps.relative(going, R[:, going]) > PROGRESS * before
    is_missed = not steps.is_small(every, X, R).all()
    if is_missed:
        why = "stopped" if steps.is_over else "limited by rounding"
        notes = [*notes, f"{why} at a relative residual of {steps.relative(every, R).max():.1e}"]
    return _Found(X, steps.trace, is_missed and steps.is_over, notes)


@final
class _Steps:
    """Counts and monitors the steps of conjugate gradients, and decides when they suffice.

    The gap of a column is ½‖r‖²/ridge (`mercer.problems.certify`) and its primal at the optimum ½ bᵀz.
    """

    def __init__(
        self, system: _System, precondition: Preconditioner, right: Array, options: Options, watch: Look
    ) -> None:
        self._system = system
        self._precondition = precondition
        self._right = right
        norms = np.linalg.norm(right, axis=0)
        self._norms = np.where(norms > 0.0, norms, 1.0)
        self._tol = options.tol
        self._most = options.max_iter or MAX_ITER
        self._watch = watch
        self.trace: list[float] = []
        self.is_over = False

    def relative(self, columns: Columns, R: Array) -> Array:
        """‖r‖/‖b‖ of some columns; 0 where b = 0, which z = 0 solves."""
        return np.asarray(np.linalg.norm(R, axis=0) / self._norms[columns])

    def is_small(self, columns: Columns, X: Array, R: Array) -> npt.NDArray[np.bool_]:
        """Which of some columns are solved, by their residual and by their gap."""
        ridge = float(self._system.ridge.min())
        value = ridge * (self._right[:, columns] * X).sum(axis=0)
        is_gap_small = ((R * R).sum(axis=0) <= self._tol * value) | (ridge == 0.0)
        return np.asarray((self.relative(columns, R) <= self._tol) & is_gap_small)

    def descend(self, columns: Columns, R: Array, start: Array) -> Array:
        """D with M D ≈ R for some columns, whose solution so far is `start`.

        The slope is the flexible one (Polak-Ribière): a preconditioner in float32 is not quite a constant matrix.
        """
        D = np.zeros_like(R)
        active = np.arange(columns.size)
        Z = self._precondition(R)
        P, rho = Z, (R * Z).sum(axis=0)
        rest = R.copy()
        while active.size and not self.is_over:
            Q = self._system @ P
            curvature = (P * Q).sum(axis=0)
            if not (curvature > 0.0).all():
                raise NotPositive(
                    "K + alpha·I is not positive, and conjugate gradients cannot solve it.",
                    f"A direction p has pᵀ(K + alpha·I)p = {curvature.min():.3g}.",
                    'Raise alpha, or use solver="cholesky", which gives more details.',
                )
            step = rho / curvature
            D[:, active] += step * P
            now = rest - step * Q
            going = ~self.is_small(columns[active], start[:, active] + D[:, active], now)
            self._look(float(self.relative(columns[active], now).max()))
            Z = self._precondition(now[:, going])
            slope = (Z * (now - rest)[:, going]).sum(axis=0) / rho[going]
            P = Z + slope * P[:, going]
            rest, active = now[:, going], active[going]
            rho = (rest * Z).sum(axis=0)
        return D

    def _look(self, worst: float) -> None:
        self.trace.append(worst)
        share = np.log(min(max(worst, self._tol), 1.0)) / np.log(self._tol)
        is_late = self._watch.look(float(share), f"residual {worst:.1e}")
        self.is_over = is_late or len(self.trace) >= self._most


def _preconditioner(system: _System, watch: Look) -> tuple[Preconditioner, list[str]]:
    """The factor of M in float32, or of M + τI; and notes about it."""
    n = len(system.scale)
    diagonal = system.diagonal()
    if not 1.0 / LARGEST <= diagonal.max() <= LARGEST:
        raise NotPositive(
            "K + alpha·I cannot be held in float32.",
            f"The largest number on its diagonal is {diagonal.max():.3g}.",
            'Scale the kernel and alpha, or use solver="cholesky", which works in float64.',
        )
    what = f"The factor of {n} x {n} numbers in float32"
    store = allocate((n, n), np.float32, what, 'Use solver="cg", which stores no matrix, or fit fewer rows.')
    first = 4.0 * UNIT * float(diagonal.sum())
    for shift in (0.0, *(first * 2.0**k for k in range(DOUBLINGS))):
        L = system.single(shift, store)
        broken = factor_in_place(L, watch)
        if broken == STOPPED:
            raise Stopped
        if not broken:
            note = f"float32 needed a shift of {shift:.1e} in the preconditioner; the equations are solved without it"
            return partial(_on_units, partial(_singly_solved, L)), [note] if shift else []
    raise NotPositive(
        "K + alpha·I has no Cholesky factor in float32, whatever shift is added for its rounding.",
        f"A shift of {shift:.1e} on the diagonal was not enough (its largest number is {diagonal.max():.3g}).",
        'Raise alpha, or use solver="cholesky", which gives more details.',
    )


def _on_units(solve: Preconditioner, R: Array) -> Array:
    """With unit columns, so that no residual is too small for float32."""
    norms = np.linalg.norm(R, axis=0)
    norms[norms == 0.0] = 1.0
    return np.asarray(solve(R / norms) * norms)


def _singly_solved(L: Single, R: Array) -> Array:
    narrow = np.asarray(R, dtype=np.float32, order="F")
    solve_in_place(L, narrow)
    return narrow.astype(np.float64)


def is_coarse(gram: Gram, ridge: float, columns: int) -> bool:
    """Whether 16 bits suffice for the factor of K + ridge·I and this many right-hand sides."""
    entries = coded(gram, columns)
    return entries is not None and code_error(gram.shape[0], entries.code) <= COARSE_NUISANCE * ridge


def _coarse(system: _System, columns: int, watch: Look) -> tuple[Preconditioner, list[str]] | None:
    """The factor of M, or of M + τI, in 16 bits; None if that is too coarse."""
    gram, n, entries = system.gram, len(system.scale), coded(system.gram, columns)
    if entries is None or not is_coarse(gram, float(system.ridge.min()), columns):
        return None
    refuse_too_large(3 * n * n, f"K and a factor, {n} x {n} numbers in 16 bits", 'Use solver="cg", or fit fewer rows.')
    code, codes = entries.code, entries.upper()
    weights, diagonal = system.scale.astype(np.float32), system.diagonal()
    for shift in (share * code_error(n, code) for share in COARSE_SHIFTS):
        solve = coded_solver(codes, code, weights, diagonal + shift, watch)
        if solve is not None:
            note = f"a factor in 16 bits{f' of K shifted by {shift:.1e}' if shift else ''}"
            return partial(_on_units, solve), [note]
    return None
