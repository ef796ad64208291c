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

    Parameters
    ----------
    collection : any
        What the function is called with.

    Examples
    --------
    >>> X = Given(["to", "be", "or"])
    >>> X.take([2]).raw()
    ['or']
    >>> X.called(lambda left, right: [[float(len(a) == len(b)) for b in right] for a in left], X.take([0]))
    array([[1., 1., 1.]])
    """

    domain: ClassVar[Domain] = Domain.OBJECTS
    collection: Any

    def __len__(self) -> int:
        shape = getattr(self.collection, "shape", None)
        return int(shape[0]) if shape is not None else len(self.collection)

    def __repr__(self) -> str:
        return f"Given({len(self)} points, {type(self.collection).__name__})"

    def take(self, rows: Rows) -> "Given":
        """The chosen points, in a collection of the same kind."""
        index = as_rows(rows, len(self))
        held = self.collection
        if getattr(held, "iloc", None) is not None:
            return Given(held.iloc[index])
        if sp.issparse(held):
            return Given(held.tocsr()[index])
        if getattr(held, "shape", None) is not None:
            return Given(held[index])
        places = range(len(self))[index] if isinstance(index, slice) else index
        return Given([held[i] for i in places])

    def raw(self) -> Any:
        """The collection itself."""
        return self.collection

    def called(self, fn: Callable[[Any, Any], Any], points: Points) -> NDArray[np.float64]:
        """fn(points, these points), checked: the matrix of their kernel values."""
        found = fn(points.raw(), self.collection)
        values = np.asarray(found.toarray() if sp.issparse(found) else found, dtype=np.float64)
        shape = (len(points), len(self))
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
        return values
