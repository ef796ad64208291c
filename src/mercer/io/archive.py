"""One file: a JSON header and raw arrays, laid out as the format safetensors says, so that other tools can read them.

The first 8 bytes are the length of the header, little-endian. The header maps names to dtype, shape and place of the
arrays, which follow one another without holes. What mercer knows of them is JSON as well, a text in the header's
``__metadata__``; beside it stands the SHA-256 of the whole file, with zeros where it stands itself. That guards
against damage, not against malice: everything in the file is validated as if anybody had written it.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mercer.errors import BadModelFile
from mercer.io.strictjson import read_json, write_json

__all__ = ["LARGEST_HEADER", "pack", "sealed", "unpack"]

# The names that safetensors has for dtypes, all little-endian.
DTYPES: dict[str, str] = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
    "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
NAMES = {np.dtype(code): name for name, code in DTYPES.items()}
# Every model file begins so, after the length.
BEGIN = b'{"__metadata__":{"format":"mercer","sha256":"'
DIGEST = slice(8 + len(BEGIN), 8 + len(BEGIN) + 64)
# What is large is in the arrays; a header beyond this is refused, because JSON takes many times its size in memory.
LARGEST_HEADER = 16 << 20
MOST_AXES = 8
LARGEST_AXIS = 1 << 40
ALIGNMENT = 64


def pack(content: Any, arrays: Mapping[str, npt.NDArray[Any]]) -> Iterator[memoryview | bytes]:
    """The file in pieces, the digest already in its place.

    Parameters
    ----------
    content : JSON value
        What is said of the arrays.
    arrays : mapping of str to ndarray
        Of the dtypes in `NAMES`, C-contiguous.
    """
    # The widest first, so that each stands at a multiple of its width.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    head: dict[str, Any] = {
        "__metadata__": {"format": "mercer", "sha256": "0" * 64, "mercer": write_json(content)},
    }
    at = 0
    for name, array in ordered:
        head[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = write_json(head).encode("ascii")
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    start = len(text).to_bytes(8, "little") + text
    pieces = [_bytes(array) for _, array in ordered]
    digest = hashlib.sha256(start)
    for piece in pieces:
        digest.update(piece)
    yield start[: DIGEST.start] + digest.hexdigest().encode("ascii") + start[DIGEST.stop :]
    yield from pieces


def sealed(file: bytes) -> bytes:
    """The bytes of a model file with the digest that belongs to them, for tests that change the rest."""
    blank = file[: DIGEST.start] + b"0" * 64 + file[DIGEST.stop :]
    return file[: DIGEST.start] + hashlib.sha256(blank).hexdigest().encode("ascii") + file[DIGEST.stop :]


def unpack(file: BinaryIO, size: int) -> tuple[Any, dict[str, npt.NDArray[Any]]]:
    """What `pack` wrote, from a file of `size` bytes; memory grows with the size of the file, whatever it declares."""
    start = file.read(DIGEST.stop)
    if len(start) < DIGEST.stop or start[8 : DIGEST.start] != BEGIN:
        raise BadModelFile(
            "This is not a model file of mercer.",
            f"Its {size} bytes begin with {start[:24]!r}.",
            "Pass a file that save wrote.",
        )
    length = int.from_bytes(start[:8], "little")
    if not DIGEST.stop - 8 <= length <= min(LARGEST_HEADER, size - 8):
        raise BadModelFile(
            "The model file is damaged, or cut off.",
            f"Its header should have {length} bytes, of {size} in the file and at most {LARGEST_HEADER}.",
        )
    head = start[8:] + file.read(8 + length - len(start))
    digest = hashlib.sha256(start[: DIGEST.start] + b"0" * 64 + head[DIGEST.stop - 8 :])
    table = read_json(head, "The header")
    metadata = table.pop("__metadata__") if isinstance(table, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("mercer"), str):
        raise BadModelFile("The header of the model file says nothing of a machine.")
    places = _places(table, size - 8 - length)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, dtype, shape in places:
        array = np.empty(shape, dtype=dtype)
        view = _bytes(array)
        if file.readinto(view) != array.nbytes:  # type: ignore[attr-defined]  # of every file open for bytes
            raise BadModelFile("The model file is cut off.", f"The array {name!r} should have {array.nbytes} bytes.")
        digest.update(view)
        arrays[name] = array
    if digest.hexdigest() != metadata.get("sha256"):
        raise BadModelFile(
            "The model file is damaged: its digest does not fit its bytes.",
            "",
            "Copy it again, or save the machine again.",
        )
    for name, array in arrays.items():
        if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
            raise BadModelFile(f"The array {name!r} holds booleans that are neither 0 nor 1.")
    return read_json(metadata["mercer"], "The header"), arrays


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data if array.size else memoryview(bytearray())


def _places(table: dict[str, Any], room: int) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Name, dtype and shape of each array in the order of their bytes, which must fill the room exactly."""
    found = []
    for name, entry in table.items():
        try:
            dtype, shape, (begin, end) = np.dtype(DTYPES[entry["dtype"]]), entry["shape"], entry["data_offsets"]
            whole = all(type(number) is int and number >= 0 for number in (*shape, begin, end))
            count = math.prod(shape) * dtype.itemsize
            good = whole and len(entry) == 3 and len(shape) <= MOST_AXES and max(shape, default=0) <= LARGEST_AXIS
        except (KeyError, TypeError, ValueError):
            good = False
        if good and begin + count == end and end > room:
            raise BadModelFile(
                "The model file is cut off, or its header is wrong.",
                f"The array {name[:60]!r} should end at byte {end} of {room}.",
                "Copy it again, or save the machine again.",
            )
        if not good or begin + count != end:
            raise BadModelFile(
                f"The header of the model file describes the array {name[:60]!r} wrongly.",
                f"Got {str(entry)[:200]}, and {room} bytes for all arrays.",
            )
        found.append((begin, end, name, dtype, tuple(shape)))
    found.sort(key=lambda entry: entry[:2])
    at = 0
    for begin, end, name, _, _ in found:
        if begin != at:
            raise BadModelFile(
                "The arrays of the model file overlap, or leave holes.",
                f"{name[:60]!r} begins at {begin}, not at {at}.",
            )
        at = end
    if at != room:
        raise BadModelFile(
            "The model file has more bytes than its header says, or fewer.", f"Its arrays need {at}, it has {room}."
        )
    return [(name, dtype, shape) for _, _, name, dtype, shape in found]
