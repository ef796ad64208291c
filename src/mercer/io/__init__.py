"""Files: a fitted machine as one file of JSON and raw arrays, without pickle; nothing in it is ever executed."""

from mercer.io import models, points, values
from mercer.io.archive import pack, unpack
from mercer.io.atomic import write_atomically
from mercer.io.codec import Reader, Row, Writer, add_row
from mercer.io.formulas import Functions

__all__ = [
    "Functions",
    "Reader",
    "Row",
    "Writer",
    "add_row",
    "models",
    "pack",
    "points",
    "unpack",
    "values",
    "write_atomically",
]
