"""Terms: the frozen expressions that maps and kernels are made of.

A term is a class with a few fields, each declared with ``param(default, domain)``, where the domain comes from
`mercer.domains`; what needs several fields at once is checked in `settle`. Everything else is derived here,
once: text that reads back (`repr`), structural equality and hash, children, parameters by name, replacement.

Parameter names. A field goes by its own name; a field of a child by ``<field>__<name>``; children that are held in a
tuple go by their index, ``0__length_scale``. A parameter that occurs once in the whole tree also answers to its short
name, so that ``(RBF() + Linear()).replace(length_scale=2.0)`` works.
"""

import dataclasses
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from mercer.domains import ParameterDomain
from mercer.errors import InvalidParameter

__all__ = [
    "ATOM", "POWER", "PRODUCT", "REQUIRED", "SUM", "Notation", "Operand", "Raw", "Style", "Term", "apply_map", "fill",
    "param", "render", "render_condition",
]  # fmt: skip

REQUIRED = dataclasses.MISSING

# How tightly a written expression binds; an operand that binds less than its place asks for is put in brackets.
SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


def param(default: Any, domain: ParameterDomain) -> Any:
    """Declare a field with its default (or REQUIRED) and the domain that checks it."""
    return dataclasses.field(default=default, metadata={"domain": domain})


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
    """A ready piece of notation, for slots that are no fields."""

    text: str
    latex: str


class Operand(NamedTuple):
    """A written expression and how tightly it binds."""

    written: str
    level: int


class Term:
    """Base of every map and node. Subclasses are final frozen dataclasses (``repr=False, eq=False``), or abstract."""

    __array_ufunc__: ClassVar[None] = None  # array * term is an error, not an array of terms
    notation: ClassVar[Notation] = Notation()
    spread: ClassVar[str] = ""  # the tuple field that a hand-written constructor takes as *args

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            checked = field.metadata["domain"].check(type(self).__name__, field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, checked)
        self.settle()

    def settle(self) -> None:
        """Check what needs several fields at once, or bring the term to its canonical form (with `_set`)."""

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def _build(cls, values: Mapping[str, Any]) -> Self:
        """A term from its fields, whatever the signature of the constructor."""
        term = object.__new__(cls)
        for name, value in values.items():
            term._set(name, value)
        term.__post_init__()
        return term

    def fields(self) -> dict[str, Any]:
        """The fields by name, in order."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def children(self) -> tuple["Term", ...]:
        """The terms that this term holds, in order."""
        return tuple(value for value in self._slots().values() if isinstance(value, Term))

    def walk(self) -> Iterator["Term"]:
        """The term and all below it."""
        yield self
        for child in self.children():
            yield from child.walk()

    # Identity

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (type(self), *map(_comparable, self.fields().values()))

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Term):
            return NotImplemented
        return type(self) is type(other) and self._hash == other._hash and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        return self.fields()

    def __repr__(self) -> str:
        return render(self, Style.SOURCE).written

    def __sklearn_clone__(self) -> Self:
        return self

    # Parameters

    def _slots(self) -> dict[str, Any]:
        """Fields by name; a tuple of terms is opened into its entries by index."""
        slots: dict[str, Any] = {}
        for name, value in self.fields().items():
            if _holds_terms(value):
                slots.update({str(index): entry for index, entry in enumerate(value)})
            else:
                slots[name] = value
        return slots

    def full_params(self, deep: bool) -> dict[str, Any]:
        """Parameters by full name alone."""
        params: dict[str, Any] = {}
        for name, value in self._slots().items():
            params[name] = value
            if deep and isinstance(value, Term):
                params.update({f"{name}__{below}": entry for below, entry in value.full_params(deep).items()})
        return params

    def _full_names(self) -> dict[str, list[str]]:
        """Short name -> the full names it may stand for."""
        names: dict[str, list[str]] = {}
        for full, value in self.full_params(deep=True).items():
            if not isinstance(value, Term):
                names.setdefault(full.rpartition("__")[2], []).append(full)
        return names

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by full name, and by short name where that is unique in the tree."""
        params = self.full_params(deep)
        if deep:
            for short, fulls in self._full_names().items():
                if len(fulls) == 1 and short not in params:
                    params[short] = params[fulls[0]]
        return params

    def replace(self, **params: Any) -> Self:
        """A new term with some parameters replaced, each named in full or, where unique, by its short name."""
        here: dict[str, Any] = {}
        below: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            head, _, tail = self._resolve_name(name).partition("__")
            if tail:
                below.setdefault(head, {})[tail] = value
            else:
                here[head] = value
        slots = self._slots() | here
        for head, inner in below.items():
            if not isinstance(slots[head], Term):
                raise InvalidParameter(f"{head} of {self!r} has no parameters.", f"Got {sorted(inner)}.")
            slots[head] = slots[head].replace(**inner)
        values: dict[str, Any] = {}
        for name, value in self.fields().items():
            if name in here:
                values[name] = here[name]
            elif _holds_terms(value):
                values[name] = tuple(slots[str(index)] for index in range(len(value)))
            else:
                values[name] = slots[name]
        return self._build(values)

    def _resolve_name(self, name: str) -> str:
        full = self.full_params(deep=True)
        if name in full or name in self.fields():
            return name
        fulls = self._full_names().get(name, [])
        if len(fulls) == 1:
            return fulls[0]
        if fulls:
            raise InvalidParameter(
                f"{name} is ambiguous in {self!r}.", f"It may stand for {', '.join(fulls)}.", "Use a full name."
            )
        raise InvalidParameter(
            f"{self!r} has no parameter {name}.", f"Its parameters are {', '.join(self.get_params()) or 'none'}."
        )

    # Writing

    def writing(self) -> Notation:
        """The notation; overridden where it depends on the fields."""
        return self.notation

    def slot(self, name: str) -> Any:
        """What a template's ``{name}`` stands for."""
        return getattr(self, name)

    def inner_points(self, style: Style, x: Operand, z: Operand) -> tuple[Operand, Operand]:  # noqa: ARG002
        """How the points read inside this term's children."""
        return x, z


def _holds_terms(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(entry, Term) for entry in value)


def _comparable(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return (type(value).__name__, value)  # 1 and 1.0 and True are different parameters


_PAIR = (Operand("x", ATOM), Operand("z", ATOM))


def render(
    term: Term, style: Style, points: tuple[Operand, Operand] = _PAIR, refer: Mapping[Term, str] | None = None
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


def render_condition(term: Term, style: Style, refer: Mapping[Term, str]) -> str:
    """The side condition of a term's rule, with its values."""
    notation = term.writing()
    template = notation.condition if style is Style.TEXT else notation.condition_latex or notation.condition
    return _Writer(term, style, _PAIR, refer).format(template)


def fill(template: str, term: Term, style: Style, **slots: object) -> str:
    """A template filled from a term's slots, some of them replaced."""
    return _Writer(term, style, _PAIR, {}, slots).format(template)


def apply_map(term: Term, style: Style, x: Operand) -> Operand:
    """The image of a point under a map, as written inside a formula."""
    return render(term, style, (x, x))


def _applied(term: Term, style: Style, points: tuple[Operand, Operand]) -> str:
    """A term without its own notation, as a named function of its points."""
    arguments = ", ".join(dict.fromkeys(point.written for point in points))
    if style is Style.TEXT:
        return f"{_constructor_call(term)}({arguments})"
    return rf"\mathrm{{{type(term).__name__}}}({arguments})"


def _constructor_call(term: Term) -> str:
    arguments: list[str] = []
    positional = True
    for field in dataclasses.fields(term):  # type: ignore[arg-type]
        value = getattr(term, field.name)
        if field.default is not dataclasses.MISSING and _comparable(value) == _comparable(field.default):
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
    if isinstance(value, list):
        separator = " & " if style is Style.LATEX else ", "
        return "[" + separator.replace("&", ",").join(_write_array(entry, style) for entry in value) + "]"
    return _write_number(float(value), style)


def _write_function(value: Callable[..., Any], style: Style) -> str:
    name = getattr(value, "__name__", type(value).__name__)
    return rf"\mathrm{{{name}}}".replace("_", r"\_") if style is Style.LATEX else str(name)


def _write_value(value: Any, style: Style) -> str:
    if isinstance(value, Term):
        return render(value, style).written
    if isinstance(value, np.ndarray):
        return _write_array(value.tolist(), style)
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
        term: Term,
        style: Style,
        points: tuple[Operand, Operand],
        refer: Mapping[Term, str],
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
        if isinstance(value, Term):
            return self._operand(value, self._inside()), field_name
        if _holds_terms(value):
            inside = self._inside()
            return [(child, self._operand(child, inside)) for child in value], field_name
        return Operand(_write_value(value, self.style), ATOM), field_name

    def _inside(self) -> tuple[Operand, Operand]:
        return self.term.inner_points(self.style, *self.points)

    def _operand(self, child: Term, points: tuple[Operand, Operand]) -> Operand:
        if child not in self.refer:
            return render(child, self.style, points, self.refer)
        arguments = "" if points == _PAIR else f"({points[0].written}, {points[1].written})"
        return Operand(self.refer[child] + arguments, ATOM)

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Operand):
            return self._bracket(value, int(format_spec or SUM))
        level, _, separator = format_spec.partition("|")
        written = []
        for index, (child, operand) in enumerate(value):
            if self.style is Style.SOURCE and index and child.notation.bare and separator.strip() == "+":
                written.append(_Writer(child, self.style, self.points, {}).format(child.notation.bare))
            else:
                written.append(self._bracket(operand, int(level) + (index > 0)))
        return separator.join(written)

    def _bracket(self, operand: Operand, least: int) -> str:
        if operand.level >= least:
            return operand.written
        left, right = (r"\left(", r"\right)") if self.style is Style.LATEX else ("(", ")")
        return f"{left}{operand.written}{right}"
