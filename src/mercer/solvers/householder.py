"""The tridiagonal form of a symmetric matrix, A = Q T Qᵀ, in place and panel by panel: Ctrl-C comes in between.

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
# What is left for one call at the end.
LAST = 4 * REFLECTORS


def tridiagonal_in_place(A: Array) -> tuple[Array, Array]:
    """Overwrite the symmetric A by an orthogonal Q with A = Q T Qᵀ; return the diagonal of T and what is beside it.

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
    """A whole, by one call."""
    call, a, info = calls(A), Block.of(A, written=True), ctypes.c_int(0)
    call.sytrd(
        char("L"), count(a.rows), a.address, count(a.leading), diagonal.ctypes.data, beside.ctypes.data,
        scales.ctypes.data, work.ctypes.data, count(work.size), ctypes.byref(info),
    )  # fmt: skip


def _multiply(A: Array, scales: Array) -> None:
    """The product of reflectors that lie below the diagonal of A, in their place."""
    call, info = calls(A), ctypes.c_int(0)
    work = np.empty((max(len(A), 1), REFLECTORS), dtype=A.dtype, order="F")
    T = np.empty((REFLECTORS, REFLECTORS), dtype=A.dtype, order="F")
    for start in reversed(range(0, len(A), REFLECTORS)):
        stop = min(start + REFLECTORS, len(A))
        V, rest = Block.of(A[start:, start:stop], written=True), Block.of(A[start:, stop:], written=True)
        reflectors = V.address, count(V.leading)
        tau = scales[start:].ctypes.data
        if rest.columns:
            call.larft(
                char("F"), char("C"), count(V.rows), count(V.columns), *reflectors, tau, T.ctypes.data,
                count(REFLECTORS),
            )  # fmt: skip
            call.larfb(
                char("L"), char("N"), char("F"), char("C"), count(rest.rows), count(rest.columns), count(V.columns),
                *reflectors, T.ctypes.data, count(REFLECTORS), rest.address, count(rest.leading),
                work.ctypes.data, count(len(work)),
            )  # fmt: skip
        call.org2r(
            count(V.rows), count(V.columns), count(V.columns), *reflectors, tau, work.ctypes.data, ctypes.byref(info)
        )
        A[:start, start:stop] = 0.0
