"""Vectors: dense or sparse (CSR) rows of real numbers. The only place where the shape of a numeric array is checked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import Domain, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.sparse import check_well_formed

__all__ = ["Vectors", "refuse_masked"]

_INT32_MAX = 2**31 - 1
# Entries checked at a time when looking for a bad one: enough for speed, few enough to need no memory.
_BLOCK = 1 << 20
_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
    "or array.reshape(1, -1) if it contains a single sample."
)


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Vectors:
    """Points of R^d: the rows of a dense array or of a CSR matrix.

    float32 and float64 are kept (without a copy where the rows are already contiguous); every other real type becomes
    float64. Integers beyond 2**53 are rounded as float64 rounds them.

    Parameters
    ----------
    X : array-like or SciPy sparse, shape (n, d)
        Real, finite numbers; n >= 1 and d >= 1.
    name : str
        The argument's name in messages.
    labels : sequence of str, optional
        Names of the columns in messages.

    Attributes
    ----------
    dense : ndarray of shape (n, d) or None
        C-contiguous and read-only; None for sparse points.
    csr : scipy.sparse.csr_array of shape (n, d) or None
        Sorted int32 indices without duplicates, read-only; None for dense points.

    Examples
    --------
    >>> X = Vectors([[1, 2], [3, 4], [5, 6]])
    >>> X
    Vectors(3 x 2, float64)
    >>> X.take([2, 0]).dense
    array([[5., 6.],
           [1., 2.]])
    """

    domain: ClassVar[Domain] = Domain.VECTORS
    dense: NDArray[np.floating[Any]] | None
    csr: Any  # scipy.sparse carries no types

    def __init__(self, X: object, name: str = "X", labels: Sequence[str] | None = None) -> None:
        if isinstance(X, Vectors):
            dense, csr = X.dense, X.csr
        elif sp.issparse(X):
            dense, csr = None, _checked_csr(X, name)
        else:
            dense, csr = _checked_dense(X, name, labels), None
        object.__setattr__(self, "dense", dense)
        object.__setattr__(self, "csr", csr)

    @classmethod
    def _trusted(cls, dense: NDArray[np.floating[Any]] | None, csr: Any) -> Self:
        """Vectors from what was validated before: rows of other vectors, or what unpickling brings back."""
        self = object.__new__(cls)
        object.__setattr__(self, "dense", None if dense is None else read_only(dense))
        object.__setattr__(self, "csr", None if csr is None else _frozen_csr(csr))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, Any]]:
        return (self._trusted, (self.dense, self.csr))

    @property
    def _store(self) -> Any:
        return self.csr if self.dense is None else self.dense

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are stored as CSR."""
        return self.dense is None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points, number of columns."""
        n, d = self._store.shape
        return (int(n), int(d))

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        dtype: np.dtype[Any] = self._store.dtype
        return dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"Vectors({n} x {d}, {self.dtype}{', sparse' if self.is_sparse else ''})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order; a slice of dense rows shares their memory."""
        index = as_selection(rows, len(self))
        if self.dense is None:
            return self._trusted(None, self.csr[index])
        return self._trusted(np.ascontiguousarray(self.dense[index]), None)

    def filled(self) -> Self:
        """The same rows, dense."""
        return self._trusted(self.csr.toarray() if self.dense is None else self.dense, None)

    def raw(self) -> Any:
        """The read-only array, or the CSR matrix."""
        return self._store


def _checked_dense(X: object, name: str, labels: Sequence[str] | None) -> NDArray[np.floating[Any]]:
    array = _real_array(_as_array(X, name), name)
    if array.shape[0] == 0:
        raise found_none(name, "sample", array.shape)
    if array.shape[1] == 0:
        raise found_none(name, "feature", array.shape)
    with np.errstate(over="ignore"):  # overflow becomes infinite, and is reported by row and column
        floats: NDArray[np.floating[Any]] = np.ascontiguousarray(array, dtype=_working_type(array.dtype))
    _check_finite(floats, name, labels)
    return read_only(floats)


def _working_type(dtype: np.dtype[Any]) -> type[np.floating[Any]]:
    return np.float32 if dtype.newbyteorder("=") == np.float32 else np.float64


def _as_array(X: object, name: str) -> NDArray[Any]:
    """A two-dimensional array of whatever dtype the input suggests."""
    if isinstance(X, np.matrix):
        raise DomainMismatch(
            "np.matrix is not supported.",
            f"The argument is {name}.",
            "Please convert to a numpy array with np.asarray.",
        )
    for part in X if isinstance(X, (list, tuple)) else (X,):
        refuse_masked(part, name)
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise _ragged(X, name) from error
    if array.ndim == 2:
        return array
    if array.shape == (0,):
        raise found_none(name, "sample", array.shape)
    if array.ndim > 2:
        raise InvalidInput(
            f"Found array with dim {array.ndim}, while dim <= 2 is required.",
            f"The argument is {name}, shape {array.shape}.",
        )
    kind = "1D" if array.ndim == 1 else "scalar"
    raise InvalidInput(
        f"Expected 2D array, got {kind} array instead.",
        f"The argument is {name}: {np.array2string(array, threshold=6)}.",
        _RESHAPE,
    )


def refuse_masked(array: object, name: str) -> None:
    """Refuse a masked array that masks something: the mask would be lost."""
    if not isinstance(array, np.ma.MaskedArray):
        return
    masked = np.argwhere(np.ma.getmaskarray(array))
    if masked.size:
        raise InvalidInput(
            f"Input {name} contains masked (missing) values.",
            f"The first is at index {tuple(map(int, masked[0]))}.",
            f"Fill them with {name}.filled(value), or drop those rows.",
        )


_ONE_LENGTH = (
    "Pass rows of one length. For kernels of sets pass [set(row) for row in X], for kernels of strings of tokens "
    "mercer.points.Strings(X), for kernels of bags lists of rows."
)


def _ragged(X: object, name: str) -> InvalidInput:
    sizes = (
        [len(row) if isinstance(row, (list, tuple, np.ndarray)) else None for row in X]
        if isinstance(X, (list, tuple))
        else []
    )
    odd = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
    got = (
        f"Row 0 holds {sizes[0]} values, row {odd} holds {sizes[odd]}."
        if odd is not None
        else "Its entries differ in shape."
    )
    return InvalidInput(f"Input {name} is ragged: its rows differ in length.", got, _ONE_LENGTH)


def _real_array(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Refuse what is not a real number; objects that are numbers become float64."""
    convert = _KINDS.get(array.dtype.kind)
    if convert is None:
        raise DomainMismatch(
            f"Input {name} is not numeric: its dtype is {array.dtype}.",
            _NUMBERS_ONLY,
            "Convert your data to numeric values.",
        )
    return convert(array, name)


_NUMBERS_ONLY = "The argument must be free of strings and other objects: vectors hold real numbers."
_INSTEAD = (
    "Encode it as numbers; for Delta() or Custom() on any Python values pass mercer.points.Objects(list_of_values), "
    "for kernels of strings of tokens mercer.points.Strings(list_of_rows)."
)


def _keep(array: NDArray[Any], _: str) -> NDArray[Any]:
    return array


def _refuse_complex(array: NDArray[Any], name: str) -> NDArray[Any]:
    raise InvalidInput(
        "Complex data not supported.",
        f"The argument {name} has dtype {array.dtype}.",
        "Pass its real and imaginary parts as columns: np.hstack([X.real, X.imag]).",
    )


def _refuse_text(array: NDArray[Any], name: str) -> NDArray[Any]:
    first = f" row 0, column 0 is {array[0, 0].item()!r}." if array.size else ""
    raise DomainMismatch(
        f"Input {name} is not numeric: dtype='numeric' is not compatible with arrays of bytes/strings.",
        f"{_NUMBERS_ONLY[:-1]};{first}" if first else _NUMBERS_ONLY,
        _INSTEAD,
    )


def _from_objects(array: NDArray[Any], name: str) -> NDArray[Any]:
    other = any(isinstance(value, (str, bytes, complex, np.complexfloating)) for value in array.flat)
    if not other:
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
    for place, value in np.ndenumerate(array):
        _check_number(value, name, place)
    raise DomainMismatch(f"Input {name} is not numeric.", _NUMBERS_ONLY, _INSTEAD)


def _check_number(value: object, name: str, place: tuple[int, ...]) -> None:
    at = f"row {place[0]}, column {place[1]}"
    if is_missing(value):
        raise InvalidInput(f"Input {name} contains NaN.", f"{at.capitalize()} is {shown(value)}.", _FILL)
    if isinstance(value, (complex, np.complexfloating)):
        raise InvalidInput("Complex data not supported.", f"In {name}, {at} is {shown(value)}.")
    if not isinstance(value, (str, bytes)):
        try:
            float(value)  # type: ignore[arg-type]  # whether this works is the question
        except OverflowError as error:
            raise InvalidInput(
                f"Input {name} contains infinity or a value too large for dtype('float64').",
                f"It is at {at}.",
                _RESCALE,
            ) from error
        except (TypeError, ValueError):
            pass
        else:
            return
    raise DomainMismatch(f"Input {name} is not numeric: {at} is a {type(value).__name__}.", _NUMBERS_ONLY, _INSTEAD)


_Convert = Callable[[NDArray[Any], str], NDArray[Any]]
# dtype.kind -> what is done with it; other kinds (dates, records) are refused.
_KINDS: dict[str, _Convert] = {
    "f": _keep,
    "i": _keep,
    "u": _keep,
    "b": _keep,
    "c": _refuse_complex,
    "U": _refuse_text,
    "S": _refuse_text,
    "T": _refuse_text,
    "O": _from_objects,
}

_FILL = "Fill the missing values (for instance with sklearn.impute.SimpleImputer) or drop those rows."
_RESCALE = "Remove that row, or rescale the column."


def _check_finite(array: NDArray[np.floating[Any]], name: str, labels: Sequence[str] | None) -> None:
    # One pass without memory: a sum of finite numbers is finite unless it overflows, which the search then detects.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    place = _first_bad(array.reshape(-1))
    if place is not None:
        row, column = divmod(place, array.shape[1])
        raise _not_finite(array[row, column], name, row, column, labels)


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, size, _BLOCK))


def _first_bad(values: NDArray[np.floating[Any]]) -> int | None:
    for block in _blocks(values.size):
        bad = np.flatnonzero(~np.isfinite(values[block]))
        if bad.size:
            return int(block.start + bad[0])
    return None


def _not_finite(
    value: np.floating[Any], name: str, row: int, column: int, labels: Sequence[str] | None = None
) -> InvalidInput:
    label = column if labels is None else repr(labels[column])
    at = f"Row {row}, column {label} is {float(value)}."
    if np.isnan(value):
        return InvalidInput(f"Input {name} contains NaN.", at, _FILL)
    return InvalidInput(f"Input {name} contains infinity or a value too large for {value.dtype!r}.", at, _RESCALE)


def _checked_csr(X: Any, name: str) -> Any:
    if X.ndim != 2:
        raise InvalidInput(
            f"Expected 2D input, got sparse input with shape {X.shape}.", f"The argument is {name}.", _RESHAPE
        )
    if X.shape[0] == 0:
        raise found_none(name, "sample", X.shape)
    if X.shape[1] == 0:
        raise found_none(name, "feature", X.shape)
    # What SciPy converts without a look, past the end of its arrays, is looked at before.
    check_well_formed(X, name)
    # The dtype comes first: a conversion to CSR sums duplicates, and must not do so in a narrow integer type.
    real = _real_array(np.empty((0, 0), dtype=X.dtype), name)
    with np.errstate(over="ignore"):
        csr = sp.csr_array(X.astype(_working_type(real.dtype), copy=False))
    if csr.nnz > _INT32_MAX or csr.shape[1] > _INT32_MAX:
        raise InvalidInput(
            f"Sparse input {name} needs 64-bit indices, which are not supported.",
            f"Got {csr.nnz} stored entries in {csr.shape[1]} columns.",
            "Work on fewer rows at a time.",
        )
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    _check_finite_csr(csr, name)
    return _frozen_csr(csr)


def _check_finite_csr(csr: Any, name: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(csr.data.sum()):
            return
    place = _first_bad(csr.data)
    if place is not None:
        row = int(np.searchsorted(csr.indptr, place, side="right")) - 1
        raise _not_finite(csr.data[place], name, row, int(csr.indices[place]))


def _frozen_csr(csr: Any) -> Any:
    indices, indptr = (array.astype(np.int32, copy=False) for array in (csr.indices, csr.indptr))
    frozen = sp.csr_array((read_only(csr.data), read_only(indices), read_only(indptr)), shape=csr.shape, copy=False)
    frozen.has_canonical_format = True
    return frozen
