"""Where to begin: coefficients of another fit, brought into the box and to the sums of this one."""

import numpy as np
import numpy.typing as npt

from mercer.problems.margins import Margins

__all__ = ["repaired", "scaled"]

Array = npt.NDArray[np.float64]

# Closer than this share of its box to a bound is at the bound.
ROUNDING = 1e-12


def scaled(batch: Margins, b: Array, ratio: float) -> tuple[Array, bool]:
    """The point b · ratio, repaired; and whether there was nothing but rounding to repair."""
    wanted = b * ratio
    start = repaired(batch, wanted)
    near = ROUNDING * float(np.abs(wanted).max(initial=0.0))
    return start, bool(np.allclose(start, wanted, rtol=ROUNDING, atol=near))


def repaired(batch: Margins, b: Array) -> Array:
    """A point of the box with the batch's sums near b, with few coefficients that were zero and are no longer."""
    near = ROUNDING * (batch.high - batch.low)
    b = np.where(batch.high - b <= near, batch.high, np.where(b - batch.low <= near, batch.low, b))
    for begin, end in zip(batch.offsets[:-1], batch.offsets[1:], strict=True):
        for group in (0, 1):
            mine = begin + np.flatnonzero(batch.group[begin:end] == group)
            if mine.size:
                b[mine] = _with_sum(b[mine], batch.low[mine], batch.high[mine], float(batch.start[mine].sum()))
    return b


def _with_sum(b: Array, low: Array, high: Array, wanted: float) -> Array:
    for among in (b != 0.0, np.ones(len(b), dtype=bool)):
        missing = wanted - float(b.sum())
        room = np.where(among, high - b if missing > 0.0 else b - low, 0.0)
        whole = float(room.sum())
        if missing == 0.0 or whole == 0.0:
            continue
        b = np.clip(b + np.sign(missing) * room * min(1.0, abs(missing) / whole), low, high)
    return b
