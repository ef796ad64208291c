"""What each row of the table of solvers does for a problem of some size, in counts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

from mercer.doctor.rates import rates
from mercer.solvers.cg_system import HELD_PIVOTS
from mercer.solvers.newton_systems import INNER, LEAST_PIVOTS, MOST_PIVOTS, PIVOTS_PER_COST
from mercer.solvers.preconditioner import rank_for

__all__ = ["COSTS", "Cost", "Size", "Work"]

# An eigendecomposition in factorisations, and passes over the features of a primal solver.
FACTORS_PER_SPECTRUM, FEATURE_PASSES = 9.0, 20.0
# Rows for each landmark from which the preconditioner is made.
SAMPLED = 8.0
# What a factorisation in 16 bits takes of the time of one in float32.
COARSE = 0.4


class Work(NamedTuple):
    """Entries of K, operations of factorisations in float64 and in float32, and bytes read."""

    entries: float = 0.0
    double: float = 0.0
    single: float = 0.0
    read: float = 0.0

    def seconds(self, per_entry: float) -> float:
        """What it takes here."""
        here = rates()
        return self.entries * per_entry + self.double * here.double + self.single * here.single + self.read * here.byte


@final
@dataclass(frozen=True)
class Size:
    """A problem's size: what a row of the table of work needs to know.

    Attributes
    ----------
    n, t, features : int
        Rows, columns that are solved together, and features (0 where there are none).
    is_stored, is_joint, is_quadratic : bool
        Of K, and of the loss.
    held : int
        Bytes of K that products read; 0 where they compute it.
    cost : float
        The largest c.
    steps, entries : float
        Of an iterative solver, from pilots.
    """

    n: int
    t: int = 1
    features: int = 0
    is_stored: bool = False
    is_joint: bool = False
    is_quadratic: bool = True
    held: int = 0
    cost: float = 1.0
    steps: float = 0.0
    entries: float = 0.0


def _direct_entries(size: Size) -> float:
    """Once to store K or to factorise it; once more for the referee where it is not kept."""
    return (0.5 if size.is_stored else 1.0) * size.n * (size.n + 1)


def _primal_work(size: Size) -> Work:
    systems = 1.0 if size.is_quadratic else size.steps + 1.0
    unknowns = size.features * (size.t if size.is_joint else 1)
    read = 8.0 * size.n * size.features * (FEATURE_PASSES + (0.0 if size.is_quadratic else 4.0 * size.steps))
    return Work(0.0, systems * (size.n * size.features * unknowns + unknowns**3 / 3.0), 0.0, read)


def _factor_work(factors: float, size: Size) -> Work:
    return Work(_direct_entries(size), factors * size.n**3 / 3.0 + 4.0 * size.n**2 * size.t, 0.0, 24.0 * size.n**2)


def _newton_cholesky_work(size: Size) -> Work:
    unknowns = size.n * (size.t if size.is_joint else 1)
    systems = (size.steps + 1.0) * (1 if size.is_joint else size.t)
    return Work(_direct_entries(size), systems * unknowns**3 / 3.0, 0.0, systems * 24.0 * unknowns**2)


def _iterative_work(size: Size) -> Work:
    bent = min(max(PIVOTS_PER_COST * size.cost, LEAST_PIVOTS), MOST_PIVOTS) if size.held else MOST_PIVOTS
    most = (HELD_PIVOTS if size.held else size.n) if size.is_quadratic else int(bent)
    rank = min(rank_for(size.n), most, INNER // size.t if size.is_joint else most)
    inner = (size.steps + 1.0) * (rank * size.t) ** 3 / 3.0 if size.is_joint else 0.0
    read = size.steps * (size.held if size.held else 8.0 * size.n**2 * size.is_stored) * size.t
    pairs = size.t**2 * (size.steps + 1.0) if size.is_joint else 1.0
    return Work(size.entries, inner + size.n * rank * (rank * pairs + 4.0 * size.steps * size.t), 0.0, read)


def _mixed_work(size: Size) -> Work:
    faster = COARSE if size.held == 2 * size.n**2 else 1.0
    return Work(size.entries, 0.0, faster * size.n**3 / 3.0, (size.held or 4.0 * size.n**2) * (size.steps + 4.0))


def _stepping_work(size: Size) -> Work:
    return Work(size.entries)


def _landmark_work(size: Size) -> Work:
    rows = SAMPLED * size.features
    return Work(size.entries, 2.0 * rows * size.features**2, 0.0, 16.0 * size.features**2 * size.steps)


@final
@dataclass(frozen=True)
class Cost:
    """How a row of the table of solvers is counted: its work, and whether a pilot has to say how often."""

    work: Callable[[Size], Work]
    needs_pilot: bool


COSTS: dict[str, Cost] = {
    "landmarks": Cost(_landmark_work, True),
    "primal": Cost(_primal_work, False),
    "cholesky": Cost(partial(_factor_work, 1.0), False),
    "cg": Cost(_iterative_work, True),
    "mixed": Cost(_mixed_work, True),
    "eigen": Cost(partial(_factor_work, FACTORS_PER_SPECTRUM), False),
    "newton-cholesky": Cost(_newton_cholesky_work, True),
    "newton-cg": Cost(_iterative_work, True),
    "smo": Cost(_stepping_work, True),
}
