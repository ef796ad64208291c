"""The options of all solvers."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

from mercer.domains import is_number
from mercer.errors import InvalidParameter
from mercer.solvers.watch import Watch

__all__ = ["Options"]

NO_LIMIT = -1


@final
@dataclass(frozen=True)
class Options:
    """Options common to all solvers.

    Parameters
    ----------
    tol : float
        Relative residual at which an iterative method stops, and relative duality gap up to which an answer counts as
        solved; of a support vector machine, the violation of the conditions of optimality.
    max_iter : int, optional
        Iterations (of a support vector machine: steps of two variables) after which a method stops; no limit when it is
        not given, or −1.
    max_time : float, optional
        Seconds after which a solver stops with the best solution so far; no limit if None.
    verbose : int
        1 shows a progress bar with the residual if a solve takes longer than a second.
    gap : float
        The relative duality gap up to which a support vector machine counts as solved, beside tol; infinity where tol
        alone decides.
    cache_bytes : int
        Memory for kernel entries that a support vector machine's solver keeps.
    keep_best : bool
        Whether Ctrl-C leaves the best so far of an iterative solver instead of raising KeyboardInterrupt.
    """

    tol: float = 1e-8
    max_iter: int | None = None
    max_time: float | None = None
    verbose: int = 0
    gap: float = 1e-3
    cache_bytes: int = 200 << 20
    keep_best: bool = False

    def __post_init__(self) -> None:
        for name in ("tol", "gap"):
            value = getattr(self, name)
            if not is_number(value) or not value > 0.0:
                raise InvalidParameter(f"{name} must lie above 0.", f"Got {value!r}.")
        most: Any = self.max_iter
        if most is not None and (not isinstance(most, Integral) or int(most) < NO_LIMIT):
            raise InvalidParameter("max_iter must be a whole number, at least 1, or None.", f"Got {most!r}.")
        if most == NO_LIMIT:
            object.__setattr__(self, "max_iter", None)
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time > 0.0):
            raise InvalidParameter("max_time must be a number of seconds above 0, or None.", f"Got {self.max_time!r}.")

    def refuse_unless_relative(self) -> None:
        """Refuse what has a meaning for support vector machines only: their tol is absolute, and they count steps."""
        if not self.tol < 1.0:
            raise InvalidParameter("tol must lie between 0 and 1.", f"Got {self.tol!r}.")
        if self.max_iter == 0:
            raise InvalidParameter("max_iter must be a whole number, at least 1, or None.", "Got 0.")

    def watch(self, label: str) -> Watch:
        """The clock and progress bar of one solve, started."""
        return Watch(label, self.max_time, show=self.verbose > 0, keeps_best=self.keep_best)
