"""How a text table is written: its encoding, what parts its fields, whether it has a header."""

import codecs
import csv
import io
import re
from dataclasses import dataclass
from typing import final

from mercer.cli.outcome import BadData

__all__ = ["Dialect", "find_dialect", "is_number", "number_of"]

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
SEPARATORS = ",;\t|"
# Lines that are looked at.
LOOKED_AT = 100
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
# A point that begins decimals; after one to three digits and before three it may part thousands.
DECIMAL_POINT = re.compile(r"[+-]?(\d*\.\d{1,2}|\d*\.\d{4,}|\d{4,}\.\d+|\.\d+)([eE][+-]?\d+)?")
# By the sign that begins decimals: numbers whose thousands are parted by the other one.
GROUPED = {
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?"),
}
# What stands for a missing value.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "#n/a", "?", "-", "."})


@final
@dataclass(frozen=True)
class Dialect:
    """How to read a text table.

    Attributes
    ----------
    encoding : str
    separator : str
    decimal : str
        "." or ",".
    names : tuple of str
        Of the columns; x1, x2, … where there is no header.
    has_header : bool
    notes : tuple of str
        What was concluded and may surprise.
    """

    encoding: str
    separator: str
    decimal: str
    names: tuple[str, ...]
    has_header: bool
    notes: tuple[str, ...]


def find_dialect(
    sample: bytes,
    *,
    is_whole: bool,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Dialect:
    r"""Find out how a table is written from its first bytes; what is given is not questioned.

    Examples
    --------
    >>> found = find_dialect(b"a;b\n1,5;x\n2,5;y\n", is_whole=True)
    >>> found.separator, found.decimal, found.names
    (';', ',', ('a', 'b'))
    """
    notes: list[str] = []
    coding = encoding or _encoding(sample, notes)
    lines = _lines(sample, coding, is_whole)
    if not lines:
        raise BadData("There are no rows to read.", "The data is empty.")
    parted = separator or _separator(lines)
    rows = [row for row in csv.reader(lines, delimiter=parted, skipinitialspace=True) if row]
    decimal = "," if parted != "," and _has_decimal_commas(rows) else "."
    if separator is None and parted != ",":
        comma = ", and decimals begin with a comma" if decimal == "," else ""
        notes.append(f"fields are parted by {parted!r}{comma}")
    has_header = _has_header(rows, decimal) if header is None else header
    if has_header:
        names = _distinct([name.strip() for name in rows[0]], notes)
    else:
        names = tuple(f"x{j + 1}" for j in range(len(rows[0])))
        if header is None:
            notes.append(f"the first line holds values, not names: the columns are called x1 to x{len(names)}")
    return Dialect(coding, parted, decimal, names, has_header, tuple(notes))


def _encoding(sample: bytes, notes: list[str]) -> str:
    for mark, name in BYTE_ORDER_MARKS.items():
        if sample.startswith(mark):
            return name
    if b"\0" in sample[:4096]:
        raise BadData(
            "The data is not text.",
            "It has zero bytes.",
            "Say what it is with --format, or its --encoding if it is text.",
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        notes.append("the text is not UTF-8 and was read as Windows-1252 (Latin-1); --encoding says otherwise")
        return "cp1252"
    return "utf-8"


def _lines(sample: bytes, encoding: str, is_whole: bool) -> list[str]:
    try:
        text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(sample)
    except LookupError:
        raise BadData(f"There is no encoding {encoding!r}.", "", "Try utf-8, cp1252, latin-1 or utf-16.") from None
    lines = text.splitlines(keepends=True)
    if not is_whole and len(lines) > 1:
        lines = lines[:-1]  # the last one is cut off
    return [line for line in lines if line.strip()][:LOOKED_AT]


def _separator(lines: list[str]) -> str:
    """The one that makes most lines equally wide, and wide at all."""

    def fit(separator: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(io.StringIO("".join(lines)), delimiter=separator) if row]
        usual = max(set(widths), key=widths.count)
        return (widths.count(usual) / len(widths) if usual > 1 else 0.0, usual)

    best = max(SEPARATORS, key=fit)
    return best if fit(best)[1] > 1 else ","


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell.strip() for row in rows[1:] for cell in row]
    return any(map(DECIMAL_COMMA.fullmatch, cells)) and not any(map(DECIMAL_POINT.fullmatch, cells))


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Names are texts: a first line with a number above numbers, and no text above numbers, holds values."""
    first, rest = rows[0], rows[1:11]
    if not rest:
        return not any(is_number(cell, decimal) for cell in first)
    above = [
        is_number(cell, decimal)
        for j, cell in enumerate(first)
        if all(is_number(row[j], decimal) or is_missing(row[j]) for row in rest if j < len(row))
    ]
    return not (any(above) and all(above))


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a text is a number.

    Examples
    --------
    >>> is_number(" 1e-3 "), is_number("1,5", ","), is_number("1_000"), is_number("a")
    (True, True, False, False)
    """
    return number_of(text, decimal) is not None


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number that a text is, with thousands parted or not; None where it is none.

    Examples
    --------
    >>> number_of("1.234,5", ","), number_of("1,234.5"), number_of("1,23")
    (1234.5, 1234.5, None)
    """
    plain = text.strip()
    if GROUPED[decimal].fullmatch(plain):
        plain = plain.replace("," if decimal == "." else ".", "")
    try:
        return None if "_" in plain else float(plain.replace(decimal, "."))
    except ValueError:
        return None


def is_missing(text: str) -> bool:
    """Whether a text stands for a missing value."""
    return text.strip().lower() in MISSING


def _distinct(names: list[str], notes: list[str]) -> tuple[str, ...]:
    """The names of a header, the second of two equal ones with a number."""
    found: dict[str, None] = {}
    for j, name in enumerate(names):
        wanted = name or f"column {j + 1}"
        chosen = wanted
        count = 1
        while chosen in found:
            chosen = f"{wanted}.{count}"
            count += 1
        if chosen != name:
            problem = f"two columns are named {name!r}" if name else f"column {j + 1} has no name"
            notes.append(f"{problem}; this one is called {chosen!r} here")
        found[chosen] = None
    return tuple(found)
