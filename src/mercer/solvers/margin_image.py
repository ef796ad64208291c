"""f = K b of a batch: from float32 while it is solved, in float64 where a certificate depends on it.

An entry in float32 is off by at most ε √(kᵢᵢ kⱼⱼ), and so is f by at most ε √kᵢᵢ Σⱼ |bⱼ| √kⱼⱼ. A row with bᵢ = 0
whose slope lies further than that from the level enters no sum of the certificate (`settled_rows`), and keeps its f.
"""

from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.problems.margin_cells import over_variables, segments, settled_rows
from mercer.problems.margins import Margins, rows_of

__all__ = ["MarginImage"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SINGLE = 1e-6
# Errors of f have many signs: as long as the problem is not solved, they are taken for ε √kᵢᵢ √(Σⱼ bⱼ² kⱼⱼ), which
# what is computed twice must confirm, with this much room for what is not.
AMPLE = 3.0
# A start that is given may itself come from float32, by several solves.
GIVEN = 3.0


@final
class MarginImage:
    """The image of a batch's coefficients, and how far it may be off.

    Parameters
    ----------
    native : object
        What the core makes entries of K from.
    cuts, uses : ndarray
        The geometry that the core is told.
    batch : Margins
        The problems.
    diagonal : ndarray of shape (n,)
        Of K.
    coef : ndarray of shape (N,)
        b, which the solver changes in place.
    values : ndarray of shape (M,), optional
        K b on the rows of each problem, where it is known.
    """

    def __init__(
        self, native: Any, cuts: Index, uses: Index, batch: Margins, diagonal: Array, coef: Array, values: Array | None
    ) -> None:
        self.is_known = values is not None or not coef.any()
        self.values = np.zeros(int(batch.row_offsets[-1])) if values is None else np.array(values, dtype=np.float64)
        self._native, self._geometry, self._batch, self._coef = native, (cuts, uses, batch.copies), batch, coef
        self._problems, self._cells = segments(batch)
        self._roots = np.sqrt(np.maximum(diagonal, 0.0))[rows_of(batch.cuts, batch.uses)]
        self._before = np.zeros_like(coef)
        self._most = np.zeros(len(batch))
        self._expected = np.zeros(len(batch))
        self._exact = np.ones(len(self.values), dtype=np.bool_)
        self._add(GIVEN)

    def refresh(self, *, trusted: bool) -> None:
        """Put in float64 what is near the level, after b has changed.

        Parameters
        ----------
        trusted : bool
            Whether the values have followed the coefficients, in float32.
        """
        self._add()
        if not trusted:
            return self._compute(np.ones_like(self._exact))
        rough, error = self.values.copy(), self._spread(self._expected)
        self._exact[:] = False
        # Small problems are solved by now: there is little to be had by doing this in two parts.
        room = AMPLE * self._expected
        self._compute(~self._settled(self._spread(room if len(self._batch) == 1 else np.maximum(room, self._most))))
        if bool((np.abs(self.values - rough) <= error).all()):
            return None
        return self._compute(~self._exact)

    def complete(self) -> bool:
        """Put in float64 whatever a certificate could depend on; returns whether there was anything left."""
        found, error = False, self._spread(self._most)
        while not self._exact.all():
            missing = ~(self._exact | self._settled(error, self._exact))
            if not missing.any():
                break
            self._compute(missing)
            found = True
        return found

    def _add(self, factor: float = 1.0) -> None:
        """Lengthen the way that b has come, by which f can be off, with the step from where it was."""
        step = np.abs(self._coef - self._before) * over_variables(self._batch, self._roots)
        self._most += factor * self._problems.sum(step)
        self._expected += factor * np.sqrt(self._problems.sum(step * step))
        self._before = self._coef.copy()

    def _spread(self, length: Array) -> Array:  # (P,) -> (M,)
        return np.asarray(SINGLE * self._roots * np.repeat(length, np.diff(self._batch.row_offsets)))

    def _settled(self, error: Array, known: Mask | None = None) -> Mask:
        return settled_rows(self._batch, self._cells, self._coef, self.values, error, known)

    def _compute(self, rows: Mask) -> None:
        _core.margin_images(self._native, *self._geometry, self._coef, self.values, (~rows).view(np.uint8))
        self._exact |= rows
