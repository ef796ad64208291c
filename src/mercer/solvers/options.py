"""What a caller may ask of any solver."""

from dataclasses import dataclass
from typing import final

from mercer.errors import InvalidParameter

__all__ = ["Options"]


@final
@dataclass(frozen=True)
class Options:
    """The wishes common to all solvers.

    Parameters
    ----------
    tol : float
        Relative duality gap at which an answer counts as solved.
    """

    tol: float = 1e-8

    def __post_init__(self) -> None:
        if not 0.0 < self.tol < 1.0:
            raise InvalidParameter("tol must lie between 0 and 1.", f"Got {self.tol!r}.")
