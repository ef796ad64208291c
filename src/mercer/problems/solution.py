"""What a solver returns, and what is published after the referee has checked it."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.problems.certificate import Certificate, Status

__all__ = ["Answer", "ErrorBound", "Solution"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """A solver's claim, not yet checked by the referee.

    Attributes
    ----------
    coef : ndarray of shape (n, t)
        α.
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
        Factorisations that others may go on with (`mercer.solvers.factor.CholeskyFactor`), one per different column of
        costs in the order of ``np.unique(cost, axis=1)``; empty where the method makes none.
    note : str
        One sentence on how it went, for `explain`.
    weights : ndarray of shape (M, t) or None
        w = Φᵀα, if that was solved for.
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

    The published answer is exact for targets y − r. The solution is linear in the targets, so the error is the
    answer for the targets r: with c = w/λ, at most ½‖√c r‖·√k(x, x) at x. With an intercept, the (weighted) mean of r
    goes through it as it is, and the rest through the centred kernel.

    Attributes
    ----------
    norm : ndarray of shape (t,)
        ½‖√c r‖, with r centred where there is an intercept.
    mean : ndarray of shape (t,)
        |mean of r|; 0 without an intercept.
    moved : ndarray of shape (t,)
        √(δᵀKδ) for the step δ by which the coefficients miss Σ αᵢ = 0; 0 without an intercept.
    """

    norm: Array
    mean: Array
    moved: Array

    def at(self, diagonal: Array, centred: Array) -> Array:  # (m,), (m,) -> (m, t)
        """The bound at points with these values of k(x, x) and its centred form (the same without an intercept)."""
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
        Dual coefficients α, as published: predictions are Kα + Bθ.
    theta : ndarray of shape (q, t)
        The part that is not penalised; the intercept where B is a column of ones.
    certificate : Certificate
        What the referee found.
    error : ErrorBound, optional
        What the residual says about any prediction; None for other losses, and where a constraint takes its place.
    factors, weights
        As the solver reported them; the factors are not pickled.
    """

    coef: Array
    theta: Array
    certificate: Certificate
    error: ErrorBound | None = None
    factors: tuple[Any, ...] = ()
    weights: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        # n² numbers that are recomputed when needed.
        return {**self.__dict__, "factors": ()}

    @property
    def intercept(self) -> Array:  # (t,)
        """The first row of θ; zeros where there is none."""
        return self.theta[0] if len(self.theta) else np.zeros(self.coef.shape[1])

    @property
    def status(self) -> Status:
        """How the solve ended."""
        return self.certificate.status

    def certified(self, **changes: Any) -> "Solution":
        """The same answer, with these fields of its certificate changed."""
        return replace(self, certificate=replace(self.certificate, **changes))

    @cached_property
    def support(self) -> npt.NDArray[np.intp]:
        """Rows with a coefficient that is not zero."""
        return np.flatnonzero(self.coef.any(axis=1))

    def __str__(self) -> str:
        return str(self.certificate)

    __repr__ = __str__
