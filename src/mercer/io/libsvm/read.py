"""LIBSVM's model text as machines of mercer.

A header of lines "name values", a line "SV", then a line of coefficients and "index:value" pairs for each support
vector. Files come from anywhere: nothing in them is trusted, and what they cost is bounded by their size.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import BadModelFile, InvalidInput, MercerError
from mercer.io.libsvm.write import MACHINES
from mercer.kernels import named
from mercer.models.model import Model
from mercer.models.pairs import Pairs
from mercer.points.base import Points
from mercer.points.stored import Places
from mercer.points.vectors import Vectors

__all__ = ["Foreign", "read_libsvm"]

Array = npt.NDArray[np.float64]

KINDS = {theirs: ours for ours, theirs in MACHINES.items() if ours != "hulls"}
CLASSIFIERS = frozenset({"c_svc", "nu_svc"})
LARGEST_INDEX = (1 << 31) - 2
# Longer files are not models of anybody's.
LONGEST = 1 << 36


@final
@dataclass(frozen=True)
class Foreign:
    """A machine that LIBSVM has fitted.

    Attributes
    ----------
    machine : str
        As a certificate of mercer would call it.
    settings : dict
        Parameters of its estimator: the name of the kernel, and what that needs.
    model : Model
    width : int
        The number of columns of new points.
    """

    machine: str
    settings: dict[str, Any]
    model: Model
    width: int


NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
WHOLE = re.compile(r"[+-]?\d{1,10}", re.ASCII)


@final
class _Reader:
    """The lines of a file, and errors that name them."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.at = 0
        try:
            self.lines = data.decode("ascii").split("\n")
        except UnicodeDecodeError as error:
            self.fail(f"Byte {error.start} is not a character of its text.")

    def fail(self, what: str) -> NoReturn:
        place = f"Line {self.at}: " if self.at else ""
        raise BadModelFile(
            f"{self.name} is not a LIBSVM model file, or is damaged.",
            f"{place}{what}",
            "It should come from svm-train, svm_save_model or mercer.to_libsvm.",
        )

    def number(self, text: str) -> float:
        value = float(text) if NUMBER.fullmatch(text) and len(text) <= 400 else np.nan
        if not np.isfinite(value):
            self.fail(f"{text[:40]!r} is not a finite number.")
        return value

    def whole(self, text: str, least: int, most: int) -> int:
        value = int(text) if WHOLE.fullmatch(text) else least - 1
        if not least <= value <= most:
            self.fail(f"{text[:40]!r} is not an integer from {least} to {most}.")
        return value


_Parse = Callable[[_Reader, str], Any]


def _count(reader: _Reader, text: str) -> int:
    return reader.whole(text, 0, LARGEST_INDEX)


def _label(reader: _Reader, text: str) -> int:
    return reader.whole(text, -(1 << 31), (1 << 31) - 1)


def _word(_reader: _Reader, text: str) -> str:
    return text


# The lines of a header: how a value is read, and whether there is exactly one.
HEADER: dict[str, tuple[_Parse, bool]] = {
    "svm_type": (_word, True),
    "kernel_type": (_word, True),
    "degree": (_count, True),
    "gamma": (_Reader.number, True),
    "coef0": (_Reader.number, True),
    "nr_class": (_count, True),
    "total_sv": (_count, True),
    "rho": (_Reader.number, False),
    "label": (_label, False),
    "probA": (_Reader.number, False),
    "probB": (_Reader.number, False),
    "prob_density_marks": (_Reader.number, False),
    "nr_sv": (_count, False),
}
# A kernel of LIBSVM -> its name in mercer, and the lines that it needs.
NAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "linear": ("linear", ()),
    "polynomial": ("poly", ("degree", "gamma", "coef0")),
    "rbf": ("rbf", ("gamma",)),
    "sigmoid": ("sigmoid", ("gamma", "coef0")),
    "precomputed": ("precomputed", ()),
}


def read_libsvm(path: Any, n_features: int | None = None) -> Foreign:
    """A model file of LIBSVM as a model of mercer; `mercer.from_libsvm` makes an estimator of it.

    Parameters
    ----------
    path : str, path or binary file
    n_features : int, optional
        The number of columns of new points, which the file does not say: zeros are left out of it.
    """
    data, name = _content(path)
    reader = _Reader(data, name)
    header = _read_header(reader)
    kind = header["svm_type"]
    k = header["nr_class"] if kind in CLASSIFIERS else 2
    settings, kernel = _kernel_of(reader, header)
    coef, rows = _read_vectors(reader, header["total_sv"], k - 1)
    basis, width = _basis(reader, rows, header["kernel_type"] == "precomputed", n_features)
    if kind not in CLASSIFIERS:
        model = Model(kernel, basis, coef, -np.array(header["rho"]))
        return Foreign(KINDS[kind], settings, model, width)
    sizes = header["nr_sv"]
    labels = np.array(header["label"], dtype=np.int64)
    A, B = (header.get(name) for name in ("probA", "probB"))
    slopes, shifts = (None, None) if A is None or B is None else (-np.array(A), -np.array(B))
    intercept = -np.array(header["rho"])
    if k == 2:
        # The classes are sorted, and a positive decision means the second, where LIBSVM's means the first.
        if labels[0] < labels[1]:
            coef, intercept, shifts = -coef, -intercept, None if shifts is None else -shifts
        else:
            order = np.concatenate([np.arange(sizes[0], sum(sizes)), np.arange(sizes[0])])
            coef, basis, sizes, labels = coef[order], basis.take(order), sizes[::-1], labels[::-1]
    layout = Pairs(np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp), slopes, shifts)
    model = Model(kernel, basis, coef + 0.0, intercept + 0.0, labels, pairs=layout)
    return Foreign(KINDS[kind], settings | ({} if slopes is None else {"probability": True}), model, width)


def _content(path: Any) -> tuple[bytes, str]:
    if isinstance(path, str | os.PathLike):
        place = Path(path)
        if place.exists() and not place.is_file():
            raise InvalidInput(f"{str(path)!r} is not a file.")
        if place.exists() and place.stat().st_size > LONGEST:
            raise BadModelFile(f"{str(path)!r} is too long for a model.", f"It has {place.stat().st_size} bytes.")
        return place.read_bytes(), repr(str(path))
    data = path if isinstance(path, bytes) else path.read()
    if not isinstance(data, bytes):
        raise InvalidInput("path must be the name of a file, or one that is open for reading bytes.", f"Got {path!r}.")
    return data, "The file"


def _read_header(reader: _Reader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for at, line in enumerate(reader.lines, 1):
        reader.at = at
        name, *values = line.split() or [""]
        if name == "SV":
            break
        if name not in HEADER:
            reader.fail(f"It begins with {name[:40]!r}, which is no name of a header.")
        if name in found:
            reader.fail(f"There is a second line {name!r}.")
        parse, is_single = HEADER[name]
        if is_single and len(values) != 1:
            reader.fail(f"{name} needs one value, got {len(values)}.")
        parsed = [parse(reader, value) for value in values]
        found[name] = parsed[0] if is_single else parsed
    else:
        reader.fail("There is no line 'SV'.")
    _check_header(reader, found)
    return found


def _check_header(reader: _Reader, header: dict[str, Any]) -> None:
    for name in ("svm_type", "kernel_type", "nr_class", "total_sv", "rho"):
        if name not in header:
            reader.fail(f"There is no line {name!r}.")
    for name, known in (("svm_type", KINDS), ("kernel_type", NAMES)):
        if header[name] not in known:
            reader.fail(f"{name} is {header[name][:40]!r}; known are {', '.join(known)}.")
    if header["svm_type"] not in CLASSIFIERS:
        return _check_lengths(reader, header, {"rho": 1})
    k = header["nr_class"]
    if k < 2:
        reader.fail(f"A classifier has two classes or more, got {k}.")
    for name in ("label", "nr_sv"):
        if name not in header:
            reader.fail(f"There is no line {name!r}.")
    P = k * (k - 1) // 2
    _check_lengths(reader, header, {"rho": P, "label": k, "nr_sv": k, "probA": P, "probB": P})
    if ("probA" in header) != ("probB" in header):
        reader.fail("Of probA and probB there is only one.")
    if len(set(header["label"])) < k:
        reader.fail("A label stands there twice.")
    if sum(header["nr_sv"]) != header["total_sv"]:
        reader.fail(f"nr_sv has a sum of {sum(header['nr_sv'])}, and total_sv is {header['total_sv']}.")
    return None


def _check_lengths(reader: _Reader, header: dict[str, Any], lengths: dict[str, int]) -> None:
    for name, length in lengths.items():
        if name in header and len(header[name]) != length:
            reader.fail(f"{name} needs {length} values, got {len(header[name])}.")


def _kernel_of(reader: _Reader, header: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    name, needs = NAMES[header["kernel_type"]]
    for line in needs:
        if line not in header:
            reader.fail(f"A kernel {header['kernel_type']!r} needs the line {line!r}.")
    settings = {line: header[line] for line in needs}
    try:
        return {"kernel": name, **settings}, named(name, **settings)
    except MercerError as error:
        reader.fail(f"Its kernel is none of mercer's: {str(error).splitlines()[0]}")


_Row = tuple[list[int], list[float]]


def _read_vectors(reader: _Reader, n: int, t: int) -> tuple[Array, list[_Row]]:
    lines = reader.lines[reader.at :]
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) != n:
        reader.fail(f"total_sv is {n}, and {len(lines)} lines follow.")
    coef: list[list[float]] = []  # no array of n × t before there are so many numbers
    rows: list[_Row] = []
    for line in lines:
        reader.at += 1
        texts = line.split()
        if len(texts) < t:
            reader.fail(f"It needs {t} coefficients, got {len(texts)} values.")
        coef.append([reader.number(text) for text in texts[:t]])
        rows.append(_entries(reader, texts[t:]))
    return np.array(coef, dtype=np.float64).reshape(n, t), rows


def _entries(reader: _Reader, texts: list[str]) -> _Row:
    columns: list[int] = []
    values: list[float] = []
    for text in texts:
        index, colon, value = text.partition(":")
        if not colon:
            reader.fail(f"{text[:40]!r} is not index:value.")
        column = reader.whole(index, 0, LARGEST_INDEX)
        if columns and column <= columns[-1]:
            reader.fail(f"The index {column} stands behind {columns[-1]}; they ascend.")
        columns.append(column)
        values.append(reader.number(value))
    return columns, values


def _basis(reader: _Reader, rows: list[_Row], is_stored: bool, n_features: int | None) -> tuple[Points, int]:
    if is_stored:
        for columns, values in rows:
            if columns[:1] != [0] or not values[0].is_integer() or not 1 <= values[0] <= LARGEST_INDEX:
                reader.fail(
                    "Of a precomputed kernel a support vector is 0:i, with the number i ≥ 1 of its training row."
                )
        places = np.array([int(values[0]) - 1 for _, values in rows], dtype=np.int64)
        width = _width(int(places.max(initial=-1)) + 1, n_features)
        return Places(places, width), width
    if any(columns[:1] == [0] for columns, _ in rows):
        reader.fail("The indices of columns count from 1, got 0.")
    width = _width(max((columns[-1] for columns, _ in rows if columns), default=0), n_features)
    offsets = np.concatenate([[0], np.cumsum([len(columns) for columns, _ in rows], dtype=np.int64)])
    places = np.array([column - 1 for columns, _ in rows for column in columns], dtype=np.int32)
    entries = np.array([value for _, values in rows for value in values], dtype=np.float64)
    if not rows:  # points are never none: one is read, and dropped
        return Vectors(sp.csr_array((1, width))).take(slice(0, 0)), width
    return Vectors(sp.csr_array((entries, places, offsets), shape=(len(rows), width))), width


def _width(found: int, n_features: int | None) -> int:
    if n_features is None:
        return max(found, 1)
    if type(n_features) is not int or not found <= n_features <= LARGEST_INDEX:
        raise InvalidInput(
            "n_features is the number of columns of new points.",
            f"Got {n_features!r}, and the file has the column {found}.",
        )
    return n_features
