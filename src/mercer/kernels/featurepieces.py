"""The pieces that explicit feature maps are made of: what one rule makes of the features of its premises.

How the pieces follow from a kernel's rules is the table in `features`.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.kernels.parts import bags_of
from mercer.kernels.plan import PointFunction
from mercer.kernels.sources import values_of, vectors_of
from mercer.maps import FittedMap
from mercer.points import Indicators, Points

__all__ = [
    "Coordinates", "Crossed", "Features", "Monomials", "OneHot", "Ones", "Pooled", "SideBySide", "Stretched",
    "Through", "Weighted", "n_monomials",
]  # fmt: skip

Array = npt.NDArray[np.float64]


class Features(Protocol):
    """Features of points, the same number of columns for all."""

    @property
    def size(self) -> int:
        """The number of features, M."""

    def __call__(self, points: Points) -> Array:
        """The features of each point: (n, M)."""


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


# Features of so many parts, or of one bag if it has more, are in memory at a time.
PARTS_AT_ONCE = 4096


@final
@dataclass(frozen=True)
class Pooled:
    """Σᵢ φ(xᵢ) over the parts of a bag, for the sum of a kernel over pairs of parts."""

    owner: str
    part: Features

    @property
    def size(self) -> int:
        """Those of a part."""
        return self.part.size

    def __call__(self, points: Points) -> Array:
        """The sums of the features of the parts; of an empty bag, zeros."""
        bags = bags_of(points, self.owner)
        out = np.zeros((len(bags), self.size))
        first = 0
        while first < len(bags):
            reach = np.searchsorted(bags.offsets, bags.offsets[first] + PARTS_AT_ONCE, side="right") - 1
            last = max(int(reach), first + 1)
            some = bags.take(slice(first, last))
            filled = np.flatnonzero(some.sizes)
            if len(filled):
                out[first + filled] = np.add.reduceat(self.part(some.parts), some.offsets[filled], axis=0)
            first = last
        return out


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
