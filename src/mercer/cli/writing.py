"""How answers are written: CSV, TSV or JSON lines, as bytes that come piece by piece."""

import csv
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy.typing as npt

from mercer.cli.outcome import WrongUse
from mercer.cli.printing import as_json

__all__ = ["CSV", "Block", "Style", "style_of", "written"]

# Names, and a column of values for each.
Block = tuple[list[str], list[npt.NDArray[Any]]]
GZIP_WINDOW = zlib.MAX_WBITS | 16


@final
@dataclass(frozen=True)
class Style:
    """How rows are written."""

    separator: str = ","
    is_json: bool = False
    is_packed: bool = False


CSV = Style()
STYLES = {".csv": CSV, ".tsv": Style("\t"), ".jsonl": Style(is_json=True)}


def style_of(path: Path) -> Style:
    """The style that the name of a file asks for."""
    is_packed = path.suffix.lower() == ".gz"
    ending = Path(path.stem).suffix if is_packed else path.suffix
    style = STYLES.get(ending.lower())
    if style is None:
        names = ", ".join(STYLES)
        raise WrongUse(f"Answers cannot be written as {path.name}.", "", f"Name the file {names}, or these with .gz.")
    return Style(style.separator, style.is_json, is_packed)


def written(blocks: Iterable[Block], style: Style) -> Iterator[bytes]:
    r"""The bytes of a file.

    Examples
    --------
    >>> import numpy as np
    >>> block = ["id", "prediction"], [np.array([1, 2]), np.array(["a", "b, c"])]
    >>> b"".join(written([block], CSV))
    b'id,prediction\n1,a\n2,"b, c"\n'
    """
    texts = _json_lines(blocks) if style.is_json else _lines(blocks, style.separator)
    if not style.is_packed:
        yield from (text.encode() for text in texts)
        return
    packer = zlib.compressobj(wbits=GZIP_WINDOW)
    for text in texts:
        yield packer.compress(text.encode())
    yield packer.flush()


def _lines(blocks: Iterable[Block], separator: str) -> Iterator[str]:
    for count, (names, columns) in enumerate(blocks):
        text = io.StringIO(newline="")
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        if count == 0:
            writer.writerow(names)
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
        yield text.getvalue()


def _json_lines(blocks: Iterable[Block]) -> Iterator[str]:
    for names, columns in blocks:
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield "".join(
            json.dumps(as_json(dict(zip(names, row, strict=True))), ensure_ascii=False, allow_nan=False) + "\n"
            for row in rows
        )
