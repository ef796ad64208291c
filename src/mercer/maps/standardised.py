"""Vectors in units of their own spread, which is learnt at fit."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import numpy.typing as npt

from mercer.domains import CentreOrRule, SpreadOrRule
from mercer.errors import InvalidInput, InvalidParameter
from mercer.maps.base import Map, check_one_per_column
from mercer.points import Domain, Points, Vectors
from mercer.term import param

__all__ = ["Standardised"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Standardised(Map):
    r"""Centre each column, and divide it by its spread.

    .. math:: x \mapsto \bigl((x_j - c_j) / s_j\bigr)_{j=1}^{d}

    The rules "mean" and "std" are replaced by numbers when a kernel meets its training points, like
    ``length_scale="median"``: they stand in the fitted formula, and new points never change them. A column that is
    constant there is only centred. Sparse vectors are refused, because the image of 0 is not 0.

    Parameters
    ----------
    centre : "mean", float or array of shape (d,), default "mean"
        What is subtracted: the rule, one number for all columns, or one per column.
    scale : "std", float or array of shape (d,), default "std"
        What is divided by, > 0; "std" is the root of the mean squared deviation from the mean.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> learnt = Standardised().fit(as_points([[1.0, 10.0], [3.0, 30.0]]))
    >>> learnt
    Standardised([2.0, 20.0], [1.0, 10.0])
    >>> learnt(as_points([[5.0, 20.0]])).raw()
    array([[3., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    centre: Any = param("mean", CentreOrRule)
    scale: Any = param("std", SpreadOrRule)

    @property
    def unresolved(self) -> bool:
        """Whether the centre or the scale is a rule."""
        return isinstance(self.centre, str) or isinstance(self.scale, str)

    def resolved(self, points: Points) -> Self:
        """The mean and the standard deviation of each column, in place of the rules."""
        if not self.unresolved:
            return self
        mean, std = _moments(self._dense(points))
        return self.replace(
            centre=mean if isinstance(self.centre, str) else self.centre,
            scale=np.where(std > 0.0, std, 1.0) if isinstance(self.scale, str) else self.scale,
        )

    def fit(self, points: Points) -> Self:
        """Find what the rules stand for."""
        return self.resolved(points)

    def out_width(self, width: int) -> int:
        """The number of columns does not change."""
        check_one_per_column("Standardised", "centre", self.centre, width)
        check_one_per_column("Standardised", "scale", self.scale, width)
        return width

    def __call__(self, points: Points) -> Vectors:
        """The columns in their new units, in the same precision."""
        if self.unresolved:
            raise InvalidParameter(f"{self!r} is not resolved yet.", "", "Call fit(points) first.")
        rows = self._dense(points)
        self.out_width(rows.shape[1])
        return Vectors(((rows - self.centre) / self.scale).astype(rows.dtype, copy=False), repr(self))

    def _dense(self, points: Points) -> npt.NDArray[np.floating[Any]]:
        vectors = self.read_vectors(points)
        if vectors.dense is None:
            raise InvalidInput(
                f"{self!r} cannot keep sparse vectors sparse: the image of 0 is not 0.",
                f"Got sparse X, {points!r}.",
                "Pass X.toarray(), or divide by a scale alone, with Scale(1 / std).",
            )
        return vectors.dense


def _moments(
    rows: npt.NDArray[np.floating[Any]],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:  # (d,), (d,)
    """Mean and standard deviation of each column: exact sums, which do not depend on the order of the rows."""
    n, d = rows.shape
    mean, std = np.empty(d), np.empty(d)
    for j in range(d):
        # A power of two, so that squares and sums do not overflow, and nothing is rounded.
        peak = math.ldexp(1.0, math.frexp(float(np.abs(rows[:, j]).max()))[1] - 1)
        column = rows[:, j].astype(np.float64) / peak
        middle = math.fsum(column.tolist()) / n
        mean[j] = middle * peak
        # What rounding makes of a constant column is no spread.
        squares = (column - middle) ** 2 if np.ptp(column) > 0.0 else np.zeros(1)
        std[j] = math.sqrt(math.fsum(squares.tolist()) / n) * peak
    return mean, std
