"""Ordered categories as their ranks."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from mercer.domains import TupleOf
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.maps.base import Map
from mercer.notation import Notation
from mercer.points import Domain, Objects, Points, Vectors
from mercer.term import param

__all__ = ["Ranks"]


@final
@dataclass(frozen=True)
class _Level:
    text: str = "a category"

    def check(self, owner: str, name: str, value: Any) -> str | int | float:  # noqa: ARG002 (any value will do)
        """Strings and numbers as they are, which a formula can write; other values (intervals) by their text."""
        if isinstance(value, np.generic):
            value = value.item()
        return value if type(value) in (str, int, float) else str(value)


LEVEL = _Level()


@final
@dataclass(frozen=True, repr=False, eq=False)
class Ranks(Map):
    r"""Turn each category into its place in an order: 1 for the lowest.

    .. math:: x \mapsto r \quad\text{where}\quad x = l_r

    Then ``Laplacian(2.0).on(Ranks())`` is exp(−\|difference of ranks\|/2), and ``HistogramIntersection().on(Ranks())``
    the smaller rank. Without levels, the order is that which the column declares (an ordered Categorical of pandas, an
    Enum of polars, an ordered dictionary of pyarrow); it stands in the fitted formula. A value that is not among the
    levels has no rank, and is an error.

    Parameters
    ----------
    levels : sequence, default ()
        The categories from the lowest to the highest; those that the column declares where there are none.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Ranks(["low", "middle", "high"])(as_points(["high", "low"])).raw()
    array([[3.],
           [1.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.OBJECTS, Domain.VECTORS})
    notation: ClassVar[Notation] = Notation(text="rank({x})", latex=r"\operatorname{{rank}}({x})")
    levels: tuple[str | int | float, ...] = param((), TupleOf(LEVEL, least=0))

    def validate(self) -> None:
        """No level has two ranks."""
        twice = next((level for i, level in enumerate(self.levels) if level in self.levels[:i]), None)
        if twice is not None:
            raise InvalidParameter("levels of Ranks must be different.", f"Got {twice!r} twice.")

    @property
    def unresolved(self) -> bool:
        """Whether the order is that of the data."""
        return not self.levels

    def resolved(self, points: Points) -> Self:
        """The order that the column declares."""
        if self.levels:
            return self
        found = self.read(points)
        declared = found.levels if isinstance(found, Objects) else ()
        if not declared:
            raise InvalidInput(
                f"{self!r} finds no order: the values declare none.",
                f"Got {points!r}.",
                "List the categories from the lowest to the highest, Ranks(['low', 'high']), or make the column an "
                "ordered Categorical.",
            )
        return self.replace(levels=declared)

    def fit(self, points: Points) -> Self:
        """Find the order."""
        return self.resolved(points)

    def out_width(self, width: int) -> int:  # noqa: ARG002 (of one column)
        """One rank."""
        return 1

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002 (whatever the values are)
        """Ranks begin at 1."""
        return True

    def __call__(self, points: Points) -> Vectors:
        """The ranks."""
        found = self.read(points)
        if isinstance(found, Vectors) and found.width > 1:
            raise InvalidInput(f"{self!r} takes one column.", f"Got {found!r}.", "Choose it, with .on(name).")
        values = found.raw()[:, 0].tolist() if isinstance(found, Vectors) else found.raw()
        places = {level: rank for rank, level in enumerate(self.levels, start=1)}
        ranks = [places.get(LEVEL.check("", "", value), 0) for value in values]
        if 0 in ranks:
            row = ranks.index(0)
            raise InvalidInput(
                f"{self!r} has no rank for {shown(values[row])}.",
                f"It is the value of row {row}.",
                "Add it to the levels, replace it by one of them, or make it a missing value and use OrMissing(…).",
            )
        return Vectors(np.array(ranks, dtype=np.float64)[:, None])
