"""Cholesky in place, triangular solves and eigenvectors, in such a way that Ctrl-C and a `Watch` come in between.

SciPy's own wrappers make one call of the whole, and copy every block of a larger matrix. Here BLAS and LAPACK are
called on the blocks where they lie, through the C functions that SciPy exports for Cython. Right-looking, panel by
panel:

    L₁₁ = chol(A₁₁),      L₂₁ = A₂₁ L₁₁⁻ᵀ,      A₂₂ ← A₂₂ − L₂₁ L₂₁ᵀ,      and on with A₂₂.

Whether an array may be handed over (its type, order, alignment and shape) is looked at in one place, `_Block`.
"""

import ctypes
import re
import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack

from mercer.errors import InvalidInput, NotPositive

__all__ = ["STOPPED", "Look", "eigen_in_place", "factor_in_place", "forward_in_place", "solve_in_place"]

Array = npt.NDArray[Any]

# What `factor_in_place` returns when the watch was over before it was done.
STOPPED: Final = -1
# Columns of a panel, by type: twice the depth in which OpenBLAS packs it (other widths cost up to 10 % in float32).
PANELS = {np.dtype(np.float64): 512, np.dtype(np.float32): 768}
# Bytes times operations of one step: 0.2 s on two cores that do 80 GFlop/s in float64, whatever the size of the matrix.
STEP = 1.28e11
# A whole factorisation of no more than this many steps, half a second and 5200 rows, is one call.
STEPS_AT_ONCE = 3.0


class Look(Protocol):
    """The part of a `Watch` that is looked at between steps."""

    def look(self, share: float, measure: str = "") -> bool:
        """Note the share of the work that is done; returns whether to stop."""


def factor_in_place(A: Array, watch: Look) -> int:
    """Overwrite the lower triangle of A by L, A = L Lᵀ; what is above the diagonal is neither read nor written.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        float32 or float64 in Fortran order.
    watch : Watch
        Looked at between steps.

    Returns
    -------
    int
        0 when done; k > 0 when the leading minor of k rows is not positive; `STOPPED` when the watch was over.

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
    _refuse_unless(A.ndim == 2 and A.shape[0] == A.shape[1], "A square matrix is factorised.", A)
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

    LAPACK has no step to stop at, so it runs in a thread: Ctrl-C returns at once, and the thread's result is dropped.

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
    _refuse_unless(A.ndim == 2 and A.shape[0] == A.shape[1], "A square matrix has eigenvectors.", A)
    call, a, n = _calls(A), _Block.of(A, written=True), len(A)
    _refuse_unless(2 * n * n + 6 * n < LARGEST, "LAPACK counts its work in 32 bits.", A)
    values = np.empty(n, dtype=A.dtype)
    work, counts = np.empty(1 + 6 * n + 2 * n * n, dtype=A.dtype), np.empty(3 + 5 * n, dtype=np.int32)
    info = ctypes.c_int(0)

    def run(*_: Array) -> None:
        call.syevd(
            _char("V"), _char("L"), _int(n), a.address, _int(a.leading), values.ctypes.data, work.ctypes.data,
            _int(work.size), counts.ctypes.data, _int(counts.size), ctypes.byref(info),
        )  # fmt: skip

    if n:
        thread = threading.Thread(target=run, args=(A,), daemon=True)  # a thread that is left keeps its matrix
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
    if info.value:
        raise NotPositive(
            "The eigenvalues of the matrix were not found.",
            f"LAPACK's divide and conquer stopped with {info.value}.",
            "Look for entries that are not finite, or scale the data.",
        )
    return values


def _panel(A: Array) -> int:
    _refuse_unless(A.dtype in PANELS, "The matrix must be float32 or float64.", A)
    return PANELS[A.dtype]


def _strips(n: int, cost: float, *, least: int) -> Iterator[slice]:
    """0..n in strips of no more than `STEP` bytes times operations, at `cost` for each of the n."""
    width = max(least, int(STEP / max(cost, 1.0)))
    for start in range(0, n, width):
        yield slice(start, min(start + width, n))


# From here on: single calls, C ← C − A B and the like, on blocks of larger arrays.


def _cholesky(A: Array) -> int:
    """The lower Cholesky factor in place; the first minor that is not positive, else 0."""
    call, a = _calls(A), _Block.of(A, written=True)
    info = ctypes.c_int(0)
    if a.rows:
        call.potrf(_char("L"), _int(a.rows), a.address, _int(a.leading), ctypes.byref(info))
    assert info.value >= 0, "an argument of potrf was refused"
    return info.value


def _subtract(C: Array, A: Array, B: Array, *, of: str = "N", by: str = "N") -> None:
    """C ← C − op(A) op(B), op the identity ("N") or the transpose ("T")."""
    call, c, a, b = _calls(C, A, B), _Block.of(C, written=True), _Block.of(A), _Block.of(B)
    rows, inner = (a.rows, a.columns) if of == "N" else (a.columns, a.rows)
    depth, columns = (b.rows, b.columns) if by == "N" else (b.columns, b.rows)
    _refuse_unless((rows, columns) == C.shape and inner == depth, "The shapes do not fit.", C, A, B)
    if not (rows and columns and inner):
        return
    if columns == 1 and by == "N":
        call.gemv(
            _char(of), _int(a.rows), _int(a.columns), call.minus, a.address, _int(a.leading), b.address, _int(1),
            call.one, c.address, _int(1),
        )  # fmt: skip
    else:
        call.gemm(
            _char(of), _char(by), _int(rows), _int(columns), _int(inner), call.minus, a.address, _int(a.leading),
            b.address, _int(b.leading), call.one, c.address, _int(c.leading),
        )  # fmt: skip


def _subtract_square(C: Array, A: Array) -> None:
    """C ← C − A Aᵀ, the lower triangle."""
    call, c, a = _calls(C, A), _Block.of(C, written=True), _Block.of(A)
    _refuse_unless(c.rows == c.columns == a.rows, "The shapes do not fit.", C, A)
    if c.rows and a.columns:
        call.syrk(
            _char("L"), _char("N"), _int(c.rows), _int(a.columns), call.minus, a.address, _int(a.leading), call.one,
            c.address, _int(c.leading),
        )  # fmt: skip


def _divide_right(B: Array, L: Array) -> None:
    """B ← B L⁻ᵀ."""
    _divide(B, L, "R", "T")


def _divide_left(B: Array, L: Array, op: str) -> None:
    """B ← op(L)⁻¹ B."""
    _divide(B, L, "L", op)


def _divide(B: Array, L: Array, side: str, op: str) -> None:
    call, b, l = _calls(B, L), _Block.of(B, written=True), _Block.of(L)
    _refuse_unless(l.rows == l.columns == (b.rows if side == "L" else b.columns), "The shapes do not fit.", B, L)
    if b.rows and b.columns:
        call.trsm(
            _char(side), _char("L"), _char(op), _char("N"), _int(b.rows), _int(b.columns), call.one, l.address,
            _int(l.leading), b.address, _int(b.leading),
        )  # fmt: skip


class _Block(NamedTuple):
    """A matrix as Fortran knows it: columns of `rows` numbers, `leading` numbers from one to the next."""

    address: int
    rows: int
    columns: int
    leading: int

    @classmethod
    def of(cls, array: Array, *, written: bool = False) -> "_Block":
        """Where the array lies; refused unless its columns are contiguous and do not overlap."""
        _refuse_unless(array.ndim == 2, "A matrix is expected.", array)
        rows, columns = array.shape
        size = array.itemsize
        leading, rest = divmod(array.strides[1], size) if columns > 1 else (rows, 0)
        _refuse_unless(
            (rows <= 1 or array.strides[0] == size) and rest == 0 and leading >= rows,
            "The columns of the matrix are not contiguous.",
            array,
        )
        _refuse_unless(array.flags.aligned, "The matrix is not aligned.", array)
        _refuse_unless(array.flags.writeable or not written, "The matrix is read-only.", array)
        _refuse_unless(max(rows, columns, leading) <= LARGEST, "LAPACK counts in 32 bits.", array)
        return cls(array.ctypes.data, rows, columns, max(leading, 1))


LARGEST = np.iinfo(np.int32).max


class _Calls(NamedTuple):
    """The routines of one type of numbers. Fortran takes every argument by its address."""

    gemm: Any
    gemv: Any
    syrk: Any
    trsm: Any
    potrf: Any
    syevd: Any
    one: Any
    minus: Any


def _calls(*arrays: Array) -> _Calls:
    dtype = arrays[0].dtype
    alike = all(array.dtype == dtype for array in arrays)
    _refuse_unless(alike and dtype in CALLS, "The matrices must all be float32, or all float64.", *arrays)
    return CALLS[dtype]


# The exported functions by their C signatures, v a float or double: a SciPy that exported others would be found out.
SIGNATURES = {
    "gemm": "char,char,int,int,int,v,v,int,v,int,v,v,int",
    "gemv": "char,int,int,v,v,int,v,int,v,v,int",
    "syrk": "char,char,int,int,v,v,int,v,v,int",
    "trsm": "char,char,char,char,int,int,v,v,int,v,int",
    "potrf": "char,int,v,int,int",
    "syevd": "char,char,int,v,int,v,v,int,int,int,int",
}
LAPACK = frozenset({"potrf", "syevd"})


def _load(prefix: str, number: type[ctypes.c_float] | type[ctypes.c_double]) -> _Calls:
    routines = {name: _routine(prefix, name) for name in SIGNATURES}
    return _Calls(**routines, one=ctypes.byref(number(1.0)), minus=ctypes.byref(number(-1.0)))


def _routine(prefix: str, name: str) -> Any:
    module = scipy.linalg.cython_lapack if name in LAPACK else scipy.linalg.cython_blas
    capsule = module.__pyx_capi__[prefix + name]
    exported = _capsule_name(capsule)
    found = re.sub(rf"__pyx_t_\w+_{prefix} \*", "v", exported.decode()).replace(" *", "").replace(" ", "")
    if found != f"void({SIGNATURES[name]})":
        raise ImportError(f"SciPy exports {prefix}{name} as {exported!r}, not as {SIGNATURES[name]}.")
    arguments = [ctypes.c_void_p] * (SIGNATURES[name].count(",") + 1)
    # Not PYFUNCTYPE: the GIL is released for the length of a call.
    return ctypes.CFUNCTYPE(None, *arguments)(_capsule_pointer(capsule, exported))


_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)

CALLS = {np.dtype(np.float64): _load("d", ctypes.c_double), np.dtype(np.float32): _load("s", ctypes.c_float)}


def _char(value: str) -> Any:
    return ctypes.byref(ctypes.c_char(value.encode()))


def _int(value: int) -> Any:
    return ctypes.byref(ctypes.c_int(value))


def _refuse_unless_fit(L: Array, R: Array) -> None:
    fits = L.ndim == R.ndim == 2 and L.shape == (len(R), len(R))
    _refuse_unless(fits, "A triangular solve takes L of shape (n, n) and R of shape (n, k).", L, R)
    _refuse_unless(not np.may_share_memory(L, R), "L and R share memory.", L, R)


def _refuse_unless(holds: bool, wrong: str, *arrays: Array) -> None:
    if not holds:
        got = ", ".join(f"{array.dtype} of shape {array.shape}, strides {array.strides}" for array in arrays)
        raise InvalidInput(wrong, f"Got {got}.", "Pass arrays of one type, float32 or float64, in Fortran order.")
