"""A collection that only the user's own function understands, taken as it is."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from mercer.points.base import Domain, Selection, as_selection

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
    >>> X = Given(["to", "be", "or", "not"]).take([1, 3])
    >>> len(X), X.rows, X.raw()
    (2, array([1, 3]), ['to', 'be', 'or', 'not'])
    """

    domain: ClassVar[Domain] = Domain.OBJECTS
    collection: Any
    rows: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return self.count if self.rows is None else len(self.rows)

    def __repr__(self) -> str:
        return f"Given({len(self)} points, {type(self.collection).__name__})"

    @property
    def count(self) -> int:
        """The number of points in the whole collection."""
        shape = getattr(self.collection, "shape", None)
        return int(shape[0]) if shape is not None else len(self.collection)

    def take(self, rows: Selection) -> "Given":
        """The chosen points of the same collection."""
        mine = np.arange(self.count) if self.rows is None else self.rows
        return Given(self.collection, mine[as_selection(rows, len(self))])

    def raw(self) -> Any:
        """The whole collection."""
        return self.collection
