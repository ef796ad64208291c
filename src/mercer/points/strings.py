"""Strings: finite sequences of letters, which are characters, bytes, or tokens of any kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.domains import is_hashable
from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import Domain, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.ragged import gather, offsets_of
from mercer.points.vectors import refuse_masked

__all__ = ["Strings"]

CHARACTERS, BYTES, TOKENS = "characters", "bytes", "tokens"
_INSTEAD = "Pass strings, bytes, or lists of tokens, all of one kind."


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Strings:
    """Points that are strings; the empty string is one of them.

    Parameters
    ----------
    X : list, tuple or one-dimensional array
        One string per point, at least one: all of them str, or all bytes, or all lists or tuples of hashable tokens
        (the words of a text).
    name : str
        The argument's name in messages.

    Attributes
    ----------
    offsets : int64 ndarray of shape (n + 1,)
        The letters of point i are ``letters[offsets[i]:offsets[i + 1]]``.
    letters : uint32, uint8 or object ndarray
        Code points of characters, bytes, or tokens: of all points, one after the other.

    Examples
    --------
    >>> X = Strings(["GATTACA", "", "TTA"])
    >>> X
    Strings(3, 10 characters)
    >>> X.take([2, 1]).raw()
    ['TTA', '']
    >>> Strings([["to", "be"], ["or"]]).raw()
    [('to', 'be'), ('or',)]
    """

    domain: ClassVar[Domain] = Domain.STRINGS
    offsets: NDArray[np.int64]
    letters: NDArray[Any]

    def __init__(self, X: Sequence[Any] | NDArray[Any], name: str = "X") -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(
                f"Input {name} is not a list of strings.",
                f"Got a {type(X).__name__}.",
                "Pass a list, one string per point.",
            )
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        refuse_masked(X, name)
        kind = _kind_of_all(X, name)
        offsets = offsets_of(np.fromiter(map(len, X), dtype=np.int64, count=len(X)))
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "letters", read_only(_LETTERS[kind](X, offsets, name)))

    @classmethod
    def _trusted(cls, offsets: NDArray[np.int64], letters: NDArray[Any]) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "offsets", read_only(offsets))
        object.__setattr__(self, "letters", read_only(letters))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[np.int64], NDArray[Any]]]:
        return (self._trusted, (self.offsets, self.letters))

    @property
    def kind(self) -> str:
        """What the letters are: "characters", "bytes" or "tokens"."""
        return _KINDS[self.letters.dtype]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The length of each string."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Strings({len(self)}, {len(self.letters)} {self.kind})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        offsets, places = gather(self.offsets, as_selection(rows, len(self)))
        return self._trusted(offsets, self.letters[places])

    def raw(self) -> list[Any]:
        """The strings in a list; of tokens, as tuples."""
        bounds = pairwise(self.offsets.tolist())
        if self.kind == TOKENS:
            return [tuple(self.letters[a:b]) for a, b in bounds]
        size = self.letters.itemsize
        whole = self.letters.tobytes()
        parts = [whole[size * a : size * b] for a, b in bounds]
        return parts if self.kind == BYTES else [part.decode("utf-32-le", "surrogatepass") for part in parts]


def _kind_of_all(X: Sequence[Any] | NDArray[Any], name: str) -> str:
    first = ""
    for row, value in enumerate(X):
        kind = next((kind for types, kind in _TYPES if isinstance(value, types)), "")
        if not kind and (value is None or is_missing(value)):
            raise InvalidInput(
                f"Input {name} contains a missing string.", f"Row {row} is {shown(value)}.", 'Drop it, or use "".'
            )
        first = first or kind
        if not kind or kind != first:
            raise DomainMismatch(
                f"Input {name} is not a list of strings: row {row} is a {type(value).__name__}.",
                f"Row 0 is a {type(X[0]).__name__}." if row else "",
                _INSTEAD,
            )
    return first


def _characters(X: Any, _offsets: NDArray[np.int64], _name: str) -> NDArray[Any]:
    return np.frombuffer("".join(X).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint32, copy=False)


def _bytes(X: Any, _offsets: NDArray[np.int64], _name: str) -> NDArray[Any]:
    return np.frombuffer(b"".join(X), dtype=np.uint8)


def _tokens(X: Any, offsets: NDArray[np.int64], name: str) -> NDArray[Any]:
    letters = np.fromiter(chain.from_iterable(X), dtype=np.object_, count=int(offsets[-1]))
    try:
        different = dict.fromkeys(letters)
    except TypeError:
        different = {}
        place, problem = next((i, letter) for i, letter in enumerate(letters) if not is_hashable(letter))
        raise _bad_token(name, offsets, place, f"{shown(problem)}, which has no hash") from None
    if any(letter is not None and is_missing(letter) for letter in different):
        place = next(i for i, letter in enumerate(letters) if letter is not None and is_missing(letter))
        raise _bad_token(name, offsets, place, f"{shown(letters[place])}, which does not equal itself")
    return letters


def _bad_token(name: str, offsets: NDArray[np.int64], place: int, what: str) -> InvalidInput:
    row = int(np.searchsorted(offsets, place, side="right")) - 1
    return InvalidInput(
        f"Input {name} holds a token that cannot be compared with others.",
        f"Token {place - int(offsets[row])} of row {row} is {what}.",
        "Tokens are strings, numbers, tuples: anything that can be in a set.",
    )


# The types of a string -> what its letters are. A text is read before a sequence, which it is as well.
_TYPES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), CHARACTERS),
    ((bytes, bytearray), BYTES),
    ((list, tuple), TOKENS),
)
_LETTERS: dict[str, Callable[[Any, NDArray[np.int64], str], NDArray[Any]]] = {
    CHARACTERS: _characters,
    BYTES: _bytes,
    TOKENS: _tokens,
}
_KINDS = {np.dtype(np.uint32): CHARACTERS, np.dtype(np.uint8): BYTES, np.dtype(np.object_): TOKENS}
