"""Notation: how terms are written, as Python that reads back, as mathematics in one line, and in LaTeX.

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

__all__ = [
    "ATOM", "POWER", "PRODUCT", "SUM", "Notation", "Operand", "Raw", "Style", "Writable", "apply_map", "fill",
    "function_name", "holds_terms", "render", "render_condition",
]  # fmt: skip

# How tightly a written expression binds; an operand that binds less than its place asks for is put in brackets.
SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


class Style(Enum):
    """The three ways to write a term."""

    SOURCE = "source"  # Python that reads back
    TEXT = "text"  # mathematics in one line
    LATEX = "latex"


@final
@dataclass(frozen=True)
class Notation:
    """How a term is written: templates over its fields.

    ``{scale}`` is a field; ``{kernel:3}`` a child, in brackets when it binds less than level 3; ``{terms:1| + }`` a
    tuple joined by a separator; ``{x}`` and ``{z}`` the two points; ``{function.x}`` a function of one point at x.
    ``{scale:? / @^2}`` is a factor that is left out where it is 1: the rest of the specification, with the field for @.
    An empty ``source`` is the constructor call. ``bare`` is the source as a later operand of a sum.
    """

    source: str = ""
    text: str = ""
    latex: str = ""
    source_level: int = ATOM
    level: int = ATOM
    bare: str = ""
    condition: str = ""  # the side condition of the node's rule, with its values
    condition_latex: str = ""


@final
@dataclass(frozen=True)
class Raw:
    """Ready-made notation, for slots that are not fields."""

    text: str
    latex: str


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


def render(
    term: Writable, style: Style, points: tuple[Operand, Operand] = _PAIR, refer: Mapping[Writable, str] | None = None
) -> Operand:
    """Write a term in a style; terms below it that are found in `refer` are written by that reference."""
    notation = term.writing()
    if style is Style.SOURCE:
        if not notation.source:
            return Operand(_constructor_call(term), ATOM)
        return Operand(_Writer(term, style, points, refer or {}).format(notation.source), notation.source_level)
    template = notation.text if style is Style.TEXT else notation.latex
    if not template:
        return Operand(_applied(term, style, points), ATOM)
    return Operand(_Writer(term, style, points, refer or {}).format(template), notation.level)


def render_condition(term: Writable, style: Style, refer: Mapping[Writable, str]) -> str:
    """The side condition of a term's rule, with its values."""
    notation = term.writing()
    template = notation.condition if style is Style.TEXT else notation.condition_latex or notation.condition
    return _Writer(term, style, _PAIR, refer).format(template)


def fill(template: str, term: Writable, style: Style, **slots: object) -> str:
    """A template filled from a term's slots, some of them replaced."""
    return _Writer(term, style, _PAIR, {}, slots).format(template)


def apply_map(term: Writable, style: Style, x: Operand) -> Operand:
    """The image of a point under a map, as written inside a formula."""
    return render(term, style, (x, x))


def _applied(term: Writable, style: Style, points: tuple[Operand, Operand]) -> str:
    """A term without its own notation, as a named function of its points."""
    arguments = ", ".join(dict.fromkeys(point.written for point in points))
    if style is Style.TEXT:
        return f"{_constructor_call(term)}({arguments})"
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
    if style is Style.LATEX and "e" in short:
        mantissa, _, exponent = short.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return short.replace("-", "−") if style is Style.TEXT else short


def _write_array(value: Any, style: Style) -> str:
    if not isinstance(value, list):
        return _write_number(float(value), style)
    entries = [_write_array(entry, style) for entry in value]
    return f"({', '.join(entries)})" if style is Style.LATEX else f"[{', '.join(entries)}]"


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
    return rf"\mathrm{{{name}}}".replace("_", r"\_") if style is Style.LATEX else name


def _write_value(value: Any, style: Style) -> str:
    if isinstance(value, Writable):
        return render(value, style).written
    if isinstance(value, np.ndarray):
        is_matrix = style is Style.LATEX and value.ndim == 2
        return _write_matrix(value.tolist()) if is_matrix else _write_array(value.tolist(), style)
    if isinstance(value, tuple):
        return "[" + ", ".join(_write_value(entry, style) for entry in value) + "]"
    if isinstance(value, Raw):
        return value.latex if style is Style.LATEX else value.text
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, str):
        return rf"\mathrm{{{value}}}" if style is Style.LATEX else repr(value)
    if isinstance(value, int | float):
        return _write_number(value, style)
    return _write_function(value, style)


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
        arguments = "" if points == _PAIR else f"({points[0].written}, {points[1].written})"
        return Operand(self.refer[child] + arguments, ATOM)

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Operand) and format_spec.startswith("?"):
            return "" if value.written == "1" else format_spec[1:].replace("@", value.written)
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
        left, right = (r"\left(", r"\right)") if self.style is Style.LATEX else ("(", ")")
        return f"{left}{operand.written}{right}"
