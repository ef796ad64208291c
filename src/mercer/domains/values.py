"""Domains of what is no number: texts, choices, functions, terms, tuples."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, final

import numpy as np

from mercer.domains.domain import ParameterDomain, is_hashable, refusal
from mercer.errors import InvalidParameter

__all__ = [
    "Anything",
    "Boolean",
    "Choice",
    "Function",
    "Instance",
    "Letters",
    "Text",
    "TupleOf",
]


@final
@dataclass(frozen=True)
class _Text:
    text: str = "a string"

    def check(self, owner: str, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


Text = _Text()


@final
@dataclass(frozen=True)
class _Letters:
    text: str = "None, or at least 2 different letters: a string, bytes, or a tuple of tokens"

    def check(self, owner: str, name: str, value: Any) -> str | bytes | tuple[Any, ...] | None:
        if value is None:
            return None
        letters = tuple(value) if isinstance(value, str | bytes | tuple | list) else ()
        if not all(map(is_hashable, letters)) or len(set(letters)) != len(letters) or len(letters) < LEAST_LETTERS:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value if isinstance(value, str | bytes) else letters


# With one letter, nothing can be misread.
LEAST_LETTERS = 2
Letters = _Letters()


@final
@dataclass(frozen=True)
class _Boolean:
    text: str = "True or False"

    def check(self, owner: str, name: str, value: Any) -> bool:
        if not isinstance(value, bool | np.bool_):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return bool(value)


Boolean = _Boolean()


@final
@dataclass(frozen=True)
class Choice:
    """One of a few strings."""

    options: tuple[str, ...]

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""
        return "one of " + ", ".join(map(repr, self.options))

    def check(self, owner: str, name: str, value: Any) -> str:
        """Return the canonical value, or raise naming the owner and the field."""
        if value not in self.options:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return str(value)


@final
@dataclass(frozen=True)
class _Function:
    text: str = "a callable"

    def check(self, owner: str, name: str, value: Any) -> Callable[..., Any]:
        if not callable(value):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return cast(Callable[..., Any], value)


Function = _Function()


@final
@dataclass(frozen=True)
class _Anything:
    text: str = "any hashable value"

    def check(self, owner: str, name: str, value: Any) -> Any:
        if not is_hashable(value):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


Anything = _Anything()


@final
@dataclass(frozen=True)
class Instance:
    """A term of one kind, such as a kernel or a map."""

    sort: type
    text: str

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the canonical value, or raise naming the owner and the field."""
        if not isinstance(value, self.sort):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return value


@final
@dataclass(frozen=True)
class TupleOf:
    """A tuple whose entries all lie in one domain."""

    each: ParameterDomain
    least: int = 1

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""
        return f"at least {self.least} values, each {self.each.text}"

    def check(self, owner: str, name: str, value: Any) -> tuple[Any, ...]:
        """Return the canonical value, or raise naming the owner and the field."""
        if isinstance(value, str | bytes) or not isinstance(value, tuple | list | np.ndarray):
            raise refusal(InvalidParameter, owner, name, value, self.text)
        if len(value) < self.least:
            raise refusal(InvalidParameter, owner, name, value, self.text)
        return tuple(self.each.check(owner, f"{name}[{index}]", entry) for index, entry in enumerate(value))
