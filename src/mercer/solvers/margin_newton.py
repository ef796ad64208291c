"""Newton's method on the free variables of a support vector machine that steps of two do not bring to an end."""

from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.problems.margins import Margins
from mercer.solvers.box_newton import Box, newton_in_box
from mercer.solvers.held import one_blas_thread
from mercer.solvers.lapack import Look
from mercer.solvers.margin_image import CoreImages

__all__ = ["MarginNewton"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# The most variables that are solved for at once, whatever the memory: a factorisation, which nothing interrupts, then
# takes a third of a second.
MOST_VARIABLES = 3072
# Matrices of so many variables, in float64, that are there at one time.
MATRICES = 3
# Beside the free variables, as many of the others as this share of them, and at least so many: the worst first.
OTHERS = 1.0 / 3.0
LEAST_OTHERS = 64
# Sets of variables that are tried, one after the other, as long as each brings the violation down to this share. One
# that makes it so much larger is taken back.
SETS = 8
PROGRESS = 0.5
WORSE = 10.0
# A set is solved to this share of the violation that is asked for.
AIM = 0.5


@final
class MarginNewton:
    """Takes up the problems of a batch that crawl.

    Parameters
    ----------
    batch : Margins
        The problems.
    gram : Gram
        K.
    native : object
        What the core makes entries of K from.
    core : CoreImages
        The batch as the core has it.
    memory : int
        Bytes for matrices.
    """

    def __init__(self, batch: Margins, gram: Gram, native: Any, core: CoreImages, memory: int) -> None:
        self._batch, self._gram, self._native, self._core = batch, gram, native, core
        self._most = min(MOST_VARIABLES, int((memory / (8 * MATRICES)) ** 0.5))
        self.evaluations = 0

    @property
    def most_free(self) -> int:
        """A problem with more free variables is not for this method."""
        return int(self._most / (1.0 + OTHERS)) - LEAST_OTHERS

    def advance(self, coef: Array, image: Array, tol: float, watch: Look) -> bool:
        """Move the coefficients, and K b with them, of every problem whose violation is above tol.

        Returns whether a violation has come down by much.
        """
        found = False
        for p in range(len(self._batch)):
            problem = _Problem(self._batch, p, coef, image)
            first = last = problem.violation()
            for attempt in range(SETS if problem.free_count() <= self.most_free else 0):
                if last <= tol or watch.look(0.0):
                    break
                some = problem.candidates(self._most)
                if attempt == 0:
                    self._make_exact(p, problem, some)
                before = problem.b.copy(), problem.f.copy()
                self._solve(p, problem, some, tol, watch)
                now = problem.violation()
                if now > WORSE * last:  # rounding
                    problem.b[:], problem.f[:] = before
                if not now <= PROGRESS * last:
                    break
                last = now
            found = found or last <= PROGRESS * first
        return found

    def _solve(self, p: int, problem: "_Problem", some: Index, tol: float, watch: Look) -> None:
        box = problem.box(some, self._entries(self._batch.rows(p)[problem.rows[some]]))
        with one_blas_thread():
            newton_in_box(box, AIM * tol, watch)
        change = np.zeros(len(problem.b))
        change[some] = box.b - problem.b[some]
        moved = np.zeros(len(problem.f))
        self._core.images(change, moved, problem=p)
        self.evaluations += len(moved) * int(np.count_nonzero(change))
        # Where Ctrl-C comes in between, who goes on with b makes f anew.
        problem.b[some] = box.b
        problem.f += moved

    def _make_exact(self, p: int, problem: "_Problem", some: Index) -> None:
        left = np.ones(len(problem.f), dtype=np.uint8)
        left[problem.rows[some]] = 0
        self._core.images(problem.b, problem.f, left=left, problem=p)
        self.evaluations += int(np.count_nonzero(left == 0)) * int(np.count_nonzero(problem.b))

    def _entries(self, rows: Index) -> Array:
        self.evaluations += len(rows) ** 2
        if isinstance(self._native, np.ndarray):
            return np.asarray(self._native[np.ix_(rows, rows)], dtype=np.float64)
        return np.asarray(self._gram.take(rows).dense(), dtype=np.float64)


@final
class _Problem:
    """One problem of a batch: views of its coefficients b and of f = K b, which are changed in place."""

    def __init__(self, batch: Margins, p: int, coef: Array, image: Array) -> None:
        first, last = batch.row_offsets[p], batch.row_offsets[p + 1]
        mine = slice(batch.copies * first, batch.copies * last)
        self.b, self.f = coef[mine], image[first:last]
        self.rows = batch.entries[mine] - first
        self._linear, self._low, self._high = batch.linear[mine], batch.low[mine], batch.high[mine]
        self._group, self._width = batch.group[mine], batch.width

    def box(self, some: Index | slice, K: Array) -> Box:
        """The problem in these variables, the others as they are."""
        t = self.f[self.rows[some]] + self._linear[some]
        return Box(K, self.b[some].copy(), t, self._low[some], self._high[some], self._group[some], self._width)

    def free_count(self) -> int:
        """How many variables are free."""
        return int(np.count_nonzero(self._whole().is_free()))

    def violation(self) -> float:
        """Of all variables."""
        return self._whole().violation()

    def candidates(self, most: int) -> Index:
        """The free variables, and those of the others that are worst or nearest to it; in their order."""
        whole = self._whole()
        free = whole.is_free()
        count = int(np.count_nonzero(free))
        bounded = np.flatnonzero(~free & (self._low < self._high))
        others = min(max(int(OTHERS * count), LEAST_OTHERS), most - count, len(bounded))
        if others <= 0:
            return np.flatnonzero(free)
        chosen = bounded[np.argpartition(whole.room()[bounded], others - 1)[:others]]
        return np.sort(np.concatenate([np.flatnonzero(free), chosen]))

    def _whole(self) -> Box:
        return self.box(slice(None), np.empty((0, 0)))
