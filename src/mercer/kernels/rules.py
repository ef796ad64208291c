"""The table of theorems: every step of every proof is a row of this file.

A row says what the rule concludes from what, where that is proved, and (a second fact that is derived alongside)
whether the kernel that it makes is pointwise non-negative; where that fails in the rule itself, also why.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, final

from mercer.errors import NotPositive

__all__ = ["CITATIONS", "TABLE", "Rule", "underivable"]

CITATIONS: dict[str, str] = {
    "aronszajn": "N. Aronszajn, Theory of reproducing kernels, Trans. Amer. Math. Soc. 68 (1950), 337–404.",
    "barla": "A. Barla, F. Odone, A. Verri, Histogram intersection kernel for image classification, ICIP 2003.",
    "bcr": "C. Berg, J. P. R. Christensen, P. Ressel, Harmonic Analysis on Semigroups, Springer 1984, chapter 3.",
    "bishop": "C. M. Bishop, Pattern Recognition and Machine Learning, Springer 2006, section 6.2.",
    "cho-saul": "Y. Cho, L. K. Saul, Kernel methods for deep learning, NIPS 2009, 342–350.",
    "cuturi": "M. Cuturi, J.-P. Vert, Ø. Birkenes, T. Matsui, A kernel for time series based on global alignments, "
    "ICASSP 2007.",
    "claim": "The user's claim, proved nowhere.",
    "gartner": "T. Gärtner, P. A. Flach, A. Kowalczyk, A. J. Smola, Multi-instance kernels, ICML 2002, 179–186.",
    "haussler": "D. Haussler, Convolution kernels on discrete structures, technical report UCSC-CRL-99-10, 1999.",
    "gartner-flach": "T. Gärtner, P. Flach, S. Wrobel, On graph kernels: hardness results and alternatives, COLT 2003.",
    "kiraly": "F. J. Király, H. Oberhauser, Kernels for sequentially ordered data, JMLR 20 (2019), 1–45.",
    "lodhi": "H. Lodhi et al., Text classification using string kernels, JMLR 2 (2002), 419–444.",
    "schilling": "R. L. Schilling, R. Song, Z. Vondraček, Bernstein Functions, de Gruyter 2012, chapters 1–4.",
    "schoenberg": "I. J. Schoenberg, Metric spaces and positive definite functions, Trans. AMS 44 (1938), 522–536.",
    "scholkopf": "B. Schölkopf, The kernel trick for distances, NIPS 2000, 301–307.",
    "shawe-taylor": "J. Shawe-Taylor, N. Cristianini, Kernel Methods for Pattern Analysis, CUP 2004, section 3.4.",
    "stein": "M. L. Stein, Interpolation of Spatial Data, Springer 1999, section 2.7.",
    "vedaldi": "A. Vedaldi, A. Zisserman, Efficient additive kernels via explicit feature maps, PAMI 34 (2012).",
}


class Derivable(Protocol):
    """What a rule asks of a node to decide whether its values are non-negative."""

    @property
    def never_negative(self) -> bool:
        """Whether values are ≥ 0 whatever the sign of the parts."""

    def parts(self) -> Iterable["Derivable"]:
        """The nodes that the rule was applied to."""

    def nonnegative_on(self, coordinates: bool) -> bool:
        """Whether values are ≥ 0, given whether the coordinates of all points are."""

    def inner_coordinates(self, coordinates: bool) -> bool:
        """Whether the coordinates that the parts see are ≥ 0."""


Fact = Callable[[Derivable, bool], bool]


def _always(node: Derivable, coordinates: bool) -> bool:  # noqa: ARG001 (a column of the table)
    return True


def _unknown(node: Derivable, coordinates: bool) -> bool:  # noqa: ARG001 (a column of the table)
    return False


def _on_coordinates(node: Derivable, coordinates: bool) -> bool:  # noqa: ARG001 (a column of the table)
    return coordinates


def _from_parts(node: Derivable, coordinates: bool) -> bool:
    inner = node.inner_coordinates(coordinates)
    return all(part.nonnegative_on(inner) for part in node.parts())


def _from_unpaired_parts(node: Derivable, coordinates: bool) -> bool:
    """A product: equal factors in pairs are squares, whatever their sign."""
    inner, parts = node.inner_coordinates(coordinates), list(node.parts())
    return all(part.nonnegative_on(inner) for part in parts if parts.count(part) % 2)


def _from_parts_or_form(node: Derivable, coordinates: bool) -> bool:
    return node.never_negative or _from_parts(node, coordinates)


@final
@dataclass(frozen=True)
class Rule:
    """A theorem of the calculus."""

    name: str
    statement: str
    latex: str
    citation: str  # a key of CITATIONS
    number: int | None = None  # the number of a textbook rule
    concludes: str = "kernel"  # or "distance"
    nonnegative: Fact = _unknown
    doubt: str = ""  # why values may be negative, where that is not the fault of a part
    confines: bool = False  # whether it holds for coordinates ≥ 0 only, which is checked when points are bound

    @property
    def label(self) -> str:
        """How proofs and refusals name the rule."""
        return f"rule {self.number} ({self.name})" if self.number else f"rule {self.name}"


INNER_PRODUCT = Rule(
    "inner-product",
    "⟨x, z⟩ is a kernel: Σ cᵢcⱼ⟨xᵢ, xⱼ⟩ = ‖Σ cᵢxᵢ‖² ≥ 0.",
    r"\langle x, z\rangle",
    "shawe-taylor",
    1,
    nonnegative=_on_coordinates,
    doubt="⟨x, z⟩ < 0 where x and z point apart; it is ≥ 0 only between vectors without negative coordinates",
)
SCALING = Rule(
    "scaling",
    "c·k₁ is a kernel for c ≥ 0.",
    r"c\,k_1,\; c \ge 0",
    "bishop",
    2,
    nonnegative=_from_parts,
)
ADDITION = Rule("sum", "k₁ + k₂ is a kernel.", r"k_1 + k_2", "aronszajn", 3, nonnegative=_from_parts)
POLYNOMIAL = Rule(
    "integer-power",
    "k₁ⁿ is a kernel for an integer n ≥ 0, and so is g(k₁) for a polynomial g with coefficients ≥ 0.",
    r"g(k_1),\; g \text{ a polynomial with coefficients} \ge 0",
    "bishop",
    4,
    nonnegative=_from_parts_or_form,
)
SCHUR_PRODUCT = Rule(
    "product", "k₁·k₂ is a kernel (Schur).", r"k_1 \, k_2", "aronszajn", 5, nonnegative=_from_unpaired_parts
)
CONGRUENCE = Rule(
    "congruence",
    "f(x)·k₁(x, z)·f(z) is a kernel for any real function f.",
    r"f(x)\,k_1(x, z)\,f(z)",
    "bishop",
    6,
    nonnegative=_from_parts,
)
EXPONENTIAL = Rule(
    "exponential",
    "exp(k₁) is a kernel: the limit of polynomials with coefficients 1/n!.",
    r"\exp(k_1)",
    "bishop",
    7,
    nonnegative=_always,
)
QUADRATIC_FORM = Rule(
    "quadratic-form",
    "xᵀAz is a kernel for A symmetric positive semi-definite.",
    r"x^\top A z,\; A \succeq 0",
    "bishop",
    8,
    doubt="xᵀAz < 0 where Px and Pz point apart, A = PᵀP",
)
CONSTANT = Rule(
    "constant",
    "A constant c ≥ 0 is a kernel: Σ cᵢcⱼ·c = c·(Σ cᵢ)² ≥ 0.",
    r"c \ge 0",
    "shawe-taylor",
    nonnegative=_always,
)
PULLBACK = Rule(
    "pullback",
    "k₁(φ(x), φ(z)) is a kernel for any map φ.",
    r"k_1(\varphi(x), \varphi(z))",
    "shawe-taylor",
    nonnegative=_from_parts,
)
DIRECT_SUM = Rule(
    "direct-sum",
    "k₁(x₁, z₁) + k₂(x₂, z₂) is a kernel on pairs (x₁, x₂).",
    r"k_1(x_1, z_1) + k_2(x_2, z_2)",
    "aronszajn",
    nonnegative=_from_parts,
)
TENSOR = Rule(
    "tensor",
    "k₁(x₁, z₁)·k₂(x₂, z₂) is a kernel on pairs (x₁, x₂).",
    r"k_1(x_1, z_1)\,k_2(x_2, z_2)",
    "aronszajn",
    nonnegative=_from_parts,
)
POWER_SERIES = Rule(
    "power-series",
    "Σ aₙk₁ⁿ is a kernel for aₙ ≥ 0 wherever |k₁| stays inside the radius.",
    r"\sum_n a_n k_1^n,\; a_n \ge 0",
    "shawe-taylor",
    nonnegative=_from_parts_or_form,
)
SCHOENBERG = Rule(
    "schoenberg",
    "f(ψ) is a kernel for f completely monotone and ψ conditionally negative definite.",
    r"f(\psi),\; f \text{ completely monotone}, \psi \text{ conditionally negative definite}",
    "schoenberg",
    nonnegative=_always,
)
MINIMUM = Rule(
    "minimum",
    "Σ min(x, z) on x, z ≥ 0 is a kernel: min(x, z) = ∫ 1[t ≤ x]·1[t ≤ z] dt.",
    r"\sum_i \min(x_i, z_i),\; x, z \ge 0",
    "barla",
    nonnegative=_always,
    confines=True,
)
CHI_SQUARED = Rule(
    "chi-squared",
    "Σ 2xz/(x + z) on x, z ≥ 0 is a kernel: 1/(x + z) = ∫ e^(−tx)·e^(−tz) dt.",
    r"\sum_i \frac{2 x_i z_i}{x_i + z_i},\; x, z \ge 0",
    "vedaldi",
    nonnegative=_always,
    confines=True,
)
DELTA = Rule(
    "delta",
    "[x = z] is a kernel: Σ cᵢcⱼ[xᵢ = xⱼ] is a sum of squares, one per class of equal points.",
    r"[x = z]",
    "shawe-taylor",
    nonnegative=_always,
)
INVERSE_SUM = Rule(
    "inverse-sum",
    "1/(a(x) + a(z)) is a kernel for a > 0: ∫ e^(−t·a(x))·e^(−t·a(z)) dt.",
    r"\frac{1}{a(x) + a(z)},\; a > 0",
    "bcr",
    nonnegative=_always,
)
CONVOLUTION = Rule(
    "convolution",
    "Σᵢⱼ k₁(xᵢ, zⱼ) over the parts of two finite bags is a kernel: the inner product of the sums Σᵢ φ(xᵢ).",
    r"\sum_{i, j} k_1(x_i, z_j)",
    "haussler",
    nonnegative=_from_parts,
)
CITY_BLOCK = Rule(
    "city-block",
    "Σ |x − z| is conditionally negative definite: |x − z| = ∫ (1[t ≤ x] − 1[t ≤ z])² dt.",
    r"\lVert x - z\rVert_1",
    "bcr",
    concludes="distance",
    nonnegative=_always,
)
POLARISATION = Rule(
    "polarisation",
    "k₁(x, x) + k₁(z, z) − 2k₁(x, z) is conditionally negative definite.",
    r"k_1(x, x) + k_1(z, z) - 2 k_1(x, z)",
    "scholkopf",
    concludes="distance",
    nonnegative=_always,
)
BERNSTEIN = Rule(
    "bernstein",
    "b(ψ) is conditionally negative definite for b Bernstein with b(0) = 0.",
    r"b(\psi),\; b \text{ Bernstein}, b(0) = 0",
    "schilling",
    concludes="distance",
    nonnegative=_always,
)
DISTANCE_SUM = Rule(
    "distance-sum",
    "ψ₁ + ψ₂ is conditionally negative definite.",
    r"\psi_1 + \psi_2",
    "bcr",
    concludes="distance",
    nonnegative=_always,
)
DISTANCE_SCALING = Rule(
    "distance-scaling",
    "c·ψ₁ is conditionally negative definite for c ≥ 0.",
    r"c\,\psi_1,\; c \ge 0",
    "bcr",
    concludes="distance",
    nonnegative=_always,
)
DISTANCE_PULLBACK = Rule(
    "distance-pullback",
    "ψ(φ(x), φ(z)) is conditionally negative definite for any map φ.",
    r"\psi(\varphi(x), \varphi(z))",
    "bcr",
    concludes="distance",
    nonnegative=_always,
)
SUBSEQUENCES = Rule(
    "subsequences",
    "Σ λ^(spans of u in x and z) over common subsequences u is a kernel: an inner product, a coordinate for each u.",
    r"\sum_{u} \sum_{i : x_i = u} \sum_{j : z_j = u} \lambda^{l(i) + l(j)}",
    "lodhi",
    nonnegative=_always,
)
WALKS = Rule(
    "walks",
    "Σ λⁿ·(common walks of n steps) is a kernel where it converges: an inner product, a coordinate for each text read.",
    r"\sum_n \lambda^n \, \lvert \{\text{common walks of } n \text{ steps}\} \rvert",
    "gartner-flach",
    nonnegative=_always,
)
ALIGNMENTS = Rule(
    "alignments",
    "Σ Π ρ/(1 − ρ) over the alignments of two series is a kernel for a kernel ρ of points and places, 0 ≤ ρ < 1: the "
    "sum of Π ρ over all repetitions of points.",
    r"\sum_{\pi} \prod_{(i, j) \in \pi} \frac{\rho}{1 - \rho},\; 0 \le \rho < 1",
    "cuturi",
    nonnegative=_always,
)
SIGNATURES = Rule(
    "signatures",
    "⟨S(x), S(z)⟩ is a kernel for S(x) = Π e(φ(xᵢ₊₁) − φ(xᵢ)), e a polynomial: an inner product of tensors.",
    r"\langle S(x), S(z) \rangle,\; S(x) = \prod_i e(\varphi(x_{i+1}) - \varphi(x_i))",
    "kiraly",
    doubt="⟨S(x), S(z)⟩ < 0 where x and z move apart",
)
ASSUMED = Rule(
    "assumed",
    "The user's claim; nothing is derived.",
    r"\text{assumed}",
    "claim",
    doubt="nothing is derived from a claim",
)

TABLE: tuple[Rule, ...] = (
    INNER_PRODUCT, SCALING, ADDITION, POLYNOMIAL, SCHUR_PRODUCT, CONGRUENCE, EXPONENTIAL, QUADRATIC_FORM,
    CONSTANT, PULLBACK, DIRECT_SUM, TENSOR, POWER_SERIES, SCHOENBERG,
    MINIMUM, CHI_SQUARED, DELTA, INVERSE_SUM, CONVOLUTION,
    CITY_BLOCK, POLARISATION, BERNSTEIN, DISTANCE_SUM, DISTANCE_SCALING, DISTANCE_PULLBACK,
    SUBSEQUENCES, WALKS, ALIGNMENTS, SIGNATURES,
    ASSUMED,
)  # fmt: skip


def underivable(expression: str, rule: Rule, needs: str, got: str, attempt: str) -> NotPositive:
    """The error for an expression, from the rule that would have to derive it."""
    return NotPositive(
        f"{expression} cannot be derived as a {rule.concludes}.",
        f"{rule.label.capitalize()} needs {needs}; got {got}.",
        f"{attempt}\n  That it cannot be derived is not a disproof; Custom(fn, because=…) carries a claim of your own.",
    )
