"""The identity, which checks that a parameter of a kernel fits the vectors."""

from dataclasses import dataclass
from typing import Any, ClassVar, final

from mercer.domains import PositiveNumbers, Text
from mercer.maps.base import StatelessMap, check_one_per_column
from mercer.points import Domain, Points, Vectors, require
from mercer.term import REQUIRED, param

__all__ = ["PerColumn"]


@final
@dataclass(frozen=True, repr=False, eq=False)
class PerColumn(StatelessMap):
    r"""Pass vectors on unchanged, if a parameter given per column has one entry for each of their columns.

    .. math:: x \mapsto x

    A kernel puts it before the maps that it expands into, so that an error names the parameter that its user wrote.

    Parameters
    ----------
    owner, name : str
        The kernel and its parameter, for the message.
    value : float or array of shape (d,)
        The parameter; one number for all columns fits any vectors.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> PerColumn("RBF", "length_scale", [1.0, 2.0])(as_points([[1.0, 2.0]])).raw()
    array([[1., 2.]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    owner: str = param(REQUIRED, Text)
    name: str = param(REQUIRED, Text)
    value: Any = param(REQUIRED, PositiveNumbers)

    def read(self, points: Points) -> Points:
        """The points as vectors, or an error on behalf of the kernel."""
        return require(points, self.needs, self.owner)

    def out_width(self, width: int) -> int:
        """The number of columns does not change."""
        check_one_per_column(self.owner, self.name, self.value, width)
        return width

    def __call__(self, points: Points) -> Vectors:
        """The same rows."""
        vectors = self.read_vectors(points)
        self.out_width(vectors.width)
        return vectors
