"""A few rows of a DataFrame, in a form that a file may hold."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import BadModelFile
from mercer.io import Reader, Row, Writer, add_row
from mercer.points.registry import nearest

__all__ = ["as_given", "as_stored"]

# Class of tables -> the module whose DataFrame it comes back as.
LIBRARIES = {("pandas", "DataFrame"): "pandas", ("polars", "DataFrame"): "polars"}


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """Columns by label, and the library that they came from."""

    library: str
    columns: dict[Any, npt.NDArray[Any]]


def as_stored(rows: Any) -> Any:
    """A DataFrame as a `Frame`, anything else as it is."""
    library = nearest(LIBRARIES, type(rows))
    if library is None:
        return rows
    return Frame(library, {label: np.asarray(rows[label]) for label in rows.columns})


def as_given(rows: Any) -> Any:
    """The DataFrame of a `Frame`."""
    return import_module(rows.library).DataFrame(rows.columns) if isinstance(rows, Frame) else rows


def _take(value: Frame, writer: Writer, path: str) -> Any:
    return [value.library, writer.value(value.columns, path)]


def _make(stored: Any, reader: Reader) -> Frame:
    library, columns = stored
    found = reader.value(columns)
    if library not in LIBRARIES.values() or not isinstance(found, dict):
        raise BadModelFile("A frame of the model file is none.", f"Got {str(library)[:60]!r}.")
    return Frame(library, found)


add_row(Row("frame", Frame, _take, _make))
