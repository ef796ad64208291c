"""What a solver hands back, and what is published after the referee has seen it."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Answer", "Solution", "Status"]

Array = npt.NDArray[np.float64]


class Status(Enum):
    """How a solve ended; the value is the sentence shown to the user."""

    OPTIMAL = "solved to the tolerance, as its duality gap shows"
    INTERPOLATING = "solved: every constraint (a row of infinite cost, alpha = 0) holds to the tolerance"
    INEXACT = (
        "not solved to the tolerance: rounding stands in the way, because the system is badly conditioned; "
        "raise alpha, remove near-duplicate rows, or scale the data"
    )
    INDEFINITE = (
        "not certified: the Gram matrix has a negative eigenvalue, so its kernel is none on this data and the answer "
        "is a stationary point of a problem that is not convex; check_gram and refute show why, a repair mends it"
    )

    @property
    def is_certified(self) -> bool:
        """Whether the answer is what was asked for."""
        return self in _CERTIFIED


_CERTIFIED = frozenset({Status.OPTIMAL, Status.INTERPOLATING})


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
    """

    coef: Array
    theta: Array
    iterations: int = 0
    trace: tuple[float, ...] = ()
    condition: float = float("nan")
    indefinite: bool = False


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
    status : Status
        How the solve ended.
    solver : str
        Which row of the table solved it.
    iterations, trace, condition
        As the solver reported them.
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
    status: Status
    solver: str
    iterations: int
    trace: tuple[float, ...]
    condition: float
    assumptions: tuple[Any, ...]

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
        if np.isnan(self.gap):
            lines.append(f"  violation     {self.violation:.3g} of a constraint, in place of a gap")
        else:
            lines.append(f"  gap           {self.gap:.3g}, relative {self.relative_gap:.3g}")
        if not np.isnan(self.condition):
            lines.append(f"  condition     {self.condition:.3g} (estimate)")
        lines += [f"  assuming      {assumption}" for assumption in self.assumptions]
        if self.iterations:
            lines.append(f"  iterations    {self.iterations}")
        return "\n".join(lines)

    __repr__ = __str__
