"""K in float32, for the many products of an iteration; what judges the iteration is made anew in float64.

A product with a matrix in memory takes the time to read it. In float32 that is a fraction of the time to make the
entries again, and half of what float64 would take, in time and in bytes.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt
import threadpoolctl

from mercer import _core
from mercer.budget import empty_on_a_line, memory_there
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram
from mercer.grams.tiled import TiledGram

__all__ = ["FEW_COLUMNS", "held_bytes", "hold", "one_blas_thread"]

Array = npt.NDArray[np.float64]

# K is held where it fits into this.
HELD_BYTES = 1_700_000_000
# What an entry that is made in float32 is off by, relative to k(x, x); rarely more.
UNIT = 2.0**-22
# Up to so many columns are multiplied one by one: that reads half of K for each, and wakes no threads of BLAS, which
# would spin beside those of the engine.
FEW_COLUMNS = 2


def one_blas_thread() -> AbstractContextManager[object]:
    """For iterations whose time goes into products of the engine, and little into vectors.

    The threads of BLAS, once woken, spin for longer than that little takes, and take the cores from the products: at
    5 000 rows an iteration would take twice its time on two cores. It takes a few ms to say so.
    """
    limits: AbstractContextManager[object] = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limits


def held_bytes(gram: Gram, least: float) -> int:
    """The bytes that `hold` would take; 0 where it would not.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K.
    least : float
        What the errors of K together, at most n·u·max k(x, x), must not exceed: the smallest eigenvalue of what is
        solved.
    """
    n = gram.shape[0]
    asked = 4 * n * n
    if isinstance(gram, DenseGram) or asked > min(HELD_BYTES, memory_there()):
        return 0
    rounding = UNIT * n * float(np.abs(gram.diag()).max(initial=0.0))
    return asked if rounding <= least else 0


def hold(gram: Gram, least: float, columns: int) -> Callable[[Array], Array] | None:
    """V ↦ K V in float32, for V of (at most) so many columns.

    None where K is stored already, does not fit, or its errors would be too much; see `held_bytes`.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> K = mercer.gram(mercer.RBF(), np.arange(3.0)[:, None], budget=0)
    >>> times = hold(K, least=1.0, columns=3)
    >>> np.allclose(times(np.eye(3)), K.dense(), atol=1e-6)
    True
    """
    if not held_bytes(gram, least):
        return None
    if columns > FEW_COLUMNS or not isinstance(gram, TiledGram):
        K = gram.dense(out=empty_on_a_line(gram.shape, np.float32))
        return lambda V: (K @ V.astype(np.float32)).astype(np.float64)
    half = gram.upper_half()
    return lambda V: np.stack([_core.held_product(half, np.ascontiguousarray(column)) for column in V.T], axis=1)
