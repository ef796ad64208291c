"""f = Kα as the referee sees it: in float64 where a certificate depends on it, within a known error elsewhere.

A solver in float32 follows its coefficients by f += K Δα. An entry in float32 is off by at most ε √(kᵢᵢ kⱼⱼ), and so
is the f that it hands to the referee, after steps Δα, by

    |f̂ᵢ − fᵢ| ≤ ε √kᵢᵢ Σ_steps Σⱼ |Δαⱼ| √kⱼⱼ,        ε = 10⁻⁶.

A row with αᵢ = 0 whose slope lies further than this from every level enters no sum of the certificate: the rows that
`inactive_rows` finds. They alone keep the solver's f̂; every other row is computed anew. That the bound holds is tested
on each row that is, and on some of the others besides: where one is off by more, all rows are computed.
"""

from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.grams.batched import batched_product
from mercer.problems.margins.batch import Margins
from mercer.problems.margins.gaps import free_variables
from mercer.problems.margins.groups import Segments, inactive_rows, over_variables, segments

__all__ = ["TrackedF"]

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SINGLE = 1e-6
# Errors of f have many signs: as long as the problem is not solved, they are taken for ε √kᵢᵢ √(Σⱼ αⱼ² kⱼⱼ), which
# what is computed twice must confirm, with this much room for what is not.
AMPLE = 3.0
# A start that is given may itself come from float32, by several solves.
GIVEN = 3.0
# Rows that are computed twice although nothing depends on them: about so many, evenly spread.
PROBES = 32


@final
class TrackedF:
    """Kα on the rows of each problem, and how far it may be off.

    Parameters
    ----------
    batch : Margins
        The problems.
    gram : Gram
        K.
    diagonal : ndarray of shape (n,)
        Of K.
    coef : ndarray of shape (N,)
        α, which the solver changes in place.
    values : ndarray of shape (M,)
        f, which both change in place: Kα for the coefficients as they are now.
    """

    def __init__(self, batch: Margins, gram: Gram, diagonal: Array, coef: Array, values: Array) -> None:
        self.values = values
        self._batch, self._gram, self._diagonal, self._coef = batch, gram, diagonal, coef
        self._start = coef.copy()
        self._exact = np.ones(len(values), dtype=np.bool_)

    def refresh(self, *, trusted: bool) -> None:
        """Compute what is near a level, after α has changed.

        Parameters
        ----------
        trusted : bool
            Whether the values have followed the coefficients, in float32; if not, all are computed.
        """
        if not trusted:
            return self._compute(np.ones_like(self._exact))
        self._drift.add(self._coef)
        rough, error = self.values.copy(), self._spread(self._drift.expected)
        self._exact[:] = False
        # Small problems are solved by now: there is little to be had by doing this in two parts.
        room = AMPLE * self._drift.expected
        wanted = ~self._inactive(self._spread(room if len(self._batch) == 1 else np.maximum(room, self._drift.most)))
        wanted[:: max(1, len(wanted) // PROBES)] = True
        self._compute(wanted)
        if bool((np.abs(self.values - rough) <= error).all()):
            return None
        return self._compute(~self._exact)

    def refresh_free(self) -> bool:
        """Compute the rows of the free variables only; returns whether every group of every problem has some."""
        free = free_variables(self._batch, self._coef)
        if not (self._segments[1].take(free).sum(np.ones(len(free))) > 0.0).all():
            return False
        rows = np.zeros(len(self.values), dtype=np.bool_)
        rows[self._batch.entries[free]] = True
        self._compute(rows)
        return True

    def complete(self) -> bool:
        """Compute whatever a certificate could depend on; returns whether there was anything left."""
        found = False
        while not self._exact.all():
            missing = ~(self._exact | self._inactive(self._spread(self._drift.most), self._exact))
            if not missing.any():
                break
            self._compute(missing)
            found = True
        return found

    @cached_property
    def _segments(self) -> tuple[Segments, Segments]:
        return segments(self._batch)

    @cached_property
    def _roots(self) -> Array:
        return np.asarray(np.sqrt(np.maximum(self._diagonal, 0.0))[self._batch.rows])

    @cached_property
    def _drift(self) -> "_Drift":
        drift = _Drift(self._segments[0], over_variables(self._batch, self._roots))
        drift.add(self._start, GIVEN)
        return drift

    def _spread(self, length: Array) -> Array:  # (P,) -> (M,)
        return np.asarray(SINGLE * self._roots * np.repeat(length, np.diff(self._batch.row_offsets)))

    def _inactive(self, error: Array, known: Mask | None = None) -> Mask:
        return inactive_rows(self._batch, self._segments[1], self._coef, self.values, error, known)

    def _compute(self, rows: Mask) -> None:
        batched_product(self._gram, self._batch.geometry, self._batch.copies, self._coef, self.values, rows)
        self._exact |= rows


@final
class _Drift:
    """How far α has come, by which f can be off: the sum of its steps, and the root of that of their squares.

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

    def add(self, coef: Array, factor: float = 1.0) -> None:
        """A step from where it was to these coefficients."""
        step = np.abs(coef - self._last) * self._roots
        self.most += factor * self._problems.sum(step)
        self.expected += factor * np.sqrt(self._problems.sum(step * step))
        self._last = coef.copy()
