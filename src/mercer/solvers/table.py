"""The table of solvers: what each can do, which one is chosen, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np

from mercer.budget import in_bytes, memory_there
from mercer.errors import InvalidParameter
from mercer.problems.losses import Loss
from mercer.problems.margins import MarginProblem
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer
from mercer.solvers.cg import cg
from mercer.solvers.cholesky import cholesky
from mercer.solvers.eigen import eigen
from mercer.solvers.factor import groups, scaling
from mercer.solvers.held import held_bytes
from mercer.solvers.mixed import is_coarse, mixed
from mercer.solvers.newton import newton_cg, newton_cholesky, newton_primal
from mercer.solvers.newton_systems import direct_bytes
from mercer.solvers.nystrom import nystrom, nystrom_bytes
from mercer.solvers.options import Options
from mercer.solvers.pivoted import pivoted_cholesky
from mercer.solvers.primal import primal
from mercer.solvers.smo import memory_of_smo, smo
from mercer.solvers.watch import Watch

__all__ = ["AUTO", "SOLVERS", "Solver", "candidates", "choose", "explain"]

AUTO = "auto"

# Below this, a factorisation is faster than a preconditioner and a dozen products.
DIRECT_ROWS = 3_000
# Iterations of cg are guessed from what this many pivots leave of the spectrum of so many rows, relative to the ridge:
# 10 + 8 √(what is left / ridge), as measured for radial kernels in 20 dimensions.
PROBE_PIVOTS, PROBE_ROWS = 200, 2_000
FIRST_ITERATIONS, MORE_ITERATIONS = 10.0, 8.0
# A factorisation in float32 costs as much as one iteration for so many rows; fewer where a product only reads K, and
# more where 16 bits do for the factor.
ROWS_PER_ITERATION, HELD_ROWS_PER_ITERATION, COARSE_ROWS_PER_ITERATION = 350.0, 75.0, 220.0
# An eigendecomposition costs about as much as this many factorisations.
FACTORS_PER_SPECTRUM = 9
# Beyond this it takes the better part of an hour, so it is used only when named.
SPECTRUM_ROWS = 10_000
# Unknowns, rows times columns, up to which factorising the Newton systems is faster than iterating on them.
DIRECT_UNKNOWNS = 2_000
# The primal is worth it when there are at least this many rows to a feature.
ROWS_PER_FEATURE = 2


AnyProblem = Problem | MarginProblem

# Estimates by problem, kept as long as the problem exists.
_GUESSES: WeakKeyDictionary[Problem, float] = WeakKeyDictionary()


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


def _never(problem: AnyProblem) -> str:  # noqa: ARG001 (a row of the table)
    return ""


def _rows(problem: Problem) -> int:
    return len(problem.y)


def _unknowns(problem: Problem) -> int:
    return int(problem.y.size)


def _is_hard(problem: Problem) -> bool:
    return bool(np.isinf(problem.cost).any())


def _features(problem: Problem) -> int | None:
    phi = problem.gram.features()
    return None if phi is None else phi.shape[1]


def _without_features(problem: Problem) -> str:
    wrong = "the kernel has no finite feature map, or none that is smaller than the data"
    return "" if _features(problem) is not None else wrong


def _with_many_features(problem: Problem) -> str:
    features = _features(problem) or 0
    return "" if ROWS_PER_FEATURE * features <= _rows(problem) else f"{features} features are too many for the rows"


def _with_constraints(problem: Problem) -> str:
    return "it needs alpha above 0" if _is_hard(problem) else ""


def _with_infinite_costs(problem: Problem) -> str:
    return "it needs a finite C" if _is_hard(problem) else ""


def _with_hard_rows(problem: Problem) -> str:
    return _with_constraints(problem) if problem.loss.is_quadratic else _with_infinite_costs(problem)


def _with_many_unknowns(problem: Problem) -> str:
    unknowns = _unknowns(problem)
    if unknowns <= DIRECT_UNKNOWNS:
        return ""
    return f"factorising {unknowns} unknowns in every step is slower beyond {DIRECT_UNKNOWNS}"


def _with_few_penalties(problem: Problem) -> str:
    count = len(groups(problem.cost))
    if count < FACTORS_PER_SPECTRUM:
        return f"it pays for {FACTORS_PER_SPECTRUM} or more different penalties, not for {count}"
    return "" if _rows(problem) <= SPECTRUM_ROWS else f"it takes very long beyond {SPECTRUM_ROWS} rows"


def _with_many_penalties(problem: Problem) -> str:
    return "" if _with_few_penalties(problem) else "one eigendecomposition serves all penalties"


def _with_many_rows(problem: Problem) -> str:
    if _rows(problem) > DIRECT_ROWS and not _is_hard(problem):
        return f"beyond {DIRECT_ROWS} rows n³/3 operations in float64 take longer"
    return _with_many_penalties(problem)


def _with_many_iterations(problem: Problem) -> str:
    if _with_many_penalties(problem):
        return _with_many_penalties(problem)
    if not (_without_features(problem) or _with_many_features(problem)):
        return "there are fewer features than rows to solve for"
    if _rows(problem) <= DIRECT_ROWS or not problem.cost.any():  # nothing to guess, or nothing to solve
        return ""
    guess, limit = _iterations(problem), _rows(problem) / _rows_per_iteration(problem)
    return "" if guess <= limit else f"it would take about {guess:.0f} iterations, as long as a factorisation"


def _with_few_iterations(problem: Problem) -> str:
    if _rows(problem) <= DIRECT_ROWS:
        return f"up to {DIRECT_ROWS} rows float64 is as fast"
    return _with_many_penalties(problem) or ("" if _with_many_iterations(problem) else "cg takes less time")


def _iterations(problem: Problem) -> float:
    """An estimate of how many iterations cg would take."""
    if problem not in _GUESSES:
        rng, n = np.random.default_rng(0), _rows(problem)
        scale, ridge = scaling(problem.cost.max(axis=1))
        rows = np.sort(rng.choice(n, PROBE_ROWS, replace=False)) if n > PROBE_ROWS else np.arange(n)
        gram, scale, ridge = problem.gram.take(rows), scale[rows], ridge[rows]
        pivoted = pivoted_cholesky(gram, scale, PROBE_PIVOTS, stop=0.0, rng=rng, watch=Watch("probe"))
        left_over = pivoted.trace / float(ridge.sum())
        _GUESSES[problem] = FIRST_ITERATIONS + MORE_ITERATIONS * float(np.sqrt(left_over))
    return _GUESSES[problem]


def _rows_per_iteration(problem: Problem) -> float:
    if not _held_bytes(problem):
        return ROWS_PER_ITERATION
    coarse = is_coarse(problem.gram, 1.0 / float(problem.cost.max()), _columns(problem))
    return COARSE_ROWS_PER_ITERATION if coarse else HELD_ROWS_PER_ITERATION


def _columns(problem: Problem) -> int:
    """Right-hand sides that are solved for together."""
    return int(problem.y.shape[1] + (problem.B.shape[1] if problem.loss.is_quadratic else 0))


def _held_bytes(problem: Problem) -> int:
    """The memory of K for the inner products; a few bits suffice up to 1/c of the largest cost."""
    largest = float(problem.cost.max(initial=0.0))
    return held_bytes(problem.gram, 1.0 / largest, _columns(problem)) if largest > 0.0 else 0


def _primal_bytes(problem: Problem) -> int:
    features = _features(problem) or 0
    return 16 * features**2 if problem.loss.is_quadratic else 8 * (features * problem.y.shape[1]) ** 2


def _without_features_or_costs(problem: Problem) -> str:
    return _without_features(problem) or ("" if problem.loss.is_quadratic else _with_infinite_costs(problem))


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
            _primal_bytes,
            _without_features_or_costs,
            _with_many_features,
            _primal,
        ),
        Solver(
            "cholesky",
            "one Cholesky factorisation of K + alpha·I in float64, in place",
            QUADRATIC,
            lambda problem: 8 * _rows(problem) ** 2,
            _never,
            _with_many_rows,
            cholesky,
        ),
        Solver(
            "cg",
            "conjugate gradients, preconditioned by a randomly pivoted Cholesky factor",
            QUADRATIC,
            _held_bytes,
            _with_constraints,
            _with_many_iterations,
            cg,
            is_iterative=True,
        ),
        Solver(
            "mixed",
            "a Cholesky factorisation in float32, or in 16 bits, refined in float64 by conjugate gradients",
            QUADRATIC,
            lambda problem: 4 * _rows(problem) ** 2,
            _with_constraints,
            _with_few_iterations,
            mixed,
            is_iterative=True,
        ),
        Solver(
            "eigen",
            "one eigendecomposition of K, which serves every penalty and alpha = 0",
            QUADRATIC,
            lambda problem: 24 * _rows(problem) ** 2,
            _never,
            _with_few_penalties,
            eigen,
        ),
        Solver(
            "newton-cholesky",
            "Newton's method with a Cholesky factorisation of all unknowns in every step",
            BENT,
            direct_bytes,
            _with_infinite_costs,
            _with_many_unknowns,
            newton_cholesky,
        ),
        Solver(
            "newton-cg",
            "Newton's method by conjugate gradients, preconditioned by a randomly pivoted Cholesky factor",
            BENT,
            _held_bytes,
            _with_infinite_costs,
            _never,
            newton_cg,
            is_iterative=True,
        ),
        Solver(
            "landmarks",
            "conjugate gradients for the coefficients of landmarks alone, preconditioned by a sample of the rows",
            RESTRICTED,
            nystrom_bytes,
            _with_hard_rows,
            _never,
            nystrom,
            is_judged=True,
        ),
        Solver(
            "smo",
            "steps of two coefficients in blocks, and Newton's method on the free ones where these crawl",
            MARGINS,
            memory_of_smo,
            _never,
            _never,
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
