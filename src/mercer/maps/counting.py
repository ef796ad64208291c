"""Counts of substrings: strings as sparse rows, one column for each substring that the basis has.

A window of a string is read at some of its places, and what is read there is a feature. All kernels of strings with
explicit features differ only in their windows:

    all letters of k           Spectrum(k)
    of 1, 2, …, k              BlendedSpectrum(k)
    some of the letters of l   GappedKmer(l, k), one kind of window for each choice
    up to m of k misread       Mismatch(k, m)
    and where it stands        WeightedDegree(d)

The core counts, in parallel; see ``cpp/include/mercer/counting.hpp``.
"""

from dataclasses import dataclass
from typing import final

import scipy.sparse as sp

from mercer import _core
from mercer.maps.alphabet import Alphabet
from mercer.points import Strings, Vectors

__all__ = ["FittedCounts", "Window"]


@final
@dataclass(frozen=True)
class Window:
    """One kind of window.

    Attributes
    ----------
    places : tuple of int
        The letters that are read, counted from where the window begins; increasing, from 0.
    span : int
        The letters that it covers.
    weight : float
        What each occurrence counts.
    shifts : int or None
        None: it does not matter where a window stands. s: a window at p has the features (p, key), …, (p + s, key).
    mismatches : int
        m: what is read counts for every key of the alphabet that differs from it in at most m letters.
    """

    places: tuple[int, ...]
    span: int
    weight: float = 1.0
    shifts: int | None = None
    mismatches: int = 0


@final
class FittedCounts:
    """A map from strings to weighted counts of their windows, with the dictionary of its basis.

    Images have a column for each key of the basis, and one more: the norm of what a string has beside these. So
    ⟨x, x⟩ is exact for any string, and ⟨x, z⟩ where z is of the basis, which has nothing there.

    Parameters
    ----------
    strings : Strings
        The basis.
    windows : tuple of Window
        What is counted.
    owner : str
        What was written, for messages.
    alphabet : Alphabet, optional
        Its letters are all that windows with mismatches have; that of the basis when not given.
    """

    def __init__(
        self, strings: Strings, windows: tuple[Window, ...], owner: str, alphabet: Alphabet | None = None
    ) -> None:
        self._owner = owner
        self.alphabet = Alphabet(strings) if alphabet is None else alphabet
        rows = [(w.places, w.span, w.weight, -1 if w.shifts is None else w.shifts, w.mismatches) for w in windows]
        self._counter = _core.Counter(rows, len(self.alphabet))
        self._counter.learn(strings.offsets, self.alphabet.codes(strings, owner))

    def __call__(self, strings: Strings) -> Vectors:
        """The counts of each string."""
        offsets, columns, values = self._counter.count(strings.offsets, self.alphabet.codes(strings, self._owner))
        return Vectors(sp.csr_array((values, columns, offsets), shape=(len(strings), self._counter.columns)))
