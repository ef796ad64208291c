"""Least squares by preconditioned conjugate gradients: products K @ V, with K in a few bits or not stored at all.

The equations of the squared loss, scaled as in `mercer.solvers.factor`,

    M z = S (y − B θ),      M = A + ridge·I,   A = S K S,   ridge = 1 / max c,                             (1)

are solved for the right-hand sides S y and S B together (one walk over K for all of them), and θ comes from the q × q
Schur complement. The preconditioner is P = F Fᵀ + μ I of `mercer.solvers.preconditioner`: the iterations depend on what
F leaves of the spectrum, and no longer on its largest eigenvalues.

A column is solved when its relative residual ‖r‖/‖b‖ is at most `tol` and so is its relative gap, ‖r‖² / (ridge bᵀz).
The recurrence of r drifts from b − M z by rounding. The true residual is computed every 50 iterations, and at the end
unless the drift is bounded far below `tol`, and takes the place of r; a column that has drifted far starts again from
it. Where K fits into memory in a few bits (`mercer.solvers.held`), the steps take their products there, and the true
residual, always in the precision of K, is looked at each time that r has shrunk by as much as these can be believed:
then they cost neither digits nor iterations. Where they get nowhere (what is held need not be positive), the
iteration goes on with K itself.

The condition number of M that is reported is (λ + ridge) / max(ridge, μ θ): λ is the largest eigenvalue of F Fᵀ, by
power iteration; θ the smallest Ritz value of P⁻¹ M, from the coefficients of the iteration. Since P ≥ μ I, the
smallest eigenvalue of M is at least μ times that of P⁻¹ M, and nearly equal where its vector lies outside the range of
F; a Ritz value is an estimate from above.
"""

import math
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import InvalidParameter, NotPositive
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.cg_system import System, few_blas_threads
from mercer.solvers.factor import Stage, eliminate, groups, scaling
from mercer.solvers.lapack import Look
from mercer.solvers.options import Options
from mercer.solvers.preconditioner import Preconditioner, rank_for

__all__ = ["cg", "rank_for"]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Iterations if the options give no limit.
MAX_ITER = 1_000
# The true residual is checked every so many iterations; without progress for that long, the iteration has stalled.
PERIOD = 50
PROGRESS = 0.9
# The recurrence has drifted if it is off by this share of the true residual.
DRIFT = 0.1
# Of a right-hand side, what is left of y beside its projection on B by rounding alone.
ROUNDINGS = 16.0


def cg(problem: Problem, options: Options) -> Answer:
    """Solve a least-squares problem by n r² operations and one K @ V a step, in 8 n r bytes; 2 n² more to hold K.

    Every target, and every column of B, is iterated to a relative residual of `tol`.

    Raises
    ------
    InvalidParameter
        If a cost is infinite (alpha = 0).
    NotPositive
        If K turns out to be indefinite.
    """
    if np.isinf(problem.cost).any():
        raise InvalidParameter(
            "Conjugate gradients need alpha above 0.",
            "Some row has an infinite cost (alpha = 0), which makes its loss a constraint.",
            'Give a small alpha, or use solver="cholesky" or "eigen".',
        )
    watch = options.watch("cg")
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
    stopped, condition = False, 0.0
    parts = groups(problem.cost)
    for part, (cost, targets) in enumerate(parts):
        rows = np.flatnonzero(cost > 0.0)
        scale, ridge = scaling(cost[rows])
        k = targets.size + problem.B.shape[1]
        system = System(problem.gram if rows.size == n else problem.gram.take(rows), scale, float(ridge[0]), k)
        stage = Stage(watch, part / len(parts), (part + 1) / len(parts))
        preconditioner = Preconditioner(system.gram, scale, system.ridge, stage, system.pivots)
        y, B = scale[:, None] * problem.y[np.ix_(rows, targets)], scale[:, None] * problem.B[rows]
        start, rest = _project(y, B)
        with few_blas_threads(system, k):
            found = _iterate(system, preconditioner, np.hstack([rest, B]), options, stage)
        z, shift = eliminate(found.solved, B, problem.price)
        coef[np.ix_(rows, targets)] = scale[:, None] * z
        theta[:, targets] = start + shift
        trace += found.trace
        stopped |= found.stopped
        condition = max(condition, found.condition)
        notes.append(found.note)
    return Answer(
        coef,
        theta,
        iterations=len(trace),
        trace=tuple(trace),
        condition=condition,
        stopped=stopped,
        note="; ".join(dict.fromkeys(notes)),
    )


def _project(y: Array, B: Array) -> tuple[Array, Array]:
    """θ₀ and y − B θ₀ by plain least squares.

    Otherwise `tol` would be relative to a large mean, not to what is left for the kernel to explain.
    """
    if B.shape[1] == 0:
        return np.zeros((0, y.shape[1])), y
    theta: Array = np.asarray(np.linalg.lstsq(B, y, rcond=None)[0], dtype=np.float64)
    rest = y - B @ theta
    rest[:, np.linalg.norm(rest, axis=0) <= ROUNDINGS * EPS * np.linalg.norm(y, axis=0)] = 0.0
    return theta, rest


class _Found(NamedTuple):
    solved: Array  # (r, k)
    trace: list[float]
    stopped: bool
    condition: float
    note: str


def _iterate(system: System, P: Preconditioner, right: Array, options: Options, watch: Look) -> _Found:
    """Conjugate gradients for all columns of the right-hand side."""
    norms = np.linalg.norm(right, axis=0)
    norms[norms == 0.0] = 1.0
    run = _Run(system, P, right / norms, options.tol)
    most = options.max_iter or MAX_ITER
    late = False
    try:
        while run.going.size and len(run.trace) < most and not (late or run.is_stalled):
            run.step()
            share = math.log(min(max(run.trace[-1], options.tol), 1.0)) / math.log(options.tol)
            late = watch.look(share, f"residual {run.trace[-1]:.1e}")
    except KeyboardInterrupt:
        watch.interrupt()
        late = True
    missed = not run.is_solved.all()
    is_cut = run.going.size > 0 and not run.is_stalled and options.max_iter is not None
    stopped = missed and (late or is_cut)
    smallest, largest = run.ritz()
    count = len(run.trace)
    note = f"rank {P.rank} preconditioner, {count} iteration{'' if count == 1 else 's'}"
    if missed:
        how = "stopped" if stopped else "stalled"
        note += f", {how} at a relative residual of {run.reached.max():.1e}"
        note += f" (preconditioned system: condition about {largest / smallest:.1e}, by Ritz values)"
    least = max(system.ridge, P.mu * smallest)
    return _Found(norms * run.solved, run.trace, stopped, (P.largest + system.ridge) / least, note)


@final
class _Run:
    """The state of an iteration on right-hand sides of norm 1 (or 0), of which `going` are not done.

    Attributes
    ----------
    solved : ndarray of shape (n, k)
        For each column the iterate of the smallest residual; residuals of conjugate gradients are not monotone.
    reached : ndarray of shape (k,)
        Those residuals.
    is_solved : ndarray of shape (k,)
        Which columns are done.
    going : ndarray
        Which are still iterated. A column may leave unsolved, where rounding leaves it no direction.
    trace : list of float
        The largest residual after each step.
    """

    def __init__(self, system: System, P: Preconditioner, right: Array, tol: float) -> None:
        self._system, self._P, self._tol = system, P, tol
        k = right.shape[1]
        self.solved = np.zeros_like(right)
        self.reached = np.linalg.norm(right, axis=0)
        self.is_solved = self.reached == 0.0
        self.going = np.flatnonzero(~self.is_solved)
        self.reached[self.going] = np.inf  # any first iterate is better than none
        self.trace: list[float] = []
        self.is_stalled = False
        self._before = self.reached.copy()  # a period ago
        self._refuted = np.full(k, np.inf)  # true residual where the recurrence was last found to have drifted
        self._drift = np.zeros(k)  # bound on the rounding in the recurrence of r
        self._true = np.ones(k)  # the last residual that was computed and not only continued
        self._lanczos: list[Array] = []  # steps and slopes, (2, k) each, NaN where a column is done
        # From here on, only the columns still iterated.
        self._b = right[:, self.going]
        self._z = np.zeros_like(self._b)
        self._r = self._b.copy()
        self._d = P(self._r)
        self._rho = _dot(self._r, self._d)

    def step(self) -> None:
        """One iteration: one product M @ D."""
        product = self._system.quick(self._d)
        curvature = _dot(self._d, product)
        is_lost = ~((curvature > 0.0) & (self._rho > 0.0))
        if is_lost.any() and self._system.is_held:
            self._let_go()
            return
        if is_lost.any():
            self._refuse_indefinite(curvature)
        step = np.divide(self._rho, curvature, out=np.zeros_like(curvature), where=~is_lost)
        self._z += step * self._d
        old = self._r
        self._r = old - step * product
        self._drift[self.going] += self._system.rounding * np.linalg.norm(self._z, axis=0)
        is_new = self._look()
        slope = np.zeros_like(step)
        left = ~(self.is_solved[self.going] | is_lost | self._is_at_its_end(is_new))
        if left.any():
            q = self._P(self._r[:, left])
            # The flexible slope (Polak-Ribière): in float32 the preconditioner is not quite a constant matrix.
            slope[left] = np.where(is_new[left], 0.0, _dot(q, (self._r - old)[:, left]) / self._rho[left])
        self._record(np.where(is_lost, np.nan, step), slope)
        self._keep(left)
        if left.any():
            self._d = q + slope[left] * self._d
            self._rho = _dot(self._r, q)
            self.is_stalled = self._has_stalled()
            if self.is_stalled and self._system.is_held:
                self._let_go()

    def _let_go(self) -> None:
        """Restart from the best iterate, with K itself."""
        self._system.let_go()
        self.is_stalled = False
        self._z = np.where(np.isfinite(self.reached[self.going]), self.solved[:, self.going], 0.0)
        self._r = self._b - self._system @ self._z
        self._d = self._P(self._r)
        self._rho = _dot(self._r, self._d)
        self._drift[self.going] = 0.0
        self._refuted[self.going] = np.inf
        self._true[self.going] = np.linalg.norm(self._r, axis=0)

    def ritz(self) -> tuple[float, float]:
        """The extreme Ritz values of P⁻¹ M, of the column that was iterated longest; (1, 1) where there was none.

        Steps α and slopes β of conjugate gradients are the entries of the Lanczos matrix, 1/αⱼ + βⱼ₋₁/αⱼ₋₁ and √βⱼ/αⱼ.
        """
        if not any(np.isfinite(steps).any() for steps, _ in self._lanczos):
            return 1.0, 1.0
        steps, slopes = np.array(self._lanczos).transpose(1, 0, 2)
        column = int(np.isfinite(steps).sum(axis=0).argmax())
        there = np.isfinite(steps[:, column])
        step, slope = steps[there, column], np.maximum(slopes[there, column], 0.0)
        diagonal = 1.0 / step
        diagonal[1:] += slope[:-1] / step[:-1]
        values = scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(slope[:-1]) / step[:-1])
        # Rounding can leave the smallest at or below 0; it is then unknown but for that.
        return max(float(values[0]), EPS * float(values[-1])), float(values[-1])

    def _look(self) -> npt.NDArray[np.bool_]:
        """Record progress and, when due, compare with the true residual; returns the columns to restart."""
        going, residual = self.going, np.linalg.norm(self._r, axis=0)
        is_new = np.zeros(going.size, dtype=bool)
        is_due = (len(self.trace) + 1) % PERIOD == 0
        is_small = self._is_small(residual)
        doubted = is_due | (is_small & (self._drift[going] > DRIFT * self._tol))
        doubted |= residual <= self._system.believed * self._true[going]
        if doubted.any():
            true = self._b[:, doubted] - self._system @ self._z[:, doubted]
            apart = np.linalg.norm(true - self._r[:, doubted], axis=0)
            norm = np.linalg.norm(true, axis=0)
            is_new[doubted] = apart > DRIFT * norm
            self._r[:, doubted], residual[doubted] = true, norm
            self.reached[going[is_new]] = np.inf  # the residuals claimed since the last check were wrong
            self._drift[going[doubted]] = 0.0
            self._true[going[doubted]] = norm
            is_small = self._is_small(residual)
        is_better = residual < self.reached[going]
        self.solved[:, going[is_better]] = self._z[:, is_better]
        self.reached[going[is_better]] = residual[is_better]
        self.is_solved[going[is_small]] = True
        self.solved[:, going[is_small]] = self._z[:, is_small]
        self.reached[going[is_small]] = residual[is_small]
        self.trace.append(float(residual.max()))
        return is_new

    def _is_at_its_end(self, is_new: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Which columns have drifted twice without progress in between: another restart would not help."""
        now, before = self.reached[self.going], self._refuted[self.going]
        self._refuted[self.going[is_new]] = now[is_new]
        return np.asarray(is_new & (now > PROGRESS * before))

    def _is_small(self, residual: Array) -> npt.NDArray[np.bool_]:
        """By the residual, and by the gap: that of a column is ½‖r‖²/ridge, and its primal at the optimum ½ bᵀz."""
        value = self._system.ridge * _dot(self._b, self._z)
        return np.asarray((residual <= self._tol) & (residual * residual <= self._tol * value))

    def _has_stalled(self) -> bool:
        if len(self.trace) % PERIOD:
            return False
        now, before = self.reached[self.going], self._before[self.going]
        self._before = self.reached.copy()
        return bool((now > PROGRESS * before).all())

    def _record(self, step: Array, slope: Array) -> None:
        row = np.full((2, self.reached.size), np.nan)
        row[:, self.going] = step, slope
        self._lanczos.append(row)

    def _keep(self, left: npt.NDArray[np.bool_]) -> None:
        """Continue with some of the columns only."""
        if left.all():
            return
        self.going, self._rho = self.going[left], self._rho[left]
        self._b, self._z, self._r, self._d = (V[:, left] for V in (self._b, self._z, self._r, self._d))

    def _refuse_indefinite(self, curvature: Array) -> None:
        """Raise for negative curvature beyond rounding; within rounding, the column has merely converged."""
        size = _dot(self._d, self._d)
        if (curvature < -len(self._d) * self._system.rounding * size).any():
            worst = float((curvature / np.where(size > 0.0, size, 1.0)).min())
            raise NotPositive(
                "K + alpha·I is not positive, and conjugate gradients cannot solve it.",
                f"A direction d has dᵀ(K + alpha·I)d / dᵀd = {worst:.3g}.",
                'Raise alpha, or use solver="cholesky", which says more; check_gram shows a witness and repairs K.',
            )


def _dot(U: Array, V: Array) -> Array:  # (n, k), (n, k) -> (k,)
    return np.asarray(np.einsum("ij,ij->j", U, V))
