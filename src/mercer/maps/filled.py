"""Columns of a table whose missing values are filled."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from mercer.errors import InvalidInput
from mercer.maps.base import Map
from mercer.maps.columns import COLUMN_NAMES
from mercer.points import Column, Domain, Points, Table, require
from mercer.term import REQUIRED, param

__all__ = ["Filled", "FittedFilled", "table_of"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class Filled(Map):
    r"""Put some value of the same column where a value is missing: 0 for numbers, else the first one of the basis.

    .. math:: x \mapsto x \text{ with a value in each of the columns}

    It is a step of `OrMissing`, which multiplies by 0 wherever such a value enters.

    Parameters
    ----------
    names : tuple of str or int
        The columns.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> X = as_points({"city": ["Bonn", None, "Ulm"]})
    >>> Filled(["city"]).fit(X)(X).raw()["city"]
    array(['Bonn', 'Bonn', 'Ulm'], dtype=object)
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.TABLE})
    names: tuple[str | int, ...] = param(REQUIRED, COLUMN_NAMES)

    def fit(self, points: Points) -> "FittedFilled":
        """Note a value of each column."""
        table = table_of(points, repr(self))
        seen = {name: table.columns[name] for name in map(table.find, self.names)}
        for name, column in seen.items():
            if column.example is None:
                raise InvalidInput(
                    f"Column {name!r} of {table.name} is missing in every row.", "", "Leave it out of the kernel."
                )
        return FittedFilled(self, seen)

    def out_width(self, width: int) -> None:
        """Tables have no width."""


@final
@dataclass(frozen=True, eq=False)
class FittedFilled:
    """The columns with values from the basis where they have none.

    Attributes
    ----------
    origin : Filled
        The map that was fitted.
    seen : mapping of str to Column
        The columns of the basis.
    """

    origin: Filled
    seen: Mapping[str, Column]

    def __call__(self, points: Points) -> Table:
        """The table with the columns filled."""
        table = table_of(points, repr(self.origin)).as_seen(self.seen)
        return table.replaced({name: table.columns[name].filled(column.example) for name, column in self.seen.items()})


def table_of(points: Points, owner: str) -> Table:
    """The points as a table, or an error that says what is needed."""
    found = require(points, frozenset({Domain.TABLE}), owner)
    assert isinstance(found, Table)
    return found
