"""Cholesky in place, triangular solves and eigenvectors, interruptible by Ctrl-C and a `Watch`.

SciPy's own wrappers make one call for the whole. Here the blocks are processed in place, by `mercer.solvers.fortran`.
Right-looking, panel by panel:

    L₁₁ = chol(A₁₁),      L₂₁ = A₂₁ L₁₁⁻ᵀ,      A₂₂ ← A₂₂ − L₂₁ L₂₁ᵀ,      and on with A₂₂.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from mercer.errors import NotPositive
from mercer.solvers.fortran import LARGEST, Block, calls, char, count, refuse_unless

__all__ = [
    "STOPPED",
    "THREAD",
    "Look",
    "eigen_in_place",
    "factor_in_place",
    "forward_in_place",
    "solve_in_place",
]

Array = npt.NDArray[Any]

# What `factor_in_place` returns if time ran out.
STOPPED: Final = -1
# Columns of a panel, by type: twice the depth in which OpenBLAS packs it (other widths cost up to 10 % in float32).
PANELS = {np.dtype(np.float64): 512, np.dtype(np.float32): 768}
# Bytes times operations of one step: 0.2 s on two cores that do 80 GFlop/s in float64, whatever the size of the matrix.
STEP = 1.28e11
# A whole factorisation of no more than this many steps, half a second and 5200 rows, is one call.
STEPS_AT_ONCE = 3.0
# For work that cannot be stopped and may outlive its caller.
THREAD = "mercer-lapack"


class Look(Protocol):
    """The part of a `Watch` that is checked between steps."""

    def look(self, share: float, measure: str = "") -> bool:
        """Report the share of the work that is done; returns whether to stop."""

    def interrupt(self) -> None:
        """Stop after Ctrl-C with the best so far, or raise it again."""


def factor_in_place(A: Array, watch: Look) -> int:
    """Overwrite the lower triangle of A by L, A = L Lᵀ; what is above the diagonal is neither read nor written.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        float32 or float64 in Fortran order.
    watch : Watch
        Checked between steps.

    Returns
    -------
    int
        0 when done; k > 0 if the leading minor of k rows is not positive; `STOPPED` if time ran out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.watch import Watch
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]], order="F")
    >>> factor_in_place(A, Watch("two rows"))
    0
    >>> np.tril(A)
    array([[2., 0.],
           [1., 2.]])
    """
    refuse_unless(A.ndim == 2 and A.shape[0] == A.shape[1], "A square matrix is factorised.", A)
    n, panel = len(A), _panel(A)
    is_short = n < 2 * panel or n**3 / 3.0 * A.itemsize <= STEPS_AT_ONCE * STEP
    width = max(n, 1) if is_short else panel
    for start in range(0, n, width):
        # What is left has ((n − j)/n)³ of all operations.
        if watch.look(1.0 - ((n - start) / n) ** 3):
            return STOPPED
        end = min(start + width, n)
        broken = _cholesky(A[start:end, start:end])
        if broken:
            return start + broken
        below = A[end:, start:end]
        _divide_right(below, A[start:end, start:end])
        for strip in _strips(n - end, 2.0 * (n - end) * width * A.itemsize, least=panel // 2):
            if strip.start and watch.look(1.0 - ((n - start) / n) ** 3):
                return STOPPED
            at, rest = slice(end + strip.start, end + strip.stop), slice(end + strip.stop, n)
            _subtract_square(A[at, at], below[strip])
            _subtract(A[rest, at], below[strip.stop :], below[strip], by="T")
    return 0


def forward_in_place(L: Array, R: Array) -> None:
    """Overwrite R by L⁻¹ R.

    Parameters
    ----------
    L : ndarray of shape (n, n)
        float32 or float64 in Fortran order; only the lower triangle is read.
    R : ndarray of shape (n, k)
        Of the same type, in Fortran order.
    """
    _refuse_unless_fit(L, R)
    (n, k), panel = R.shape, _panel(L)
    for columns in _strips(k, 2.0 * n * panel * R.itemsize, least=panel // 2):
        block = R[:, columns]
        for start in range(0, n, panel):
            end = min(start + panel, n)
            _divide_left(block[start:end], L[start:end, start:end], "N")
            _subtract(block[end:], L[end:, start:end], block[start:end])


def solve_in_place(L: Array, R: Array) -> None:
    """Overwrite R by L⁻ᵀ L⁻¹ R, the solution for A = L Lᵀ; arguments as for `forward_in_place`."""
    forward_in_place(L, R)
    (n, k), panel = R.shape, _panel(L)
    for columns in _strips(k, 2.0 * n * panel * R.itemsize, least=panel // 2):
        block = R[:, columns]
        for start in reversed(range(0, n, panel)):
            end = min(start + panel, n)
            _subtract(block[start:end], L[end:, start:end], block[end:], of="T")
            _divide_left(block[start:end], L[start:end, start:end], "T")


def eigen_in_place(A: Array) -> Array:
    """Overwrite the symmetric A by its eigenvectors, and return its eigenvalues, the smallest first.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        float32 or float64 in Fortran order; only the lower triangle is read.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0], [1.0, 2.0]], order="F")
    >>> eigen_in_place(A)
    array([1., 3.])
    >>> abs(A).round(4)
    array([[0.7071, 0.7071],
           [0.7071, 0.7071]])
    """
    refuse_unless(A.ndim == 2 and A.shape[0] == A.shape[1], "A square matrix has eigenvectors.", A)
    call, a, n = calls(A), Block.of(A, written=True), len(A)
    refuse_unless(2 * n * n + 6 * n < LARGEST, "LAPACK counts its work in 32 bits.", A)
    values = np.empty(n, dtype=A.dtype)
    work, counts = np.empty(1 + 6 * n + 2 * n * n, dtype=A.dtype), np.empty(3 + 5 * n, dtype=np.int32)
    info = ctypes.c_int(0)

    def run() -> None:
        call.syevd(
            char("V"), char("L"), count(n), a.address, count(a.leading), values.ctypes.data, work.ctypes.data,
            count(work.size), counts.ctypes.data, count(counts.size), ctypes.byref(info),
        )  # fmt: skip

    if n:
        _in_a_thread(run, A)
    if info.value:
        raise NotPositive(
            "The eigenvalues of the matrix were not found.",
            f"LAPACK's divide and conquer stopped with {info.value}.",
            "Look for entries that are not finite, or scale the data.",
        )
    return values


def _in_a_thread(run: Callable[[], None], A: Array) -> None:
    """Work on A that LAPACK cannot interrupt: Ctrl-C returns at once, and the thread's result is dropped."""
    done = threading.Event()

    def keeping(_: Array) -> None:  # an abandoned thread keeps its matrix alive
        run()
        done.set()

    threading.Thread(target=keeping, args=(A,), name=THREAD, daemon=True).start()
    while not done.wait(0.1):  # not by join: interrupted, Python 3.11 takes the thread for one that has ended
        pass


def _panel(A: Array) -> int:
    refuse_unless(A.dtype in PANELS, "The matrix must be float32 or float64.", A)
    return PANELS[A.dtype]


def _strips(n: int, cost: float, *, least: int) -> Iterator[slice]:
    """0..n in strips of no more than `STEP` bytes times operations, at `cost` for each of the n."""
    width = max(least, int(STEP / max(cost, 1.0)))
    for start in range(0, n, width):
        yield slice(start, min(start + width, n))


# From here on: single calls, C ← C − A B and the like, on blocks of larger arrays.


def _cholesky(A: Array) -> int:
    """The lower Cholesky factor in place; the first minor that is not positive, else 0."""
    call, a = calls(A), Block.of(A, written=True)
    info = ctypes.c_int(0)
    if a.rows:
        call.potrf(char("L"), count(a.rows), a.address, count(a.leading), ctypes.byref(info))
    assert info.value >= 0, "an argument of potrf was refused"
    return info.value


def _subtract(C: Array, A: Array, B: Array, *, of: str = "N", by: str = "N") -> None:
    """C ← C − op(A) op(B), op the identity ("N") or the transpose ("T")."""
    call, c, a, b = calls(C, A, B), Block.of(C, written=True), Block.of(A), Block.of(B)
    rows, inner = (a.rows, a.columns) if of == "N" else (a.columns, a.rows)
    depth, columns = (b.rows, b.columns) if by == "N" else (b.columns, b.rows)
    refuse_unless((rows, columns) == C.shape and inner == depth, "The shapes do not fit.", C, A, B)
    if not (rows and columns and inner):
        return
    if columns == 1 and by == "N":
        call.gemv(
            char(of), count(a.rows), count(a.columns), call.minus, a.address, count(a.leading), b.address, count(1),
            call.one, c.address, count(1),
        )  # fmt: skip
    else:
        call.gemm(
            char(of), char(by), count(rows), count(columns), count(inner), call.minus, a.address, count(a.leading),
            b.address, count(b.leading), call.one, c.address, count(c.leading),
        )  # fmt: skip


def _subtract_square(C: Array, A: Array) -> None:
    """C ← C − A Aᵀ, the lower triangle."""
    call, c, a = calls(C, A), Block.of(C, written=True), Block.of(A)
    refuse_unless(c.rows == c.columns == a.rows, "The shapes do not fit.", C, A)
    if c.rows and a.columns:
        call.syrk(
            char("L"), char("N"), count(c.rows), count(a.columns), call.minus, a.address, count(a.leading), call.one,
            c.address, count(c.leading),
        )  # fmt: skip


def _divide_right(B: Array, L: Array) -> None:
    """B ← B L⁻ᵀ."""
    _divide(B, L, "R", "T")


def _divide_left(B: Array, L: Array, op: str) -> None:
    """B ← op(L)⁻¹ B."""
    _divide(B, L, "L", op)


def _divide(B: Array, L: Array, side: str, op: str) -> None:
    call, b, l = calls(B, L), Block.of(B, written=True), Block.of(L)
    refuse_unless(l.rows == l.columns == (b.rows if side == "L" else b.columns), "The shapes do not fit.", B, L)
    if b.rows and b.columns:
        call.trsm(
            char(side), char("L"), char(op), char("N"), count(b.rows), count(b.columns), call.one, l.address,
            count(l.leading), b.address, count(b.leading),
        )  # fmt: skip


def _refuse_unless_fit(L: Array, R: Array) -> None:
    fits = L.ndim == R.ndim == 2 and L.shape == (len(R), len(R))
    refuse_unless(fits, "A triangular solve takes L of shape (n, n) and R of shape (n, k).", L, R)
    refuse_unless(not np.may_share_memory(L, R), "L and R share memory.", L, R)
