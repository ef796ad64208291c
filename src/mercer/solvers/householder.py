"""The tridiagonal form of a symmetric matrix, A = Q T Qᵀ, in place and panel by panel, so that Ctrl-C works in between.

A reflector I − τ v vᵀ for every column, chosen so that it leaves nothing below the number beside the diagonal. LAPACK's
`latrd` makes a panel of them and the W with which the rest becomes

    A₂₂ ← A₂₂ − V Wᵀ − W Vᵀ;

at the end Q is the product of all, made from the last to the first, in blocks I − V T Vᵀ.
"""

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.solvers.fortran import Block, calls, char, count, refuse_unless

__all__ = ["tridiagonal_in_place"]

Array = npt.NDArray[Any]

# Reflectors of a panel: LAPACK's own choice.
REFLECTORS = 32
# Reflectors applied to the rest at a time.
TOGETHER = 128
# The last columns, done in one call.
LAST = 4 * REFLECTORS


def tridiagonal_in_place(A: Array) -> tuple[Array, Array]:
    """Overwrite the symmetric A by an orthogonal Q with A = Q T Qᵀ; return the diagonal and the off-diagonal of T.

    It takes 8n³/3 operations, half of them at the speed of memory.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        float32 or float64 in Fortran order, n > 0; only the lower triangle is read.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, 2.0]])
    >>> Q = K.copy(order="F")
    >>> diagonal, beside = tridiagonal_in_place(Q)
    >>> T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    >>> np.allclose(Q @ T @ Q.T, K)
    True
    """
    refuse_unless(A.ndim == 2 and A.shape[0] == A.shape[1] > 0, "A square matrix with some rows is expected.", A)
    n = len(A)
    diagonal = np.empty(n, dtype=A.dtype)
    beside, scales = (np.empty(max(n - 1, 1), dtype=A.dtype) for _ in range(2))
    W = np.empty((n, REFLECTORS), dtype=A.dtype, order="F")
    start = 0
    while n - start > LAST:
        stop = start + REFLECTORS
        _reduce(A[start:, start:], beside[start:], scales[start:], W)
        diagonal[start:stop] = A.diagonal()[start:stop]
        start = stop
    _finish(A[start:, start:], diagonal[start:], beside[start:], scales[start:], W)
    for column in range(n - 1, 0, -1):  # a reflector begins below the diagonal: one column on, it lies as Q will
        A[column + 1 :, column] = A[column + 1 :, column - 1]
    A[0], A[:, 0] = 0.0, 0.0
    A[0, 0] = 1.0
    _multiply(A[1:, 1:], scales)
    return diagonal, beside[: n - 1]


def _reduce(A: Array, beside: Array, scales: Array, W: Array) -> None:
    """The reflectors of the first columns, and what they leave of the others."""
    call, a, w = calls(A, W), Block.of(A, written=True), Block.of(W)
    call.latrd(
        char("L"), count(a.rows), count(REFLECTORS), a.address, count(a.leading), beside.ctypes.data,
        scales.ctypes.data, w.address, count(w.leading),
    )  # fmt: skip
    V, rest = Block.of(A[REFLECTORS:, :REFLECTORS]), Block.of(A[REFLECTORS:, REFLECTORS:], written=True)
    call.syr2k(
        char("L"), char("N"), count(rest.rows), count(REFLECTORS), call.minus, V.address, count(V.leading),
        Block.of(W[REFLECTORS:]).address, count(w.leading), call.one, rest.address, count(rest.leading),
    )  # fmt: skip


def _finish(A: Array, diagonal: Array, beside: Array, scales: Array, work: Array) -> None:
    """All of A, in one call."""
    call, a, info = calls(A), Block.of(A, written=True), ctypes.c_int(0)
    call.sytrd(
        char("L"), count(a.rows), a.address, count(a.leading), diagonal.ctypes.data, beside.ctypes.data,
        scales.ctypes.data, work.ctypes.data, count(work.size), ctypes.byref(info),
    )  # fmt: skip


def _multiply(A: Array, scales: Array) -> None:
    """The product of reflectors that lie below the diagonal of A, in their place.

    What is to the right is multiplied by many of them at a time, so that it is read less often; their own columns by
    fewer.
    """
    n = len(A)
    work = np.empty((max(n, 1), TOGETHER), dtype=A.dtype, order="F")
    for left in reversed(range(0, n, TOGETHER)):
        right = min(left + TOGETHER, n)
        _apply(A[left:, left:right], scales[left:], A[left:, right:], work)
        for start in reversed(range(left, right, REFLECTORS)):
            stop = min(start + REFLECTORS, right)
            _apply(A[start:, start:stop], scales[start:], A[start:, stop:right], work)
            _form(A[start:, start:stop], scales[start:], work)
            A[:start, start:stop] = 0.0


def _apply(V: Array, scales: Array, rest: Array, work: Array) -> None:
    """The product of some reflectors times `rest`, in its place."""
    call, v, r = calls(V, rest), Block.of(V), Block.of(rest, written=True)
    if not r.columns:
        return
    T = np.empty((v.columns, v.columns), dtype=V.dtype, order="F")
    t = T.ctypes.data, count(v.columns)
    reflectors = v.address, count(v.leading)
    call.larft(char("F"), char("C"), count(v.rows), count(v.columns), *reflectors, scales.ctypes.data, *t)
    call.larfb(
        char("L"), char("N"), char("F"), char("C"), count(r.rows), count(r.columns), count(v.columns), *reflectors, *t,
        r.address, count(r.leading), work.ctypes.data, count(len(work)),
    )  # fmt: skip


def _form(V: Array, scales: Array, work: Array) -> None:
    """The first columns of the product of some reflectors, in their place."""
    call, v, info = calls(V), Block.of(V, written=True), ctypes.c_int(0)
    call.org2r(
        count(v.rows), count(v.columns), count(v.columns), v.address, count(v.leading), scales.ctypes.data,
        work.ctypes.data, ctypes.byref(info),
    )  # fmt: skip
