"""The table of solvers: what each can do, which one is chosen, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from mercer.errors import InvalidParameter
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.cholesky import cholesky
from mercer.solvers.options import Options

__all__ = ["AUTO", "SOLVERS", "Solver", "choose", "explain"]

AUTO = "auto"


@final
@dataclass(frozen=True)
class Solver:
    """One row: a method, and what it asks of a problem.

    Attributes
    ----------
    name : str
        What `solver=` calls it.
    method : str
        One line about it.
    losses : frozenset of str
        Losses that it can minimise.
    memory : callable (n) -> int
        Bytes it needs beyond the Gram matrix it is given.
    run : callable (Problem, Options) -> Answer
        The method itself.
    """

    name: str
    method: str
    losses: frozenset[str]
    memory: Callable[[int], int]
    run: Callable[[Problem, Options], Answer]

    def refusal(self, problem: Problem) -> str:
        """Why the method cannot solve this problem; empty if it can."""
        if problem.loss.name not in self.losses:
            return f"it minimises {', '.join(sorted(self.losses))} losses, not {problem.loss.name}"
        return ""


# In order of preference: `auto` takes the first row that can.
SOLVERS: dict[str, Solver] = {
    row.name: row
    for row in (
        Solver(
            "cholesky",
            "one Cholesky factorisation of K + alpha·I in float64, in place",
            frozenset({"squared"}),
            lambda n: 8 * n * n,
            cholesky,
        ),
    )
}


def choose(problem: Problem, solver: str = AUTO) -> Solver:
    """The row that will solve the problem: the one named, or the first that can."""
    if solver == AUTO:
        for row in SOLVERS.values():
            if not row.refusal(problem):
                return row
        reasons = "; ".join(f"{row.name}: {row.refusal(problem)}" for row in SOLVERS.values())
        raise InvalidParameter("No solver can solve this problem.", reasons + ".")
    if solver not in SOLVERS:
        raise InvalidParameter(
            f"There is no solver {solver!r}.", "", f"Choose {AUTO!r} or one of {', '.join(map(repr, SOLVERS))}."
        )
    reason = SOLVERS[solver].refusal(problem)
    if reason:
        raise InvalidParameter(f"Solver {solver!r} cannot solve this problem: {reason}.", "", f'Try solver="{AUTO}".')
    return SOLVERS[solver]


def explain(problem: Problem, solver: str = AUTO) -> str:
    """Which solver would be used, and why not the others; one line per row of the table."""
    chosen = choose(problem, solver)
    n = problem.gram.shape[0]
    lines = []
    for row in SOLVERS.values():
        reason = row.refusal(problem)
        mark = "→" if row is chosen else " "
        why = f"cannot: {reason}" if reason else f"{row.memory(n) / 1e9:.3g} GB for {n} rows"
        lines.append(f"{mark} {row.name}: {row.method} ({why})")
    return "\n".join(lines)
