"""The referee of a machine on landmarks: primal, dual and gap from the published coefficients of the landmarks.

The machine is the `Problem` with the Gram matrix K̃ = ΦΦᵀ of `mercer.grams.landmarks`. Its coefficients c of the
landmarks stand for z = Lᵀ c, decisions g = K_nm c + B θ and the norm ‖z‖² = cᵀ K_mm c. The dual point is the one that
belongs to the decisions, α = −c_i ℓ'(g), after θ was moved to where Bᵀα = p. Then Fenchel's inequality is an equation
in every row, and what is left of the gap is

    P − D = ½ ‖z − Φᵀα‖²,                                                                                    (1)

the residual of z = Φᵀα, which holds at the optimum. By strong convexity ½ ‖z − z*‖² is at most that, too.
"""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mercer.problems.certificate import Certificate, Status
from mercer.problems.feasible import best_shift
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_infinite
from mercer.problems.solution import Answer, Solution

__all__ = ["LandmarkFeatures", "Restricted", "certify_restricted", "measure_restricted"]

Array = npt.NDArray[np.float64]


class LandmarkFeatures(Protocol):
    """Φ = K_nm L⁻ᵀ, of which products are taken."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and landmarks."""

    def __matmul__(self, Z: Array) -> Array:
        """Φ Z."""

    def transpose_times(self, V: Array) -> Array:
        """ΦᵀV."""

    def coefficients(self, Z: Array) -> Array:
        """c = L⁻ᵀ z."""

    def weights(self, coef: Array) -> Array:
        """z = Lᵀ c."""


class Restricted(NamedTuple):
    """What `measure_restricted` finds.

    Attributes
    ----------
    primal, dual, gap, relative_gap : float
        As in `Certificate`.
    theta : ndarray of shape (q, t)
        The θ that is best for these decisions.
    g, alpha : ndarray of shape (n, t)
        Decisions with that θ, and the dual point.
    residual : ndarray of shape (m, t)
        Φᵀα − z.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    theta: Array
    g: Array
    alpha: Array
    residual: Array


def measure_restricted(problem: Problem, phi: LandmarkFeatures, z: Array, theta: Array, Phiz: Array) -> Restricted:
    """P, D and their gap (1) at a point, with the best θ for it.

    Parameters
    ----------
    problem : Problem
        With a smooth loss and finite costs.
    phi : LandmarkFeatures
        Φ.
    z, theta : ndarray of shape (m, t) and (q, t)
        The point.
    Phiz : ndarray of shape (n, t)
        Φ z.
    """
    loss, y, cost, B = problem.loss, problem.y, problem.cost, problem.B
    g = Phiz + B @ theta
    shift = best_shift(loss, g, y, cost, B, problem.price)
    if shift.any():
        theta, g = theta + shift, g + B @ shift
    alpha = -cost * loss.slope(g, y)
    residual = phi.transpose_times(alpha) - z
    energy = 0.5 * float(np.vdot(z, z))
    primal = energy + float((cost * loss.value(g, y)).sum()) + float((problem.price @ theta).sum())
    gap = 0.5 * float(np.vdot(residual, residual))
    dual = primal - gap
    scale = max(abs(primal), abs(dual), energy)
    relative_gap = gap / scale if scale > 0.0 else (0.0 if gap == 0.0 else float("inf"))
    return Restricted(primal, dual, gap, relative_gap, theta, g, alpha, residual)


def certify_restricted(
    problem: Problem, phi: LandmarkFeatures, answer: Answer, *, solver: str, tol: float, left_out: float
) -> Solution:
    """The solution with its certificate; the coefficients are those of the landmarks.

    Parameters
    ----------
    problem : Problem
        What was to be minimised, with the Gram matrix ΦΦᵀ.
    phi : LandmarkFeatures
        Φ.
    answer : Answer
        What the solver claims: coefficients of the landmarks, (m, t), and θ.
    solver : str
        Its name, for the record.
    tol : float
        Relative gap up to which the solution counts as optimal.
    left_out : float
        The share of the trace of K beyond the landmarks, for the record.
    """
    coef = np.asarray(answer.coef, dtype=np.float64)
    refuse_infinite(np.vstack([coef, answer.theta]))
    z = phi.weights(coef)
    seen = measure_restricted(problem, phi, z, np.asarray(answer.theta), phi @ z)
    status = Status.OPTIMAL if seen.relative_gap <= tol else Status.INEXACT
    if status is Status.INEXACT and answer.stopped:
        status = Status.STOPPED
    certificate = Certificate(
        status=status,
        machine=problem.machine,
        solver=solver,
        rows=len(problem.y),
        columns=problem.y.shape[1],
        landmarks=len(coef),
        left_out=left_out,
        primal=seen.primal,
        dual=seen.dual,
        gap=seen.gap,
        relative_gap=seen.relative_gap,
        moved=0.0,
        condition=answer.condition,
        steps=answer.iterations,
        trace=answer.trace,
        assumptions=() if problem.gram.proof is None else problem.gram.proof.assumptions,
        note=answer.note,
    )
    return Solution(coef, seen.theta, certificate)
