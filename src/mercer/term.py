"""Terms: the frozen expressions that maps and kernels are made of.

A term is a class with a few fields, each declared with ``param(default, domain)``, where the domain comes from
`mercer.domains`; what needs several fields at once is checked in `validate`. Everything else is derived here,
once: structural equality and hash, children, parameters by name, replacement; and text that reads back (`repr`), by
`mercer.notation`.

Parameter names. A field goes by its own name; a field of a child by ``<field>__<name>``; children that are held in a
tuple go by their index, ``0__length_scale``. A parameter that occurs once in the whole tree also answers to its short
name, so that ``(RBF() + Linear()).replace(length_scale=2.0)`` works.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, Self

from mercer.domains import ParameterDomain, comparable
from mercer.errors import InvalidParameter
from mercer.misnomers import TABLE, misnamed
from mercer.notation import Style, Writable, holds_terms, render

__all__ = ["REQUIRED", "Term", "param"]

REQUIRED = dataclasses.MISSING


def param(default: Any, domain: ParameterDomain) -> Any:
    """Declare a field with its default (or REQUIRED) and the domain that checks it."""
    return dataclasses.field(default=default, metadata={"domain": domain})


# The fields of each class of terms: every one is a dataclass.
_DECLARED: dict[type, tuple[dataclasses.Field[Any], ...]] = {}


def _declared(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    if kind not in _DECLARED:
        _DECLARED[kind] = dataclasses.fields(kind)
    return _DECLARED[kind]


class Term(Writable):
    """Base of every map and node. Subclasses are final frozen dataclasses (``repr=False, eq=False``), or abstract."""

    __array_ufunc__: ClassVar[None] = None  # array * term is an error, not an array of terms

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """Answer a name that is no parameter with the one that is meant."""
        known = {field.name for field in _declared(cls)} if params else ()
        for name in params:
            if name not in known and name not in signature(cls).parameters:
                raise misnamed(cls.__name__, tuple(signature(cls).parameters), name, args, params)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        for field in _declared(type(self)):
            checked = field.metadata["domain"].check(type(self).__name__, field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, checked)
        self.validate()

    def validate(self) -> None:
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
        return {field.name: getattr(self, field.name) for field in _declared(type(self))}

    def children(self) -> tuple["Term", ...]:
        """The terms that this term holds, in order."""
        return tuple(value for value in self._slots().values() if isinstance(value, Term))

    def walk(self) -> Iterator["Term"]:
        """The term and all below it."""
        yield self
        for child in self.children():
            yield from child.walk()

    def written(self) -> Iterator["Term"]:
        """The term and all below it that its user wrote: not those that stand there by default."""
        yield self
        for field in _declared(type(self)):
            value = getattr(self, field.name)
            for child in value if holds_terms(value) else (value,):
                if isinstance(child, Term) and child != field.default:
                    yield from child.written()

    # Identity

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (type(self), *map(comparable, self.fields().values()))

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
            if holds_terms(value):
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
            head, _, tail = self._resolve_name(name, value).partition("__")
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
            elif holds_terms(value):
                values[name] = tuple(slots[str(index)] for index in range(len(value)))
            else:
                values[name] = slots[name]
        return self._build(values)

    def _resolve_name(self, name: str, value: object) -> str:
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
        if name in TABLE.get(type(self).__name__, ()):
            raise misnamed(type(self).__name__, tuple(self.fields()), name, (), {name: value})
        raise InvalidParameter(
            f"{self!r} has no parameter {name}.", f"Its parameters are {', '.join(self.get_params()) or 'none'}."
        )
