"""Objects: any Python values, one per point, for kernels that only ask whether values are equal or call a function."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import NEVER_MISSING, Domain, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.vectors import refuse_masked

__all__ = ["Objects"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Objects:
    """Points that are arbitrary Python values: strings, tuples, numbers, anything.

    NaN, NaT and pandas.NA are refused, because they do not equal themselves; None is a value like any other.

    Parameters
    ----------
    X : list, tuple or one-dimensional array
        One value per point, at least one.
    name : str
        The argument's name in messages.
    kind : str
        What the values are, where messages can say more than that they are objects.
    levels : tuple
        The declared categories, in their order, where there are such.

    Attributes
    ----------
    values : object ndarray of shape (n,)
        The values, read-only.
    kind, levels
        As given.

    Examples
    --------
    >>> X = Objects(["red", "green", ("mixed", 3)])
    >>> X
    Objects(3)
    >>> X.take([2, 0]).raw()
    [('mixed', 3), 'red']
    """

    domain: ClassVar[Domain] = Domain.OBJECTS
    values: NDArray[np.object_]
    kind: str
    levels: tuple[Any, ...]

    def __init__(
        self, X: Sequence[Any] | NDArray[Any], name: str = "X", kind: str = "", levels: tuple[Any, ...] = ()
    ) -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(
                f"Input {name} is not a list of values.",
                f"Got a {type(X).__name__}.",
                "Pass a list, one value per point.",
            )
        refuse_masked(X, name)
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        values = np.fromiter(X, dtype=np.object_, count=len(X))
        suspects = set(map(type, X)) - NEVER_MISSING
        for row, value in enumerate(values if suspects else ()):
            if value is not None and is_missing(value):
                raise InvalidInput(
                    f"Input {name} contains NaN.",
                    f"Row {row} is {shown(value)}, which does not equal itself.",
                    "Replace it by a value of your own, for instance None or 'missing'.",
                )
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "levels", levels)

    @classmethod
    def _trusted(cls, values: NDArray[np.object_], kind: str, levels: tuple[Any, ...] = ()) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "levels", levels)
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[NDArray[np.object_], str, tuple[Any, ...]]]:
        return (self._trusted, (self.values, self.kind, self.levels))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Objects({len(self)}{', ' if self.kind else ''}{self.kind})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        return self._trusted(self.values[as_selection(rows, len(self))], self.kind, self.levels)

    def raw(self) -> list[Any]:
        """The values in a list."""
        return list(self.values)
