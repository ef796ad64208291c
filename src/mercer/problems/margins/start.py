"""Where to begin: coefficients of another fit, brought into the box and to the sums of this one.

Along t α the dual objective is ½ t² αᵀKα + t (qᵀα + ε Σ|α|), whose least is at t = −(qᵀα + ε Σ|α|)/αᵀKα. Where all
coefficients are inside the box this is 1, and what was optimal stays so; where most are at a bound, it is the bound.
"""

import numpy as np
import numpy.typing as npt

from mercer.problems.margins.batch import Margins

__all__ = ["best_multiple", "repaired", "scaled"]

Array = npt.NDArray[np.float64]

# Closer than this share of its box to a bound is at the bound.
ROUNDING = 1e-12


def scaled(batch: Margins, coef: Array, ratio: float) -> tuple[Array, bool]:
    """The point coef · ratio, repaired; and whether there was nothing but rounding to repair."""
    wanted = coef * ratio
    start = repaired(batch, wanted)
    near = ROUNDING * float(np.abs(wanted).max(initial=0.0))
    return start, bool(np.allclose(start, wanted, rtol=ROUNDING, atol=near))


def best_multiple(batch: Margins, coef: Array, f: Array) -> tuple[Array, Array]:
    """Of each problem the best multiple of the coefficients that its box allows, and the same multiple of f = Kα.

    For problems whose sums are 0, with one copy of each row.

    Parameters
    ----------
    batch : Margins
        What is to be solved.
    coef : ndarray of shape (N,)
        The solution of the same problems in other boxes.
    f : ndarray of shape (N,)
        K times these.
    """
    begins, sizes = batch.offsets[:-1], np.diff(batch.offsets)
    energy = np.add.reduceat(coef * f, begins)
    slope = np.add.reduceat(batch.linear * coef + batch.width * np.abs(coef), begins)
    bound = np.where(coef > 0.0, batch.high, batch.low)
    room = np.divide(bound, coef, out=np.full_like(coef, np.inf), where=coef != 0.0)
    wanted = np.divide(-slope, energy, out=np.zeros_like(energy), where=energy > 0.0)
    multiple = np.repeat(np.clip(wanted, 0.0, np.minimum.reduceat(room, begins)), sizes)
    return np.clip(multiple * coef, batch.low, batch.high), multiple * f


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
