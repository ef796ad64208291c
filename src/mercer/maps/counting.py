"""Counts of substrings: strings as sparse rows, one column for each substring that the basis has.

A window of a string is read at some of its places, and what is read there, as one number (its key), is a feature. All
kernels of strings with explicit features differ only in their windows:

    all letters of k           Spectrum(k)
    of 1, 2, …, k              BlendedSpectrum(k)
    some of the letters of l   GappedKmer(l, k), one kind of window for each choice
    and where it stands        WeightedDegree(d)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.maps.alphabet import TABLE_SIZE, Alphabet
from mercer.points import Strings, Vectors

__all__ = ["FittedCounts", "Window"]

Index = NDArray[np.int64]
Keys = NDArray[Any]  # int64, or void where an int64 has too few bits

# Letters counted at a time: some arrays of so many int64 at once.
LETTERS_AT_ONCE = 1 << 22
# Bits of a key beside its sign.
KEY_BITS = 63


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
    """

    places: tuple[int, ...]
    span: int
    weight: float = 1.0
    shifts: int | None = None


class Counted(NamedTuple):
    """How often the strings have which key: entries in order of row and key."""

    row: Index
    key: Keys
    times: Index


class Packing(NamedTuple):
    """How letters and a position become a key: the bits that each takes."""

    letter_bits: int
    position_bits: int

    def keys(self, letters: list[Index], position: Index | None) -> Keys:
        """The keys of windows, from the letters that each place reads."""
        columns = letters if position is None else [position, *letters]
        if self.letter_bits * len(letters) + self.position_bits > KEY_BITS:
            rows = np.stack(columns, axis=1).astype(">u4")
            return rows.view(np.dtype((np.void, 4 * rows.shape[1]))).ravel()
        key = columns[0].copy()
        for column in columns[1:]:
            key <<= self.letter_bits
            key |= column
        return key


@final
class Strand:
    """Some strings, their letters numbered, ready to be cut into windows.

    Parameters
    ----------
    strings : Strings
        The strings.
    codes : ndarray of shape (N,)
        The number of each letter.
    unknown : int
        The number that stands for every letter which the alphabet does not have.
    """

    def __init__(self, strings: Strings, codes: Index, unknown: int) -> None:
        self._strings, self._codes, self._unknown = strings, codes, unknown

    def __len__(self) -> int:
        return len(self._strings)

    @cached_property
    def _row(self) -> Index:
        return np.repeat(np.arange(len(self._strings)), self._strings.sizes)

    @cached_property
    def _left(self) -> Index:
        """How many letters there are from each on, itself included, to the end of its string."""
        return self._strings.offsets[1:][self._row] - np.arange(len(self._codes))

    @cached_property
    def _position(self) -> Index:
        return np.arange(len(self._codes)) - self._strings.offsets[:-1][self._row]

    @cached_property
    def has_unknown(self) -> bool:
        """Whether there is a letter that the alphabet does not have."""
        return bool((self._codes == self._unknown).any())

    def windows(self, window: Window) -> Index:
        """Where windows begin."""
        return np.flatnonzero(self._left >= window.span)

    def is_known(self, window: Window, starts: Index, packing: Packing) -> NDArray[np.bool_]:
        """Whether a window has a key: the alphabet has all letters that it reads, and it does not stand too far on."""
        known = np.ones(len(starts), dtype=np.bool_)
        if self.has_unknown:
            seen = self._codes != self._unknown
            for place in window.places:
                known &= seen[starts + place]
        if window.shifts is not None:
            known &= self._position[starts] + window.shifts < 1 << packing.position_bits
        return known

    def counted(self, window: Window, starts: Index, packing: Packing) -> Counted:
        """How often each string has which key, among these windows."""
        letters = [self._codes[starts + place] for place in window.places]
        return self._counted(window, starts, letters, packing)

    def counted_as_written(self, window: Window, starts: Index) -> Counted:
        """The same where letters are not numbered: for windows with letters that the alphabet does not have."""
        own = self._strings.letters
        if own.dtype == np.object_:
            numbers = {letter: code for code, letter in enumerate(dict.fromkeys(own))}
            own = np.fromiter(map(numbers.__getitem__, own), np.int64, len(own))
        letters = [own[starts + place].astype(np.int64) for place in window.places]
        return self._counted(window, starts, letters, Packing(KEY_BITS, KEY_BITS))

    def _counted(self, window: Window, starts: Index, letters: list[Index], packing: Packing) -> Counted:
        row = self._row[starts]
        if window.shifts is None:
            return _counted(row, packing.keys(letters, None))
        position = self._position[starts]
        shifted = [packing.keys(letters, position + s) for s in range(window.shifts + 1)]
        return _counted(np.tile(row, len(shifted)), np.concatenate(shifted))


@final
class Dictionary:
    """The keys of one kind of window that the basis has, each with its column.

    Parameters
    ----------
    keys : ndarray
        Increasing.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._table: Index | None = None
        if keys.dtype == np.int64 and len(keys) and keys[-1] < TABLE_SIZE:
            self._table = np.full(int(keys[-1]) + 2, -1, dtype=np.int64)
            self._table[keys] = np.arange(len(keys))

    def __len__(self) -> int:
        return len(self._keys)

    def columns(self, keys: Keys) -> Index:
        """The column of each key; −1 for a new one."""
        if not len(self._keys):
            return np.full(len(keys), -1, dtype=np.int64)
        if self._table is not None:
            return np.asarray(self._table[np.minimum(keys, len(self._table) - 1)])
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[place] == keys, place, -1)


def _counted(row: Index, key: Keys) -> Counted:
    """Equal pairs of row and key, counted."""
    if not len(row):
        return Counted(row, key, np.empty(0, dtype=np.int64))
    different: Keys = key
    code = key
    if key.dtype != np.int64 or int(key.max()) > np.iinfo(np.int64).max // (int(row.max()) + 2):
        different, code = np.unique(key, return_inverse=True)
    # Both in one number: sorting one array of integers is many times as fast as sorting pairs.
    base = int(code.max()) + 1
    both = np.sort(row * base + code)
    first = np.flatnonzero(np.concatenate([[True], both[1:] != both[:-1]]))
    rows, codes = np.divmod(both[first], base)
    found = codes if code is key else different[codes]
    return Counted(rows, found, np.diff(first, append=len(both)))


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
    """

    def __init__(self, strings: Strings, windows: tuple[Window, ...], owner: str) -> None:
        self._windows, self._owner = windows, owner
        self.alphabet = Alphabet(strings)
        furthest = int(strings.sizes.max()) + 2 * max(window.shifts or 0 for window in windows)
        self._packing = Packing(len(self.alphabet).bit_length(), (furthest + 1).bit_length())
        codes = self.alphabet.codes(strings, owner)
        seen: list[list[Keys]] = [[] for _ in windows]
        for strand in self._strands(strings, codes):
            for window, keys in zip(windows, seen, strict=True):
                keys.append(np.unique(strand.counted(window, strand.windows(window), self._packing).key))
        self.dictionaries = tuple(Dictionary(np.unique(np.concatenate(keys))) for keys in seen)

    def __call__(self, strings: Strings) -> Vectors:
        """The counts of each string."""
        parts = [self._counts(strand) for strand in self._strands(strings, self.alphabet.codes(strings, self._owner))]
        return Vectors(sp.vstack(parts, format="csr") if len(parts) > 1 else parts[0])

    def _strands(self, strings: Strings, codes: Index) -> Iterator[Strand]:
        for rows in _blocks(strings):
            begin, end = int(strings.offsets[rows.start]), int(strings.offsets[rows.stop])
            yield Strand(strings.take(rows), codes[begin:end], len(self.alphabet))

    def _counts(self, strand: Strand) -> Any:
        n = len(strand)
        width = 0
        row: list[Index] = []
        column: list[Index] = []
        value: list[NDArray[np.float64]] = []
        outside = np.zeros(n)
        for window, dictionary in zip(self._windows, self.dictionaries, strict=True):
            starts = strand.windows(window)
            known = strand.is_known(window, starts, self._packing)
            found = strand.counted(window, starts[known], self._packing)
            place = dictionary.columns(found.key)
            has_column = place >= 0
            row.append(found.row[has_column])
            column.append(place[has_column] + width)
            value.append(np.asarray(window.weight * found.times[has_column], dtype=np.float64))
            width += len(dictionary)
            lost = [(found.row[~has_column], found.times[~has_column])]
            if not known.all():
                unknown = strand.counted_as_written(window, starts[~known])
                lost.append((unknown.row, unknown.times))
            for rows, counts in lost:
                outside = outside + np.bincount(rows, weights=np.square(window.weight * counts), minlength=n)
        apart = np.flatnonzero(outside)
        places = np.concatenate([*row, apart]), np.concatenate([*column, np.full(len(apart), width)])
        values = np.concatenate([*value, np.sqrt(outside[apart])])
        return sp.csr_array((values, places), shape=(n, width + 1))


def _blocks(strings: Strings) -> Iterator[slice]:
    """Rows that together have about so many letters as are counted at a time."""
    n = len(strings)
    cuts = np.searchsorted(strings.offsets, np.arange(LETTERS_AT_ONCE, int(strings.offsets[-1]), LETTERS_AT_ONCE))
    ends = np.unique(np.concatenate([[0], np.clip(cuts, 0, n), [n]]))
    return (slice(int(a), int(b)) for a, b in pairwise(ends))
