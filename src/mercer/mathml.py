"""MathML: mathematics in one line as the elements that browsers set, and the few forms that need two dimensions.

`line` turns a template of one-line mathematics into one of MathML, with its fields as they were: ``{psi:2}/ℓ²`` becomes
``{psi:2}<mo>/</mo><msup><mi>ℓ</mi><mn>2</mn></msup>``. `fraction`, `power`, `root` and the others join such templates.
"""

import re
from functools import lru_cache
from itertools import groupby

from mercer.markup import Markup, escaped

__all__ = [
    "called", "fenced", "flow", "fraction", "line", "number", "over", "power", "root", "row", "subscript", "whole",
    "words",
]  # fmt: skip

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
FUNCTIONS = frozenset({"exp", "log", "min", "max", "sin", "cos", "tanh"})
SUPERSCRIPTS = {"²": "<mn>2</mn>", "³": "<mn>3</mn>", "ⁿ": "<mi>n</mi>", "ᵀ": "<mo>⊤</mo>"}
SUBSCRIPTS = {"ₙ": "<mi>n</mi>", **{mark: f"<mn>{digit}</mn>" for digit, mark in enumerate("₀₁₂₃₄₅₆₇₈₉")}}
OPERATORS = {"Σ": "∑", "·": "⋅", "-": "−"}
_TAG = re.compile(r"<(/?)(\w+)[^>]*>")
_FIELD = r"\{[^{}]*\}"
_MARK = "[²³ⁿᵀₙ₀-₉]"
_LETTER = rf"(?!{_MARK})[^\W\d_]"
_TOKEN = re.compile(
    rf"""
    (?P<field>{_FIELD}|@)
  | (?P<words>(?:{_LETTER}){{2,}}(?:[ ](?:(?:{_LETTER}){{2,}}|a(?=[ ](?:{_LETTER}){{2}})))*)
  | (?P<number>\d+(?:\.\d+)?)
  | (?P<mark>{_MARK})
  | (?P<script>[\^_])
  | (?P<space>\s+)
  | (?P<letter>{_LETTER})
  | (?P<other>.)
    """,
    re.VERBOSE,
)


def words(text: str) -> str:
    """Any words, shown as they are."""
    return f"<mtext>{escaped(text)}</mtext>"


def row(*parts: str) -> str:
    """Parts beside each other, as one."""
    return f"<mrow>{''.join(parts)}</mrow>"


def fraction(above: str, below: str) -> str:
    """A fraction of two templates of one-line mathematics or MathML."""
    return f"<mfrac>{row(line(above))}{row(line(below))}</mfrac>"


def power(base: str, exponent: str) -> str:
    """A base with its exponent."""
    return f"<msup>{row(line(base))}{row(line(exponent))}</msup>"


def subscript(base: str, index: str) -> str:
    """A base with its index."""
    return f"<msub>{row(line(base))}{row(line(index))}</msub>"


def root(inner: str) -> str:
    """A square root."""
    return f"<msqrt>{line(inner)}</msqrt>"


def over(index: str) -> str:
    """The sign of a sum over an index."""
    return f"<munder><mo>∑</mo>{line(index)}</munder>"


def fenced(left: str, inner: str, right: str) -> str:
    """What stands between two brackets or bars."""
    return row(f'<mo form="prefix">{left}</mo>', row(line(inner)), f'<mo form="postfix">{right}</mo>')


def called(function: str, inner: str) -> str:
    """A function of what stands in its brackets."""
    return f"<mi>{function}</mi><mo>&#8289;</mo>{fenced('(', inner, ')')}"


def number(short: str) -> str:
    """A number as Python writes it, with its power of ten."""
    mantissa, _, exponent = short.partition("e")
    sign, digits = ('<mo form="prefix">−</mo>', mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    written = f"{sign}<mn>{escaped(digits)}</mn>"
    if exponent:
        written += f"<mo>⋅</mo><msup><mn>10</mn><mn>{str(int(exponent)).replace('-', '−')}</mn></msup>"
    return row(written) if sign or exponent else written


def whole(written: str, *, block: bool = False) -> str:
    """A formula as an element of a page."""
    display = ' display="block"' if block else ""
    return f'<math xmlns="{NAMESPACE}"{display}>{row(written)}</math>'


def flow(written: str) -> Markup:
    """A formula with words in it, for a running text: the words can break into lines, which mathematics cannot.

    Examples
    --------
    >>> flow(line("c = {x}, checked")).count("<math"), flow("<mtext>because</mtext>")
    (1, 'because')
    """
    parts, depth, start = [], 0, 0
    for match in _TAG.finditer(written):
        if depth == 0:
            start = match.start()
        depth += -1 if match[1] else 1
        if depth == 0:
            parts.append((match[2] == "mtext", written[start : match.end()]))
    found = []
    for is_words, group in groupby(parts, key=lambda part: part[0]):
        inner = "".join(part for _, part in group)
        found.append(_TAG.sub("", inner).replace("\N{NO-BREAK SPACE}", " ") if is_words else whole(inner))
    return Markup("".join(found))


@lru_cache(maxsize=1024)
def line(template: str) -> str:
    """A template of one-line mathematics as a template of MathML; what is MathML already stays as it is.

    Examples
    --------
    >>> line("c = {scale} ≥ 0")
    '<mi>c</mi><mo>=</mo>{scale}<mo>≥</mo><mn>0</mn>'
    >>> line("2{length_scale:?·@²}")
    '<mn>2</mn>{length_scale:?<mo>⋅</mo><msup>@<mn>2</mn></msup>}'
    """
    if template.startswith("<"):
        return template
    found: list[str] = []
    script = ""
    opened = 0
    for match in _TOKEN.finditer(template):
        kind, token = str(match.lastgroup), match.group()
        if kind == "space":
            continue
        if kind == "script":
            script = "msup" if token == "^" else "msub"
            continue
        if kind == "mark":
            table, tag = (SUPERSCRIPTS, "msup") if token in SUPERSCRIPTS else (SUBSCRIPTS, "msub")
            found[-1:] = [f"<{tag}>{_single(found[-1])}{table[token]}</{tag}>"] if found else [table[token]]
            continue
        written, opened = _WRITTEN[kind](token, opened)
        if script:
            written, script = f"<{script}>{_single(found.pop())}{_single(written)}</{script}>", ""
        found.append(written)
    return "".join(found)


def _single(written: str) -> str:
    """One element, as scripts need it; a field may become several."""
    return row(written) if written.startswith("{") else written


def _field(token: str, opened: int) -> tuple[str, int]:
    name, _, spec = token.strip("{}").partition(":")
    if spec.startswith("?"):  # a factor that is left out where it is 1
        return f"{{{name}:?{line(spec[1:])}}}", opened
    level, bar, separator = spec.partition("|")
    return (f"{{{name}:{level}|{line(separator)}}}" if bar else token), opened


def _words(token: str, opened: int) -> tuple[str, int]:
    if token in FUNCTIONS:
        return f"<mi>{token}</mi>", opened
    return words(f"\N{NO-BREAK SPACE}{token}\N{NO-BREAK SPACE}"), opened


def _other(token: str, opened: int) -> tuple[str, int]:
    sign = escaped(OPERATORS.get(token, token))
    if token in "‖|":  # bars open and close by turns
        return f'<mo form="{"postfix" if opened % 2 else "prefix"}">{sign}</mo>', opened + 1
    if token == "/":
        return '<mo lspace="0" rspace="0">/</mo>', opened
    return f"<mo>{sign}</mo>", opened


_WRITTEN = {
    "field": _field,
    "words": _words,
    "number": lambda token, opened: (f"<mn>{token}</mn>", opened),
    "letter": lambda token, opened: (
        f"<mo>{OPERATORS[token]}</mo>" if token in OPERATORS else f"<mi>{token}</mi>",
        opened,
    ),
    "other": _other,
}
