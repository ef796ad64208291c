"""From values to JSON and arrays, and back: a table with one row for each type that a file may hold.

In the JSON null, booleans, finite numbers, texts and lists stand for themselves; everything else is an object with one
key, its tag, which is looked up in the table. So no file can name a class or a function that is not in the table.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import BadModelFile, NotStorable, shown
from mercer.io.archive import NAMES
from mercer.io.formulas import Functions

__all__ = ["Reader", "Row", "Writer", "add_row"]


@final
@dataclass(frozen=True)
class Row:
    """How one type is stored.

    Parameters
    ----------
    tag : str
        Its name in files, for ever.
    kind : type or None
        The class; None for what is only read (forms of earlier schemas).
    take : callable (value, writer, path) -> JSON
        The value in terms of what is in the table already.
    make : callable (stored, reader) -> value
        The value, validated as if anybody had written the file.
    is_family : bool
        Whether the row is for subclasses too, which else are refused, because they would come back as something else.
    """

    tag: str
    kind: type | None
    take: Callable[[Any, "Writer", str], Any]
    make: Callable[[Any, "Reader"], Any]
    is_family: bool = False


_BY_TAG: dict[str, Row] = {}
_BY_KIND: dict[type, Row] = {}


def add_row(row: Row) -> None:
    """Add a row to the table; other modules bring the rows of their types."""
    _BY_TAG[row.tag] = row
    if row.kind is not None:
        _BY_KIND[row.kind] = row


def _row_of(kind: type) -> Row | None:
    """The row of a class, or of its nearest base that has one for its whole family."""
    rows = (_BY_KIND[base] for base in kind.__mro__ if base in _BY_KIND)
    return next((row for row in rows if row.kind is kind or row.is_family), None)


@final
class Writer:
    """Takes values apart. The arrays go to `arrays`, by names that say where they belong."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        # What was stored already, kept alive, and its name.
        self._known: dict[Any, tuple[npt.NDArray[Any], str]] = {}

    def value(self, value: Any, path: str) -> Any:
        """A value as JSON; `path` says where it stands, for messages and the names of arrays."""
        plain = type(value)
        if value is None or plain in (bool, str):
            return value
        if plain is int and abs(value) < 1 << 63:
            return value
        if plain is float and math.isfinite(value):
            return value
        if plain is list:
            return [self.value(entry, f"{path}.{index}") for index, entry in enumerate(value)]
        row = _row_of(plain)
        if row is None:
            if callable(value):
                return {"function": self.functions.name(value)}
            raise NotStorable(
                f"A model file cannot hold {path}.",
                f"It is {shown(value)}, a {plain.__module__}.{plain.__qualname__}.",
                "Plain values, arrays, kernels and the usual scalers and encoders of scikit-learn can be stored.",
            )
        return {row.tag: row.take(value, self, path)}

    def array(self, array: npt.NDArray[Any], path: str, *, is_value: bool = False) -> str:
        """Store an array of numbers, and return its name; the same array is stored once.

        With `is_value` an equal one is the same.
        """
        key: Any = (array.dtype.str, array.shape, array.tobytes()) if is_value else id(array)
        if key in self._known:
            return self._known[key][1]
        name = path
        while name in self.arrays:
            name += "_"
        self._known[key] = (array, name)
        stored = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
        if stored.dtype not in NAMES:
            raise NotStorable(f"A model file cannot hold {path}: an array of {array.dtype}.")
        self.arrays[name] = stored
        return name


@final
class Reader:
    """Puts values together again, validated."""

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], functions: Functions) -> None:
        self.arrays = arrays
        self.functions = functions

    def value(self, stored: Any) -> Any:
        """The value of some JSON."""
        if isinstance(stored, list):
            return [self.value(entry) for entry in stored]
        if not isinstance(stored, dict):
            return stored
        if len(stored) != 1:
            raise BadModelFile("A value of the model file has not one tag.", f"Got {sorted(stored)[:5]}.")
        (tag, content), = stored.items()  # fmt: skip
        if tag == "function":
            return self.functions.find(text(content))
        row = _BY_TAG.get(tag)
        if row is None:
            raise BadModelFile(
                f"The model file holds a {tag[:60]!r}, which this version of mercer does not know.",
                "",
                "Load it with the version that wrote it, or a newer one.",
            )
        return row.make(content, self)

    def array(self, name: Any) -> npt.NDArray[Any]:
        """An array of the file."""
        found = self.arrays.get(text(name))
        if found is None:
            raise BadModelFile(f"The model file refers to an array {name[:60]!r} that it does not have.")
        return found

    def parts(self, stored: Any, names: tuple[str, ...]) -> list[Any]:
        """The values of a record, which has exactly these names."""
        if not isinstance(stored, dict) or set(stored) != set(names):
            got = sorted(stored)[:12] if isinstance(stored, dict) else type(stored).__name__
            raise BadModelFile("A record of the model file has the wrong parts.", f"Needs {list(names)}, got {got}.")
        return [self.value(stored[name]) for name in names]


def text(value: Any) -> str:
    """A string of the JSON, or an error."""
    if not isinstance(value, str):
        raise BadModelFile("The model file has something else where a text should stand.", f"Got {str(value)[:60]}.")
    return value
