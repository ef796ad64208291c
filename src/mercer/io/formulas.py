"""Kernels as text. Functions in them are named, never stored; what text cannot hold becomes a value of the file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from keyword import iskeyword
from typing import Any, final

import numpy as np

from mercer.errors import BadModelFile, NotStorable
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.parse import MAPS, NAMES, NODES, parse
from mercer.notation import function_name
from mercer.term import Term

__all__ = ["Functions", "Written", "read_formula", "written_formula"]

# Longer arrays than this are not written into the text.
SHORT = 16
KNOWN = frozenset((*NODES, *MAPS))


@final
@dataclass(eq=False)
class Functions:
    """The functions, and classes of a user's own, that a file names.

    Parameters
    ----------
    given : mapping of str to callable
        Names that the user chose; when reading, all that there are.
    """

    given: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    used: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def name(self, function: Callable[..., Any]) -> str:
        """The name under which a function is re-supplied: the user's, or its own, made distinct."""
        for name, known in (*self.given.items(), *self.used.items()):
            if known is function or known == function:
                self.used[name] = function
                return name
        own = "".join(letter if letter.isalnum() else "_" for letter in function_name(function)).strip("_")
        base = own if own.isidentifier() and own not in TAKEN and not iskeyword(own) else f"function_{own}".rstrip("_")
        name, count = base, 1
        while name in self.used or name in self.given:
            count += 1
            name = f"{base}_{count}"
        self.used[name] = function
        return name

    def origins(self) -> dict[str, str]:
        """Where each function that was used comes from, for messages."""
        return {name: _origin(function) for name, function in self.used.items()}

    def check(self, origins: Mapping[str, str]) -> None:
        """Refuse to go on without a function that the file names."""
        missing = [name for name in origins if name not in self.given]
        if missing:
            names = ", ".join(f'"{name}": …' for name in missing)
            raise BadModelFile(
                f"The machine uses {'functions' if len(missing) > 1 else 'a function'} that a file cannot hold: "
                f"{', '.join(f'{name} (saved from {origins[name]})' for name in missing)}.",
                "Functions are named in the file and never stored.",
                f"Pass them: load(path, functions={{{names}}}).",
            )

    def find(self, name: str) -> Callable[..., Any]:
        """The function of a name."""
        found = self.given.get(name)
        if not callable(found):
            raise BadModelFile(f"The model file uses a function {name[:60]!r} that it does not announce.")
        return found


TAKEN = frozenset({*NAMES, "Window"})


def _origin(function: Callable[..., Any]) -> str:
    if isinstance(function, partial):
        return _origin(function.func)
    named = function if isinstance(function, type) or "__qualname__" in dir(function) else type(function)
    return f"{getattr(named, '__module__', '?')}.{getattr(named, '__qualname__', '?')}"


@final
@dataclass(frozen=True)
class Written:
    """A formula as text, with what its names mean."""

    text: str
    functions: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)


class _Stand:
    """Takes the place of a function or a value in a term that is only written."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


def written_formula(term: Kernel | Distance, functions: Functions) -> Written:
    """A kernel or distance as text that `parse` reads back, which is checked here and now."""
    writer = _Formula(functions)
    text = repr(writer.plain(term))
    written = Written(text, tuple(dict.fromkeys(writer.functions)), writer.values)
    try:
        back = parse(text, {name: functions.used[name] for name in written.functions} | written.values)
    except Exception as error:
        raise NotStorable(f"The kernel {text[:200]} cannot be read back from its text.", str(error)) from error
    if back != term:
        raise NotStorable(f"The kernel {text[:200]} is not the same when it is read back from its text.")
    return written


def read_formula(text: str, names: Mapping[str, Any]) -> Kernel | Distance:
    """A kernel or distance from its text."""
    return parse(text, names)


def _is_short(value: Any) -> bool:
    """Whether text holds a value as it is."""
    return type(value) in (int, str, bytes) or (type(value) is float and np.isfinite(value))


def _is_value(value: Any) -> bool:
    """Whether there is no formula, function or array in it."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_value, value))
    return not (isinstance(value, Term | np.ndarray) or callable(value))


class _Formula:
    def __init__(self, functions: Functions) -> None:
        self.known = functions
        self.functions: list[str] = []
        self.values: dict[str, Any] = {}

    def plain(self, value: Any) -> Any:
        """The same term, with names in place of functions, long arrays and letters that are no texts or numbers."""
        if isinstance(value, Term):
            return self._term(value)
        if isinstance(value, np.ndarray) and value.size > SHORT:
            return self._aside("array", value)
        if isinstance(value, tuple):
            is_odd = all(map(_is_value, value)) and not all(map(_is_short, value))
            return self._aside("value", value) if is_odd else tuple(map(self.plain, value))
        if callable(value):
            self.functions.append(self.known.name(value))
            return _Stand(self.functions[-1])
        return value

    def _aside(self, kind: str, value: Any) -> _Stand:
        name = f"{kind}{len(self.values)}"
        self.values[name] = value
        return _Stand(name)

    def _term(self, term: Term) -> Term:
        if type(term) not in KNOWN:  # a class of the user's own, which the text calls by its name
            name = type(term).__name__
            if self.known.used.setdefault(name, type(term)) is not type(term):
                raise NotStorable(f"Two different classes or functions are called {name}.", "", "Rename one of them.")
            self.functions.append(name)
        values = {name: self.plain(value) for name, value in term.fields().items()}
        if all(values[name] is value for name, value in term.fields().items()):
            return term
        # Not built anew, because a name would not pass the checks of its field.
        stand = object.__new__(type(term))
        for name, value in values.items():
            object.__setattr__(stand, name, value)
        return stand
