"""Support vector machines for one penalty after the other, each begun at the best multiple of the last solution."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.problems.certificate import Status
from mercer.problems.margins import KINDS, MarginProblem, Margins, best_multiple, intercepts
from mercer.solvers.options import Options
from mercer.solvers.smo import smo, steps_alone

__all__ = ["Swept", "sweep"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Swept:
    """A batch for one penalty, solved to a tolerance.

    Attributes
    ----------
    batch : Margins
        The problems.
    coef : ndarray of shape (N,)
        α.
    f : ndarray of shape (M,)
        Kα.
    intercepts : ndarray of shape (P,)
        b.
    status : Status
        Of the worst problem.
    """

    batch: Margins
    coef: Array
    f: Array
    intercepts: Array
    status: Status

    def f_of(self, p: int) -> Array:
        """Kα on the rows of a problem."""
        return self.f[self.batch.row_offsets[p] : self.batch.row_offsets[p + 1]]


def sweep(gram: Gram, kind: str, batches: Iterable[Margins], options: Options) -> Iterator[Swept]:
    """The solutions of batches that differ in their boxes alone, best from the narrowest to the widest.

    The violation decides when a problem is solved, as in LIBSVM; nobody asks for its gap.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K, of all of them; best stored.
    kind : str
        A row of `KINDS` whose sums are 0.
    batches : iterable of Margins
        The same problems with one penalty after the other: all folds of a cross-validation, all pairs of classes.
    options : Options
        Tolerances and budgets of each solve.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.dense import DenseGram
    >>> x = y = np.array([1.0, -1.0])
    >>> geometry = np.array([0, 1, 2]), np.array([[0, 1]])
    >>> batches = [KINDS["c-svc"].build(*geometry, y, np.full(2, C)) for C in (0.1, 1.0, 10.0)]
    >>> [found.coef.round(6).tolist() for found in sweep(DenseGram(np.outer(x, x)), "c-svc", batches, Options(1e-3))]
    [[0.1, -0.1], [0.5, -0.5], [0.5, -0.5]]
    """
    options = replace(options, gap=np.inf)
    last: Swept | None = None
    for batch in batches:
        start = f = None
        if last is not None:
            start, f = best_multiple(batch, last.coef, last.f)
        last = _swept(MarginProblem(gram, KINDS[kind], batch, start, f), options)
        yield last


def _swept(problem: MarginProblem, options: Options) -> Swept:
    kind, batch = problem.kind, problem.batch
    quick = steps_alone(problem, options)
    if quick is not None:
        coef, f, is_solved = quick
        if is_solved:
            return Swept(batch, coef, f, intercepts(kind, batch, coef, f), Status.MARGIN_OPTIMAL)
        problem = MarginProblem(problem.gram, kind, batch, coef, f)
    found = smo(problem, options)
    return Swept(batch, found.coef, found.f, found.intercepts, found.status)
