"""Any map that a user can write."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from mercer.domains import Function
from mercer.errors import InvalidInput
from mercer.maps.base import Map
from mercer.points import Domain, Points, Sets, Vectors, as_points
from mercer.points.base import ANYTHING
from mercer.term import REQUIRED, param

__all__ = ["FunctionMap"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class FunctionMap(Map):
    r"""Apply a function to the points.

    .. math:: x \mapsto f(x)

    The function gets all points at once, as plain data (an array or CSR matrix of vectors, a list of frozensets, a list
    of values, a dict of columns), and returns one image per point, in anything that ``as_points`` reads. Each image
    must depend on its own point alone, else the result is not a kernel; ``fit`` checks this on the first two points.

    Parameters
    ----------
    fn : callable
        The function, for instance an embedding. It must be hashable, as functions are.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> def length(words):
    ...     return [[len(word)] for word in words]
    >>> FunctionMap(length)(as_points(["kernel", "map"])).raw()
    array([[6.],
           [3.]])
    """

    needs: ClassVar[frozenset[Domain]] = ANYTHING
    fn: Callable[[Any], Any] = param(REQUIRED, Function)

    def fit(self, points: Points) -> "FunctionMap":
        """Try the function on one point and on two: the first image must be the same."""
        if len(points) > 1:
            alone, among = self(points.take(slice(0, 1))), self(points.take(slice(0, 2))).take(slice(0, 1))
            if not _same(alone, among):
                raise InvalidInput(
                    f"{self!r} is not a function of one point.",
                    "The image of the first point changes when the second is passed with it.",
                    "Let each image depend on its own point only: take means and scales from fixed data.",
                )
        return self

    def out_width(self, width: int) -> None:
        """Unknown."""

    def __call__(self, points: Points) -> Points:
        """The images of the points, validated."""
        images = as_points(self.fn(points.raw()), f"{self!r} of X")
        if len(images) != len(points):
            raise InvalidInput(
                f"{self!r} must return one image per point.", f"Got {len(images)} images of {len(points)} points."
            )
        return images


# Batched arithmetic may round differently for one row than for two, in float32 by a few units in the last place.
_ROUNDING = 1e-4


def _same(alone: Points, among: Points) -> bool:
    if isinstance(alone, Vectors) and isinstance(among, Vectors):
        if alone.width != among.width:
            return False
        first, second = (vectors.raw().toarray() if vectors.is_sparse else vectors.raw() for vectors in (alone, among))
        return bool(np.allclose(first, second, rtol=_ROUNDING, atol=_ROUNDING * float(np.abs(second).max())))
    if isinstance(alone, Sets) and isinstance(among, Sets):
        return alone.raw() == among.raw()
    # Other values may be new objects on every call, and need not compare equal.
    return alone.domain is among.domain
