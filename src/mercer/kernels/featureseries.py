"""The explicit features of truncated signatures: their tensors."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.points import Domain, Points, Series, require

__all__ = ["Tensors", "series_of_points"]

Array = npt.NDArray[np.float64]


def series_of_points(points: Points, owner: str) -> Series:
    """The points as series."""
    found = require(points, frozenset({Domain.SERIES}), owner)
    assert isinstance(found, Series)
    return found


@final
@dataclass(frozen=True)
class Tensors:
    """The coordinates of S(x) = e(δ₁)·e(δ₂)·… up to a level, e the exponential up to a power."""

    owner: str
    level: int
    order: int
    channels: int

    @property
    def size(self) -> int:
        """1 + c + c² + … of c channels, one for each word of channels."""
        return sum(self.channels**m for m in range(self.level + 1))

    def __call__(self, points: Points) -> Array:
        """The tensors of each series, level after level; all series advance together, and wait at their ends."""
        series = series_of_points(points, self.owner)
        if len(series.parts) and series.channels != self.channels:
            raise InvalidInput(
                f"{self.owner} was given series of {series.channels} channels, but its basis has {self.channels}.",
                "", "Pass the same channels, in the same order.",
            )  # fmt: skip
        n = len(series)
        S = [np.zeros((n, self.channels**m)) for m in range(self.level + 1)]
        S[0][:] = 1.0
        for at in range(1, int(series.sizes.max(initial=0))):
            moving = np.flatnonzero(series.sizes > at)
            place = series.offsets[moving] + at
            step = series.parts[place].astype(np.float64) - series.parts[place - 1]
            powers = [np.ones((len(moving), 1))]
            for p in range(1, min(self.order, self.level) + 1):
                powers.append(_outer(powers[-1], step) / p)
            before = [tensor[moving] for tensor in S]
            for m in range(self.level, 0, -1):
                for p in range(1, min(len(powers) - 1, m) + 1):
                    S[m][moving] += _outer(before[m - p], powers[p])
        return np.concatenate(S, axis=1)


def _outer(left: Array, right: Array) -> Array:
    """The products of all entries of two tensors, row by row."""
    return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), -1))
