"""Some columns of a table or of vectors."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from mercer.domains import TupleOf
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.maps.base import Map
from mercer.mathml import subscript
from mercer.notation import Notation, Raw
from mercer.points import Column, Domain, Indicators, Points, Table, Vectors
from mercer.term import REQUIRED, param

__all__ = ["COLUMN_NAMES", "Columns", "FittedColumns", "escaped"]


@final
@dataclass(frozen=True)
class _ColumnName:
    """The name or the index of a column."""

    text: str = "the name of a column or its index (0, 1, 2, …)"

    def check(self, owner: str, name: str, value: Any) -> str | int:
        """Return the name as str, the index as int."""
        if isinstance(value, str):
            return str(value)
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0:
            return int(value)
        raise InvalidParameter(f"{name} of {owner} must be {self.text}.", f"Got {shown(value)}.")


COLUMN_NAMES = TupleOf(_ColumnName())
# Formulas show no more names than this; repr shows all.
MOST_SHOWN = 4


@final
@dataclass(frozen=True, repr=False, eq=False, init=False)
class Columns(Map):
    r"""Keep some columns, in the given order.

    .. math:: x \mapsto (x_{j_1}, \ldots, x_{j_m})

    Of a table, by name or by position: numeric columns become vectors, one column of sets becomes sets, one column of
    strings or other values becomes objects, several columns that are not all numeric become objects that are tuples.
    Of vectors, by index; sparse vectors stay sparse.

    Parameters
    ----------
    *names : str or int
        The columns, at least one; indices count from 0.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> Columns(2, 0)(as_points([[1.0, 2.0, 3.0]])).raw()
    array([[3., 1.]])
    >>> Columns("colour")(as_points({"size": [1, 2], "colour": ["red", "blue"]})).raw()
    ['red', 'blue']
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS, Domain.TABLE})
    notation: ClassVar[Notation] = Notation(
        source="Columns({arguments})",
        text="{x:4}[{shown}]",
        latex=r"{x:4}_{{{shown}}}",
        mathml=subscript("{x:4}", "{shown}"),
    )
    names: tuple[str | int, ...] = param(REQUIRED, COLUMN_NAMES)

    def __init__(self, *names: str | int) -> None:
        self._set("names", names)
        self.__post_init__()

    def slot(self, name: str) -> Any:
        """The names as arguments of the constructor; in formulas the first of many."""
        if name not in ("arguments", "shown"):
            return getattr(self, name)
        names = self.names if name == "arguments" or len(self.names) <= MOST_SHOWN else self.names[: MOST_SHOWN - 1]
        rest = len(names) < len(self.names)
        return Raw(
            ", ".join([*map(repr, names), *["…"] * rest]),
            ", ".join([*(rf"\text{{{escaped(name)}}}" for name in names), *[r"\ldots"] * rest]),
        )

    def fit(self, points: Points) -> "Columns | FittedColumns":
        """Note what the columns of a table hold, which those of new tables must hold too."""
        found = self.read(points)
        if not isinstance(found, Table):
            return self
        return FittedColumns(self, {name: found.columns[name] for name in map(found.find, self.names)})

    def out_width(self, width: int) -> int:
        """One column for each index."""
        self._indices(width)
        return len(self.names)

    def nonnegative_on(self, coordinates: bool) -> bool:
        """Choosing columns changes no signs."""
        return coordinates

    def __call__(self, points: Points) -> Points:
        """The chosen columns."""
        found = self.read(points)
        if isinstance(found, Table):
            return found.select(self.names)
        if isinstance(found, Indicators):
            raise InvalidInput(
                f"{self!r} cannot choose among the items of sets.",
                "The columns of Indicator() are the items of a dictionary, in an order of its own.",
                "Put Columns(...) before Indicator().",
            )
        vectors = Vectors(found)
        indices = self._indices(vectors.width)
        return Vectors(_chosen(vectors.csr, indices) if vectors.dense is None else vectors.dense[:, indices])

    def _indices(self, width: int) -> list[int]:
        for name in self.names:
            if isinstance(name, str):
                raise InvalidInput(
                    f"{self!r} asks for the column {name!r}, but X has no column names.",
                    f"Got vectors with {width} columns.",
                    "Pass a DataFrame or a dict of columns, or choose by index.",
                )
            if name >= width:
                raise InvalidInput(
                    f"{self!r} asks for column {name}, which X does not have.",
                    f"X has {width} features: columns 0 to {width - 1}.",
                )
        return [int(name) for name in self.names]


@final
@dataclass(frozen=True, eq=False)
class FittedColumns:
    """The columns of a table, each as in training: what was missing in all rows there, or is here, changes no domain.

    Attributes
    ----------
    origin : Columns
        The map that was fitted.
    seen : mapping of str to Column
        The columns of the basis.
    """

    origin: Columns
    seen: Mapping[str, Column]

    def __call__(self, points: Points) -> Points:
        """The chosen columns."""
        found = self.origin.read(points)
        if isinstance(found, Table):
            found = found.as_seen(self.seen)
        return self.origin(found)


def _chosen(csr: Any, indices: list[int]) -> Any:
    """Columns of sparse rows, in time that does not grow with how many others there are."""
    kept, order = np.unique(indices, return_inverse=True)
    places = np.minimum(np.searchsorted(kept, csr.indices), len(kept) - 1)
    known = kept[places] == csr.indices
    row = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    narrow = sp.csr_array((csr.data[known], (row[known], places[known])), shape=(csr.shape[0], len(kept)))
    return narrow[:, order]


_LATEX = {character: rf"\{character}" for character in "_%&#${}"} | {
    "\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"
}  # fmt: skip


def escaped(name: str | int) -> str:
    """A name as LaTeX writes it inside a text."""
    return "".join(_LATEX.get(character, character) for character in str(name))
