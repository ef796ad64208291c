"""Notation: how terms are written, as Python that reads back, as mathematics in one line, in LaTeX and in MathML.

A term says how it is written by templates over its fields; filling them is done here, once for all terms.
"""

import dataclasses
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from mercer.domains import comparable
from mercer.mathml import fenced, line, number, row, words

__all__ = [
    "ATOM", "POWER", "PRODUCT", "SUM", "Notation", "Operand", "Raw", "Style", "Writable", "apply_map", "fill",
    "function_name", "holds_terms", "render", "render_condition",
]  # fmt: skip

# How tightly a written expression binds; an operand that binds less than its place asks for is put in brackets.
SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4
# In MathML, of more entries only the first and the last are shown.
MANY = 6


class Style(Enum):
    """The four ways to write a term."""

    SOURCE = "source"  # Python that reads back
    TEXT = "text"  # mathematics in one line
    LATEX = "latex"
    MATHML = "mathml"


@final
@dataclass(frozen=True)
class Notation:
    """How a term is written: templates over its fields.

    ``{scale}`` is a field; ``{kernel:3}`` a child, in brackets when it binds less than level 3; ``{terms:1| + }`` a
    tuple joined by a separator; ``{x}`` and ``{z}`` the two points; ``{function.x}`` a function of one point at x.
    ``{scale:? / @^2}`` is a factor that is left out where it is 1: the rest of the specification, with the field for @.
    An empty ``source`` is the constructor call. ``bare`` is the source as a later operand of a sum. ``mathml`` is given
    only where it is more than the text in one line (`mercer.mathml`).
    """

    source: str = ""
    text: str = ""
    latex: str = ""
    source_level: int = ATOM
    level: int = ATOM
    bare: str = ""
    condition: str = ""  # the side condition of the node's rule, with its values
    condition_latex: str = ""
    mathml: str = ""
    condition_mathml: str = ""


@final
@dataclass(frozen=True)
class Raw:
    """Ready-made notation, for slots that are not fields."""

    text: str
    latex: str
    mathml: str = ""


class Operand(NamedTuple):
    """A written expression and how tightly it binds."""

    written: str
    level: int


class Writable:
    """What can be written: a dataclass with a notation."""

    notation: ClassVar[Notation] = Notation()
    spread: ClassVar[str] = ""  # the tuple field that a hand-written constructor takes as *args

    def writing(self) -> Notation:
        """The notation; overridden where it depends on the fields."""
        return self.notation

    def slot(self, name: str) -> Any:
        """What a template's ``{name}`` stands for."""
        return getattr(self, name)

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:  # noqa: ARG002
        """How the points are written inside this term's children."""
        return x, z


def holds_terms(value: object) -> bool:
    """Whether a value is a tuple of terms."""
    return isinstance(value, tuple) and bool(value) and all(isinstance(entry, Writable) for entry in value)


_PAIR = (Operand("x", ATOM), Operand("z", ATOM))
_PAIRS = {Style.MATHML: (Operand("<mi>x</mi>", ATOM), Operand("<mi>z</mi>", ATOM))}


_BRACKETS = {
    Style.LATEX: (r"\left(", r"\right)"),
    Style.MATHML: ('<mrow><mo form="prefix">(</mo>', '<mo form="postfix">)</mo></mrow>'),
}


def _pair(style: Style) -> tuple[Operand, Operand]:
    return _PAIRS.get(style, _PAIR)


def render(
    term: Writable,
    style: Style,
    points: tuple[Operand, Operand] | None = None,
    refer: Mapping[Writable, str] | None = None,
) -> Operand:
    """Write a term in a style; terms below it that are found in `refer` are written by that reference."""
    notation = term.writing()
    points = points or _pair(style)
    if style is Style.SOURCE:
        if not notation.source:
            return Operand(_constructor_call(term), ATOM)
        return Operand(_Writer(term, style, points, refer or {}).format(notation.source), notation.source_level)
    template = _template(style, notation.text, notation.latex, notation.mathml)
    if not template:
        return Operand(_applied(term, style, points), ATOM)
    return Operand(_Writer(term, style, points, refer or {}).format(template), notation.level)


def render_condition(term: Writable, style: Style, refer: Mapping[Writable, str]) -> str:
    """The side condition of a term's rule, with its values."""
    notation = term.writing()
    latex = notation.condition_latex or notation.condition
    template = _template(style, notation.condition, latex, notation.condition_mathml)
    return _Writer(term, style, _pair(style), refer).format(template)


def _template(style: Style, text: str, latex: str, given: str) -> str:
    if style is Style.MATHML:
        return line(given or text)
    return text if style is Style.TEXT else latex


def fill(template: str, term: Writable, style: Style, **slots: object) -> str:
    """A template filled from a term's slots, some of them replaced."""
    return _Writer(term, style, _pair(style), {}, slots).format(template)


def apply_map(term: Writable, style: Style, x: Operand) -> Operand:
    """The image of a point under a map, as written inside a formula."""
    return render(term, style, (x, x))


def _applied(term: Writable, style: Style, points: tuple[Operand, Operand]) -> str:
    """A term without its own notation, as a named function of its points."""
    arguments = ", ".join(dict.fromkeys(point.written for point in points))
    if style is Style.TEXT:
        return f"{_constructor_call(term)}({arguments})"
    if style is Style.MATHML:
        return row(words(type(term).__name__), f"<mo>(</mo>{arguments}<mo>)</mo>")
    return rf"\mathrm{{{type(term).__name__}}}({arguments})"


def _constructor_call(term: Writable) -> str:
    arguments: list[str] = []
    positional = True
    for field in dataclasses.fields(term):  # type: ignore[arg-type]  # every term is a dataclass
        value = getattr(term, field.name)
        if field.default is not dataclasses.MISSING and comparable(value) == comparable(field.default):
            positional = False
            continue
        if field.name == term.spread:
            arguments.extend(_write_value(entry, Style.SOURCE) for entry in value)
            continue
        written = _write_value(value, Style.SOURCE)
        arguments.append(written if positional else f"{field.name}={written}")
    return f"{type(term).__name__}({', '.join(arguments)})"


def _write_number(value: float, style: Style) -> str:
    if style is Style.SOURCE:
        return repr(value)
    short = f"{value:.6g}"
    if style is Style.MATHML:
        return number(short)
    if style is Style.LATEX and "e" in short:
        mantissa, _, exponent = short.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return short.replace("-", "−") if style is Style.TEXT else short


def _write_array(value: Any, style: Style) -> str:
    if not isinstance(value, list):
        return _write_number(float(value), style)
    entries = [_write_array(entry, style) for entry in value]
    if style is Style.MATHML:
        return _listed(entries)
    return f"({', '.join(entries)})" if style is Style.LATEX else f"[{', '.join(entries)}]"


def _listed(entries: list[str]) -> str:
    """Entries in brackets; of many, the first and the last."""
    if len(entries) > MANY:
        entries = [*entries[: MANY - 2], "<mo>…</mo>", entries[-1]]
    return row("<mo>(</mo>", "<mo>,</mo>".join(entries), "<mo>)</mo>")


def _matrix_of(value: list[list[float]]) -> str:
    if len(value) > MANY:
        return row("<mi>A</mi>")  # too large for a formula
    lines = ("".join(f"<mtd>{_write_number(entry, Style.MATHML)}</mtd>" for entry in entries) for entries in value)
    return fenced("(", f"<mtable>{''.join(f'<mtr>{entries}</mtr>' for entries in lines)}</mtable>", ")")


def _write_matrix(value: list[list[float]]) -> str:
    rows = (" & ".join(_write_number(entry, Style.LATEX) for entry in row) for row in value)
    return r"\begin{pmatrix} " + r" \\ ".join(rows) + r" \end{pmatrix}"


def function_name(value: Callable[..., Any]) -> str:
    """What a function is called in formulas and messages: its name, or that of its class where it has none."""
    if isinstance(value, partial):
        return function_name(value.func)
    return str(getattr(value, "__name__", type(value).__name__))


def _write_function(value: Callable[..., Any], style: Style) -> str:
    name = function_name(value)
    if style is Style.MATHML:
        return words(name)
    return rf"\mathrm{{{name}}}".replace("_", r"\_") if style is Style.LATEX else name


def _write_value(value: Any, style: Style) -> str:
    if isinstance(value, Writable):
        return render(value, style).written
    if isinstance(value, np.ndarray):
        write = _MATRICES.get(style) if value.ndim == 2 else None
        return write(value.tolist()) if write else _write_array(value.tolist(), style)
    if isinstance(value, tuple):
        entries = [_write_value(entry, style) for entry in value]
        return _listed(entries) if style is Style.MATHML else f"[{', '.join(entries)}]"
    if isinstance(value, Raw):
        written = {Style.LATEX: value.latex, Style.MATHML: value.mathml or words(value.text)}
        return written.get(style, value.text)
    if style is Style.MATHML and (isinstance(value, bool | str | bytes) or value is None):
        return words(str(value))
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, str | bytes):
        return rf"\mathrm{{{value!s}}}" if style is Style.LATEX else repr(value)
    if isinstance(value, int | float):
        return _write_number(value, style)
    return _write_function(value, style)


_MATRICES = {Style.LATEX: _write_matrix, Style.MATHML: _matrix_of}


class _Writer(string.Formatter):
    """Fills a template from the slots of one term."""

    def __init__(
        self,
        term: Writable,
        style: Style,
        points: tuple[Operand, Operand],
        refer: Mapping[Writable, str],
        slots: Mapping[str, object] | None = None,
    ) -> None:
        self.term, self.style, self.points, self.refer, self.slots = term, style, points, refer, slots or {}

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:  # noqa: ARG002
        x, z = self.points
        if field_name in ("x", "z"):
            return x if field_name == "x" else z, field_name
        name, _, point = field_name.partition(".")
        value: Any = self.slots[name] if name in self.slots else self.term.slot(name)
        if point:
            place = x if point == "x" else z
            return self._operand(value, (place, place)), field_name
        if isinstance(value, Writable):
            return self._operand(value, self._inside()), field_name
        if holds_terms(value):
            inside = self._inside()
            return [(child, self._operand(child, inside)) for child in value], field_name
        return Operand(_write_value(value, self.style), ATOM), field_name

    def _inside(self) -> tuple[Operand, Operand]:
        return self.term.inner_points(self.style, *self.points)

    def _operand(self, child: Writable, points: tuple[Operand, Operand]) -> Operand:
        if child not in self.refer:
            return render(child, self.style, points, self.refer)
        if points == _pair(self.style):
            return Operand(self.refer[child], ATOM)
        opening, comma, closing = ("<mo>(</mo>", "<mo>,</mo>", "<mo>)</mo>") if self.style is Style.MATHML else "(,)"
        space = "" if self.style is Style.MATHML else " "
        arguments = f"{opening}{points[0].written}{comma}{space}{points[1].written}{closing}"
        return Operand(self.refer[child] + arguments, ATOM)

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Operand) and format_spec.startswith("?"):
            return "" if value.written in ("1", "<mn>1</mn>") else format_spec[1:].replace("@", value.written)
        if isinstance(value, Operand):
            return self._bracket(value, int(format_spec or SUM))
        level, _, separator = format_spec.partition("|")
        written = []
        for index, (child, operand) in enumerate(value):
            bare = ""
            if self.style is Style.SOURCE and index and separator.strip() == "+":
                bare = _Writer(child, self.style, self.points, {}).format(child.notation.bare)
            # Parsing drops an added 0, and with it the node.
            written.append(bare if bare not in ("", "0.0") else self._bracket(operand, int(level) + (index > 0)))
        return separator.join(written)

    def _bracket(self, operand: Operand, least: int) -> str:
        if operand.level >= least:
            return operand.written
        left, right = _BRACKETS.get(self.style, ("(", ")"))
        return f"{left}{operand.written}{right}"
