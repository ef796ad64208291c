"""What a caller may ask of any solver."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

from mercer.domains import is_number
from mercer.errors import InvalidParameter
from mercer.solvers.watch import Watch

__all__ = ["Options"]


@final
@dataclass(frozen=True)
class Options:
    """The wishes common to all solvers.

    Parameters
    ----------
    tol : float
        Relative residual at which an iterative method stops, and relative duality gap up to which an answer counts as
        solved.
    max_iter : int, optional
        Iterations after which an iterative method stops; none when not given.
    max_time : float, optional
        Seconds after which a solver stops with the best it has; none when not given.
    verbose : int
        1 draws a bar with the residual on solves longer than a second.
    """

    tol: float = 1e-8
    max_iter: int | None = None
    max_time: float | None = None
    verbose: int = 0

    def __post_init__(self) -> None:
        if not is_number(self.tol) or not 0.0 < self.tol < 1.0:
            raise InvalidParameter("tol must lie between 0 and 1.", f"Got {self.tol!r}.")
        most: Any = self.max_iter
        if most is not None and (not isinstance(most, Integral) or int(most) < 1):
            raise InvalidParameter("max_iter must be a whole number, at least 1, or None.", f"Got {most!r}.")
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time > 0.0):
            raise InvalidParameter("max_time must be a number of seconds above 0, or None.", f"Got {self.max_time!r}.")

    def watch(self, label: str) -> Watch:
        """The clock and the bar of one solve, started."""
        return Watch(label, self.max_time, show=self.verbose > 0)
