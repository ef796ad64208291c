"""Texts as sets of words, as counts of words, or as strings of words."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import scipy.sparse as sp

from mercer.errors import DomainMismatch
from mercer.maps.base import Map, StatelessMap
from mercer.notation import Notation
from mercer.points import Domain, Points, Sets, Strings, Vectors

__all__ = ["FittedWordCounts", "WordCounts", "WordSequence", "Words", "words_of"]

_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words of a text: runs of letters, digits and underscores, without regard to case.

    Examples
    --------
    >>> words_of("To be, or NOT to be?")
    ['to', 'be', 'or', 'not', 'to', 'be']
    """
    return _WORD.findall(text.casefold())


@final
@dataclass(frozen=True, repr=False, eq=False)
class Words(StatelessMap):
    r"""Turn each text into the set of its words.

    .. math:: x \mapsto \{w : w \text{ occurs in } x\}

    A word is a run of letters, digits and underscores; upper and lower case are the same. So
    ``Tanimoto(SetIntersection()).on(Words())`` is the share of common words. An empty text is the empty set.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> [sorted(found) for found in Words()(as_points(["To be", "or not to be"])).raw()]
    [['be', 'to'], ['be', 'not', 'or', 'to']]
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.OBJECTS})
    notation: ClassVar[Notation] = Notation(text="words({x})", latex=r"\operatorname{{words}}({x})")

    def out_width(self, width: int) -> None:
        """Sets have no width."""

    def __call__(self, points: Points) -> Sets:
        """The set of words of each text."""
        return Sets([frozenset(words) for words in _all_words(self, points)])


@final
@dataclass(frozen=True, repr=False, eq=False)
class WordSequence(StatelessMap):
    r"""Turn each text into the string of its words, so that kernels of strings compare words in place of characters.

    .. math:: x \mapsto (w_1, w_2, \dots)

    Words are those of `Words`, in their order: ``Spectrum(2).on(WordSequence())`` counts common pairs of words.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> WordSequence()(as_points(["To be", "or not to be"])).raw()
    [('to', 'be'), ('or', 'not', 'to', 'be')]
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.OBJECTS, Domain.STRINGS})
    notation: ClassVar[Notation] = Notation(text="words({x})", latex=r"\operatorname{{words}}({x})")

    def out_width(self, width: int) -> None:
        """Strings have no width."""

    def __call__(self, points: Points) -> Strings:
        """The words of each text."""
        return Strings([tuple(words) for words in _all_words(self, points)])


@final
@dataclass(frozen=True, repr=False, eq=False)
class WordCounts(Map):
    r"""Count the words of each text.

    .. math:: x \mapsto (\text{how often } w \text{ occurs in } x)_{w \in D}

    Words are those of `Words`; the dictionary D holds the words of the basis. A new word has no column of its own, but
    counts in ⟨x, x⟩, so that ``Cosine().on(WordCounts())`` stays right. The vectors are sparse.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> counts = WordCounts().fit(as_points(["to be or not to be"]))
    >>> counts(as_points(["to be to exist"])).raw().toarray()  # be, not, or, to, and all others
    array([[1., 0., 0., 2., 1.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.OBJECTS})
    notation: ClassVar[Notation] = Notation(text="counts({x})", latex=r"\operatorname{{counts}}({x})")

    def fit(self, points: Points) -> "FittedWordCounts":
        """Number the words of the basis."""
        different = sorted({word for words in _all_words(self, points) for word in words})
        return FittedWordCounts({word: code for code, word in enumerate(different)}, self)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002 (texts have no coordinates)
        """Counts are ≥ 0."""
        return True


@final
@dataclass(frozen=True, eq=False)
class FittedWordCounts:
    """Counts of words over a dictionary.

    Attributes
    ----------
    dictionary : mapping of str to int
        The column of each word.
    origin : WordCounts
        The map that was fitted.
    """

    dictionary: Mapping[str, int]
    origin: WordCounts

    def __call__(self, points: Points) -> Vectors:
        """Sparse counts; the last column is the norm of the counts of words outside the dictionary."""
        columns: list[int] = []
        counts: list[float] = []
        ends = [0]
        for words in _all_words(self.origin, points):
            unseen = 0
            for word, count in Counter(words).items():
                code = self.dictionary.get(word)
                if code is None:
                    unseen += count**2
                else:
                    columns.append(code)
                    counts.append(count)
            if unseen:
                columns.append(len(self.dictionary))
                counts.append(unseen**0.5)
            ends.append(len(columns))
        shape = (len(points), len(self.dictionary) + 1)
        return Vectors(sp.csr_array((np.array(counts, dtype=np.float64), columns, ends), shape=shape))


def _all_words(owner: Map, points: Points) -> list[list[str]]:
    texts = owner.read(points).raw()
    other = next((row for row, text in enumerate(texts) if not isinstance(text, str)), None)
    if other is not None:
        raise DomainMismatch(
            f"{owner!r} needs texts.",
            f"Row {other} is a {type(texts[other]).__name__}.",
            "Convert the values with str, or choose the column of texts with .on(name).",
        )
    return [words_of(text) for text in texts]
