"""Missing values: a kernel that reads them as a value of their own, derived by rules 6 and 3."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.domains import RealNumber
from mercer.errors import InvalidInput, InvalidParameter, NotPositive
from mercer.kernels.algebra import Congruence, Constant, Sum
from mercer.kernels.kernel import Kernel, RowFunction
from mercer.kernels.pullback import Pullback
from mercer.kernels.rows import KERNEL
from mercer.maps.columns import COLUMN_NAMES, escaped
from mercer.maps.filled import Filled, table_of
from mercer.notation import SUM, Notation, Raw
from mercer.points import Points
from mercer.term import REQUIRED, param

__all__ = ["IsMissing", "IsPresent", "OrMissing"]

Names = tuple[str | int, ...]


@final
@dataclass(frozen=True, repr=False, eq=False)
class IsPresent(RowFunction):
    """f(x) = 1 where a row of a table has a value in each of some columns, else 0.

    Parameters
    ----------
    names : tuple of str or int
        The columns.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> IsPresent(["age"]).values(as_points({"age": [31.0, None]}))
    array([1., 0.])
    """

    notation: ClassVar[Notation] = Notation(
        text="[{x} has {columns}]", latex=r"\left[{x} \text{{ has }} {columns}\right]"
    )
    names: Names = param(REQUIRED, COLUMN_NAMES)

    def slot(self, name: str) -> object:
        """The columns as they are listed in a sentence."""
        return _listed(self.names, "and") if name == "columns" else getattr(self, name)

    def reads(self) -> Names | None:
        """The columns."""
        return self.names

    def values(self, points: Points) -> npt.NDArray[np.float64]:
        """Whether a row has all values."""
        return np.where(_lacks(self, self.names, points), 0.0, 1.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class IsMissing(RowFunction):
    """f(x) = 1 where a row of a table lacks a value in one of some columns, else 0.

    Parameters
    ----------
    names : tuple of str or int
        The columns.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> IsMissing(["age"]).values(as_points({"age": [31.0, None]}))
    array([0., 1.])
    """

    notation: ClassVar[Notation] = Notation(
        text="[{x} lacks {columns}]", latex=r"\left[{x} \text{{ lacks }} {columns}\right]"
    )
    names: Names = param(REQUIRED, COLUMN_NAMES)

    def slot(self, name: str) -> object:
        """The columns as they are listed in a sentence."""
        return _listed(self.names, "or") if name == "columns" else getattr(self, name)

    def reads(self) -> Names | None:
        """The columns."""
        return self.names

    def values(self, points: Points) -> npt.NDArray[np.float64]:
        """Whether a row lacks a value."""
        return np.where(_lacks(self, self.names, points), 1.0, 0.0)


@final
@dataclass(frozen=True, repr=False, eq=False)
class OrMissing(Kernel):
    """A kernel of some columns of a table that also takes rows in which their values are missing.

    k(x, z) = k₁(x, z) where both rows have the values, c where both lack one, 0 else. Positive because it is
    f(x)·k₁·f(z) + g(x)·c·g(z), with f = 1 where the values are there and g = 1 − f (rules 6 and 3).

    Rules of k₁, such as "median" or "std", are found on the rows that have the values.

    Parameters
    ----------
    kernel : Kernel
        The kernel k₁. It names its columns, with .on("income").
    both : float, default 1.0
        The constant c ≥ 0: how alike two rows are because both lack a value. 1 is what a kernel with k₁(x, x) = 1 gives
        to equal values; 0 says that it means nothing.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> k = OrMissing(RBF().on("income"))
    >>> k({"income": [1.0, 1.0, None, None]})
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="[{x} and {z} have {columns}]·{kernel:3} + {both:?@·}[{x} and {z} lack {it}]",
        latex=r"\left[{x} \text{{ and }} {z} \text{{ have }} {columns}\right] {kernel:3}"
        r" + {both:?@ \,} \left[{x} \text{{ and }} {z} \text{{ lack {it}}}\right]",
        level=SUM,
    )
    kernel: Kernel = param(REQUIRED, KERNEL)
    both: float = param(
        1.0, RealNumber(low=0.0, text="a finite number ≥ 0", error=NotPositive, attempt="0 says that it means nothing.")
    )

    def validate(self) -> None:
        """Only named columns can be asked for their missing values."""
        if not self.kernel.reads():
            raise InvalidParameter(
                f"OrMissing({self.kernel!r}) needs a kernel that names the columns it reads.",
                f"{self.kernel!r} reads whatever it is given.",
                f'Try OrMissing({self.kernel!r}.on("income")), with the name of the column.',
            )

    def slot(self, name: str) -> object:
        """The fields, the columns as they are listed in a sentence, and what stands for them in the next."""
        if name == "it":
            return Raw("it", "it") if len(self.names) == 1 else Raw("one", "one")
        return _listed(self.names, "and") if name == "columns" else getattr(self, name)

    @property
    def names(self) -> Names:
        """The columns whose values may be missing."""
        return self.kernel.reads() or ()

    def points_inside(self, points: Points) -> Points:
        """The rows that have the values."""
        rows = np.flatnonzero(~_lacks(self, self.names, points))
        if not len(rows):
            raise InvalidInput(
                f"{self!r} has nothing to learn from: no row has {_listed(self.names, 'and').text}.",
                f"Got {points!r}.",
                "Leave it out of the kernel.",
            )
        return points.take(rows)

    @property
    def max_abs(self) -> float:
        """The bound of k₁, or c."""
        return max(self.kernel.max_abs, self.both)

    def fractional(self, exponent: float) -> Kernel:
        """The power of k₁ and of c; nothing overlaps."""
        return OrMissing(self.kernel.fractional(exponent), self.both**exponent) if exponent else Constant(1.0)

    def expand(self) -> Kernel:
        """Rule 6 of k₁ with filled values, plus rule 6 of a constant."""
        present = Congruence(Pullback(self.kernel, Filled(self.names)), IsPresent(self.names))
        return Sum((present, Congruence(Constant(self.both), IsMissing(self.names))))


def _lacks(owner: object, names: Names, points: Points) -> npt.NDArray[np.bool_]:
    table = table_of(points, repr(owner))
    lacks = np.zeros(len(table), dtype=np.bool_)
    for name in names:
        lacks |= table.columns[table.find(name)].missing()
    return lacks


def _listed(names: Names, word: str) -> Raw:
    text = f" {word} ".join(map(repr, names))
    return Raw(text, rf"\text{{{escaped(text)}}}")
