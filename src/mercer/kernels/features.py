"""Explicit features from the rules: the table rule -> how features are built from those of the premises.

Nodes implement nothing for it. A node that expands has the features of its expansion; a rule of `REASONS` has
infinitely many, and says why. With an order p the map is that of another kernel, in which every exp(k) is cut off.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, final

from mercer.domains import Integer
from mercer.errors import InvalidInput, NoFiniteMap
from mercer.kernels.algebra import Exp
from mercer.kernels.featuremap import FeatureMap, first
from mercer.kernels.featurepieces import (
    Coordinates,
    Crossed,
    Features,
    Monomials,
    OneHot,
    Ones,
    Pooled,
    SideBySide,
    Stretched,
    Through,
    Weighted,
)
from mercer.kernels.featureseries import Tensors, series_of_points
from mercer.kernels.kernel import BUILD, Kernel
from mercer.kernels.parts import bags_of
from mercer.kernels.powers import PolynomialOf, Power
from mercer.kernels.rules import (
    ADDITION,
    ALIGNMENTS,
    ASSUMED,
    CHI_SQUARED,
    CONGRUENCE,
    CONSTANT,
    CONVOLUTION,
    DELTA,
    DIRECT_SUM,
    EXPONENTIAL,
    INNER_PRODUCT,
    INVERSE_SUM,
    MINIMUM,
    POLYNOMIAL,
    POWER_SERIES,
    PULLBACK,
    QUADRATIC_FORM,
    SCALING,
    SCHOENBERG,
    SCHUR_PRODUCT,
    SIGNATURES,
    SUBSEQUENCES,
    TENSOR,
    WALKS,
    Rule,
)
from mercer.kernels.sources import values_of, vectors_of
from mercer.maps import FittedMap, Map
from mercer.maps.transform import Transform
from mercer.points import Points, as_points

__all__ = [
    "COEFFICIENTS", "REASONS", "RECIPES", "FeatureMap", "beginning", "cut_off", "feature_map", "learnt_again",
    "n_features",
]  # fmt: skip

WIDTH = Integer(1)
ORDER = Integer(0)
CUT_OFF = "Try feature_map(X, order=p) for those of degree n ≤ p, or the kernel itself, which needs no features."


@final
@dataclass(frozen=True)
class Width:
    """Vectors whose number of columns is known, and nothing else."""

    columns: int


Seen = Points | Width


@final
@dataclass(frozen=True)
class Fit:
    """The fold of a kernel's tree into its features: only sizes and fitted maps, no feature is made."""

    whole: Kernel  # what the user passed, for messages

    def of(self, kernel: Any, seen: Seen) -> Features:
        """The features of a kernel on the points, or on vectors of the width, that it sees."""
        rule = kernel.by()
        if rule is None:
            return self.of(kernel.expand(), seen)
        return RECIPES.get(rule, _infinite)(kernel, seen, self)

    def all_of(self, kernels: tuple[Any, ...], seen: Seen) -> tuple[Features, ...]:
        """The features of each kernel."""
        return tuple(self.of(kernel, seen) for kernel in kernels)

    def refuse_width(self, part: Kernel, reason: str) -> NoReturn:
        """Name the part of the kernel whose number of features depends on the data."""
        raise InvalidInput(
            f"The number of features of {self.whole!r} does not depend on the width alone.",
            f"{part!r}: {reason}",
            "Use kernel.feature_map(X).n_features.",
        )


def _coordinates(node: Any, seen: Seen, fit: Fit) -> Features:  # noqa: ARG001 (a row of the table)
    owner = repr(node)
    return Coordinates(owner, seen.columns if isinstance(seen, Width) else vectors_of(seen, owner).width)


def _transformed(node: Any, seen: Seen, fit: Fit) -> Features:  # noqa: ARG001 (a row of the table)
    owner = repr(node)
    transform = Transform(node.root(), "Quadratic")
    width = seen.columns if isinstance(seen, Width) else vectors_of(seen, owner).width
    return Through(transform, Coordinates(owner, transform.out_width(width)))


def _one_hot(node: Any, seen: Seen, fit: Fit) -> Features:
    if isinstance(seen, Width):
        fit.refuse_width(node, "it has one feature for each value in the data.")
    owner = repr(node)
    return OneHot(owner, {value: code for code, value in enumerate(dict.fromkeys(values_of(seen, owner)))})


def _pullback(node: Any, seen: Seen, fit: Fit) -> Features:
    m: Map = node.map
    if not isinstance(seen, Width):
        image: FittedMap = m.fit(seen)
        return Through(image, fit.of(node.kernel, image(seen)))
    width = m.out_width(seen.columns)
    if width is None:
        fit.refuse_width(node, f"{m!r} has a number of columns that depends on the data.")
    # Only the size is needed, so the unfitted map is left out.
    return fit.of(node.kernel, Width(width))


def _pooled(node: Any, seen: Seen, fit: Fit) -> Features:
    if isinstance(seen, Width):
        fit.refuse_width(node, "bags have no columns.")
    owner = repr(node)
    return Pooled(owner, fit.of(node.kernel, bags_of(seen, owner).parts))


def _crossed(node: Any, seen: Seen, fit: Fit) -> Features:
    """The Kronecker product of different factors; a factor that is repeated needs no product twice."""
    repeated = Counter(node.premises())
    parts = fit.all_of(tuple(repeated), seen)
    powers = (
        part if n == 1 else Monomials(_monomial(n), part) for part, n in zip(parts, repeated.values(), strict=True)
    )
    return Crossed(tuple(powers))


def _infinite(node: Any, seen: Seen, fit: Fit) -> Features:
    written = list(node.parts())  # of others, such as the kernel of the points of a series, these points are not seen
    for premise in node.premises():
        if isinstance(premise, Kernel) and premise in written:
            fit.of(premise, seen)  # a smaller part that has no finite map is the one to name
    rule: Rule = node.by()
    name = f"{rule.number} ({rule.name})" if rule.number else rule.name
    raise NoFiniteMap(
        f"{fit.whole!r} has no finite feature map.",
        f"{node!r} is made by rule {name}: {REASONS[rule]}",
        CUT_OFF if rule is EXPONENTIAL else "Use the kernel itself, which needs no features.",
    )


def _tensors(node: Any, seen: Seen, fit: Fit) -> Features:
    owner = repr(node)
    if node.level is None or node.length_scale is not None:
        raise NoFiniteMap(
            f"{fit.whole!r} has no finite feature map.",
            f"{owner} is made by rule signatures: it has a feature for each word of features of the points, "
            "of which there are infinitely many.",
            "Give a level, and no length_scale; or use the kernel itself, which needs no features.",
        )
    if isinstance(seen, Width):
        fit.refuse_width(node, "it has features of each channel, and rows are series of one.")
    return Tensors(owner, node.level, node.order, series_of_points(seen, owner).channels)


def _monomial(degree: int) -> tuple[float, ...]:
    return (*[0.0] * degree, 1.0)


# The coefficients of the polynomial in each node of rule 4.
COEFFICIENTS: dict[type, Callable[[Any], tuple[float, ...]]] = {
    Power: lambda node: _monomial(node.exponent),
    PolynomialOf: lambda node: node.coefficients,
}

Recipe = Callable[[Any, Seen, Fit], Features]

RECIPES: dict[Rule, Recipe] = {
    INNER_PRODUCT: _coordinates,
    QUADRATIC_FORM: _transformed,
    CONSTANT: lambda node, seen, fit: Ones(node.value),
    DELTA: _one_hot,
    SCALING: lambda node, seen, fit: Stretched(node.scale, fit.of(node.kernel, seen)),
    ADDITION: lambda node, seen, fit: SideBySide(fit.all_of(node.premises(), seen)),
    DIRECT_SUM: lambda node, seen, fit: SideBySide(fit.all_of(node.premises(), seen)),
    SCHUR_PRODUCT: _crossed,
    TENSOR: _crossed,
    POLYNOMIAL: lambda node, seen, fit: Monomials(COEFFICIENTS[type(node)](node), fit.of(node.kernel, seen)),
    CONGRUENCE: lambda node, seen, fit: Weighted(node.function, fit.of(node.kernel, seen)),
    PULLBACK: _pullback,
    CONVOLUTION: _pooled,
    SIGNATURES: _tensors,
}

# Why the other rules that make kernels have no recipe.
REASONS: dict[Rule, str] = {
    EXPONENTIAL: "exp has infinitely many features, the monomials of every degree n, weighted by 1/√n!.",
    POWER_SERIES: "a power series has infinitely many features, the monomials of every degree.",
    SCHOENBERG: "a completely monotone function is a mixture of Gaussian kernels, each with infinitely many features.",
    MINIMUM: "min has one feature 1[t ≤ x] for every threshold t, infinitely many.",
    CHI_SQUARED: "2xz/(x + z) has one feature x·e^(−tx) for every t > 0, infinitely many.",
    INVERSE_SUM: "1/(a(x) + a(z)) has one feature e^(−t·a(x)) for every t > 0, infinitely many.",
    SUBSEQUENCES: "it has one feature for each string that may be a subsequence, more than can be listed.",
    ALIGNMENTS: "no features of alignments can be listed: points may be repeated any number of times.",
    WALKS: "graphs with a cycle have walks of every length, and so one feature for each of infinitely many texts.",
    ASSUMED: "a claim names no features.",
}


def cut_off(kernel: Kernel, order: int) -> Kernel:
    """The kernel kₚ in which every exp(k) is the polynomial Σ_{n≤p} kⁿ/n!; the same kernel where there is no exp.

    Sums, products, polynomials and rule 6 of kernels a + r with kernels a and r are again of this form. So what is left
    out, k − kₚ, is a kernel, however the exponentials are nested. Functions f of rule 6 stay as they are.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> cut_off(3 * RBF(), 2)
    3.0 * polynomial(1.0 * Linear(), [1.0, 1.0, 0.5]).scaled_by(GaussianEnvelope(1.0))
    """
    rule = kernel.by()
    if rule is None:
        expansion: Any = kernel.expand()
        cut = cut_off(expansion, order)
        return kernel if cut == expansion else cut
    if isinstance(kernel, Exp):
        coefficients = tuple(1 / math.factorial(n) for n in range(order + 1))
        return PolynomialOf(cut_off(kernel.kernel, order), coefficients)
    if rule not in RECIPES:
        return kernel
    premises = {name: part for name, part in kernel.full_params(deep=False).items() if isinstance(part, Kernel)}
    return kernel.replace(**{name: cut_off(part, order) for name, part in premises.items()})


def feature_map(kernel: Kernel, X: Any, order: int | None = None) -> FeatureMap:
    """The explicit feature map φ with ⟨φ(x), φ(z)⟩ = k(x, z), fitted on X.

    ==============================  ========================================================
    kernel                          features
    ==============================  ========================================================
    ⟨x, z⟩; xᵀAz with A = PᵀP       x; Px
    c; c·k                          √c; √c·φ
    k₁ + k₂; k₁·k₂                  (φ₁, φ₂); all products φ₁ᵢ·φ₂ⱼ
    Σ aₙ·kⁿ                         √(aₙ·n!/α!)·φ^α, one for each multiset α of n features
    f(x)·k(x, z)·f(z)               f·φ
    k(m(x), m(z))                   φ∘m, with m fitted on X
    Σᵢⱼ k(xᵢ, zⱼ)                   Σᵢ φ(xᵢ)
    [x = z]                         one for each value in X
    ==============================  ========================================================

    Parameters
    ----------
    kernel : Kernel
        Rules such as gamma="scale" are resolved on X.
    X : array-like or Points
        What dictionaries of items and of values are made of. Features are made when the map is called.
    order : int, optional
        Where exp(k) occurs, which has infinitely many features: those of degree n ≤ order, for Σₙ kⁿ/n!. Of the
        Gaussian kernel this is the Taylor map. `FeatureMap.error_bound` says what it costs on X.

    Returns
    -------
    FeatureMap
        With ``phi(Z)``, ``phi.n_features`` and ``phi.error_bound``.

    Raises
    ------
    NoFiniteMap
        Naming the smallest part that has infinitely many features, and its rule.
    TooLarge
        If not even the features of one point would fit.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear, Tanimoto
    >>> phi = feature_map((Linear() + 1) ** 3, [[1.0, 2.0], [3.0, 4.0]])
    >>> phi.n_features
    10
    >>> phi([[1.0, 2.0]]) @ phi([[3.0, 4.0]]).T
    array([[1728.]])
    >>> feature_map(RBF(2.0), [[1.0], [0.5]], order=3)
    FeatureMap(RBF(2.0), 4 features, error ≤ 0.00013)
    >>> feature_map(1 + 2 * RBF(2.0), [[1.0], [0.5]])
    Traceback (most recent call last):
        ...
    mercer.errors.NoFiniteMap: 2.0 * RBF(2.0) + 1.0 has no finite feature map.
      (0.25 * Linear()).exp() is made by rule 7 (exponential): exp has infinitely many features, the monomials of every
      degree n, weighted by 1/√n!.
      Try feature_map(X, order=p) for those of degree n ≤ p, or the kernel itself, which needs no features.
    """
    points = as_points(X)
    resolved = kernel.resolve(points)
    mapped = resolved if order is None else cut_off(resolved, ORDER.check("feature_map", "order", order))
    features = Fit(resolved).of(mapped, points)
    return FeatureMap.fitted(resolved, mapped, features, points, _teachers(resolved, mapped, features.size, points))


def _teachers(kernel: Kernel, mapped: Kernel, size: int, points: Points) -> Points:
    """One point where it alone teaches all features, as of vectors; else all, whose items and values they name."""
    one = first(points)
    return one if Fit(kernel).of(mapped, one).size == size else points


def beginning(phi: FeatureMap) -> Points:
    """The first points of the fit, as few as teach the map all of its features.

    Dictionaries of items and values only grow with the points, and keep their order; so the features are the same when
    there are as many.
    """
    kernel, mapped, _, points = phi.learnt
    assert isinstance(kernel, Kernel)
    low, high = 0, len(points)  # too few, and enough
    while high - low > 1:
        middle = (low + high) // 2
        if Fit(kernel).of(mapped, points.take(slice(0, middle))).size == phi.n_features:
            high = middle
        else:
            low = middle
    return points.take(slice(0, high))


def learnt_again(kernel: Kernel, mapped: Kernel, error_bound: float, points: Points) -> FeatureMap:
    """A map from what `FeatureMap.learnt` says, with the points of `beginning`."""
    phi = FeatureMap.fitted(kernel, kernel, Fit(kernel).of(mapped, points), points, points)
    return replace(phi, error_bound=error_bound, _mapped=mapped)


def n_features(kernel: Kernel, width: int) -> int:
    """The number of features M of the explicit map on vectors of this width, if the width determines it.

    Examples
    --------
    >>> from mercer.kernels import Delta, Linear, Polynomial
    >>> n_features(Polynomial(5), 100), n_features(Linear() * Linear().on(0, 1), 100)
    (96560646, 200)
    >>> n_features(Delta(), 3)
    Traceback (most recent call last):
        ...
    mercer.errors.InvalidInput: The number of features of Delta() does not depend on the width alone.
      Delta(): it has one feature for each value in the data.
      Use kernel.feature_map(X).n_features.
    """
    return Fit(kernel).of(kernel, Width(WIDTH.check("n_features", "width", width))).size


BUILD.update(feature_map=feature_map, n_features=n_features)
