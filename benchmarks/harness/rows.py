"""What a benchmark says about itself: contestants and rows, as data."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

STOP_FACTOR = 20.0
"""A peer is stopped at this many times mercer's time."""
SHORTEST_LIMIT = 2.0
DECIDED = 1.2
"""At this many times what the target asks for, a peer that still runs has lost."""
BEATEN = 1.25
"""At this many times the fastest peer's time, another peer is not the best of them."""


class Task(NamedTuple):
    """What a builder returns: the run to be measured, the error of its result, and the bytes that it may well use."""

    run: Callable[[], Any]
    error: Callable[[Any], float] | None = None
    allowance: int = 0
    source: str = "made"
    facts: Callable[[Any], dict[str, Any]] | None = None
    """Numbers for columns of their own, from the result; a name ending in "seconds" is a time measured on the way."""


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
        Mercer first. The row's ratio is mercer's rate (work per second) over that of the best of the others.
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
    limits : dict
        The largest value that a fact of mercer's result may have.
    no_worse : dict
        Facts of mercer's result that may be at most twice the largest of its measured peers; or, where this is more,
        the number that stands here.
    repeats : int
        Measured runs of each contestant.
    enough : float
        A contestant whose runs have taken this many seconds in all runs no more.
    best : bool
        Keep the shortest run, not the median: for works of a millisecond, whose noise is one-sided.
    cap : float
        Seconds at which a peer is stopped, however long mercer took; but never before the target is decided.
    patience : float
        A peer is stopped at so many times the target, at the earliest; more where its result is wanted as well.
    warm_up : bool
        Whether an unmeasured run comes first; not worth its time where one run takes a minute.
    environment : dict
        Variables of the environment that every contestant's process has.
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
    limits: dict[str, float] = field(default_factory=dict)
    no_worse: dict[str, float] = field(default_factory=dict)
    repeats: int = 5
    warm_up: bool = True
    enough: float = math.inf
    best: bool = False
    cap: float = math.inf
    patience: float = 2.0
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def stop(self) -> float:
        """How many times mercer's time a peer may take."""
        return max(STOP_FACTOR, self.patience * (self.at_least or 0.0))

    def limit(self, known: float, factor: float, fastest: float = math.inf) -> float:
        """Seconds that a peer may take where mercer took `known`, and the fastest other peer so far `fastest`."""
        decided = DECIDED * (self.at_least or 0.0) * known
        return max(SHORTEST_LIMIT, min(BEATEN * fastest, max(decided, min(self.cap, factor * known))))
