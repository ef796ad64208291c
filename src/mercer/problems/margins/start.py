"""Where to begin: coefficients of another fit, brought into the box and to the sums of this one."""

import numpy as np
import numpy.typing as npt

from mercer.problems.margins.batch import Margins

__all__ = ["repaired", "scaled"]

Array = npt.NDArray[np.float64]

# Closer than this share of its box to a bound is at the bound.
ROUNDING = 1e-12


def scaled(batch: Margins, coef: Array, ratio: float) -> tuple[Array, bool]:
    """The point coef · ratio, repaired; and whether there was nothing but rounding to repair."""
    wanted = coef * ratio
    start = repaired(batch, wanted)
    near = ROUNDING * float(np.abs(wanted).max(initial=0.0))
    return start, bool(np.allclose(start, wanted, rtol=ROUNDING, atol=near))


def repaired(batch: Margins, coef: Array) -> Array:
    """A point of the box with the batch's sums near coef, with few coefficients that were zero and are no longer."""
    near = ROUNDING * (batch.high - batch.low)
    coef = np.where(batch.high - coef <= near, batch.high, np.where(coef - batch.low <= near, batch.low, coef))
    for begin, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        for group in (0, 1):
            mine = begin + np.flatnonzero(batch.group[begin:end] == group)
            if mine.size:
                coef[mine] = _with_sum(coef[mine], batch.low[mine], batch.high[mine], float(batch.start[mine].sum()))
    return coef


def _with_sum(coef: Array, low: Array, high: Array, wanted: float) -> Array:
    for among in (coef != 0.0, np.ones(len(coef), dtype=bool)):
        missing = wanted - float(coef.sum())
        room = np.where(among, high - coef if missing > 0.0 else coef - low, 0.0)
        whole = float(room.sum())
        if missing == 0.0 or whole == 0.0:
            continue
        coef = np.clip(coef + np.sign(missing) * room * min(1.0, abs(missing) / whole), low, high)
    return coef
