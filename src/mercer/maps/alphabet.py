"""Letters as numbers: what a basis of strings fixes for the strings to come."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch
from mercer.points import Strings

__all__ = ["TABLE_SIZE", "Alphabet"]

Index = NDArray[np.int64]

# Numbers below this are looked up in a table, in one access.
TABLE_SIZE = 1 << 22


@final
class Alphabet:
    """The letters of the basis, numbered.

    Parameters
    ----------
    strings : Strings
        The basis.
    """

    def __init__(self, strings: Strings) -> None:
        self.kind = strings.kind
        if strings.letters.dtype == np.object_:
            self._known = {letter: code for code, letter in enumerate(dict.fromkeys(strings.letters))}
        else:
            self._sorted = np.unique(strings.letters)

    def __len__(self) -> int:
        return len(self._known) if self.kind == "tokens" else len(self._sorted)

    def codes(self, strings: Strings, owner: str) -> Index:
        """The number of each letter; for a new one, the number of letters."""
        if strings.kind != self.kind:
            raise DomainMismatch(
                f"{owner} was fitted on strings of {self.kind}.",
                f"Got {strings!r}.",
                f"Pass strings of {self.kind}.",
            )
        unknown = len(self)
        if self.kind == "tokens":
            get = self._known.get
            return np.fromiter((get(letter, unknown) for letter in strings.letters), np.int64, len(strings.letters))
        if not unknown:
            return np.zeros(len(strings.letters), dtype=np.int64)
        if self._sorted[-1] < TABLE_SIZE:
            table = np.full(int(self._sorted[-1]) + 2, unknown, dtype=np.int64)
            table[self._sorted] = np.arange(unknown)
            return np.asarray(table[np.minimum(strings.letters, len(table) - 1)])
        place = np.searchsorted(self._sorted[:-1], strings.letters)
        return np.where(self._sorted[place] == strings.letters, place, unknown)
