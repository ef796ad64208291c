"""Vectors on a torus: columns that repeat after a period."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mercer.domains import PositiveNumbers
from mercer.errors import InvalidInput
from mercer.maps.base import StatelessMap, check_one_per_column
from mercer.points import Domain, Points, Vectors
from mercer.term import param

__all__ = ["Torus"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Torus(StatelessMap):
    r"""Wind each column around a circle, so that values one period apart become the same point.

    .. math:: x \mapsto \bigl(\cos(2\pi x_j / p_j), \sin(2\pi x_j / p_j)\bigr)_{j=1}^{d}

    The images have 2d columns: the cosine and the sine of column 1, then of column 2, and so on. Sparse vectors are
    refused, because the image of 0 is not 0.

    Parameters
    ----------
    period : float or array of shape (d,), default 1.0
        One period for all columns, or one per column; positive.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Torus(24.0)(as_points([[0.0], [6.0], [30.0]])).raw().round(12)
    array([[1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    period: Any = param(1.0, PositiveNumbers)

    def out_width(self, width: int) -> int:
        """A cosine and a sine for each column."""
        check_one_per_column("Torus", "period", self.period, width)
        return 2 * width

    def __call__(self, points: Points) -> Vectors:
        """The cosines and sines, in the same precision."""
        vectors = self.read_vectors(points)
        if vectors.dense is None:
            raise InvalidInput(
                f"{self!r} cannot keep sparse vectors sparse: the image of 0 is (1, 0).",
                f"Got sparse X, {points!r}.",
                "Pass X.toarray(), or choose the few columns that repeat, with Columns(...).",
            )
        image = np.empty((len(vectors), self.out_width(vectors.width)), dtype=vectors.dtype)
        # fmod is exact, so large values keep their place on the circle; float64, so that float32 loses nothing more.
        turns = np.fmod(vectors.dense.astype(np.float64), self.period) / self.period
        image[:, 0::2] = np.cos(2.0 * np.pi * turns)
        image[:, 1::2] = np.sin(2.0 * np.pi * turns)
        return Vectors(image)
