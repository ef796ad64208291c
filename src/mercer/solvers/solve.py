"""A problem in, a certified solution out: table row, run, referee."""

import math
import time
from typing import overload

import numpy as np

from mercer.budget import or_too_large
from mercer.errors import MercerError, NotPositive, TooLarge
from mercer.problems.certificate import Certificate, Status
from mercer.problems.certify import certify
from mercer.problems.margins import MarginProblem, MarginSolution
from mercer.problems.problem import Problem
from mercer.problems.reach import refuse_large_targets
from mercer.problems.solution import Solution
from mercer.solvers.options import Options
from mercer.solvers.table import AUTO, Solver, candidates, choose

__all__ = ["solve"]


@overload
def solve(problem: Problem, options: Options | None = None, solver: str = AUTO) -> Solution: ...
@overload
def solve(problem: MarginProblem, options: Options | None = None, solver: str = AUTO) -> MarginSolution: ...
def solve(
    problem: Problem | MarginProblem, options: Options | None = None, solver: str = AUTO
) -> Solution | MarginSolution:
    """Minimise a problem and certify the answer.

    Parameters
    ----------
    problem : Problem or MarginProblem
        What is minimised.
    options : Options, optional
        Tolerances; the usual ones of such a problem where not given.
    solver : str
        "auto", or the name of a row of `mercer.solvers.table.SOLVERS`. If a method that "auto" chooses does not reach
        the tolerance, the next one of the table is tried, and the solution's `note` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> from mercer.problems.losses import LOSSES
    >>> from mercer.problems.problem import Problem
    >>> K = DenseGram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> y, cost, nothing = np.array([[1.0], [0.0]]), np.ones((2, 1)), np.empty((2, 0))
    >>> solution = solve(Problem(K, y, LOSSES["squared"], cost, nothing, np.empty(0)))
    >>> solution.coef.ravel()
    array([ 0.375, -0.125])
    >>> solution.certificate.relative_gap <= 1e-12
    True
    """
    options = options or Options(tol=problem.usual_tol)
    begun, known = time.perf_counter(), problem.gram.evaluations
    rows = candidates(problem) if solver == AUTO else [choose(problem, solver)]
    if isinstance(problem, MarginProblem):
        judged: MarginSolution = rows[0].run(problem, options)
        return judged
    options.refuse_unless_relative()
    refuse_large_targets(problem.y)
    found = _first_that_does(rows, problem, options) if solver == AUTO else _run(rows[0], problem, options)
    made = problem.gram.evaluations - (0 if problem.gram.is_stored else known)
    return found.certified(seconds=time.perf_counter() - begun, evaluations=made)


def _first_that_does(rows: list[Solver], problem: Problem, options: Options) -> Solution:
    """Run the rows until one answers to the tolerance; else the best answer, or the first row's error.

    A row that breaks down passes on if another can still help: a pseudo-inverse for alpha = 0, a stationary point
    for a kernel that was only assumed to be one. Otherwise its message about conditioning is the answer.
    """
    proof = problem.gram.proof
    is_derived = proof is not None and not proof.assumptions
    best: Solution | None = None
    first_error: MercerError | None = None
    tried: list[str] = []
    for row in rows:
        try:
            found = _run(row, problem, options)
        except (NotPositive, TooLarge) as error:
            first_error = first_error or error
            if isinstance(error, NotPositive) and is_derived and not np.isinf(problem.cost).any():
                break
            tried.append(f"{row.name} gave up")
            continue
        if tried:
            note = found.certificate.note
            found = found.certified(note="; ".join([*tried, note] if note else tried))
        missed, measure = _miss(found.certificate)
        if best is None or missed < _miss(best.certificate)[0]:
            best = found
        if found.status is not Status.INEXACT or not row.is_iterative:
            break
        tried.append(f"{row.name} stalled at a {measure} of {missed:.1e}")
    if best is not None:
        return best
    assert first_error is not None, "there is at least one row"
    raise first_error


def _run(row: Solver, problem: Problem, options: Options) -> Solution:
    with or_too_large(f"Solver {row.name!r} has run out of memory.", "Fit fewer rows, or try another solver."):
        found = row.run(problem, options)
        return found if row.is_judged else certify(problem, found, solver=row.name, tol=options.tol)


def _miss(found: Certificate) -> tuple[float, str]:
    """How far from solved, and by which measure: the squared loss has a residual, the others have their gap."""
    if math.isnan(found.residual):
        return found.relative_gap, "relative gap"
    return found.residual, "residual"
