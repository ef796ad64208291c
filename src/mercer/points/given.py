"""A collection that only the user's own function understands, taken as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.errors import InvalidInput, NotFinite
from mercer.points.base import Domain, Points, Rows, as_rows

__all__ = ["Given"]


@final
@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Given:
    """Points in the user's own form: a list, array, table or sparse matrix, of which only the length is looked at.

    The function is always called with whole collections, as scikit-learn does: it may look at more than two points at
    a time. So these points keep all of the collection, and `take` only notes which of it are meant.

    Parameters
    ----------
    collection : any
        What the function is called with.
    rows : ndarray of shape (n,), optional
        Which of it these points are; all, in their order, when not given.

    Examples
    --------
    >>> X = Given(["to", "be", "or", "not"])
    >>> same = lambda left, right: [[float(len(a) == len(b)) for b in right] for a in left]
    >>> X.take([1, 3]).called(same, Given(["no"]))
    array([[1., 0.]])
    """

    domain: ClassVar[Domain] = Domain.OBJECTS
    collection: Any
    rows: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return self._count if self.rows is None else len(self.rows)

    def __repr__(self) -> str:
        return f"Given({len(self)} points, {type(self.collection).__name__})"

    @property
    def _count(self) -> int:
        shape = getattr(self.collection, "shape", None)
        return int(shape[0]) if shape is not None else len(self.collection)

    def take(self, rows: Rows) -> "Given":
        """The chosen points of the same collection."""
        mine = np.arange(self._count) if self.rows is None else self.rows
        return Given(self.collection, mine[as_rows(rows, len(self))])

    def raw(self) -> Any:
        """The whole collection."""
        return self.collection

    def called(self, fn: Callable[[Any, Any], Any], points: Points) -> NDArray[np.float64]:
        """The matrix of kernel values between all points of another collection and these, checked."""
        found = fn(points.raw(), self.collection)
        values = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
        shape = (len(points), self._count)
        if values.shape != shape:
            raise InvalidInput(
                f"The function given as kernel must return a matrix of shape {shape} here.",
                f"It returned shape {values.shape}.",
                "Take two collections of points and return all their kernel values; a function of two points is "
                'Custom(fn, because="…").',
            )
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise NotFinite(
                "The function given as kernel must return finite numbers.",
                f"Its value for the points {i} and {j} is {values[i, j]}.",
            )
        return values if self.rows is None else values[:, self.rows]
