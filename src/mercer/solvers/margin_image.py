"""f = K b of a batch: from float32 while it is solved, in float64 where a certificate depends on it.

An entry in float32 is off by at most ε √(kᵢᵢ kⱼⱼ), and so is f by at most ε √kᵢᵢ Σⱼ |bⱼ| √kⱼⱼ. A row with bᵢ = 0
whose slope lies further than that from the level enters no sum of the certificate (`settled_rows`), and keeps its f.
"""

from functools import cached_property
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.problems.margin_cells import Segments, over_variables, segments, settled_rows
from mercer.problems.margin_referee import free_variables
from mercer.problems.margins import Margins, rows_of

__all__ = ["CoreImages", "MarginImage"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SINGLE = 1e-6
# Errors of f have many signs: as long as the problem is not solved, they are taken for ε √kᵢᵢ √(Σⱼ bⱼ² kⱼⱼ), which
# what is computed twice must confirm, with this much room for what is not.
AMPLE = 3.0
# A start that is given may itself come from float32, by several solves.
GIVEN = 3.0


class CoreImages(Protocol):
    """What is asked of the core here."""

    def images(self, b: Array, image: Array, *, left: Any = None, problem: int | None = None) -> None:
        """Put K b into `image`, in float64."""


@final
class MarginImage:
    """The image of a batch's coefficients, and how far it may be off.

    Parameters
    ----------
    core : CoreImages
        The batch as the core has it.
    batch : Margins
        The problems.
    diagonal : ndarray of shape (n,)
        Of K.
    coef : ndarray of shape (N,)
        b, which the solver changes in place.
    values : ndarray of shape (M,), optional
        K b on the rows of each problem, where it is known.
    """

    def __init__(self, core: CoreImages, batch: Margins, diagonal: Array, coef: Array, values: Array | None) -> None:
        self.is_known = values is not None or not coef.any()
        self.values = np.zeros(int(batch.row_offsets[-1])) if values is None else np.array(values, dtype=np.float64)
        self._core, self._batch, self._coef = core, batch, coef
        self._diagonal = diagonal
        self._start = coef.copy()
        self._exact = np.ones(len(self.values), dtype=np.bool_)

    def refresh(self, *, trusted: bool) -> None:
        """Put in float64 what is near the level, after b has changed.

        Parameters
        ----------
        trusted : bool
            Whether the values have followed the coefficients, in float32.
        """
        if not trusted:
            return self._compute(np.ones_like(self._exact))
        self._way.add(self._coef)
        rough, error = self.values.copy(), self._spread(self._way.expected)
        self._exact[:] = False
        # Small problems are solved by now: there is little to be had by doing this in two parts.
        room = AMPLE * self._way.expected
        self._compute(~self._settled(self._spread(room if len(self._batch) == 1 else np.maximum(room, self._way.most))))
        if bool((np.abs(self.values - rough) <= error).all()):
            return None
        return self._compute(~self._exact)

    def refresh_free(self) -> bool:
        """Put in float64 the rows of the free variables; returns whether every group of every problem has some."""
        free = free_variables(self._batch, self._coef)
        if not (self._cells[1].take(free).sum(np.ones(len(free))) > 0.0).all():
            return False
        rows = np.zeros(len(self.values), dtype=np.bool_)
        rows[self._batch.entries[free]] = True
        self._compute(rows)
        return True

    def complete(self) -> bool:
        """Put in float64 whatever a certificate could depend on; returns whether there was anything left."""
        found = False
        while not self._exact.all():
            missing = ~(self._exact | self._settled(self._spread(self._way.most), self._exact))
            if not missing.any():
                break
            self._compute(missing)
            found = True
        return found

    @cached_property
    def _cells(self) -> tuple[Segments, Segments]:
        return segments(self._batch)

    @cached_property
    def _roots(self) -> Array:
        return np.asarray(np.sqrt(np.maximum(self._diagonal, 0.0))[rows_of(self._batch.cuts, self._batch.uses)])

    @cached_property
    def _way(self) -> "_Way":
        way = _Way(self._cells[0], over_variables(self._batch, self._roots))
        way.add(self._start, GIVEN)
        return way

    def _spread(self, length: Array) -> Array:  # (P,) -> (M,)
        return np.asarray(SINGLE * self._roots * np.repeat(length, np.diff(self._batch.row_offsets)))

    def _settled(self, error: Array, known: Mask | None = None) -> Mask:
        return settled_rows(self._batch, self._cells[1], self._coef, self.values, error, known)

    def _compute(self, rows: Mask) -> None:
        self._core.images(self._coef, self.values, left=(~rows).view(np.uint8))
        self._exact |= rows


@final
class _Way:
    """How far b has come, by which f can be off: the sum of its steps, and the root of that of their squares.

    Parameters
    ----------
    problems : Segments
        Of the variables.
    roots : ndarray of shape (N,)
        √kᵢᵢ.
    """

    def __init__(self, problems: Segments, roots: Array) -> None:
        self._problems, self._roots = problems, roots
        self._last = np.zeros_like(roots)
        self.most = np.zeros(problems.count)
        self.expected = np.zeros(problems.count)

    def add(self, b: Array, factor: float = 1.0) -> None:
        """A step from where it was to b."""
        step = np.abs(b - self._last) * self._roots
        self.most += factor * self._problems.sum(step)
        self.expected += factor * np.sqrt(self._problems.sum(step * step))
        self._last = b.copy()
