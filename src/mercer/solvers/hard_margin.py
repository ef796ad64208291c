"""The hard margin, C = ∞: the nearest points of two convex hulls, or a tube that must contain every target."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer.errors import NotSeparable
from mercer.problems.certificate import Status
from mercer.problems.margins import MarginSolution

__all__ = ["SolveHulls", "SolveTube", "narrowest_tube", "nearest_points"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Labels = npt.NDArray[Any]

# Points of feature space count as equal if their squared distance is below this share of the largest k(x, x).
COINCIDENT = 1e-12
# A violation is relative to the distance, which is not known in advance; each round knows it better.
ROUNDS = 8
# From one penalty to the next, until no coefficient is at its bound.
GROWTH = 100.0
LARGEST_PENALTY = 1e30


class SolveHulls(Protocol):
    """Solves "hulls" for all pairs."""

    def __call__(self, start: Array | None, tol: float) -> MarginSolution:
        """From a first point, where there is one, to this violation."""


class SolveTube(Protocol):
    """Solves "epsilon-svr"."""

    def __call__(self, start: Array | None, penalty: float) -> MarginSolution:
        """From a first point, where there is one, with this C, until the violation alone is small enough."""


def nearest_points(
    solve: SolveHulls, tol: float, diagonal: Array, rows: Index, n: int, classes: Labels
) -> MarginSolution:
    """Solve "hulls" for every pair, to a violation of tol in units of its own margin.

    Parameters
    ----------
    solve : SolveHulls
    tol : float
    diagonal : ndarray
        k(x, x) of the rows of K.
    rows, n, classes
        The positions of these rows among n, and the labels, for the error.

    Raises
    ------
    NotSeparable
    """
    largest = float(diagonal.max())
    start, wanted = None, tol * min(1.0, largest) if largest > 0.0 else tol
    for _ in range(ROUNDS):
        solution = solve(start, wanted)
        squares = _squared_distances(solution)
        worst = int(squares.argmin())
        if squares[worst] <= COINCIDENT * largest:
            raise _inseparable(solution, worst, float(squares[worst]), rows, n, classes)
        allowed = 0.5 * tol * squares
        if solution.status is Status.STOPPED or (solution.violations <= allowed).all():
            break
        start, wanted = solution.coef, 0.5 * float(allowed.min())
    return solution


def narrowest_tube(solve: SolveTube, y: Array, epsilon: float, diagonal: Array, rows: Index, n: int) -> MarginSolution:
    """Solve "epsilon-svr" with penalties that grow until no coefficient is at its bound, which is then none.

    Parameters
    ----------
    solve : SolveTube
    y : ndarray
        The targets of the rows of K.
    epsilon : float
    diagonal, rows, n
        As in `nearest_points`.

    Raises
    ------
    NotSeparable
        Where two convex combinations of rows coincide and their targets are more than 2ε apart.
    """
    largest = float(diagonal.max())
    start, penalty = None, max(1.0, float(np.abs(y).max()) / largest if largest > 0.0 else 1.0)
    while True:
        solution = solve(start, penalty)
        coef = solution.coef
        is_inside = (np.abs(coef) < solution.batch.high).all()
        if is_inside or solution.status is Status.STOPPED or penalty > LARGEST_PENALTY:
            return solution
        mass = float(coef[coef > 0.0].sum())
        square, apart = float(coef @ solution.f) / mass**2, float(coef @ y) / mass
        if square <= COINCIDENT * largest and apart > 2.0 * epsilon:
            weights = tuple(_spread(np.maximum(part, 0.0) / mass, rows, n) for part in (coef, -coef))
            means = tuple(float(np.maximum(part, 0.0) @ y) / mass for part in (coef, -coef))
            raise NotSeparable(
                f"No function in the kernel's space comes within epsilon = {epsilon:g} of all targets.",
                f"Two means of rows are {max(square, 0.0) ** 0.5:.3g} apart in feature space, and their targets "
                f"{means[0]:.6g} and {means[1]:.6g}.",
                "Use a finite C, a larger epsilon, or a kernel with more features.",
                weights=weights,
                classes=means,
                distance=max(square, 0.0) ** 0.5,
            )
        start, penalty = coef, GROWTH * penalty


def _squared_distances(solution: MarginSolution) -> Array:  # (P,)
    batch = solution.batch
    return np.asarray(np.add.reduceat(solution.coef * solution.f, batch.offsets[:-1]))


def _inseparable(solution: MarginSolution, p: int, square: float, rows: Index, n: int, classes: Labels) -> NotSeparable:
    batch = solution.batch
    coef, mine = solution.coef_of(p), rows[batch.rows_of(p)]
    sides = [_spread(np.maximum(part, 0.0), mine, n) for part in (coef, -coef)]
    labels = classes[batch.uses[p]].tolist()
    # The first range of a pair is the positive side, except with two classes, where it is the second.
    if coef[0] < 0.0 or batch.low[batch.offsets[p]] < 0.0:
        sides.reverse()
    distance = max(square, 0.0) ** 0.5
    return NotSeparable(
        f"The classes {labels[0]!r} and {labels[1]!r} are not separable in feature space, so there is no hard margin.",
        f"Their convex hulls come within {distance:.3g} of each other.",
        "Use a finite C, or a kernel with more features; .weights are the two convex combinations.",
        weights=tuple(sides),
        classes=tuple(labels),
        distance=distance,
    )


def _spread(values: Array, rows: Index, n: int) -> Array:
    """Values of some rows, as an array over all of sum one."""
    out = np.zeros(n)
    out[rows] = values
    return np.asarray(out / out.sum())
