"""What a benchmark says about itself: contestants and rows, as data."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

STOP_FACTOR = 20.0
"""A peer is stopped at this many times mercer's time."""


class Task(NamedTuple):
    """What a builder returns: the run to be measured, the error of its result, and the bytes that it may well use."""

    run: Callable[[], Any]
    error: Callable[[Any], float] | None = None
    allowance: int = 0
    source: str = "made"


@dataclass(frozen=True)
class Contestant:
    """One side of a row; `builder` is "module:function", called with `parameters` in a process of its own."""

    name: str
    builder: str
    parameters: dict[str, Any] = field(default_factory=dict)
    work: float = 1.0


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Parameters
    ----------
    work, against : str
        What is done, and beside whom.
    contestants : tuple of Contestant
        Mercer first. The row's ratio is mercer's rate (work per second) over that of the second contestant.
    at_least : float or None
        The ratio to be reached; None where only memory counts.
    percent : bool
        Print the ratio as a percentage.
    memory : int or None
        Bytes that mercer may use beyond its task's allowance.
    memory_share : float or None
        Mercer's extra memory may be at most this share of the second contestant's.
    memory_text : str
        The limit on memory in words, for the table.
    accuracy : float or None
        The largest error that mercer's result may have.
    repeats : int
        Measured runs of each contestant.
    warm_up : bool
        Whether an unmeasured run comes first; not worth its time where one run takes a minute.
    """

    work: str
    against: str
    contestants: tuple[Contestant, ...]
    at_least: float | None = None
    percent: bool = False
    memory: int | None = None
    memory_share: float | None = None
    memory_text: str = ""
    accuracy: float | None = None
    repeats: int = 5
    warm_up: bool = True

    @property
    def stop(self) -> float:
        """How many times mercer's time a peer may take."""
        return max(STOP_FACTOR, 2.0 * (self.at_least or 0.0))
