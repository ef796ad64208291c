"""Letters as numbers: what a basis of strings fixes for the strings to come."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch
from mercer.points import Strings

__all__ = ["Alphabet"]

Codes = NDArray[np.int32]

# Numbers below this are looked up in a table, in one access.
TABLE_SIZE = 1 << 22


@final
class Alphabet:
    """Letters, numbered from 0.

    Parameters
    ----------
    strings : Strings
        Where they are from: of characters and bytes in their own order, of tokens in that of their first places.
    """

    def __init__(self, strings: Strings) -> None:
        self.kind = strings.kind
        if self.kind == "tokens":
            self._known = {letter: code for code, letter in enumerate(dict.fromkeys(strings.letters))}
        else:
            self._sorted = np.unique(strings.letters)

    @classmethod
    def of(cls, letters: Any) -> Self:
        """The alphabet of one string."""
        return cls(Strings([letters]))

    def __len__(self) -> int:
        return len(self._known) if self.kind == "tokens" else len(self._sorted)

    def letters(self) -> Any:
        """The letters as one string, in order; of tokens as a tuple."""
        if self.kind == "tokens":
            return tuple(self._known)
        return Strings._trusted(np.array([0, len(self)]), self._sorted).raw()[0]  # noqa: SLF001

    def codes(self, strings: Strings, owner: str) -> Codes:
        """The number of each letter; new letters have numbers from the size of the alphabet on, each its own."""
        if strings.kind != self.kind:
            raise DomainMismatch(
                f"{owner} was fitted on strings of {self.kind}.",
                f"Got {strings!r}.",
                f"Pass strings of {self.kind}.",
            )
        if self.kind == "tokens":
            number = dict(self._known)
            found = (number.setdefault(letter, len(number)) for letter in strings.letters)
            return np.fromiter(found, np.int32, len(strings.letters))
        codes = self._places(strings.letters)
        new = codes < 0
        if new.any():
            codes[new] = len(self) + np.unique(strings.letters[new], return_inverse=True)[1]
        return codes

    def _places(self, letters: NDArray[Any]) -> Codes:
        """The number of each letter, -1 of a new one."""
        if not len(self):
            return np.full(len(letters), -1, dtype=np.int32)
        if self._sorted[-1] < TABLE_SIZE:
            table = np.full(int(self._sorted[-1]) + 2, -1, dtype=np.int32)
            table[self._sorted] = np.arange(len(self), dtype=np.int32)
            return np.asarray(table[np.minimum(letters, len(table) - 1)])
        place = np.searchsorted(self._sorted[:-1], letters)
        return np.where(self._sorted[place] == letters, place, -1).astype(np.int32)
