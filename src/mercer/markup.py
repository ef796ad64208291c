"""Markup: elements of HTML whose text is escaped unless it is markup already, so that no data can become code."""

import html
import re
from typing import final

__all__ = ["Markup", "element", "escaped", "joined"]

# Control characters and lone surrogates are not allowed in HTML; marks of direction could turn the text around a name.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
VOID = frozenset({"br", "hr", "img", "meta"})


@final
class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *children: str | None, **attributes: str | int | None) -> Markup:
    """An element with its children; a text that is not `Markup` is escaped, and None is left out.

    Attributes are written with ``_`` for ``-``, and ``class_`` for ``class``.

    Examples
    --------
    >>> element("td", "<script>", class_="name", title='a "b"')
    '<td class="name" title="a &quot;b&quot;">&lt;script&gt;</td>'
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*parts: str | None) -> Markup:
    """Parts one after the other, each escaped unless it is markup."""
    return Markup("".join(part if isinstance(part, Markup) else escaped(part) for part in parts if part is not None))


def escaped(text: str) -> str:
    """A text as it stands in HTML, in which some characters cannot stand."""
    return html.escape(_UNFIT.sub("\N{REPLACEMENT CHARACTER}", text))
