"""The table of solvers: what each can do, which one is chosen, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from mercer.budget import in_bytes, memory_there
from mercer.errors import InvalidParameter
from mercer.problems.losses import Loss
from mercer.problems.margins import MarginProblem
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.cg import cg
from mercer.solvers.cholesky import cholesky
from mercer.solvers.eigen import eigen
from mercer.solvers.mixed import mixed
from mercer.solvers.newton import newton_cg, newton_cholesky, newton_primal
from mercer.solvers.newton_systems import direct_bytes
from mercer.solvers.nystrom import nystrom, nystrom_bytes
from mercer.solvers.options import Options
from mercer.solvers.primal import primal
from mercer.solvers.reasons import (
    bytes_held,
    never,
    primal_bytes,
    row_count,
    with_constraints,
    with_few_iterations,
    with_few_penalties,
    with_hard_rows,
    with_infinite_costs,
    with_many_features,
    with_many_iterations,
    with_many_rows,
    with_many_unknowns,
    without_features_or_costs,
)
from mercer.solvers.smo import memory_of_smo, smo

__all__ = ["AUTO", "SOLVERS", "Solver", "candidates", "choose", "explain"]

AUTO = "auto"

AnyProblem = Problem | MarginProblem


class Problems(NamedTuple):
    """Which problems a method solves, by what it asks of them."""

    said: str
    have: Callable[[AnyProblem], bool]


def _of(said: str, has: Callable[[Loss], bool]) -> Problems:
    return Problems(f"problems of {said}", lambda problem: isinstance(problem, Problem) and has(problem.loss))


QUADRATIC = _of("a quadratic loss", lambda loss: loss.is_quadratic)
BENT = _of("a smooth loss that is not quadratic", lambda loss: loss.is_smooth and not loss.is_quadratic)
SMOOTH = _of("a smooth loss", lambda loss: loss.is_smooth)
RESTRICTED = Problems(
    "problems of a smooth loss on landmarks",
    lambda problem: isinstance(problem, Problem) and problem.loss.is_smooth and problem.gram.restricted() is not None,
)
MARGINS = Problems("batches of support vector machines", lambda problem: isinstance(problem, MarginProblem))


@final
@dataclass(frozen=True)
class Solver:
    """One row: a method, what it can do, and when `auto` takes it.

    Attributes
    ----------
    name : str
        What `solver=` calls it.
    method : str
        One line about it.
    problems : Problems
        Those that it can solve.
    memory : callable (Problem) -> int
        Bytes it needs beyond the Gram matrix it is given.
    cannot : callable (Problem) -> str
        Why it cannot solve a problem of its losses; empty if it can.
    unsuited : callable (Problem) -> str
        Why `auto` would prefer another; empty if it suits.
    run : callable (Problem, Options) -> Answer
        The method itself.
    is_iterative : bool
        Whether another method may do better if this one did not reach the tolerance.
    is_judged : bool
        Whether the method has the referee look at it on its way, and returns a solution in place of an answer.
    """

    name: str
    method: str
    problems: Problems
    memory: Callable[[Any], int]
    cannot: Callable[[Any], str]
    unsuited: Callable[[Any], str]
    run: Callable[[Any, Options], Any]
    is_iterative: bool = False
    is_judged: bool = False

    def refusal(self, problem: AnyProblem) -> str:
        """Why the method cannot solve this problem; empty if it can."""
        if not self.problems.have(problem):
            return f"it solves {self.problems.said}, not {problem.machine}"
        return self.cannot(problem)

    def reluctance(self, problem: AnyProblem) -> str:
        """Why `auto` does not choose it first; empty if it would."""
        needed, there = self.memory(problem), memory_there()
        if needed > there:
            return f"it needs {in_bytes(needed)}, and {in_bytes(there)} are available"
        return self.unsuited(problem)


def _primal(problem: Problem, options: Options) -> Answer:
    return primal(problem, options) if problem.loss.is_quadratic else newton_primal(problem, options)


# In order of preference: `auto` takes the first row that can solve the problem and suits it.
SOLVERS: dict[str, Solver] = {
    row.name: row
    for row in (
        Solver(
            "primal",
            "Cholesky factorisations as large as there are features: one, or one in every Newton step",
            SMOOTH,
            primal_bytes,
            without_features_or_costs,
            with_many_features,
            _primal,
        ),
        Solver(
            "cholesky",
            "one Cholesky factorisation of K + alpha·I in float64, in place",
            QUADRATIC,
            lambda problem: 8 * row_count(problem) ** 2,
            never,
            with_many_rows,
            cholesky,
        ),
        Solver(
            "cg",
            "conjugate gradients, preconditioned by a randomly pivoted Cholesky factor",
            QUADRATIC,
            bytes_held,
            with_constraints,
            with_many_iterations,
            cg,
            is_iterative=True,
        ),
        Solver(
            "mixed",
            "a Cholesky factorisation in float32, or in 16 bits, refined in float64 by conjugate gradients",
            QUADRATIC,
            lambda problem: 4 * row_count(problem) ** 2,
            with_constraints,
            with_few_iterations,
            mixed,
            is_iterative=True,
        ),
        Solver(
            "eigen",
            "one eigendecomposition of K, which serves every penalty and alpha = 0",
            QUADRATIC,
            lambda problem: 24 * row_count(problem) ** 2,
            never,
            with_few_penalties,
            eigen,
        ),
        Solver(
            "newton-cholesky",
            "Newton's method with a Cholesky factorisation of all unknowns in every step",
            BENT,
            direct_bytes,
            with_infinite_costs,
            with_many_unknowns,
            newton_cholesky,
        ),
        Solver(
            "newton-cg",
            "Newton's method by conjugate gradients, preconditioned by a randomly pivoted Cholesky factor",
            BENT,
            bytes_held,
            with_infinite_costs,
            never,
            newton_cg,
            is_iterative=True,
        ),
        Solver(
            "landmarks",
            "conjugate gradients for the coefficients of landmarks alone, preconditioned by a sample of the rows",
            RESTRICTED,
            nystrom_bytes,
            with_hard_rows,
            never,
            nystrom,
            is_judged=True,
        ),
        Solver(
            "smo",
            "steps of two coefficients in blocks, and Newton's method on the free ones where these crawl",
            MARGINS,
            memory_of_smo,
            never,
            never,
            smo,
            is_judged=True,
        ),
    )
}


def _rows_for(problem: AnyProblem) -> dict[str, Solver]:
    """The rows that are for such problems; on landmarks, the one that is made for them."""
    rows = {name: row for name, row in SOLVERS.items() if row.problems.have(problem)}
    return {name: row for name, row in rows.items() if row.problems is RESTRICTED} or rows


def _names_for(problem: AnyProblem) -> list[str]:
    """What may be named: those, and landmarks for what they could be chosen for."""
    return [name for name, row in SOLVERS.items() if row.problems.have(problem) or _could_restrict(row, problem)]


def _could_restrict(row: Solver, problem: AnyProblem) -> bool:
    return row.problems is RESTRICTED and SMOOTH.have(problem)


def candidates(problem: AnyProblem) -> list[Solver]:
    """The rows that can solve the problem: those that suit it first, then those that `auto` would fall back on."""
    able = [row for row in _rows_for(problem).values() if not row.refusal(problem)]
    if not able:
        reasons = "; ".join(f"{row.name}: {row.refusal(problem)}" for row in SOLVERS.values())
        raise InvalidParameter("No solver can solve this problem.", reasons + ".")
    return able if len(able) == 1 else sorted(able, key=lambda row: bool(row.reluctance(problem)))


def choose(problem: AnyProblem, solver: str = AUTO) -> Solver:
    """The row that will solve the problem: the one named, or the first that can and suits it."""
    if solver == AUTO:
        return candidates(problem)[0]
    if solver not in SOLVERS:
        raise InvalidParameter(
            f"There is no solver {solver!r}.",
            "",
            f"Choose {AUTO!r} or one of {', '.join(map(repr, _names_for(problem)))}.",
        )
    reason = SOLVERS[solver].refusal(problem)
    if reason:
        raise InvalidParameter(f"Solver {solver!r} cannot solve this problem: {reason}.", "", f'Try solver="{AUTO}".')
    return SOLVERS[solver]


def explain(problem: AnyProblem, solver: str = AUTO) -> str:
    """Which solver would be used, and why not the others; one line per row of the table that minimises the loss.

    If a solver was named, the others are not assessed: that can take as long as a small fit.
    """
    chosen, rows = choose(problem, solver), _rows_for(problem)
    lines = []
    for row in rows.values():
        reason = row.refusal(problem)
        mark = "→" if row is chosen else " "
        if reason:
            why = f"cannot: {reason}"
        elif solver == AUTO:
            why = (row.reluctance(problem) if len(rows) > 1 else "") or "suits"
        else:
            why = "asked for" if row is chosen else "not asked for"
        needs = "" if reason else f"; {in_bytes(row.memory(problem))} beyond the Gram matrix"
        lines.append(f"{mark} {row.name}: {row.method} ({why}{needs})")
    return "\n".join(lines)
