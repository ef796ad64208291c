"""Smooth losses by Newton's method in the dual: logistic regression, two classes and many alike, and others.

In a row the Hessian is H = diag(d), or diag(p) − p pᵀ where the loss joins its columns (softmax). With r = −c ∂ℓ/∂g,
the coefficients that the decisions g = Kα + B θ ask for, and W = C H, a Newton step goes from α to α + Δ,

    Δ = e − W (K Δ + B δθ),      e = r − α,      Bᵀ Δ = 0.                                              (1)

θ is kept at its best for the f at hand, so that Bᵀ e = 0, and is eliminated from (1): that centres W. With W = L Lᵀ and
Π the projection that is orthogonal to Lᵀ B, Δ = e − L Π x and

    (I + Π Lᵀ K L Π) x = Π Lᵀ K e,                                                                      (2)

which is symmetric, of eigenvalues ≥ 1, and divides by no curvature: that may be zero, as of Huber's loss and the
squared hinge, and where it jumps, either value will do. (2) is solved by conjugate gradients, only as exactly as the
Newton step deserves; the products are K @ V. What differs is the preconditioner:

- `newton_cholesky`: I + Lᵀ K L factorised in float64; one iteration solves (2).
- `newton_cg`: K ≈ F Fᵀ by `mercer.solvers.pivoted`, once for all steps, and Woodbury's formula with I + Fᵀ W F.
- `newton_primal`: the same with F = Φ, the features, where there are few: exact again, and nothing n × n exists.

`newton_cg` begins with the problem in which F Fᵀ plus the diagonal of K − F Fᵀ stands for K, and goes on from its
solution: the first steps, which go far and need no accuracy, then take n r operations and no product with K.

The step is shortened where the primal would rise, and the iteration ends when the relative duality gap, as the referee
computes it, is at most `tol`.

References
----------
C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, sections 3.4 and 3.5, MIT Press (2006).
S. S. Keerthi, K. B. Duan, S. K. Shevade and A. N. Poo, A fast dual algorithm for kernel logistic regression, Machine
Learning 61 (2005).
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import InvalidInput
from mercer.problems.certify import measure
from mercer.problems.feasible import best_shift
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.held import FEW_COLUMNS, one_blas_thread
from mercer.solvers.newton_systems import Curvature, Preconditioner, Quiet, Route, direct, featured, pivoted
from mercer.solvers.options import Options
from mercer.solvers.watch import Watch

__all__ = ["newton_cg", "newton_cholesky", "newton_primal"]

Array = npt.NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Costs c, and with kernel values c k and the √c k c of conjugate gradients: their squares, summed, are numbers.
LARGEST = 1e140
# Newton steps if the options give no limit.
MAX_ITER = 100
# Conjugate gradients leave this share of the Newton decrement, or the relative gap, whichever is less: the last step,
# which decides how far probabilities are from the best ones, is then nearly exact.
FORCING = 0.1
LEAST_FORCING = 1e-10
INNER_ITERATIONS = 300
# eᵀK e − rightᵀx is known to this share of eᵀK e, where K is held in a few bits.
DECREMENT_ROUNDING = 1e-7
# The slope along a step at its end, in shares of that at its start: beyond, the step was too long.
OVERSHOT = 0.1
BISECTIONS = 40
# Primals that differ by less than this share count as equal.
ROUNDING = 1e-13
# The relative gap to which the problem with a coarse K is solved; that of its solution, with K, is larger.
COARSE_TOL = 0.1
# Products in few bits measure the gap well enough down to this. Its last digits are the referee's: it stays clear of
# tol.
HELD_TOL = 1e-5
CLEARLY = 0.9
# Steps without progress in the gap and the primal, after which rounding must be the limit.
PATIENCE = 4


def newton_cholesky(problem: Problem, options: Options) -> Answer:
    """Newton's method with one factorisation a step: (n t)³/3 operations and 8 (n t)² bytes."""
    return _newton(problem, options, "newton-cholesky", direct)


def newton_cg(problem: Problem, options: Options) -> Answer:
    """Inexact Newton: a product K @ V per inner iteration; K is stored in a few bits where that fits, else never."""
    return _newton(problem, options, "newton-cg", pivoted)


def newton_primal(problem: Problem, options: Options) -> Answer:
    """Newton's method in M features: n (M t)² operations a step, 8 (M t)² bytes."""
    return _newton(problem, options, "primal", featured)


def _newton(problem: Problem, options: Options, label: str, route: Callable[[Problem, Watch], Route]) -> Answer:
    _refuse_overflow(problem)
    n, t = problem.y.shape
    q = problem.B.shape[1]
    rows = np.flatnonzero((problem.cost > 0.0).any(axis=1))
    part = problem if rows.size == n else _take(problem, rows)
    watch = options.watch(label)
    try:
        made = route(part, watch)
        with one_blas_thread() if made.is_rounded and t <= FEW_COLUMNS else nullcontext():
            found = _iterate(part, options, made, watch, _start(part, options, made, watch))
    finally:
        watch.close()
    coef = np.zeros((n, t))
    coef[rows] = found.coef
    return Answer(
        coef,
        found.theta if q else np.zeros((0, t)),
        iterations=found.iterations,
        trace=found.trace,
        stopped=found.stopped,
        note=found.note,
    )


def _refuse_overflow(problem: Problem) -> None:
    """Refuse numbers whose squares overflow float64: the fit would end in a LAPACK error."""
    c, k = float(problem.cost.max(initial=0.0)), float(np.asarray(problem.gram.diag()).max(initial=0.0))
    if not max(c, c * k, math.sqrt(c) * k * c) < LARGEST:
        raise InvalidInput(
            "C times the largest weight, or that times k(x, x), is too large to compute with.",
            f"Got {c:.3g}, and k(x, x) up to {k:.3g}.",
            "Make C or the weights smaller, or scale the data.",
        )


def _take(problem: Problem, rows: npt.NDArray[np.intp]) -> Problem:
    gram = problem.gram.take(rows)
    y, cost, B, weight = (values[rows] for values in (problem.y, problem.cost, problem.B, problem.weight))
    return Problem(gram, y, problem.loss, cost, B, problem.price, weight)


def _start(problem: Problem, options: Options, route: Route, watch: Watch) -> Array | None:
    """The solution of the problem with the route's coarse K; None where there is none."""
    if route.coarse is None or options.tol >= COARSE_TOL:
        return None
    loose = replace(options, tol=COARSE_TOL)
    return np.asarray(_iterate(problem, loose, route.coarse, Quiet(watch)).coef)


@final
class _State:
    """The state of the iteration: α, θ and Kα, with the best θ for this f."""

    def __init__(self, problem: Problem, times: Callable[[Array], Array], start: Array | None) -> None:
        self.problem = problem
        self.a = np.zeros_like(problem.y) if start is None else start
        self.Ka = np.zeros_like(problem.y) if start is None else times(start)
        self.theta = np.zeros((problem.B.shape[1], problem.y.shape[1]))
        self._shift_theta()

    @property
    def g(self) -> Array:
        return self.Ka + self.problem.B @ self.theta

    def move(self, delta: Array, Kdelta: Array, shift: Array) -> bool:
        """Move along a direction as far as the primal decreases; returns whether it did."""
        tau = self._length(delta, Kdelta, shift)
        self.a = self.a + tau * delta
        self.Ka = self.Ka + tau * Kdelta
        self.theta = self.theta + tau * shift
        self._shift_theta()
        return tau > 0.0

    def refresh(self) -> None:
        """Recompute Kα, without the rounding of its steps."""
        self.Ka = np.asarray(self.problem.gram @ self.a, dtype=np.float64)
        self._shift_theta()

    def _shift_theta(self) -> None:
        problem = self.problem
        self.theta = self.theta + best_shift(problem.loss, self.g, problem.y, problem.cost, problem.B, problem.price)

    def _length(self, delta: Array, Kdelta: Array, shift: Array) -> float:
        problem, g = self.problem, self.g
        dg = Kdelta + problem.B @ shift
        linear = float(np.vdot(self.a, Kdelta)) + float((problem.price @ shift).sum())
        square = float(np.vdot(delta, Kdelta))

        def slope(tau: float) -> float:  # not a number, or infinite, where that is too far
            with np.errstate(invalid="ignore", over="ignore"):
                losses = problem.cost * problem.loss.slope(g + tau * dg, problem.y)
                return linear + tau * square + float(np.vdot(losses, dg))

        def value(tau: float) -> float:
            with np.errstate(invalid="ignore", over="ignore"):
                losses = float(np.vdot(problem.cost, problem.loss.value(g + tau * dg, problem.y)))
                return tau * linear + 0.5 * tau * tau * square + losses

        start, here = slope(0.0), value(0.0)
        is_lower = value(1.0) <= here + ROUNDING * abs(here)
        if start >= -ROUNDING * abs(here):  # f is at its best already, but α, which K does not see all of, may not be
            return float(is_lower)
        if slope(1.0) <= -OVERSHOT * start and is_lower:
            return 1.0
        low, high = 0.0, 1.0  # the primal decreases at low and increases at high
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if not slope(middle) <= 0.0:
                high = middle
            else:
                low = middle
                if slope(low) >= OVERSHOT * start:
                    break
        return low


def _iterate(
    problem: Problem, options: Options, route: Route, watch: Watch | Quiet, start: Array | None = None
) -> Answer:
    state = _State(problem, route.times, start)
    trace: list[float] = []
    most = options.max_iter or MAX_ITER
    inner, waited, stopped = 0, 0, False
    best_gap, best_primal = np.inf, np.inf
    best = state.a, state.theta
    times = None if route.is_rounded and options.tol < HELD_TOL else route.times
    try:
        while True:
            seen = measure(problem, state.a, state.theta, state.Ka, unless_above=options.tol, times=times)
            gap = seen.relative_gap
            trace.append(gap)
            waited = (
                0 if gap < 0.9 * best_gap or seen.primal < best_primal - ROUNDING * abs(best_primal) else waited + 1
            )
            best_primal = min(best_primal, seen.primal)
            if gap <= best_gap:
                best_gap, best = gap, (state.a, state.theta)
            done = np.log(min(max(gap, options.tol), 1.0)) / np.log(options.tol)
            if gap <= (CLEARLY * options.tol if route.is_rounded else options.tol) or waited >= PATIENCE:
                break
            if watch.look(float(done), f"gap {gap:.1e}") or len(trace) > most:
                stopped = True
                break
            curvature = Curvature(problem.cost, problem.loss.bend(state.g, problem.y), is_joint=problem.loss.is_joint)
            precondition = route.precondition(curvature, Quiet(watch))
            if precondition is None:
                stopped = True
                break
            eta = max(LEAST_FORCING, min(FORCING, gap, FORCING**waited * FORCING))
            step = _direction(problem, route.times, state, curvature, precondition, eta, watch)
            inner += step.iterations
            state.move(step.delta, step.Kdelta, step.shift)
            if route.is_rounded and options.tol < HELD_TOL:
                state.refresh()
    except KeyboardInterrupt:
        watch.interrupt()
        stopped = True
    count = max(len(trace) - 1, 0)
    steps = f"{count} Newton step{'' if count == 1 else 's'}, {inner} products"
    note = f"{route.note}; {steps}" if route.note else steps
    return Answer(*best, iterations=count, trace=tuple(trace), stopped=stopped, note=note)


class _Step(NamedTuple):
    delta: Array
    Kdelta: Array
    shift: Array
    iterations: int


def _direction(
    problem: Problem,
    times: Callable[[Array], Array],
    state: _State,
    curvature: Curvature,
    precondition: Preconditioner,
    eta: float,
    watch: Watch | Quiet,
) -> _Step:
    """Δ, K Δ and δθ of (1), by conjugate gradients on (2)."""
    n, t = curvature.shape
    asked = -problem.cost * problem.loss.slope(state.g, problem.y)
    e = asked - state.a
    Ke = times(e)
    border = _Border(curvature, problem.B, precondition)

    def image(x: Array) -> Array:  # (n t,) -> (n, t): K L Π x; x is in the range of Π already
        return times(curvature.root(x.reshape(n, t)))

    def back(V: Array) -> Array:  # (n, t) -> (n t,): Π Lᵀ V
        return border.project(curvature.root_transposed(V).ravel())

    found = _conjugate(image, back, border.solve, Ke, float(np.vdot(e, Ke)), eta, watch)
    delta, Kdelta = e - curvature.root(found.x.reshape(n, t)), Ke - found.image
    return _Step(delta, Kdelta, border.shift(Kdelta), found.iterations)


@final
class _Border:
    """The projection Π, and the preconditioner within its range."""

    def __init__(self, curvature: Curvature, B: Array, precondition: Preconditioner) -> None:
        n, t = curvature.shape
        q = B.shape[1]
        self._curvature, self._precondition, self._shape = curvature, precondition, (q, t)
        each = np.zeros((n, t, q, t))
        each[:, np.arange(t), :, np.arange(t)] = B[None]
        U = curvature.root_transposed(each.reshape(n, t, q * t)).reshape(n * t, q * t)
        values, vectors = np.linalg.eigh(U.T @ U) if q else (np.zeros(0), np.zeros((0, 0)))
        keep = values > len(values) * EPS * max(values.max(initial=0.0), 0.0) * 1e3
        self._to_theta = vectors[:, keep] / np.sqrt(values[keep])
        self._Q = U @ self._to_theta  # orthonormal
        self._solved = precondition(self._Q) if keep.any() else self._Q
        # Of eigenvalues above 0; those that rounding has left at 0 are not divided by.
        self._inverse = scipy.linalg.pinvh(self._Q.T @ self._solved) if keep.any() else np.zeros((0, 0))

    def project(self, x: Array) -> Array:
        return np.asarray(x - self._Q @ (self._Q.T @ x))

    def solve(self, x: Array) -> Array:
        """The inverse of Π (I + Lᵀ K L) Π on the range of Π."""
        found = self._precondition(x[:, None])[:, 0]
        if self._inverse.size:
            found = found - self._solved @ (self._inverse @ (self._Q.T @ found))
        return self.project(found)

    def shift(self, Kdelta: Array) -> Array:  # (q, t)
        """δθ = −(Bᵀ W B)⁺ Bᵀ W K Δ."""
        inside = self._Q.T @ self._curvature.root_transposed(Kdelta).ravel()
        return np.asarray(-(self._to_theta @ inside).reshape(self._shape))


class _Inner(NamedTuple):
    x: Array  # (n t,)
    image: Array  # (n, t): K L x
    iterations: int


def _conjugate(
    image: Callable[[Array], Array],
    back: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    Ke: Array,
    first: float,
    eta: float,
    watch: Watch | Quiet,
) -> _Inner:
    """x of (2), as accurate as requested, or the best so far when time or iterations run out.

    `image` is x ↦ K L x, so that K L of the whole costs nothing beside those of its directions; `back` is V ↦ Π Lᵀ V.

    A residual ρ leaves an error of at most ‖ρ‖² in the squared Newton decrement, which is eᵀK e − rightᵀx at the
    solution, and more on the way to it: ρ is small enough when ‖ρ‖² ≤ eta² times that.
    """
    right, Kx = back(Ke), np.zeros_like(Ke)
    x, r = np.zeros_like(right), right.copy()
    z = precondition(r)
    d, rho = z, float(r @ z)
    for iteration in range(INNER_ITERATIONS):
        decrement = max(first - float(right @ x), DECREMENT_ROUNDING * first)
        if float(r @ r) <= eta * eta * decrement or not rho > 0.0 or watch.is_over:
            return _Inner(x, Kx, iteration)
        Kd = image(d)
        Md = d + back(Kd)
        bend = float(d @ Md)
        if not bend > 0.0:  # K is indefinite; the direction found so far still descends
            return _Inner(x, Kx, iteration) if iteration else _Inner(d, Kd, 1)
        step = rho / bend
        x += step * d
        Kx += step * Kd
        r -= step * Md
        z = precondition(r)
        rho, before = float(r @ z), rho
        d = z + (rho / before) * d
    return _Inner(x, Kx, INNER_ITERATIONS)
