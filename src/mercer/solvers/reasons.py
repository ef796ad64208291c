"""What stands for and against each method on a problem, and what it would need: the entries of the table of solvers.

A reason says why a method cannot solve a problem, or why `auto` would prefer another; it is empty if there is none.
"""

from weakref import WeakKeyDictionary

import numpy as np

from mercer.problems.problem import Problem
from mercer.solvers.factor import groups, scaling
from mercer.solvers.held import held_bytes
from mercer.solvers.mixed import is_coarse
from mercer.solvers.pivoted import pivoted_cholesky
from mercer.solvers.watch import Watch

__all__ = [
    "bytes_held",
    "never",
    "primal_bytes",
    "row_count",
    "with_constraints",
    "with_few_iterations",
    "with_few_penalties",
    "with_hard_rows",
    "with_infinite_costs",
    "with_many_features",
    "with_many_iterations",
    "with_many_rows",
    "with_many_unknowns",
    "without_features_or_costs",
]

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

# Estimates by problem, kept as long as the problem exists.
_GUESSES: WeakKeyDictionary[Problem, float] = WeakKeyDictionary()


def never(problem: object) -> str:  # noqa: ARG001 (a row of the table)
    """Nothing stands against it."""
    return ""


def row_count(problem: Problem) -> int:
    """Rows of the problem."""
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


def with_many_features(problem: Problem) -> str:
    """Features cost more than they save where there are many to a row."""
    features = _features(problem) or 0
    return "" if ROWS_PER_FEATURE * features <= row_count(problem) else f"{features} features are too many for the rows"


def with_constraints(problem: Problem) -> str:
    """Whether alpha = 0 makes losses constraints."""
    return "it needs alpha above 0" if _is_hard(problem) else ""


def with_infinite_costs(problem: Problem) -> str:
    """Whether an infinite C makes losses constraints."""
    return "it needs a finite C" if _is_hard(problem) else ""


def with_hard_rows(problem: Problem) -> str:
    """Either, in the words of the loss."""
    return with_constraints(problem) if problem.loss.is_quadratic else with_infinite_costs(problem)


def with_many_unknowns(problem: Problem) -> str:
    """Against factorising all unknowns in every step."""
    unknowns = _unknowns(problem)
    if unknowns <= DIRECT_UNKNOWNS:
        return ""
    return f"factorising {unknowns} unknowns in every step is slower beyond {DIRECT_UNKNOWNS}"


def with_few_penalties(problem: Problem) -> str:
    """Against an eigendecomposition."""
    count = len(groups(problem.cost))
    if count < FACTORS_PER_SPECTRUM:
        return f"it pays for {FACTORS_PER_SPECTRUM} or more different penalties, not for {count}"
    return "" if row_count(problem) <= SPECTRUM_ROWS else f"it takes very long beyond {SPECTRUM_ROWS} rows"


def _with_many_penalties(problem: Problem) -> str:
    return "" if with_few_penalties(problem) else "one eigendecomposition serves all penalties"


def with_many_rows(problem: Problem) -> str:
    """Against a factorisation in float64."""
    if row_count(problem) > DIRECT_ROWS and not _is_hard(problem):
        return f"beyond {DIRECT_ROWS} rows n³/3 operations in float64 take longer"
    return _with_many_penalties(problem)


def with_many_iterations(problem: Problem) -> str:
    """Against conjugate gradients."""
    if _with_many_penalties(problem):
        return _with_many_penalties(problem)
    if not (_without_features(problem) or with_many_features(problem)):
        return "there are fewer features than rows to solve for"
    if row_count(problem) <= DIRECT_ROWS or not problem.cost.any():  # nothing to guess, or nothing to solve
        return ""
    guess, limit = _iterations(problem), row_count(problem) / _rows_per_iteration(problem)
    return "" if guess <= limit else f"it would take about {guess:.0f} iterations, as long as a factorisation"


def with_few_iterations(problem: Problem) -> str:
    """Against a factorisation in few bits."""
    if row_count(problem) <= DIRECT_ROWS:
        return f"up to {DIRECT_ROWS} rows float64 is as fast"
    return _with_many_penalties(problem) or ("" if with_many_iterations(problem) else "cg takes less time")


def _iterations(problem: Problem) -> float:
    """An estimate of how many iterations cg would take."""
    if problem not in _GUESSES:
        rng, n = np.random.default_rng(0), row_count(problem)
        scale, ridge = scaling(problem.cost.max(axis=1))
        rows = np.sort(rng.choice(n, PROBE_ROWS, replace=False)) if n > PROBE_ROWS else np.arange(n)
        gram, scale, ridge = problem.gram.take(rows), scale[rows], ridge[rows]
        pivoted = pivoted_cholesky(gram, scale, PROBE_PIVOTS, stop=0.0, rng=rng, watch=Watch("probe"))
        left_over = pivoted.trace / float(ridge.sum())
        _GUESSES[problem] = FIRST_ITERATIONS + MORE_ITERATIONS * float(np.sqrt(left_over))
    return _GUESSES[problem]


def _rows_per_iteration(problem: Problem) -> float:
    if not bytes_held(problem):
        return ROWS_PER_ITERATION
    coarse = is_coarse(problem.gram, 1.0 / float(problem.cost.max()), _columns(problem))
    return COARSE_ROWS_PER_ITERATION if coarse else HELD_ROWS_PER_ITERATION


def _columns(problem: Problem) -> int:
    """Right-hand sides that are solved for together."""
    return int(problem.y.shape[1] + (problem.B.shape[1] if problem.loss.is_quadratic else 0))


def bytes_held(problem: Problem) -> int:
    """The memory of K for the inner products; a few bits suffice up to 1/c of the largest cost."""
    largest = float(problem.cost.max(initial=0.0))
    return held_bytes(problem.gram, 1.0 / largest, _columns(problem)) if largest > 0.0 else 0


def primal_bytes(problem: Problem) -> int:
    """The memory of the systems in the features."""
    features = _features(problem) or 0
    return 16 * features**2 if problem.loss.is_quadratic else 8 * (features * problem.y.shape[1]) ** 2


def without_features_or_costs(problem: Problem) -> str:
    """Whether there is no finite feature map to work in, or a cost that Newton cannot take."""
    return _without_features(problem) or ("" if problem.loss.is_quadratic else with_infinite_costs(problem))
