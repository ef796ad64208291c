"""Machines on landmarks: Newton's method in m unknowns a column, by preconditioned conjugate gradients.

With f = Φ z at the rows (`mercer.grams.landmarks`), what is minimised is

    P(z, θ) = ½ ‖z‖² + Σᵢ cᵢ ℓ((Φ z + B θ)ᵢ, yᵢ) + pᵀθ,                                                      (1)

a linear machine of m features with n rows of data that are never stored: each step of the conjugate gradients makes
every kernel value once, Φᵀ D (Φ v + B τ). A quadratic loss is one Newton step, and repeating it refines the answer.

The products of the inner iteration are in float32, and the points between them in float64: decisions, gradient and gap.
Where float32 no longer gets nearer, the products are in float64 as well. What the referee certifies is computed in
float64 in any case.

References
----------
A. Rudi, L. Carratino, L. Rosasco. FALKON: An optimal large scale kernel method. NIPS 2017.
U. Marteau-Ferey, F. Bach, A. Rudi. Globally convergent Newton methods for ill-conditioned generalized self-concordant
losses. NeurIPS 2019.
"""

import math
from contextlib import nullcontext
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from mercer.grams.landmarks import LandmarkFeatures
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_large_targets
from mercer.problems.restricted import Restricted, certify_restricted, measure_restricted
from mercer.problems.solution import Answer, Solution
from mercer.solvers.held import one_blas_thread
from mercer.solvers.options import Options
from mercer.solvers.sampled import SampledHessian, sample_rows
from mercer.solvers.watch import Watch

__all__ = ["nystrom", "nystrom_bytes"]

Array = npt.NDArray[np.float64]

NAME = "landmarks"
# Steps of conjugate gradients in one of Newton's, and steps of either kind where the options give no limit.
INNER, STEPS = 200, 1_000
# By how much an inner iteration in float32 and in float64 reduces the norm of the gradient of a quadratic loss. Errors
# of kernel values, at most 1e-6 in float32, count for more where landmarks nearly span each other.
REDUCTION = {True: 0.03, False: 1e-6}
# Below this many kernel values float64 is fast enough.
FEW_ENTRIES = 1_000_000
# A step in float32 must reduce the gap to this share, or float64 takes over; in float64, anything but this is a stall.
WORTH, STALLED = 0.25, 0.9
# Below so many landmarks a second thread takes longer to wake up than to help.
FEW_LANDMARKS = 500
# What a kernel value costs, in operations of a factorisation.
PER_VALUE = 25.0
# Of the tolerance, that the inner iteration aims for: the gradient that it continues is not the true one.
AIM = 0.1
# Sufficient decrease, and the shortest step that is tried.
ARMIJO, SHORTEST = 1e-4, 1e-10


def nystrom_bytes(problem: Problem) -> int:
    """L and the preconditioner, both in float64, and some numbers a row."""
    phi = problem.gram.features()
    m = 0 if phi is None else phi.shape[1]
    columns = 1 if problem.loss.is_quadratic else problem.y.shape[1]
    return 8 * (1 + columns) * m * m + 64 * problem.y.size


def nystrom(problem: Problem, options: Options) -> Solution:
    """Solve a problem on landmarks and have the referee look at it.

    A step makes n m kernel values; the preconditioner takes some m³ operations, and memory is of the order of m².
    """
    phi = problem.gram.restricted()
    assert phi is not None, "the table's refusal asks for landmarks"
    refuse_large_targets(problem.y)
    watch = options.watch(NAME)
    try:
        with one_blas_thread() if phi.shape[1] < FEW_LANDMARKS else nullcontext():
            answer = _Newton(problem, phi, options, watch).run()
    finally:
        watch.close()
    left_out = phi.left_out().bound
    return certify_restricted(problem, phi, answer, solver=NAME, tol=options.tol, left_out=left_out)


@final
class _Newton:
    """The outer iteration."""

    def __init__(self, problem: Problem, phi: LandmarkFeatures, options: Options, watch: Watch) -> None:
        n, t = problem.y.shape
        self._problem, self._phi, self._options, self._watch = problem, phi, options, watch
        self._z = np.zeros((phi.shape[1], t))
        self._g = np.zeros((n, t))  # Φ z
        self._theta = np.zeros((problem.B.shape[1], t))
        self._rows = sample_rows(n, phi.shape[1], np.random.default_rng(0))
        self._single = n * phi.shape[1] > FEW_ENTRIES
        self._P: SampledHessian | None = None
        self._trace: list[float] = []
        self._most = options.max_iter or STEPS
        self._products = self._passes = 0  # over the rows: in all, and in the last inner iteration

    def run(self) -> Answer:
        """Iterate to the tolerance."""
        seen, late, stalls, steps = self._measure(), False, 0, 0
        is_quadratic = self._problem.loss.is_quadratic
        while seen.relative_gap > self._options.tol and not late and stalls < 2:
            if (self._products if is_quadratic else steps) >= self._most:
                break
            hessian = _Hessian(self._problem, self._phi, seen.g)
            if self._is_worth_another():
                self._P = self._precondition(hessian)
            # The products are the engine's.
            with nullcontext() if len(self._z) < FEW_LANDMARKS else one_blas_thread():
                step, late = self._inner(hessian, seen)
            if not self._move(seen, step):
                stalls = 2
            before, seen, steps = seen, self._measure(), steps + 1
            self._trace.append(seen.relative_gap)
            ratio = seen.gap / before.gap if before.gap > 0.0 else 0.0
            if self._single and ratio > WORTH and (is_quadratic or seen.primal > before.primal * (1.0 - ARMIJO)):
                self._single, stalls = False, 0
            elif not self._single and ratio > STALLED and seen.primal >= before.primal:
                stalls += 1
        missed = seen.relative_gap > self._options.tol
        note = f"{self._phi.shape[1]} landmarks in place of {len(self._g)} rows, {self._products} passes over the rows"
        return Answer(
            self._phi.coefficients(self._z),
            seen.theta,
            iterations=self._products if is_quadratic else steps,
            trace=tuple(self._trace),
            stopped=missed and stalls < 2,
            note=note,
        )

    def _is_worth_another(self) -> bool:
        """Whether the last inner iteration took longer than the preconditioner of the present weights would."""
        if self._P is None:
            return True
        n, t = self._g.shape
        m = self._phi.shape[1]
        return not self._problem.loss.is_quadratic and self._passes * n * PER_VALUE > 2.0 * t * len(self._rows) * m

    def _measure(self) -> Restricted:
        return measure_restricted(self._problem, self._phi, self._z, self._theta, self._g)

    def _precondition(self, hessian: "_Hessian") -> SampledHessian:
        rows, D = self._rows, hessian.diagonal
        sampled = D[rows].sum(axis=0)
        ratio = np.divide(D.sum(axis=0), sampled, out=np.ones_like(sampled), where=sampled > 0.0)
        return SampledHessian(self._phi.take(rows), self._problem.B[rows], ratio * D[rows], self._watch)

    def _inner(self, hessian: "_Hessian", seen: Restricted) -> tuple["_Step", bool]:
        """Conjugate gradients on H s = residual."""
        assert self._P is not None
        P, m = self._P, len(self._z)
        aim = AIM * self._options.tol * seen.gap / seen.relative_gap
        r = np.vstack([seen.residual, np.zeros_like(seen.theta)])
        s, d = np.zeros_like(r), P(r)
        rho = first = hessian.dot(r, d)
        is_quadratic = self._problem.loss.is_quadratic
        reduction = REDUCTION[self._single] if is_quadratic else min(0.1, math.sqrt(seen.relative_gap))
        before = self._products
        for _ in range(min(INNER, self._most - self._products) if is_quadratic else INNER):
            product = hessian.times(d, self._single)
            self._products += 1
            self._passes = self._products - before
            curvature = hessian.dot(d, product)
            going = (curvature > 0.0) & (rho > 0.0)
            length = np.divide(rho, curvature, out=np.zeros_like(rho), where=going)
            s += length * d
            r -= length * product
            q = P(r)
            now = hessian.dot(r, q)
            left = 0.5 * float(np.vdot(r[:m], r[:m]))
            late = self._watch.look(self._share(left, seen), f"gap {left / max(abs(seen.primal), 1e-300):.1e}")
            if late or not going.any() or (now <= reduction**2 * first).all() or left <= aim:
                break
            d = q + np.divide(now, rho, out=np.zeros_like(rho), where=going) * d
            rho = now
        theta = s[m:] - s[m:].mean(axis=1, keepdims=True) if self._problem.loss.is_joint else s[m:]
        return _Step(s[:m], theta), late

    def _share(self, left: float, seen: Restricted) -> float:
        relative = left * seen.relative_gap / seen.gap
        return math.log(min(max(relative, self._options.tol), 1.0)) / math.log(self._options.tol)

    def _move(self, seen: Restricted, step: "_Step") -> bool:
        """Take the step as far as it helps; returns whether it did."""
        problem, image = self._problem, self._phi @ step.z
        whole = image + problem.B @ step.theta
        slope = (seen.residual * step.z).sum(axis=0)  # of −P along the step, by column; that of θ is 0
        if problem.loss.is_quadratic:
            bend = (step.z**2).sum(axis=0) + (problem.cost * whole**2).sum(axis=0)
            length = np.divide(slope, bend, out=np.zeros_like(slope), where=bend > 0.0)
            if not (length > 0.0).any():
                return False
        else:
            length = self._length(seen, step, whole, float(slope.sum()))
            if not length.any():
                return False
        self._z = self._z + length * step.z
        self._g += length * image
        self._theta = seen.theta + length * step.theta
        return True

    def _length(self, seen: Restricted, step: "_Step", whole: Array, slope: float) -> Array:
        """The first of 1, ½, ¼, … with a sufficient decrease; 0 if none has."""
        problem, length = self._problem, 1.0

        def value(at: float) -> float:
            z, theta = self._z + at * step.z, seen.theta + at * step.theta
            losses = (problem.cost * problem.loss.value(seen.g + at * whole, problem.y)).sum()
            return 0.5 * float(np.vdot(z, z)) + float(losses) + float((problem.price @ theta).sum())

        while length > SHORTEST:
            if value(length) <= seen.primal - ARMIJO * length * slope:
                return np.full(whole.shape[1], length)
            length *= 0.5
        return np.zeros(whole.shape[1])


class _Step(NamedTuple):
    z: Array  # (m, t)
    theta: Array  # (q, t)


@final
class _Hessian:
    """H of (1) at the decisions g, in the unknowns (z, θ), one above the other."""

    def __init__(self, problem: Problem, phi: LandmarkFeatures, g: Array) -> None:
        self._B, self._phi = problem.B, phi
        self._is_joint = problem.loss.is_joint
        bend = problem.loss.bend(g, problem.y)
        self._bend = bend
        self._cost = problem.cost
        # Of a joint loss the diagonal alone, for the preconditioner.
        self.diagonal: Array = problem.cost * (bend * (1.0 - bend) if self._is_joint else bend)
        # Φᵀ D b of every column b of B: with it the rows of θ need no decisions.
        columns = [] if self._is_joint else [b[:, None] * self.diagonal for b in self._B.T]
        self._crossed = [phi.transpose_times(column) for column in columns]

    def dot(self, R: Array, S: Array) -> Array:
        """Inner products by column; of a joint loss, of all columns together, for each."""
        products = np.einsum("ij,ij->j", R, S)
        return np.full_like(products, products.sum()) if self._is_joint else products

    def times(self, X: Array, single: bool) -> Array:  # (m + q, t) -> (m + q, t)
        """H X."""
        m = self._phi.shape[1]
        v, tau = X[:m], X[m:]
        if self._is_joint:
            return self._joint_times(v, tau, single)
        if not self._crossed:
            return v + self._phi.normal(v, self.diagonal, single=single)
        W = self._B @ tau
        top = v + self._phi.normal(v, self.diagonal, W, single=single)
        below = np.array([(crossed * v).sum(axis=0) for crossed in self._crossed])
        return np.vstack([top, below + self._B.T @ (self.diagonal * W)])

    def _joint_times(self, v: Array, tau: Array, single: bool) -> Array:
        w = self._phi.times(v, single=single) + self._B @ tau
        p = self._bend
        h = self._cost * (p * (w - (p * w).sum(axis=1, keepdims=True)))
        return np.vstack([v + self._phi.transpose_times(h, single=single), self._B.T @ h])
