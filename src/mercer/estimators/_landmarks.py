"""Machines on landmarks: which rows they are, how many, and when `solver="auto"` takes them."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from mercer.budget import memory_there
from mercer.domains import is_number
from mercer.errors import InvalidParameter, shown
from mercer.grams.choose import ROWS_PER_FEATURE
from mercer.grams.featured import finite_map
from mercer.grams.landmarks import LandmarkGram, restrict
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding, bind
from mercer.kernels.kernel import Kernel
from mercer.points.base import Points
from mercer.points.stored import Stored
from mercer.solvers.selection import SELECTIONS

__all__ = ["LANDMARKS", "Landmarks", "Restriction", "usual_number"]

Rows = npt.NDArray[np.intp]

LANDMARKS = "landmarks"
# The usual number for n rows: 10 √n, at most this many, and no more than a tenth of the memory can factorise.
PER_ROOT, MOST = 10.0, 5_000
# `auto` takes landmarks where a full fit would make more kernel values than this, over so many iterations, or more than
# max_time allows at so many a second.
VALUES, ITERATIONS, PER_SECOND = 4e11, 40, 1e9


def usual_number(n: int) -> int:
    """How many landmarks for n rows, unless someone knows better."""
    return max(1, min(n, math.ceil(PER_ROOT * math.sqrt(n)), MOST, math.isqrt(memory_there() // 80)))


@final
@dataclass(frozen=True, eq=False)
class Restriction:
    """The rows by landmarks: their Gram matrix, and which rows the landmarks are."""

    gram: LandmarkGram
    rows: Rows


@final
@dataclass(frozen=True)
class Landmarks:
    """The parameters of a machine about landmarks, as they were given.

    Parameters
    ----------
    number : int or None
        `n_landmarks`.
    choice : str or array of int
        `landmarks`: a row of `mercer.solvers.selection.SELECTIONS`, or the rows.
    random_state
        As in scikit-learn.
    """

    number: Any
    choice: Any
    random_state: Any

    def restrict(self, kernel: Any, points: Points, weight: npt.NDArray[np.float64]) -> Restriction:
        """The Gram matrix of the points by landmarks.

        Parameters
        ----------
        kernel : Kernel
            Resolved.
        points : Points
            The rows.
        weight : ndarray of shape (n,)
            Landmarks are chosen among rows of a weight above 0.
        """
        if isinstance(points, Stored) or not isinstance(kernel, Kernel):
            raise InvalidParameter(
                'solver="landmarks" needs a kernel of mercer.',
                f"Got {shown(kernel)}.",
                "Wrap a function in Custom(fn, because=…); a precomputed matrix is there in full already.",
            )
        rows = self.rows(kernel, points, np.flatnonzero(weight > 0.0))
        gram = restrict(kernel, points, points.take(rows))
        return Restriction(gram, rows[gram.features().chosen])

    def rows(self, kernel: Any, points: Points, eligible: Rows) -> Rows:
        """The rows that are proposed as landmarks.

        Parameters
        ----------
        kernel : Kernel
            Resolved.
        points : Points
            All rows.
        eligible : ndarray
            Those that may be chosen; rows that are given are taken as they are.
        """
        if not isinstance(self.choice, str):
            return self._given(len(points))
        if self.choice not in SELECTIONS:
            names = ", ".join(map(repr, SELECTIONS))
            raise InvalidParameter(
                f"There is no way to choose landmarks called {self.choice!r}.",
                "",
                f"Choose one of {names}, or pass an array of row numbers.",
            )
        m, selection = min(self._number(len(points)), len(eligible)), SELECTIONS[self.choice]
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        order = rng.permutation(eligible)
        if not selection.candidates:
            return order[:m]
        candidates = order[: max(m, min(len(eligible), selection.candidates * m))]
        gram = TiledGram(bind(kernel, points.take(candidates), dtype=np.float64))
        return np.asarray(candidates[selection.draw(gram, m, rng)])

    def _number(self, n: int) -> int:
        if self.number is None:
            return usual_number(n)
        if isinstance(self.number, bool) or not isinstance(self.number, Integral) or int(self.number) < 1:
            raise InvalidParameter(
                "n_landmarks must be a whole number, at least 1, or None.", f"Got {shown(self.number)}."
            )
        return int(self.number)

    def _given(self, n: int) -> Rows:
        rows = np.asarray(self.choice)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise InvalidParameter(
                "landmarks must be the name of a choice, or the numbers of rows.", f"Got {shown(self.choice)}."
            )
        if rows.min() < 0 or rows.max() >= n:
            wrong = rows[(rows < 0) | (rows >= n)][0]
            raise InvalidParameter("landmarks must be numbers of rows.", f"Got {wrong}, and there are {n} rows.")
        return np.unique(rows).astype(np.intp)


def too_many(binding: Binding, max_time: Any) -> str:
    """Why a fit of all rows would take too long; empty if it would not."""
    n = len(binding)
    limit = min(VALUES, PER_SECOND * float(max_time)) if is_number(max_time) and max_time > 0 else VALUES
    needed = 0.5 * ITERATIONS * float(n) ** 2
    if needed <= limit or isinstance(binding.basis, Stored) or not isinstance(binding.kernel, Kernel):
        return ""
    phi = finite_map(binding)
    if phi is not None and ROWS_PER_FEATURE * phi.n_features <= n:
        return ""
    return f"all {n} rows would take about {needed:.0e} kernel values, more than the {limit:.0e} that auto spends"
