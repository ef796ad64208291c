"""A problem in, a certified solution out: table row, run, referee."""

from mercer.problems.certify import certify
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.solvers.options import Options
from mercer.solvers.table import AUTO, choose

__all__ = ["solve"]


def solve(problem: Problem, options: Options | None = None, solver: str = AUTO) -> Solution:
    """Minimise a problem and certify the answer.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    options : Options, optional
        Tolerances.
    solver : str
        "auto", or the name of a row of `mercer.solvers.table.SOLVERS`.

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
    >>> solution.relative_gap <= 1e-12
    True
    """
    options = options or Options()
    row = choose(problem, solver)
    return certify(problem, row.run(problem, options), solver=row.name, tol=options.tol)
