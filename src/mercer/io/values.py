"""The rows of plain values: numbers, tuples, arrays, sparse matrices, dtypes."""

import base64
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.domains import is_hashable
from mercer.errors import BadModelFile, NotStorable
from mercer.io.codec import Reader, Row, Writer, add_row, text
from mercer.io.strictjson import read_json, write_json

__all__ = ["checked_csr", "object_array", "refuse_collisions"]

# Types that stand for themselves in parameters such as dtype=np.float64.
TYPES: dict[str, type] = {kind.__name__: kind for kind in (bool, int, float, str, object)} | {
    f"numpy.{name}": np.dtype(name).type
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64", "str", "bytes", "object",
    )
}  # fmt: skip
TYPE_NAMES = {kind: name for name, kind in TYPES.items()}
NUMBERS = frozenset("biuf")
# Different values with the same hash that a table may have.
MOST_ALIKE = 64
# The name of any dtype is shorter.
LONGEST_DTYPE = 24


def _make_float(stored: Any, _reader: Reader) -> float:
    if stored not in ("inf", "-inf", "nan"):
        raise BadModelFile("A number of the model file is none.", f"Got {str(stored)[:60]!r}.")
    return float(stored)


def _entries(value: Iterable[Any], writer: Writer, path: str) -> list[Any]:
    return [writer.value(entry, f"{path}.{index}") for index, entry in enumerate(value)]


def _take_set(value: Iterable[Any], writer: Writer, path: str) -> list[Any]:
    return sorted(_entries(value, writer, path), key=write_json)  # the same file whatever the order of hashes


def _read_entries(stored: Any, reader: Reader) -> list[Any]:
    if not isinstance(stored, list):
        raise BadModelFile("The model file has something else where a list should stand.", f"Got {str(stored)[:60]}.")
    return [reader.value(entry) for entry in stored]


def refuse_collisions(values: Iterable[Any]) -> None:
    """Refuse values that were made to collide in a hash table, where a thousand would take as long as a million."""
    seen: dict[int, list[Any]] = {}
    for value in values:
        alike = seen.setdefault(hash(value), [])
        if value not in alike:
            alike.append(value)
        if len(alike) > MOST_ALIKE:
            raise BadModelFile(f"More than {MOST_ALIKE} different values of the model file have one hash.")


def _distinct(kind: type, stored: Any, reader: Reader) -> Any:
    entries = _read_entries(stored, reader)
    refuse_collisions(entries)
    found = kind(entries)
    if len(found) != len(entries):
        raise BadModelFile("A set of the model file repeats an item.")
    return found


def _take_dict(value: dict[Any, Any], writer: Writer, path: str) -> list[Any]:
    return [[writer.value(key, path), writer.value(entry, f"{path}.{key}")] for key, entry in value.items()]


def _make_dict(stored: Any, reader: Reader) -> dict[Any, Any]:
    pairs = _read_entries(stored, reader)
    refuse_collisions(key for key, _ in pairs)
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadModelFile("A dictionary of the model file repeats a key.")
    return found


def _take_numpy(value: np.generic, writer: Writer, path: str) -> Any:
    return _stored_array(np.asarray(value), writer, path)


def _make_numpy(stored: Any, reader: Reader) -> Any:
    found = _make_array(stored, reader)
    if found.shape != () or found.dtype.kind == "O":
        raise BadModelFile("A scalar of the model file is none.", f"Got shape {found.shape}, dtype {found.dtype}.")
    return found[()]


def _stored_array(value: npt.NDArray[Any], writer: Writer, path: str) -> Any:
    """The name of the stored numbers alone, or with what else must be known of them."""
    kind = value.dtype.kind
    if kind in NUMBERS:
        if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
            # The order decides how products round.
            return {"columns first": writer.array(value.T, path)}
        return writer.array(value, path)
    if kind in "US":
        return {"text" if kind == "U" else "bytes": writer.array(_as_units(value), path)}
    if kind in "mM":
        return {
            "time": [
                value.dtype.str[1:],
                writer.array(value.astype(value.dtype.newbyteorder("<")).view(np.int64), path),
            ]
        }
    if kind == "O":
        whole = write_json([writer.value(entry, f"{path}.{index}") for index, entry in enumerate(value.flat)])
        return {"objects": [list(value.shape), writer.array(np.frombuffer(whole.encode("ascii"), np.uint8), path)]}
    raise NotStorable(f"A model file cannot hold {path}: an array of {value.dtype}.")


def _as_units(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Texts of one length as numbers, one for each letter, in a last axis."""
    unit = np.dtype("<u4") if value.dtype.kind == "U" else np.dtype("u1")
    width = max(1, value.dtype.itemsize // unit.itemsize)
    ordered = value.astype(f"<{value.dtype.kind}{width}", order="C")
    return ordered.reshape(*value.shape, 1).view(unit)


def _make_array(stored: Any, reader: Reader) -> npt.NDArray[Any]:
    if isinstance(stored, str):
        return reader.array(stored)
    if not isinstance(stored, dict) or len(stored) != 1:
        raise BadModelFile("An array of the model file has no form.", f"Got {str(stored)[:60]}.")
    (form, content), = stored.items()  # fmt: skip
    if form not in _FORMS:
        raise BadModelFile(f"An array of the model file has the unknown form {form[:60]!r}.")
    return _FORMS[form](content, reader)


def _columns_first(stored: Any, reader: Reader) -> npt.NDArray[Any]:
    return reader.array(stored).T


def _units(code: str, most: int, stored: Any, reader: Reader) -> npt.NDArray[Any]:
    units = reader.array(stored)
    if units.dtype != np.dtype(code) or units.ndim == 0 or units.shape[-1] == 0 or (units.size and units.max() > most):
        raise BadModelFile(f"The array {stored!r} of the model file holds no texts.")
    letter = "U" if code == "<u4" else "S"
    return units.view(f"<{letter}{units.shape[-1]}").reshape(units.shape[:-1])


def _times(stored: Any, reader: Reader) -> npt.NDArray[Any]:
    code, name = stored
    dtype, values = np.dtype(f"<{text(code)[:LONGEST_DTYPE]}"), reader.array(name)
    if dtype.kind not in "mM" or values.dtype != np.int64:
        raise BadModelFile(f"The array {name!r} of the model file holds no times.")
    return values.view(dtype)


def _objects(stored: Any, reader: Reader) -> npt.NDArray[Any]:
    shape, name = stored
    letters = reader.array(name)
    if letters.dtype != np.uint8 or letters.ndim != 1:
        raise BadModelFile(f"The array {name!r} of the model file holds no text.")
    entries = _read_entries(read_json(letters.tobytes(), f"The array {name!r}"), reader)
    if not all(type(size) is int and size >= 0 for size in shape) or math.prod(shape) != len(entries):
        raise BadModelFile(f"The array {name!r} of the model file has {len(entries)} values, not {shape}.")
    refuse_collisions(entry for entry in entries if is_hashable(entry))
    return object_array(entries).reshape(shape)


_FORMS: dict[str, Callable[[Any, Reader], npt.NDArray[Any]]] = {
    "columns first": _columns_first,
    "text": partial(_units, "<u4", 0x10FFFF),
    "bytes": partial(_units, "|u1", 0xFF),
    "time": _times,
    "objects": _objects,
}


def object_array(entries: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Values, whatever they are, one per place."""
    return np.fromiter(entries, dtype=np.object_, count=len(entries))


def _take_sparse(value: Any, writer: Writer, path: str) -> Any:
    csr = sp.csr_array(value)
    parts = (csr.data, csr.indices, csr.indptr)
    names = [
        writer.array(part, f"{path}.{name}") for part, name in zip(parts, ("data", "indices", "indptr"), strict=True)
    ]
    return [list(csr.shape), *names]


def checked_csr(stored: Any, reader: Reader) -> Any:
    """A CSR matrix whose parts agree: SciPy, and the engine, follow indices without a look."""
    shape, *names = stored
    data, indices, indptr = map(reader.array, names)
    if not (len(shape) == 2 and all(type(size) is int and 0 <= size < 1 << 31 for size in shape)):
        raise BadModelFile("A sparse matrix of the model file has no shape.", f"Got {str(shape)[:60]}.")
    if data.dtype.kind not in NUMBERS or any(part.dtype.kind != "i" or part.ndim != 1 for part in (indices, indptr)):
        raise BadModelFile("The arrays of a sparse matrix of the model file have the wrong types.")
    rows, columns = shape
    ordered = len(indptr) == rows + 1 and indptr[0] == 0 and bool((np.diff(indptr) >= 0).all())
    if not ordered or not indptr[-1] == len(indices) == len(data) or data.ndim != 1:
        raise BadModelFile("The arrays of a sparse matrix of the model file do not fit each other.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
        raise BadModelFile("An index of a sparse matrix of the model file is out of range.")
    return sp.csr_array((data, indices, indptr), shape=(rows, columns))


def _make_type(stored: Any, _reader: Reader) -> type:
    if text(stored) not in TYPES:
        raise BadModelFile(f"The model file names a type that no file may name: {stored[:60]!r}.")
    return TYPES[stored]


def _take_type(value: type, _writer: Writer, path: str) -> str:
    if value not in TYPE_NAMES:
        raise NotStorable(
            f"A model file cannot hold {path}.", f"It is the class {value.__module__}.{value.__qualname__}."
        )
    return TYPE_NAMES[value]


def _make_dtype(stored: Any, _reader: Reader) -> np.dtype[Any]:
    found = np.dtype(text(stored)[:LONGEST_DTYPE])
    if found.kind not in "biufcOUSmM" or found.hasobject != (found.kind == "O"):
        raise BadModelFile(f"The model file names a dtype that no file may name: {stored[:60]!r}.")
    return found


def _microseconds(value: timedelta) -> int:
    return value // timedelta(microseconds=1)


for row in (
    Row("float", float, lambda value, writer, path: repr(value), _make_float),
    Row("int", int, lambda value, writer, path: hex(value), lambda stored, reader: int(text(stored), 16)),
    Row("complex", complex, lambda value, writer, path: str(value), lambda stored, reader: complex(text(stored))),
    Row("tuple", tuple, _entries, lambda stored, reader: tuple(_read_entries(stored, reader))),
    Row("set", set, _take_set, partial(_distinct, set)),
    Row("frozenset", frozenset, _take_set, partial(_distinct, frozenset)),
    Row("dict", dict, _take_dict, _make_dict),
    Row("bytes", bytes, lambda value, writer, path: base64.b64encode(value).decode("ascii"),
        lambda stored, reader: base64.b64decode(text(stored), validate=True)),
    Row("slice", slice, lambda value, writer, path: _entries((value.start, value.stop, value.step), writer, path),
        lambda stored, reader: slice(*_read_entries(stored, reader))),
    Row("decimal", Decimal, lambda value, writer, path: str(value), lambda stored, reader: Decimal(text(stored))),
    Row("fraction", Fraction, lambda value, writer, path: _entries(value.as_integer_ratio(), writer, path),
        lambda stored, reader: Fraction(*_read_entries(stored, reader))),
    Row("datetime", datetime, lambda value, writer, path: value.isoformat(),
        lambda stored, reader: datetime.fromisoformat(text(stored))),
    Row("date", date, lambda value, writer, path: value.isoformat(),
        lambda stored, reader: date.fromisoformat(text(stored))),
    Row("time", time, lambda value, writer, path: value.isoformat(),
        lambda stored, reader: time.fromisoformat(text(stored))),
    Row("timedelta", timedelta, lambda value, writer, path: _microseconds(value),
        lambda stored, reader: timedelta(microseconds=stored)),
    Row("numpy", np.generic, _take_numpy, _make_numpy, is_family=True),
    Row("array", np.ndarray, _stored_array, _make_array),
    Row("csr", sp.csr_array, _take_sparse, checked_csr),
    Row("csr matrix", sp.csr_matrix, _take_sparse, lambda stored, reader: sp.csr_matrix(checked_csr(stored, reader))),
    Row("type", type, _take_type, _make_type, is_family=True),
    Row("dtype", np.dtype, lambda value, writer, path: value.str, _make_dtype, is_family=True),
):  # fmt: skip
    add_row(row)
