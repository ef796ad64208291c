"""Explicit feature maps, fitted: the object that `Kernel.feature_map` returns, and the pieces it is made of.

A piece is what one rule makes of the features of its premises. How the pieces follow from a kernel's rules is the
table in `features`.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.budget import allocate, refuse_too_large
from mercer.errors import InvalidInput, NotFinite
from mercer.kernels.plan import PointFunction
from mercer.kernels.sources import values_of, vectors_of
from mercer.maps import FittedMap
from mercer.points import Indicators, Points, as_points, conformed

__all__ = [
    "Coordinates", "Crossed", "FeatureMap", "Features", "Monomials", "OneHot", "Ones", "SideBySide", "Stretched",
    "Through", "Weighted", "n_monomials",
]  # fmt: skip

Array = npt.NDArray[np.float64]

# Features computed at a time: a block of two megabytes stays in cache while each degree is built from the previous.
FEATURES_AT_ONCE = 1 << 18
# Coordinates are read, not computed: enough for fast matrix products, few enough to stay in cache.
COORDINATES_AT_ONCE = 1 << 19
BYTES = np.dtype(np.float64).itemsize


class Features(Protocol):
    """Features of points, the same number of columns for all."""

    @property
    def size(self) -> int:
        """The number of features, M."""

    def __call__(self, points: Points) -> Array:
        """The features of each point: (n, M)."""


class SelfSimilar(Protocol):
    """What a feature map needs from its kernel."""

    def diag(self, X: Any) -> Array:
        """The values k(x, x)."""


@final
@dataclass(frozen=True)
class Coordinates:
    """The coordinates themselves: ⟨x, z⟩."""

    owner: str
    size: int

    def __call__(self, points: Points) -> Array:
        """The rows, dense."""
        found = vectors_of(points, self.owner)
        if found.width != self.size:
            raise InvalidInput(
                f"Z has {found.width} features, but {self.owner} is expecting {self.size} features as input."
            )
        if isinstance(found, Indicators):
            return np.asarray(found.csr().toarray())
        return np.asarray(found.csr.toarray() if found.dense is None else found.dense, dtype=np.float64)


@final
@dataclass(frozen=True)
class OneHot:
    """One feature for each value seen at fit: [x = z]."""

    owner: str
    codes: Mapping[Any, int]

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.codes)

    def __call__(self, points: Points) -> Array:
        """A 1 in the column of the value; all zeros for a new value."""
        codes = np.array([self.codes.get(value, -1) for value in values_of(points, self.owner)], dtype=np.int64)
        out = np.zeros((len(codes), self.size))
        seen = np.flatnonzero(codes >= 0)
        out[seen, codes[seen]] = 1.0
        return out


@final
@dataclass(frozen=True)
class Ones:
    """One feature that is the same everywhere: √c for the constant c."""

    value: float
    size: int = 1

    def __call__(self, points: Points) -> Array:
        """The root of the constant."""
        return np.full((len(points), 1), math.sqrt(self.value))


@final
@dataclass(frozen=True)
class Stretched:
    """√c·φ(x), for c·k."""

    scale: float
    part: Features

    @property
    def size(self) -> int:
        """Their number does not change."""
        return self.part.size

    def __call__(self, points: Points) -> Array:
        """The features times the root of the factor."""
        return self.part(points) * math.sqrt(self.scale)


@final
@dataclass(frozen=True)
class Weighted:
    """f(x)·φ(x), for f(x)·k(x, z)·f(z)."""

    function: PointFunction
    part: Features

    @property
    def size(self) -> int:
        """Their number does not change."""
        return self.part.size

    def __call__(self, points: Points) -> Array:
        """The features times the function's values."""
        return self.part(points) * self.function.values(points)[:, None]


@final
@dataclass(frozen=True)
class Through:
    """φ(m(x)), for the pullback along a map m that was fitted with the features."""

    image: FittedMap
    part: Features

    @property
    def size(self) -> int:
        """Those of the images."""
        return self.part.size

    def __call__(self, points: Points) -> Array:
        """The features of the images."""
        return self.part(self.image(points))


@final
@dataclass(frozen=True)
class SideBySide:
    """(φ₁(x), φ₂(x), …), for k₁ + k₂ + …."""

    parts: tuple[Features, ...]

    @property
    def size(self) -> int:
        """The sum."""
        return sum(part.size for part in self.parts)

    def __call__(self, points: Points) -> Array:
        """The features of all parts."""
        return np.hstack([part(points) for part in self.parts])


@final
@dataclass(frozen=True)
class Crossed:
    """All products φ₁ᵢ(x)·φ₂ⱼ(x)·…, the Kronecker product of each row, for k₁·k₂·…."""

    parts: tuple[Features, ...]

    @property
    def size(self) -> int:
        """The product."""
        return math.prod(part.size for part in self.parts)

    def __call__(self, points: Points) -> Array:
        """All products of one feature of each part."""
        return reduce(_row_wise_kronecker, (part(points) for part in self.parts))


@final
@dataclass(frozen=True)
class Monomials:
    """Monomials of features, for the polynomial Σ aₙ·kⁿ with aₙ ≥ 0.

    (Σᵢ tᵢ)ⁿ with tᵢ = φᵢ(x)·φᵢ(z) is the sum over multisets α of n features of n!/α!·t^α: one feature
    √(aₙ·n!/α!)·φ(x)^α for each multiset, instead of one for each of the Mⁿ sequences.
    """

    coefficients: tuple[float, ...]
    part: Features

    @property
    def size(self) -> int:
        """C(M + n − 1, n) for each n with a coefficient."""
        return sum(n_monomials(self.part.size, n) for n, a in enumerate(self.coefficients) if a)

    def __call__(self, points: Points) -> Array:
        """The monomials, degree after degree."""
        base = self.part(points)
        out = np.empty((len(base), self.size))
        start = 0
        for a, columns in zip(self.coefficients, _powers(base), strict=False):  # _powers is infinite
            if a:
                end = start + columns.shape[1]
                np.multiply(columns, math.sqrt(a), out=out[:, start:end])
                start = end
        return out


def n_monomials(width: int, degree: int) -> int:
    """How many monomials of this degree there are in `width` variables: C(width + degree − 1, degree).

    Examples
    --------
    >>> n_monomials(3, 2), n_monomials(3, 0)
    (6, 1)
    """
    return math.comb(width + degree - 1, degree) if degree else 1


def _row_wise_kronecker(left: Array, right: Array) -> Array:
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


def _powers(base: Array) -> Iterator[Array]:
    """For n = 0, 1, 2, …: the columns √(n!/α!)·base^α of all multisets α of n columns.

    A multiset of n columns is its smallest column i and a multiset of n − 1 columns that are all ≥ i. With the
    multisets sorted, these are a block at the end; and n!/α! is (n − 1)!/(α − i)!·n/αᵢ.
    """
    n_rows, width = base.shape
    yield np.ones((n_rows, 1))
    yield base
    columns, starts, repeats = base, np.arange(width + 1), np.ones(width)  # repeats: αᵢ of the smallest column i
    degree = 2
    while True:
        sizes = columns.shape[1] - starts[:-1]
        new_starts = np.concatenate([[0], np.cumsum(sizes)])
        new, new_repeats = np.empty((n_rows, new_starts[-1])), np.ones(new_starts[-1])
        for i in range(width):
            block = slice(new_starts[i], new_starts[i + 1])
            again = starts[i + 1] - starts[i]
            new_repeats[block][:again] += repeats[starts[i] : starts[i + 1]]
            np.multiply(columns[:, starts[i] :], base[:, i, None], out=new[:, block])
            new[:, block] *= np.sqrt(degree / new_repeats[block])
        columns, starts, repeats = new, new_starts, new_repeats
        yield columns
        degree += 1


@final
@dataclass(frozen=True, repr=False, eq=False)
class FeatureMap:
    """The explicit feature map φ of a kernel: ⟨φ(x), φ(z)⟩ = k(x, z). Made by `Kernel.feature_map`.

    Calling it gives the features of points as a dense float64 array (n, M). What the map learnt from the points it was
    fitted on is fixed: the items of sets, the values of `Delta`, rules such as gamma="scale". A new item or value
    has no feature. So φ(Z)·φ(X)ᵀ = k(Z, X) for every Z and the X of the fit, while φ(Z)·φ(Z)ᵀ leaves out what points of
    Z have in common that no point of X has.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with its parameters resolved.
    n_features : int
        M.
    error_bound : float
        The largest |⟨φ(x), φ(z)⟩ − k(x, z)| among the points of the fit: 0 for a finite map, which is exact up to
        rounding; > 0 where exponentials are cut off (``order=p``).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Polynomial
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0]])
    >>> phi = Polynomial(2).feature_map(X)
    >>> phi
    FeatureMap(Polynomial(2), 6 features)
    >>> phi(X).round(4)
    array([[1.    , 2.8284, 1.4142, 4.    , 2.8284, 1.    ],
           [0.    , 0.    , 0.    , 1.    , 1.4142, 1.    ]])
    >>> phi(X) @ phi(X).T
    array([[36.,  9.],
           [ 9.,  4.]])
    """

    kernel: SelfSimilar
    n_features: int
    error_bound: float
    _mapped: SelfSimilar  # the kernel that the features belong to: another one where exponentials are cut off
    _features: Features
    _example: Points  # one point of the fit, or none, which says what others must look like

    @classmethod
    def fitted(cls, kernel: SelfSimilar, mapped: SelfSimilar, features: Features, points: Points) -> "FeatureMap":
        """The map for features fitted on the points; raises `TooLarge` if not even one point would fit."""
        refuse_too_large(
            # The row, and beside it the lower degree or the factors that it is made from.
            3 * features.size * BYTES,
            f"One point in the {features.size} features of {kernel!r}",
            "Use the kernel itself, which never forms them, or a lower degree.",
        )
        example = points.take([0][: len(points)])  # none of a machine without support vectors
        phi = cls(kernel, features.size, 0.0, mapped, features, example)
        return phi if mapped == kernel else replace(phi, error_bound=float(phi.remainder(points).max()))

    def __repr__(self) -> str:
        error = f", error ≤ {self.error_bound:.2g}" if self.error_bound else ""
        return f"FeatureMap({self.kernel!r}, {self.n_features} features{error})"

    def __call__(self, Z: Any) -> Array:
        """The features of points.

        Parameters
        ----------
        Z : array-like or Points, n points like those of the fit

        Returns
        -------
        ndarray of shape (n, n_features)
            Raises `TooLarge` if it would not fit.
        """
        points = self._read(Z)
        out = allocate(
            (len(points), self.n_features),
            np.float64,
            f"{len(points)} points in the {self.n_features} features of {self.kernel!r}",
            "Use the kernel itself, which never forms them, or fewer points at a time.",
        )
        for rows, features in self.blocks(points):
            out[rows] = features
        return out

    def blocks(self, Z: Any) -> Iterator[tuple[slice, Array]]:
        """The features, block by block, so that (n, M) is never stored: pairs of rows and (rows, M)."""
        points = self._read(Z)
        is_coordinates = isinstance(self._features, Coordinates)
        n_rows = max(1, (COORDINATES_AT_ONCE if is_coordinates else FEATURES_AT_ONCE) // max(self.n_features, 1))
        for start in range(0, len(points), n_rows):
            rows = slice(start, min(start + n_rows, len(points)))
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported by row
                features = self._features(points.take(rows))
            # The coordinates themselves were checked when they became points.
            finite = np.True_ if is_coordinates else np.isfinite(features).all(axis=1)
            if not finite.all():
                raise NotFinite(
                    f"The features of {self.kernel!r} are not finite at row {start + int(np.argmin(finite))}.",
                    "A value overflows float64, or is not a number.",
                    "Scale the points, or use a normalised kernel or a lower degree.",
                )
            yield rows, features

    def remainder(self, Z: Any) -> Array:
        """What the order left out of k(z, z): r(z) = k(z, z) − kₚ(z, z) ≥ 0 at each point, never below rounding.

        The map is that of kₚ, in which exponentials are cut off, and the rest k − kₚ is a kernel. So the error at two
        points is at most √(r(x)·r(z)), and among any points it is largest on the diagonal. For the Gaussian kernel,
        with s = ‖x‖²/ℓ², this is r(x) = exp(−s)·Σ_{n>p} sⁿ/n!, the tail of a Poisson distribution: above 0 for every p,
        which is why no finite number of features suffices.

        Parameters
        ----------
        Z : array-like or Points, n points like those of the fit

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> from mercer.kernels import RBF
        >>> [float(RBF().feature_map([[1.0]], order=p).remainder([[1.0]])[0].round(6)) for p in (0, 1, 2, 3)]
        [0.632121, 0.264241, 0.080301, 0.018988]
        """
        points = self._read(Z)
        own = self.kernel.diag(points)
        # Sums of M squares: below this a difference means nothing.
        rounding = np.finfo(np.float64).eps * max(self.n_features, 1) * own
        return np.maximum(own - self._mapped.diag(points), rounding)

    def _read(self, Z: Any) -> Points:
        return conformed(self._example, as_points(Z, "Z"), "Z", type(self.kernel).__name__, self.kernel.reads())
