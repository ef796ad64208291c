"""BLAS and LAPACK on blocks of larger matrices, in place: the C functions that SciPy exports for Cython.

SciPy's own wrappers copy every block of a larger matrix. Whether an array may be handed over (its type, order,
alignment and shape) is looked at in one place, `Block`.
"""

import ctypes
import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg.cython_blas
import scipy.linalg.cython_lapack

from mercer.errors import InvalidInput

__all__ = ["LARGEST", "Block", "Calls", "calls", "char", "count", "refuse_unless"]

Array = npt.NDArray[Any]


class Block(NamedTuple):
    """A matrix in Fortran's layout: columns of `rows` numbers, `leading` numbers apart."""

    address: int
    rows: int
    columns: int
    leading: int

    @classmethod
    def of(cls, array: Array, *, written: bool = False) -> "Block":
        """The address of the array; refused unless its columns are contiguous and do not overlap."""
        refuse_unless(array.ndim == 2, "A matrix is expected.", array)
        rows, columns = array.shape
        size = array.itemsize
        leading, rest = divmod(array.strides[1], size) if columns > 1 else (rows, 0)
        refuse_unless(
            (rows <= 1 or array.strides[0] == size) and rest == 0 and leading >= rows,
            "The columns of the matrix are not contiguous.",
            array,
        )
        refuse_unless(array.flags.aligned, "The matrix is not aligned.", array)
        refuse_unless(array.flags.writeable or not written, "The matrix is read-only.", array)
        refuse_unless(max(rows, columns, leading) <= LARGEST, "LAPACK counts in 32 bits.", array)
        return cls(array.ctypes.data, rows, columns, max(leading, 1))


LARGEST = np.iinfo(np.int32).max


class Calls(NamedTuple):
    """The routines of one type of numbers. Fortran takes every argument by its address."""

    gemm: Any
    gemv: Any
    syrk: Any
    trsm: Any
    potrf: Any
    syevd: Any
    syr2k: Any
    sytrd: Any
    latrd: Any
    larft: Any
    larfb: Any
    org2r: Any
    one: Any
    minus: Any


def calls(*arrays: Array) -> Calls:
    """The routines for arrays that are all of one type."""
    dtype = arrays[0].dtype
    alike = all(array.dtype == dtype for array in arrays)
    refuse_unless(alike and dtype in CALLS, "The matrices must all be float32, or all float64.", *arrays)
    return CALLS[dtype]


# The exported functions by their C signatures, v a float or double: a SciPy that exported others would be found out.
SIGNATURES = {
    "gemm": "char,char,int,int,int,v,v,int,v,int,v,v,int",
    "gemv": "char,int,int,v,v,int,v,int,v,v,int",
    "syrk": "char,char,int,int,v,v,int,v,v,int",
    "syr2k": "char,char,int,int,v,v,int,v,int,v,v,int",
    "trsm": "char,char,char,char,int,int,v,v,int,v,int",
    "potrf": "char,int,v,int,int",
    "syevd": "char,char,int,v,int,v,v,int,int,int,int",
    "sytrd": "char,int,v,int,v,v,v,v,int,int",
    "latrd": "char,int,int,v,int,v,v,v,int",
    "larft": "char,char,int,int,v,int,v,v,int",
    "larfb": "char,char,char,char,int,int,int,v,int,v,int,v,int,v,int",
    "org2r": "int,int,int,v,int,v,v,int",
}
LAPACK = frozenset({"potrf", "syevd", "sytrd", "latrd", "larft", "larfb", "org2r"})


def _load(prefix: str, number: type[ctypes.c_float] | type[ctypes.c_double]) -> Calls:
    routines = {name: _routine(prefix, name) for name in SIGNATURES}
    return Calls(**routines, one=ctypes.byref(number(1.0)), minus=ctypes.byref(number(-1.0)))


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


def char(value: str) -> Any:
    """A letter, by its address."""
    return ctypes.byref(ctypes.c_char(value.encode()))


def count(value: int) -> Any:
    """A number, by its address."""
    return ctypes.byref(ctypes.c_int(value))


def refuse_unless(holds: bool, wrong: str, *arrays: Array) -> None:
    """Refuse arrays that fail a condition."""
    if not holds:
        got = ", ".join(f"{array.dtype} of shape {array.shape}, strides {array.strides}" for array in arrays)
        raise InvalidInput(wrong, f"Got {got}.", "Pass arrays of one type, float32 or float64, in Fortran order.")
