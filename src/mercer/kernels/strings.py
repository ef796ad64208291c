"""Kernels of strings: of characters, of bytes, or of tokens."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

from mercer.domains import Integer, Letters, RealNumber
from mercer.kernels.kernel import Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.pullback import Pullback
from mercer.kernels.rules import SUBSEQUENCES, Rule
from mercer.kernels.tape import Register, Tape
from mercer.maps.strings import GappedKmers, Kmers, MismatchKmers, PositionedKmers
from mercer.notation import SUM, Notation
from mercer.points import Points
from mercer.term import param

__all__ = ["BlendedSpectrum", "GappedKmer", "Mismatch", "Spectrum", "Subsequence", "WeightedDegree"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Spectrum(Kernel):
    """The common substrings of one length.

    k(s, t) = Σ #u(s)·#u(t) over the strings u of `length` letters, where #u(s) is how often u is in s.
    Positive because it is the inner product of counts (rule 1, rule pullback).

    Parameters
    ----------
    length : int, default 3
        The number of letters of u.

    References
    ----------
    C. Leslie, E. Eskin and W. S. Noble, The spectrum kernel, Pacific Symposium on Biocomputing 7 (2002).

    Examples
    --------
    >>> Spectrum(2)(["abab", "ab", "ba"])
    array([[5., 2., 1.],
           [2., 1., 0.],
           [1., 0., 1.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ #u({x})·#u({z}), |u| = {length}", latex=r"\sum_{{|u| = {length}}} \#_u({x}) \, \#_u({z})", level=SUM
    )
    length: int = param(3, Integer(1))

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), Kmers(self.length))


@final
@dataclass(frozen=True, repr=False, eq=False)
class BlendedSpectrum(Kernel):
    """The common substrings of all lengths up to one.

    k(s, t) = Σ λ^(2|u|)·#u(s)·#u(t) over the strings u of 1 to `length` letters. Positive because it is the inner
    product of weighted counts (rule 1, rule pullback).

    Parameters
    ----------
    length : int, default 3
        The largest number of letters of u.
    decay : float, default 1.0
        λ, from above 0 to 1: below 1, long substrings count less than they do by themselves.

    References
    ----------
    J. Shawe-Taylor and N. Cristianini, Kernel Methods for Pattern Analysis, Cambridge (2004), chapter 11.

    Examples
    --------
    >>> BlendedSpectrum(2)(["ab"], ["abb"])
    array([[4.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ {decay}^(2·|u|)·#u({x})·#u({z}), |u| ≤ {length}",
        latex=r"\sum_{{1 \le |u| \le {length}}} {decay}^{{2 |u|}} \, \#_u({x}) \, \#_u({z})", level=SUM,
    )  # fmt: skip
    length: int = param(3, Integer(1))
    decay: float = param(1.0, RealNumber(low=0.0, high=1.0, closed=False, text="a number above 0, at most 1"))

    def expand(self) -> Kernel:
        """The inner product of weighted counts."""
        return Pullback(Linear(), Kmers(self.length, 1, self.decay))


@final
@dataclass(frozen=True, repr=False, eq=False)
class GappedKmer(Kernel):
    """The common substrings of one length, some of whose letters may be anything.

    k(s, t) = Σ C(m(u, v), informative) over the substrings u of s and v of t with `length` letters, where m is the
    number of places at which u and v agree. Positive because it is the inner product of counts of what stands at each
    choice of places (rule 1, rule pullback).

    Parameters
    ----------
    length : int, default 6
        The letters of a substring.
    informative : int, default 4
        How many of them must agree.

    References
    ----------
    M. Ghandi, D. Lee, M. Mohammad-Noori and M. A. Beer, Enhanced regulatory sequence prediction using gapped k-mer
    features, PLoS Computational Biology 10 (2014).

    Examples
    --------
    >>> GappedKmer(3, 2)(["abc"], ["abc", "abd", "xyz"])
    array([[3., 1., 0.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ C(m(u, v), {informative}), u in {x}, v in {z}, |u| = |v| = {length}",
        latex=r"\sum_{{u \in {x}, v \in {z}, |u| = |v| = {length}}} \binom{{m(u, v)}}{{{informative}}}", level=SUM,
    )  # fmt: skip
    length: int = param(6, Integer(1))
    informative: int = param(4, Integer(1))

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), GappedKmers(self.length, self.informative))


@final
@dataclass(frozen=True, repr=False, eq=False)
class Mismatch(Kernel):
    """The common substrings of one length, a few letters of which may be misread.

    k(s, t) = Σ #ₘu(s)·#ₘu(t) over all strings u of `length` letters of the alphabet, where #ₘu(s) is how many
    substrings of s differ from u in at most m = `mismatches` letters. Positive because it is the inner product of
    counts (rule 1, rule pullback).

    Parameters
    ----------
    length : int, default 4
        The number of letters of u.
    mismatches : int, default 1
        How many of them may be misread; 0 is `Spectrum`.
    alphabet : str, bytes or tuple, optional
        The letters of u, such as "ACGT"; when not given, those of the training points, which then stand in the fitted
        formula. Any other letter is a misreading of all of them.

    References
    ----------
    C. S. Leslie, E. Eskin, A. Cohen, J. Weston and W. S. Noble, Mismatch string kernels for discriminative protein
    classification, Bioinformatics 20 (2004).

    Examples
    --------
    >>> Mismatch(2, 1, "ACGT")(["AC"], ["AC", "GC", "TT"])
    array([[7., 4., 2.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ #ₘu({x})·#ₘu({z}), |u| = {length}, m = {mismatches}",
        latex=r"\sum_{{|u| = {length}}} \#_u^{{{mismatches}}}({x}) \, \#_u^{{{mismatches}}}({z})", level=SUM,
    )  # fmt: skip
    length: int = param(4, Integer(1))
    mismatches: int = param(1, Integer(0))
    alphabet: Any = param(None, Letters)

    def waits(self) -> bool:
        """Whether the alphabet is that of the points to come."""
        return self.alphabet is None

    def resolved_here(self, points: Points) -> Self:
        """The alphabet of the points, in place of None."""
        if not self.waits():
            return self
        return self.replace(alphabet=MismatchKmers(self.length, self.mismatches).resolved(points).alphabet)

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), MismatchKmers(self.length, self.mismatches, self.alphabet))


@final
@dataclass(frozen=True, repr=False, eq=False)
class WeightedDegree(Kernel):
    """The common substrings that stand at the same place, or nearly.

    k(s, t) = Σ βₖ·κ(p − q) over the common substrings of k ≤ `degree` letters, which begin at p in s and at q in t,
    with βₖ = 2(d − k + 1)/(d(d + 1)) and κ(r) = max(0, 1 − |r|/(shift + 1)). Positive because κ(p − q) is the share of
    the places p, …, p + shift that are also among q, …, q + shift, and so k the inner product of weighted counts of
    substrings at places (rule 1, rule pullback).

    Parameters
    ----------
    degree : int, default 3
        d, the largest number of letters.
    shift : int, default 0
        How far apart two substrings may stand, and still count something.

    References
    ----------
    G. Rätsch and S. Sonnenburg, Accurate splice site detection for Caenorhabditis elegans, in Kernel Methods in
    Computational Biology, MIT Press (2004). Their version with shifts has other weights.

    Examples
    --------
    >>> WeightedDegree(1)(["GATTACA"], ["GATTACA", "CATTAGA", "TACAGAT"])
    array([[7., 5., 1.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ β·[{x}_p‥p+k = {z}_q‥q+k], k ≤ {degree}, |p − q| ≤ {shift}",
        latex=r"\sum_{{k \le {degree}}} \beta_k \sum_{{|p - q| \le {shift}}} \kappa(p - q) "
        r"\left[{x}_{{p \dots p+k}} = {z}_{{q \dots q+k}}\right]", level=SUM,
    )  # fmt: skip
    degree: int = param(3, Integer(1))
    shift: int = param(0, Integer(0))

    def expand(self) -> Kernel:
        """The inner product of weighted counts of substrings at places."""
        return Pullback(Linear(), PositionedKmers(self.degree, self.shift))

    def lower(self, tape: Tape) -> Register:
        """The runs of equal letters, pair by pair: a string has as many features as `degree` times its letters."""
        return tape.value("weighted_degree", self.degree, self.shift)


@final
@dataclass(frozen=True, repr=False, eq=False)
class Subsequence(Kernel):
    """The common subsequences of one length, gaps allowed: what is torn apart counts less.

    k(s, t) = Σ λ^(l(i) + l(j)) over all places i in s and j in t that read the same `length` letters, where l(i) is how
    many letters lie from the first to the last of i, both counted. Positive because it is an inner product with one
    coordinate for each string u of `length` letters: Σ λ^l(i) over the places i that read u (rule subsequences).

    Parameters
    ----------
    length : int, default 3
        The number of letters of u.
    decay : float, default 0.5
        λ, above 0 and at most 1: what each letter costs that the places span. Near 0, only substrings count.

    Notes
    -----
    A pair of strings takes time proportional to the product of their lengths, and to `length`.

    References
    ----------
    H. Lodhi et al., Text classification using string kernels, Journal of Machine Learning Research 2 (2002).

    Examples
    --------
    >>> Subsequence(2, decay=0.5)(["cat"], ["car", "cat"])  # λ⁴, and 2λ⁴ + λ⁶
    array([[0.0625  , 0.140625]])
    """

    rule: ClassVar[Rule] = SUBSEQUENCES
    notation: ClassVar[Notation] = Notation(
        text="Σ {decay}^(l(i) + l(j)), {x}[i] = {z}[j], |i| = |j| = {length}",
        latex=r"\sum_{{{x}_i = {z}_j, |i| = |j| = {length}}} {decay}^{{l(i) + l(j)}}", level=SUM,
    )  # fmt: skip
    length: int = param(3, Integer(1))
    decay: float = param(0.5, RealNumber(low=0.0, high=1.0, closed=False, text="a number above 0, at most 1"))

    def lower(self, tape: Tape) -> Register:
        """The sum, by the recursion of Lodhi et al."""
        return tape.value("subsequence", self.length, self.decay)
