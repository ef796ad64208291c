"""K in float32, for the many products of an iteration; what judges the iteration is made anew in float64.

A product with a matrix in memory takes the time to read it. In float32 that is a fraction of the time to make the
entries again, and half of what float64 would take, in time and in bytes.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mercer.budget import memory_there
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram

__all__ = ["held_bytes", "hold"]

Array = npt.NDArray[np.float64]

# K is held where it fits into this.
HELD_BYTES = 1_700_000_000
SINGLE_UNIT = 2.0**-24


def held_bytes(gram: Gram, least: float) -> int:
    """The bytes that `hold` would take; 0 where it would not.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K.
    least : float
        What the rounding of K, n·u·max k(x, x), must not exceed: the smallest eigenvalue of what is solved.
    """
    n = gram.shape[0]
    asked = 4 * n * n
    if isinstance(gram, DenseGram) or asked > min(HELD_BYTES, memory_there()):
        return 0
    rounding = SINGLE_UNIT * n * float(np.abs(gram.diag()).max(initial=0.0))
    return asked if rounding <= least else 0


def hold(gram: Gram, least: float) -> Callable[[Array], Array] | None:
    """V ↦ K V in float32; None where K is stored already, does not fit, or its rounding would be too much.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> K = mercer.gram(mercer.RBF(), np.arange(3.0)[:, None], budget=0)
    >>> times = hold(K, least=1.0)
    >>> np.allclose(times(np.eye(3)), K.dense(), atol=1e-6)
    True
    """
    if not held_bytes(gram, least):
        return None
    K = gram.dense(out=np.empty(gram.shape, dtype=np.float32))
    return lambda V: (K @ V.astype(np.float32)).astype(np.float64)
