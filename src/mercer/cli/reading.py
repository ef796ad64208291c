"""Reading data files: a table of formats, each read whole or in pieces of bounded size."""

import bz2
import difflib
import gzip
import io
import json
import lzma
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from mercer.cli.dialect import MISSING, Dialect, find_dialect
from mercer.cli.outcome import BadData, WrongUse
from mercer.errors import shown

__all__ = ["FORMATS", "STDIN", "Piece", "Source", "nearest"]

STDIN = "-"
# Bytes of a text table that are looked at to see how it is written.
SAMPLE_BYTES = 1 << 20
LABEL = "label"

COMPRESSIONS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
COMPRESSED = (".gz", ".bz2", ".xz")


@final
@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a file: a table, or a sparse matrix with its labels.

    Attributes
    ----------
    frame : DataFrame or None
        Texts as they were written, or typed columns where the format has types.
    matrix : CSR matrix or None
        Where the format is sparse.
    labels : ndarray or None
        Of a sparse format that holds them.
    """

    frame: pd.DataFrame | None = None
    matrix: Any = None
    labels: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.matrix.shape[0]) if self.frame is None else len(self.frame)


@final
@dataclass(eq=False)
class Source:
    """A data file, or standard input, and what was typed about how to read it.

    Attributes
    ----------
    path : str
        "-" is standard input.
    format : str or None
        A row of `FORMATS`; None goes by the name.
    separator, encoding, header
        Of text tables; None finds out.
    width, first : int or None
        Of a sparse format, how many columns there are, and the number of the first, 0 or 1; None finds out.
    notes : list of str
        What was concluded while reading.
    """

    path: str
    format: str | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    width: int | None = None
    first: int | None = None
    notes: list[str] = field(default_factory=list)
    decimal: str = "."

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise WrongUse(f"There is no format {self.format!r}.", "", f"They are {', '.join(FORMATS)}.")
        if self.separator is not None:
            self.separator = {"\\t": "\t", "tab": "\t", "space": " "}.get(self.separator, self.separator)
            if len(self.separator) != 1:
                raise WrongUse("--sep takes one character.", f"Got {self.separator!r}.", "Try --sep ';' or --sep tab.")

    @property
    def name(self) -> str:
        """The file as messages call it."""
        return "standard input" if self.path == STDIN else self.path

    @property
    def kind(self) -> "Format":
        """The row of the table of formats."""
        if self.format is not None:
            return FORMATS[self.format]
        if self.path == STDIN:
            return FORMATS["csv"]
        path = Path(self.path)
        ending = Path(path.stem).suffix if path.suffix.lower() in COMPRESSED else path.suffix
        found = [row for row in FORMATS.values() if ending.lower() in row.endings]
        if not found and ending:
            self.notes.append(f"files named *{ending} are not known, so it was read as CSV; --format says otherwise")
        return found[0] if found else FORMATS["csv"]

    def whole(self) -> Piece:
        """All rows."""
        pieces = list(self.pieces(None))
        if not pieces or not len(pieces[0]):
            raise BadData(f"{self.name} holds no rows.")
        return pieces[0]

    def pieces(self, rows: int | None) -> Iterator[Piece]:
        """The rows, so many at a time; None is all at once."""
        try:
            yield from self.kind.read(self, rows)
        except FileNotFoundError:
            raise BadData(f"There is no file {self.path}.", "", _similar(Path(self.path))) from None
        except IsADirectoryError:
            raise BadData(f"{self.path} is a folder.", "", "Name a file in it.") from None
        except PermissionError:
            raise BadData(f"{self.path} may not be read.", "You have no permission.") from None
        except (gzip.BadGzipFile, lzma.LZMAError, EOFError, zipfile.BadZipFile) as error:
            raise BadData(f"{self.name} is broken: its compression ends early or is not valid.", f"{error}.") from None
        except pd.errors.EmptyDataError:
            raise BadData(f"{self.name} is empty.") from None

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes, unpacked."""
        with ExitStack() as stack:
            raw: Any = _standard_input() if self.path == STDIN else stack.enter_context(Path(self.path).open("rb"))
            start = raw.peek(6)[:6]
            unpack = next((unpack for magic, unpack in COMPRESSIONS.items() if start.startswith(magic)), None)
            yield raw if unpack is None else stack.enter_context(unpack(raw))

    @contextmanager
    def seekable(self) -> Iterator[IO[bytes]]:
        """The same where a format reads from the end: what comes in a stream is kept in memory."""
        with self.opened() as stream:
            is_file = isinstance(stream, io.BufferedReader) and self.path != STDIN
            yield stream if is_file else io.BytesIO(stream.read())


def _standard_input() -> io.BufferedReader:
    stream: Any = sys.stdin.buffer
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)


def _text_table(source: Source, rows: int | None) -> Iterator[Piece]:
    with source.opened() as stream:
        sample = _first(source, stream)
        dialect = find_dialect(
            sample,
            is_whole=len(sample) < SAMPLE_BYTES,
            separator=source.separator or source.kind.separator,
            encoding=source.encoding,
            header=source.header,
        )
        source.notes.extend(note for note in dialect.notes if note not in source.notes)
        source.decimal = dialect.decimal
        yield from _parsed(source, io.BufferedReader(_Rejoined(sample, stream)), dialect, rows)


def _parsed(source: Source, stream: Any, dialect: Dialect, rows: int | None) -> Iterator[Piece]:
    reader: Any = None
    try:
        # Texts first: what a column holds is decided by its whole content, and zeros in front are kept.
        reader = pd.read_csv(
            stream, sep=dialect.separator, encoding=dialect.encoding, names=list(dialect.names),
            header=0 if dialect.has_header else None, dtype=str, index_col=False, chunksize=rows or sys.maxsize,
            skipinitialspace=True, keep_default_na=False, na_values=[], on_bad_lines="error", low_memory=False,
        )  # fmt: skip
        while (chunk := _next(reader)) is not None:
            yield Piece(_without_missing(chunk))
    except pd.errors.ParserError as error:
        raise BadData(f"{source.name} is not a regular table.", _said(error), "Mend the line, or give --sep.") from None
    except UnicodeDecodeError as error:
        raise BadData(f"{source.name} is not {dialect.encoding} text.", f"{error}.", "Try --encoding cp1252.") from None
    except pd.errors.ParserWarning as error:
        raise BadData(
            f"{source.name} has lines with more fields than there are names.", f"{error}", "Mend the lines."
        ) from None
    finally:
        if reader is not None:
            reader.close()


def _next(reader: Any) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # fields would be lost
        return next(reader, None)


def _said(error: Exception) -> str:
    """The parser's own words, without where in it they were said."""
    return str(error).removeprefix("Error tokenizing data. C error: ").strip()


def _without_missing(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {}
    for name in frame.columns:
        values = frame[name].to_numpy(object)
        columns[name] = [None if not isinstance(v, str) or v.strip().lower() in MISSING else v.strip() for v in values]
    return pd.DataFrame(columns, dtype=object)


class _Rejoined(io.RawIOBase):
    """The bytes that were looked at, then the rest."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start = memoryview(start)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = bytes(self._start[: len(buffer)]) or self._rest.read(len(buffer))
        self._start = self._start[len(part) :] if self._start else self._start
        buffer[: len(part)] = part
        return len(part)


def _first(source: Source, stream: IO[bytes]) -> bytes:
    """The first bytes, as many as are looked at."""
    parts: list[bytes] = []
    size = 0
    while size < SAMPLE_BYTES and (part := stream.read(SAMPLE_BYTES - size)):
        parts.append(part)
        size += len(part)
    sample = b"".join(parts)
    if not sample.strip():
        raise BadData(f"{source.name} is empty.")
    return sample


def _json_lines(source: Source, rows: int | None) -> Iterator[Piece]:
    with source.opened() as stream:
        sample = _first(source, stream)
        rejoined = io.BufferedReader(_Rejoined(sample, stream))
        try:
            text = io.TextIOWrapper(rejoined, encoding=source.encoding or "utf-8-sig")
            is_list = sample.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
            records = iter(json.load(text)) if is_list else (json.loads(line) for line in text if line.strip())
            while batch := list(islice(records, rows)):
                wrong = next((record for record in batch if not isinstance(record, dict)), None)
                if wrong is not None:
                    raise ValueError(f"{shown(wrong)} is not an object")
                yield Piece(pd.DataFrame(batch))
        except (ValueError, RecursionError) as error:
            raise BadData(f"{source.name} is not JSON lines: one object a line.", f"{error}.") from None


def _parquet(source: Source, rows: int | None) -> Iterator[Piece]:
    try:
        import pyarrow as pa  # noqa: PLC0415 (an optional dependency)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ModuleNotFoundError:
        raise BadData(
            "Parquet files need pyarrow, which is not installed.",
            "",
            "Install it: pip install 'mercer-kernels[tables]'",
        ) from None
    try:
        with source.seekable() as stream, pq.ParquetFile(stream) as file:
            if rows is None:
                yield Piece(file.read().to_pandas())
            else:
                for batch in file.iter_batches(batch_size=rows):
                    yield Piece(batch.to_pandas())
    except pa.ArrowException as error:
        raise BadData(f"{source.name} is not a Parquet file.", f"{error}") from None


def _libsvm(source: Source, rows: int | None) -> Iterator[Piece]:
    lines: list[bytes] = []
    with source.opened() as stream:
        for line in stream:
            if line.strip() and not line.lstrip().startswith(b"#"):
                lines.append(line)
            if rows is not None and len(lines) == rows:
                yield _of_lines(source, lines)
                lines = []
        if lines:
            yield _of_lines(source, lines)


def _of_lines(source: Source, lines: list[bytes]) -> Piece:
    has_0 = any(b" 0:" in line or b"\t0:" in line for line in lines)
    source.first = int(not has_0) if source.first is None else source.first
    try:
        if has_0 and source.first == 1:
            raise ValueError("a column has the number 0, where columns were counted from 1 before")
        text = io.BytesIO(b"".join(lines))
        matrix, labels = load_svmlight_file(text, n_features=source.width, zero_based=source.first == 0)
    except (ValueError, OverflowError) as error:
        wrong = f"{source.name} is not in LIBSVM's format, `label index:value index:value …`."
        raise BadData(wrong, f"{error}.") from None
    return Piece(matrix=matrix, labels=labels)


def _npz(source: Source, rows: int | None) -> Iterator[Piece]:
    try:
        with source.seekable() as stream:
            loaded = np.load(stream, allow_pickle=False)
            held = {"X": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except ValueError:
        raise BadData(
            f"{source.name} is not an archive of plain arrays.",
            "",
            "Write one with numpy.savez. Arrays of Python objects are not read: they could run code.",
        ) from None
    if {"data", "indices", "indptr", "shape"} <= set(held):
        matrix = sp.csr_matrix((held["data"], held["indices"], held["indptr"]), shape=tuple(held["shape"]))
        yield from (Piece(matrix=part) for part in _cut(matrix, rows))
        return
    yield from (Piece(part) for part in _cut(_arrays_as_frame(source, held), rows))


def _arrays_as_frame(source: Source, held: dict[str, Any]) -> pd.DataFrame:
    """The columns of a matrix are x1, x2, …; a vector is a column with the name of its array."""
    n = max((len(array) for array in held.values() if array.ndim), default=0)
    columns: dict[str, Any] = {}
    for name, array in held.items():
        if array.ndim == 2 and len(array) == n:
            prefix = "x" if name == "X" else f"{name}_"
            columns |= {f"{prefix}{j + 1}": array[:, j] for j in range(array.shape[1])}
        elif array.ndim == 1 and len(array) == n:
            columns[name] = array
        else:
            raise BadData(
                f"Array {name!r} of {source.name} does not fit the others.",
                f"Its shape is {array.shape}, and the longest array has {n} rows.",
                "Save a matrix X of shape (n, d), and a vector y of n entries.",
            )
    return pd.DataFrame(columns)


def _cut(whole: Any, rows: int | None) -> Iterator[Any]:
    n = whole.shape[0]
    step = rows or max(n, 1)
    for start in range(0, n, step):
        yield whole[start : start + step]


@final
@dataclass(frozen=True)
class Format:
    """One row: how files of a format are called and read."""

    endings: tuple[str, ...]
    read: Callable[[Source, int | None], Iterator[Piece]]
    separator: str | None = None
    target: str | None = None  # what its target is usually called


FORMATS: dict[str, Format] = {
    "csv": Format((".csv", ".txt", ".data", ".dat"), _text_table),
    "tsv": Format((".tsv", ".tab"), _text_table, "\t"),
    "parquet": Format((".parquet", ".pq"), _parquet),
    "jsonl": Format((".jsonl", ".ndjson", ".json"), _json_lines),
    "libsvm": Format((".libsvm", ".svmlight", ".svm"), _libsvm),
    "npz": Format((".npz", ".npy"), _npz, target="y"),
}


def nearest(name: str, names: Any, what: str = "columns") -> str:
    """What was probably meant, as a sentence; else what there is."""
    known = [str(other) for other in names]
    folded = {other.casefold().strip(): other for other in reversed(known)}
    close = difflib.get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.5)
    if close:
        return f"Did you mean {folded[close[0]]!r}?"
    shown = ", ".join(map(repr, known[:12])) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
    return f"The {what} are {shown}."


def _similar(path: Path) -> str:
    there = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, there, n=1)
    return f"Did you mean {path.parent / close[0]}?" if close else ""
