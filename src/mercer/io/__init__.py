"""Files: a fitted machine as one file of JSON and raw arrays, and in other formats; nothing is ever executed."""

from mercer.io import models, points, values
from mercer.io.archive import pack, unpack
from mercer.io.atomic import write_atomically
from mercer.io.codec import Reader, Row, Writer, add_row
from mercer.io.formulas import Functions
from mercer.io.libsvm import read_libsvm, to_libsvm
from mercer.io.onnx import to_onnx

__all__ = [
    "Functions",
    "Reader",
    "Row",
    "Writer",
    "add_row",
    "models",
    "pack",
    "points",
    "read_libsvm",
    "to_libsvm",
    "to_onnx",
    "unpack",
    "values",
    "write_atomically",
]
