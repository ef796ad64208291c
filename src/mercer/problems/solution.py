"""What a solver hands back, and what is published after the referee has seen it."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Answer", "ErrorBound", "Solution", "Status"]

Array = npt.NDArray[np.float64]


class Status(Enum):
    """How a solve ended; the value is the sentence shown to the user."""

    OPTIMAL = "solved to the tolerance, as its duality gap shows"
    INTERPOLATING = "solved: every constraint (a row of infinite cost, alpha = 0) holds to the tolerance"
    LEAST_SQUARES = (
        "solved: K is singular and does not reach y exactly; this is the least-squares solution of least norm"
    )
    MARGIN_OPTIMAL = "solved: no two rows violate the conditions of optimality by more than the tolerance"
    STOPPED = (
        "not solved to the tolerance: max_iter or max_time was reached, and this is the best so far; allow more, "
        "raise tol, raise alpha or lower C, or scale the data"
    )
    INEXACT = (
        "not solved to the tolerance: rounding stands in the way, because the problem is badly conditioned; "
        "raise alpha or lower C, remove near-duplicate rows, or scale the data"
    )
    INDEFINITE = (
        "not certified: the Gram matrix has a negative eigenvalue, so its kernel is none on this data and the answer "
        "is a stationary point of a problem that is not convex; check_gram and refute show why, a repair mends it"
    )

    @property
    def is_certified(self) -> bool:
        """Whether the answer is what was asked for."""
        return self in _CERTIFIED


_CERTIFIED = frozenset({Status.OPTIMAL, Status.INTERPOLATING, Status.LEAST_SQUARES, Status.MARGIN_OPTIMAL})


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """A solver's claim, not yet looked at by the referee.

    Attributes
    ----------
    coef : ndarray of shape (n, t)
        a.
    theta : ndarray of shape (q, t)
        θ.
    iterations : int
        0 for a direct method.
    trace : tuple of float
        The solver's own measure of progress, one value per iteration; empty for a direct method.
    condition : float
        Estimated condition number of the system that was solved; NaN where there was none to estimate.
    indefinite : bool
        Whether the solver found K to have a negative eigenvalue, so that its answer is a stationary point only.
    stopped : bool
        Whether max_iter or max_time ended it.
    rank : int
        Numerical rank of K where the solver found it, else -1.
    factors : tuple
        Factorisations that others may go on with (`mercer.solvers.factor.Factor`), one per different column of costs in
        the order of ``np.unique(cost, axis=1)``; empty where the method makes none.
    note : str
        One sentence on how it went, for `explain`.
    weights : ndarray of shape (M, t) or None
        w = Φᵀa, where it was solved for.
    """

    coef: Array
    theta: Array
    iterations: int = 0
    trace: tuple[float, ...] = ()
    condition: float = float("nan")
    indefinite: bool = False
    stopped: bool = False
    rank: int = -1
    factors: tuple[Any, ...] = ()
    note: str = ""
    weights: Array | None = None


@final
@dataclass(frozen=True, eq=False)
class ErrorBound:
    """How far a prediction can be from the exact minimiser's, from the residual of the squared loss alone.

    What was published is the exact answer for targets y − r. Solving is linear in the targets, so the error is the
    answer for the targets r: with c = w/λ, at most ½‖√c r‖·√k(x, x) at x. With an intercept, the (weighted) mean of r
    goes through it as it is, and the rest through the centred kernel.

    Attributes
    ----------
    norm : ndarray of shape (t,)
        ½‖√c r‖, with r centred where there is an intercept.
    mean : ndarray of shape (t,)
        |mean of r|; 0 without an intercept.
    moved : ndarray of shape (t,)
        √(δᵀKδ) for the step δ by which the coefficients miss Σ aᵢ = 0; 0 without an intercept.
    """

    norm: Array
    mean: Array
    moved: Array

    def at(self, diagonal: Array, centred: Array) -> Array:  # (m,), (m,) -> (m, t)
        """The bound where k(x, x) and its centred form (the same without an intercept) have these values."""
        roots = (np.sqrt(np.maximum(values, 0.0))[:, None] for values in (diagonal, centred))
        plain, inner = roots
        return self.mean + inner * self.norm + plain * self.moved


@final
@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Coefficients with their certificate.

    Attributes
    ----------
    coef : ndarray of shape (n, t)
        Dual coefficients a, as published: predictions are K a + B θ.
    theta : ndarray of shape (q, t)
        The part that is not penalised; the intercept where B is a column of ones.
    primal, dual : float
        P at (a, θ) and D at the nearest feasible a, both recomputed by the referee in float64.
    gap : float
        P − D, an upper bound on how far P is above its minimum; NaN where a constraint (infinite cost) takes its place.
    relative_gap : float
        gap / max(|P|, |D|, ½ aᵀKa); where all of these are zero to rounding, relative to that rounding.
    moved : float
        ‖a − feasible a‖ / ‖a‖: how far the dual point had to be moved to satisfy its constraints.
    violation : float
        Largest loss among rows of infinite cost, relative to the loss of g = 0; 0 where there are none.
    residual : float
        Of the squared loss: the largest ‖√W r‖/‖√W y‖ among the targets, r = y − K a − B θ − a/c; NaN for other losses.
    normal_residual : float
        ‖K W r‖/‖K W y‖ for rows of infinite cost: zero at a least-squares solution; NaN where there are none.
    status : Status
        How the solve ended.
    solver : str
        Which row of the table solved it.
    error : ErrorBound, optional
        What the residual says about any prediction; None for other losses, and where a constraint takes its place.
    iterations, trace, condition, rank, factors, note, weights
        As the solver reported them; the factors are not pickled.
    assumptions : tuple
        What the kernel's positivity, and with it the certificate, rests on without being derived.
    """

    coef: Array
    theta: Array
    primal: float
    dual: float
    gap: float
    relative_gap: float
    moved: float
    violation: float
    residual: float
    normal_residual: float
    status: Status
    solver: str
    error: ErrorBound | None
    iterations: int
    trace: tuple[float, ...]
    condition: float
    rank: int
    assumptions: tuple[Any, ...]
    note: str = ""
    factors: tuple[Any, ...] = ()
    weights: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        # n² numbers that are made again when they are asked for.
        return {**self.__dict__, "factors": ()}

    @property
    def intercept(self) -> Array:  # (t,)
        """The first row of θ; zeros where there is none."""
        return self.theta[0] if len(self.theta) else np.zeros(self.coef.shape[1])

    @cached_property
    def support(self) -> npt.NDArray[np.intp]:
        """Rows with a coefficient that is not zero."""
        return np.flatnonzero(self.coef.any(axis=1))

    def __str__(self) -> str:
        n, t = self.coef.shape
        what = f"{n} rows" if t == 1 else f"{n} rows, {t} targets"
        lines = [
            f"Solution by {self.solver} on {what}: {self.status.value}.",
            f"  primal        {self.primal:.10g}",
            f"  dual          {self.dual:.10g}",
        ]
        if self.status is Status.LEAST_SQUARES:
            lines.append(f"  ‖K r‖         {self.normal_residual:.3g} of ‖K y‖, in place of a gap")
        elif np.isnan(self.gap):
            lines.append(f"  violation     {self.violation:.3g} of a constraint, in place of a gap")
        else:
            lines.append(f"  gap           {self.gap:.3g}, relative {self.relative_gap:.3g}")
        if not np.isnan(self.residual):
            lines.append(f"  residual      {self.residual:.3g} of ‖y‖")
        if not np.isnan(self.condition):
            lines.append(f"  condition     {self.condition:.3g} (estimate)")
        if self.rank >= 0:
            lines.append(f"  rank          {self.rank} of {n}")
        lines += [f"  assuming      {assumption}" for assumption in self.assumptions]
        if self.iterations:
            lines.append(f"  iterations    {self.iterations}")
        if self.note:
            lines.append(f"  note          {self.note}")
        return "\n".join(lines)

    __repr__ = __str__
