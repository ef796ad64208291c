"""K in few bits, for the many products of an iteration; its final checks are recomputed in float64.

A product with a matrix in memory takes as long as reading it. In 16 bits that is a fraction of the time to compute the
entries again, and a quarter of what float64 would take, in time and in bytes.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import threadpoolctl

from mercer.budget import allocate, memory_there
from mercer.errors import TooLarge
from mercer.grams.base import Coded, Gram
from mercer.solvers.coarse import coded_product

__all__ = [
    "FEW_COLUMNS",
    "LARGEST",
    "Held",
    "code_error",
    "coded",
    "held_bytes",
    "hold",
    "one_blas_thread",
]

Array = npt.NDArray[np.float64]

# K is stored if it fits into this.
HELD_BYTES = 4_000_000_000
# The error of an entry computed in float32, relative to k(x, x); rarely more.
UNIT = 2.0**-22
# Up to so many columns are multiplied one by one: that reads half of K, in 16 bits, for each, and wakes no threads of
# BLAS, which would spin beside those of the engine. More are a product of matrices in float32.
FEW_COLUMNS = 2
# Beyond this, and below its inverse, K does not fit the range of float32.
LARGEST = 1e30
# Errors of K together may be so many times what they are compared with. K itself has something to add in most
# directions, and where it has not, the iteration goes on without what is held.
NUISANCE = 1.0


def one_blas_thread() -> AbstractContextManager[object]:
    """For iterations whose time goes into products of the engine, and little into vectors.

    The threads of BLAS, once woken, spin for longer than that little takes, and take the cores from the products: at
    5 000 rows an iteration would take twice its time on two cores. It takes a few ms to say so.
    """
    limits: AbstractContextManager[object] = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
    return limits


class Held(NamedTuple):
    """K as stored.

    Attributes
    ----------
    times : callable (V) -> K V
        Its products.
    error : float
        The approximate norm of its difference from K.
    """

    times: Callable[[Array], Array]
    error: float


def held_bytes(gram: Gram, least: float, columns: int) -> int:
    """The bytes that `hold` would use; 0 if it would not store K.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K.
    least : float
        What the errors of K together are compared with: the smallest eigenvalue of what is solved.
    columns : int
        Of V, at most.
    """
    n = gram.shape[0]
    if gram.is_stored or 2 * n * n > min(HELD_BYTES, memory_there()):
        return 0  # before the diagonal, which for a million rows is a pass over the data
    asked = (4 if coded(gram, columns) is None else 2) * n * n
    if asked > min(HELD_BYTES, memory_there()):
        return 0
    if not float(np.abs(gram.diag()).max(initial=0.0)) <= LARGEST:
        return 0
    return asked if _error(gram, columns) <= NUISANCE * least else 0


def hold(gram: Gram, least: float, columns: int) -> Held | None:
    """V ↦ K V for V of (at most) so many columns, from K in 16 bits or in float32.

    None where K is stored already, does not fit, or its errors would be too much; see `held_bytes`.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> K = mercer.gram(mercer.RBF(), np.arange(3.0)[:, None], budget=0)
    >>> held = hold(K, least=1.0, columns=1)
    >>> np.allclose(held.times(np.ones((3, 1))), K.dense().sum(axis=1, keepdims=True), atol=1e-4)
    True
    """
    if not held_bytes(gram, least, columns):
        return None
    error, entries = _error(gram, columns), coded(gram, columns)
    with suppress(TooLarge):
        return Held(_times(gram, entries), error)
    return None


def _times(gram: Gram, entries: Coded | None) -> Callable[[Array], Array]:
    if entries is not None:
        return partial(coded_product, entries.upper(), entries.code)
    what = "The Gram matrix of {} x {} points in float32".format(*gram.shape)
    K = gram.dense(out=allocate(gram.shape, np.float32, what, "Its products do without."))
    return lambda V: (K @ V.astype(np.float32)).astype(np.float64)


def coded(gram: Gram, columns: int) -> Coded | None:
    """The code in which K is held; None where it is held in float32."""
    found = gram.coded() if columns <= FEW_COLUMNS else None
    return found if found is not None and 1.0 / LARGEST <= found.code[1] <= LARGEST else None


def _error(gram: Gram, columns: int) -> float:
    """The norm of the errors of K together; those of float32 need not be independent."""
    n, entries = gram.shape[0], coded(gram, columns)
    return UNIT * n * float(np.abs(gram.diag()).max(initial=0.0)) if entries is None else code_error(n, entries.code)


def code_error(n: int, code: tuple[float, float]) -> float:
    """The norm of the errors of a code (low, step): each is step/√12 on the average, n × n of them 2 √n times that."""
    return code[1] * math.sqrt(n / 3.0)
