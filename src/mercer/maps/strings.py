"""Strings as counts of their substrings: the maps behind the kernels of strings that have explicit features."""

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Self, final

from mercer.domains import Integer, Letters, RealNumber
from mercer.errors import InvalidInput, InvalidParameter
from mercer.maps.alphabet import Alphabet
from mercer.maps.base import Map
from mercer.maps.counting import FittedCounts, Window
from mercer.notation import Notation
from mercer.points import Domain, Points, Strings
from mercer.term import param

__all__ = ["GappedKmers", "Kmers", "MismatchKmers", "PositionedKmers", "letters_of"]

STRINGS = frozenset({Domain.STRINGS})
# Kinds of window with gaps, each a pass over the strings.
MOST_WINDOWS = 1000
# Substrings that are near one, which are gone through for each place of a string; and the bits of a key.
MOST_NEAR = 100_000
KEY_BITS = 64


@final
@dataclass(frozen=True, repr=False)
class _Fitted:
    """Counts, for points that still have to be read as strings."""

    origin: Map
    counts: FittedCounts

    def __repr__(self) -> str:
        return repr(self.origin)

    def __call__(self, points: Points) -> Points:
        return self.counts(_strings(self.origin, points))


def _strings(owner: Map, points: Points) -> Strings:
    found = owner.read(points)
    if not isinstance(found, Strings):
        raise InvalidInput(f"{owner!r} needs strings.", f"Got {points!r}.")
    return found


def _fitted(owner: Map, points: Points, windows: tuple[Window, ...]) -> _Fitted:
    return _Fitted(owner, FittedCounts(_strings(owner, points), windows, repr(owner)))


@final
@dataclass(frozen=True, repr=False, eq=False)
class Kmers(Map):
    r"""Count the substrings of some lengths.

    .. math:: s \mapsto (\lambda^{|u|} \, \#\{i : s_i \dots s_{i+|u|-1} = u\})_{u \in D}

    The dictionary D holds the substrings of the basis. A new one has no column, but counts in <s, s>, so that
    distances and normalised kernels stay right.

    Parameters
    ----------
    length : int, default 3
        The number of letters.
    shortest : int, optional
        Where it is given, all lengths from this to `length`.
    decay : float, default 1.0
        λ, above 0: what a letter counts.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> words = as_points(["abab", "ab"])
    >>> Kmers(2).fit(words)(words).raw().toarray()
    array([[2., 1., 0.],
           [1., 0., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = STRINGS
    notation: ClassVar[Notation] = Notation(text="#({x})", latex=r"\#({x})")
    length: int = param(3, Integer(1))
    shortest: int = param(0, Integer(0))
    decay: float = param(1.0, RealNumber(low=0.0, high=1.0, closed=False, text="a number above 0, at most 1"))

    def fit(self, points: Points) -> _Fitted:
        """Learn the substrings of the basis."""
        sizes = range(self.shortest or self.length, self.length + 1)
        if not sizes:
            raise InvalidParameter(
                f"shortest of {self!r} must be at most length.", f"Got {self.shortest} > {self.length}."
            )
        return _fitted(self, points, tuple(Window(tuple(range(k)), k, self.decay**k) for k in sizes))

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # strings have no coordinates
        """Counts are ≥ 0."""
        return True


@final
@dataclass(frozen=True, repr=False, eq=False)
class GappedKmers(Map):
    r"""Count substrings of one length of which only some letters are read.

    .. math:: s \mapsto (\#\{i : (s_{i+j})_{j \in J} = u\})_{(J, u) \in D}, \quad J \subset \{0, \dots, l - 1\}, |J| = k

    Parameters
    ----------
    length : int, default 6
        l, the letters that a window covers.
    informative : int, default 4
        k, how many of them are read; the others may be anything.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> words = as_points(["abc", "abd"])
    >>> image = GappedKmers(3, 2).fit(words)(words).raw()
    >>> (image @ image.T).toarray()  # only ab· is common
    array([[3., 1.],
           [1., 3.]])
    """

    needs: ClassVar[frozenset[Domain]] = STRINGS
    notation: ClassVar[Notation] = Notation(text="#({x})", latex=r"\#({x})")
    length: int = param(6, Integer(1))
    informative: int = param(4, Integer(1))

    def fit(self, points: Points) -> _Fitted:
        """Learn what the basis has."""
        chosen = list(combinations(range(self.length), self.informative)) if self.length <= 20 else []
        if not chosen or len(chosen) > MOST_WINDOWS:
            raise InvalidParameter(
                f"{self!r} must leave from 1 to {MOST_WINDOWS} choices of {self.informative} letters.",
                f"Got length {self.length} and informative {self.informative}.",
                "Try length 6 and informative 4; informative is at most length.",
            )
        return _fitted(self, points, tuple(Window(places, self.length) for places in chosen))

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # strings have no coordinates
        """Counts are ≥ 0."""
        return True


@final
@dataclass(frozen=True, repr=False, eq=False)
class MismatchKmers(Map):
    r"""Count the substrings of one length, each for all that differ from it in few letters.

    .. math:: s \mapsto (\#\{i : \lvert\{j : s_{i+j} \ne u_j\}\rvert \le m\})_{u \in \Sigma^k}

    Parameters
    ----------
    length : int, default 4
        k, the number of letters.
    mismatches : int, default 1
        m, in how many of them a substring may differ from u.
    alphabet : str, bytes or tuple, optional
        Σ, the letters of u; when a kernel meets its training points, those that they have. Any other letter of a
        string differs from all of Σ.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> words = as_points(["AC", "GC", "TT"])
    >>> image = MismatchKmers(2, 1, "ACGT").fit(words)(words).raw()
    >>> (image @ image.T).toarray()  # AT and TC are near both AC and TT
    array([[7., 4., 2.],
           [4., 7., 2.],
           [2., 2., 7.]])
    """

    needs: ClassVar[frozenset[Domain]] = STRINGS
    notation: ClassVar[Notation] = Notation(text="#({x})", latex=r"\#({x})")
    length: int = param(4, Integer(1))
    mismatches: int = param(1, Integer(0))
    alphabet: Any = param(None, Letters)

    @property
    def unresolved(self) -> bool:
        """Whether the alphabet is that of the points to come."""
        return self.alphabet is None

    def resolved(self, points: Points) -> Self:
        """The alphabet of the points, in place of None."""
        if not self.unresolved:
            return self
        return self.replace(alphabet=letters_of(_strings(self, points)))

    def fit(self, points: Points) -> _Fitted:
        """Learn what is near the substrings of the basis."""
        of = self.resolved(points)
        alphabet = Alphabet.of(of.alphabet)
        k, m, a = self.length, self.mismatches, len(alphabet)
        near = sum(comb(k, j) * (a - 1) ** j for j in range(m + 1)) if m <= k else 0
        if not 0 < near <= MOST_NEAR or k * (a - 1).bit_length() > KEY_BITS:
            raise InvalidParameter(
                f"{self!r} counts too much: at most {MOST_NEAR} substrings may be near one, in {KEY_BITS} bits each.",
                f"Got {near}, of {k} letters from an alphabet of {a}." if near else f"Got {m} mismatches in {k}.",
                "Try length 5 and mismatches 1, or a smaller alphabet.",
            )
        window = Window(tuple(range(k)), k, mismatches=m)
        return _Fitted(self, FittedCounts(_strings(self, points), (window,), repr(of), alphabet))

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # strings have no coordinates
        """Counts are ≥ 0."""
        return True


def letters_of(strings: Strings) -> Any:
    """The alphabet of strings, of at least two letters: as many as are missing are made up."""
    found = Alphabet(strings).letters()
    made_up = {"characters": "?!", "bytes": b"?!", "tokens": ("?", "!")}[strings.kind]
    return found + made_up[: max(0, 2 - len(found))] if len(found) < 2 else found


@final
@dataclass(frozen=True, repr=False, eq=False)
class PositionedKmers(Map):
    r"""Mark the substrings of up to some length, and where they stand.

    .. math:: s \mapsto \Bigl(\sqrt{\tfrac{\beta_k}{S+1}} \; \#\{p : p \le t \le p + S, \; s_p \dots s_{p+k-1} = u\}
        \Bigr)_{(t, u) \in D}, \qquad \beta_k = \frac{2 (d - k + 1)}{d (d + 1)}, \quad k = \lvert u \rvert \le d

    Parameters
    ----------
    degree : int, default 3
        d, the largest length.
    shift : int, default 0
        S: substrings that stand s ≤ S apart count 1 − s/(S + 1) of those at one place.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> words = as_points(["abc", "abd", "bab"])
    >>> image = PositionedKmers(1).fit(words)(words).raw()
    >>> (image @ image.T).toarray()  # the places where two words agree
    array([[3., 2., 0.],
           [2., 3., 0.],
           [0., 0., 3.]])
    """

    needs: ClassVar[frozenset[Domain]] = STRINGS
    notation: ClassVar[Notation] = Notation(text="#({x})", latex=r"\#({x})")
    degree: int = param(3, Integer(1))
    shift: int = param(0, Integer(0))

    def fit(self, points: Points) -> _Fitted:
        """Learn what the basis has."""
        d, S = self.degree, self.shift
        beta = [2.0 * (d - k + 1) / (d * (d + 1)) for k in range(1, d + 1)]
        windows = (Window(tuple(range(k)), k, (b / (S + 1)) ** 0.5, S) for k, b in enumerate(beta, start=1))
        return _fitted(self, points, tuple(windows))

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # strings have no coordinates
        """Counts are ≥ 0."""
        return True
