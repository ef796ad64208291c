"""Numbers and tables as the page shows them."""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mercer.markup import Markup, element, joined

__all__ = ["callout", "count", "facts", "label", "number", "paragraph", "per_cent", "sketch", "table"]

# A label of the user's that is longer is cut.
LONGEST = 60
BINS = 16
WIDTH, HEIGHT = 96, 24


def count(n: int) -> str:
    """A number of things, in groups of three digits.

    >>> count(1234567).replace(chr(0x202F), " ")
    '1 234 567'
    """
    return f"{n:,}".replace(",", "\u202f")


def number(value: float, digits: int = 4) -> str:
    """A number for people.

    >>> number(-0.000012345), number(123456.0), number(float("nan"))
    ('−1.234e−05', '123456', '–')
    """
    if math.isnan(value):
        return "–"
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value)}".replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


def per_cent(share: float) -> str:
    """A share of one."""
    return f"{100.0 * share:.1f} %"


def label(value: object) -> str:
    """A name or value of the user's, in one line that is not too long."""
    text = " ".join(str(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def paragraph(*parts: str | None) -> Markup:
    """A paragraph."""
    return element("p", *parts)


def callout(kind: str, *parts: str | None) -> Markup:
    """A paragraph that is meant to be seen: "good", "warning" or "note"."""
    return element("p", *parts, class_=f"callout {kind}")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str, numeric: Sequence[int] = ()) -> Markup:
    """A table whose first column names the rows; the numbers in some columns stand under each other.

    The last cell of a row that is too short takes the rest of its width.
    """
    first = [
        element("th", words, scope="col", class_="number" if j in numeric else None) for j, words in enumerate(heads)
    ]
    body = [element("tr", element("th", cells[0], scope="row"), *_cells(cells, len(heads), numeric)) for cells in rows]
    made = element(
        "table", element("caption", caption), element("thead", element("tr", *first)), element("tbody", *body)
    )
    return element("div", made, class_="wide", role="region", aria_label=caption, tabindex=0)


def _cells(cells: Sequence[str], width: int, numeric: Sequence[int]) -> Iterator[Markup]:
    for j, cell in enumerate(cells[1:], 1):
        if j == len(cells) - 1 and len(cells) < width:
            yield element("td", cell, colspan=width - j)
        else:
            yield element("td", cell, class_="number" if j in numeric else None)


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """Names with their values."""
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in pairs), class_="facts"
    )


def sketch(values: npt.NDArray[np.float64]) -> Markup:
    """A small histogram, for the eye alone: the numbers beside it say the same."""
    known = values[np.isfinite(values)]
    if not known.size or known.min() == known.max():
        return Markup("")
    with np.errstate(over="ignore", invalid="ignore"):
        unit = (known / 2 - known.min() / 2) / (known.max() / 2 - known.min() / 2)  # halves cannot overflow
    counts = np.bincount(np.clip((unit * BINS).astype(np.intp), 0, BINS - 1), minlength=BINS)
    step = WIDTH / BINS
    bars = [
        element("rect", x=f"{i * step:g}", y=f"{HEIGHT - height:g}", width=f"{step - 1:g}", height=f"{height:g}")
        for i, height in enumerate(np.round(HEIGHT * counts / counts.max(), 1).tolist())
        if height
    ]
    return element(
        "svg",
        joined(*bars),
        class_="sketch",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=WIDTH,
        height=HEIGHT,
        aria_hidden="true",
    )
