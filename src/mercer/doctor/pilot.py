"""Small fits that say how a large one will go: how many entries of K and steps it takes, and how these grow."""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from mercer.doctor.machines import Machine
from mercer.doctor.target import CLASSIFICATION, Target
from mercer.grams.base import Gram
from mercer.grams.choose import gram_for_steps, gram_to_solve
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import bind
from mercer.points.base import Points
from mercer.problems.certificate import Status
from mercer.solvers.options import Options
from mercer.solvers.smo import SMALL_ROWS
from mercer.solvers.solve import solve

__all__ = ["Pilot", "Pilots", "Trial", "fly", "pilot_rows"]

# A pilot solves the problem on so many rows, in at most so many seconds. Support vector machines of up to 2 000 rows
# are finished more exactly than larger ones, and say nothing of those.
PILOT_ROWS, GATHERING_ROWS, PILOT_SECONDS = (1_000, 2_000), (2_050, 4_100), 1.0
# The growth of entries and steps with n that is believed, and what is usual, where there is one pilot only.
LEAST_GROWTH, MOST_GROWTH = {"entries": 1.0, "steps": 0.0}, {"entries": 2.3, "steps": 1.3}
USUAL_GROWTH = {"entries": 1.9, "steps": 0.5}


@final
@dataclass(frozen=True)
class Pilot:
    """One small fit: rows, entries of K, steps and seconds."""

    rows: int
    entries: float
    steps: float
    seconds: float
    is_cut: bool = False


@final
@dataclass(frozen=True)
class Pilots:
    """Two of them, the smaller one first."""

    small: Pilot
    large: Pilot

    def at(self, what: str, n: int) -> float:
        """Entries or steps for n rows, by a power of n."""
        first, last = getattr(self.small, what), getattr(self.large, what)
        growth = USUAL_GROWTH[what]
        if first > 0.0 and last > 0.0 and self.small.rows < self.large.rows:
            growth = math.log(last / first) / math.log(self.large.rows / self.small.rows)
        growth = min(max(growth, LEAST_GROWTH[what]), MOST_GROWTH[what])
        return float(last * (n / self.large.rows) ** growth)


def pilot_rows(n: int, is_gathering: bool) -> tuple[int, int]:
    """How many rows the two pilots have; fewer than n, unless there are hardly more than they need.

    Examples
    --------
    >>> pilot_rows(100_000, False), pilot_rows(800, False), pilot_rows(3_000, True)
    ((1000, 2000), (200, 400), (2050, 2050))
    """
    is_large = is_gathering and n > SMALL_ROWS
    small, large = GATHERING_ROWS if is_large else PILOT_ROWS
    if n > large:
        return small, large
    return (min(n, small), min(n, small)) if is_large else (max(n // 4, 2), max(n // 2, 2))


class Trial(NamedTuple):
    """What the pilots solve: a machine on a sample, its rows in random order, by a row of the table of solvers."""

    machine: Machine
    kernel: Any
    points: Points
    target: Target
    settings: Any
    solver: str
    is_stored: bool


def fly(trial: Trial, n: int) -> Pilots:
    """Two pilots for n rows, on the first rows of the sample."""
    small, large = (min(rows, len(trial.points)) for rows in pilot_rows(n, bool(trial.machine.kind)))
    last = _one(trial, large)
    return Pilots(_one(trial, small) if small < large else last, last)


def _one(trial: Trial, rows: int) -> Pilot:
    chosen, machine = np.arange(rows), trial.machine
    binding = bind(trial.kernel, trial.points.take(chosen), dtype=np.float64)
    part = trial.target.take(chosen)
    if machine.task == CLASSIFICATION and len(part.labels) < 2:  # of so few rows, all are of one class
        part = Target(CLASSIFICATION, (chosen % 2).astype(np.float64)[:, None], (0, 1))
    begun = time.perf_counter()
    stored_or_not: Gram = gram_to_solve(binding) if trial.is_stored else TiledGram(binding)
    assert machine.problem is not None
    problem = machine.problem(gram_for_steps(binding) if machine.kind else stored_or_not, part, trial.settings)
    options = Options(tol=trial.settings.get("tol") or problem.usual_tol, max_time=PILOT_SECONDS)
    known = solve(problem, options, trial.solver).certificate
    seconds = time.perf_counter() - begun
    is_cut = known.status is Status.STOPPED
    return Pilot(rows, float(max(known.evaluations, 0)), float(known.steps), seconds, is_cut)
