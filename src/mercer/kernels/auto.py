"""A kernel for data that nobody has described: one part for each column, with the reason for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, final

from mercer.errors import InvalidInput
from mercer.kernels.discrete import Delta, SetIntersection, Tanimoto
from mercer.kernels.distances import Polarised, SquaredEuclidean
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.radial import RBF
from mercer.maps import Standardised
from mercer.points import Domain, Points, Table, Vectors, as_points
from mercer.points.table import Column

__all__ = ["Proposal", "Reason", "auto"]


@final
@dataclass(frozen=True)
class Reason:
    """Why some columns are treated as they are.

    Attributes
    ----------
    columns : tuple of str
        Their names; empty where the points have no named columns.
    kind : str
        What they hold.
    reason : str
        What is done with them, and why.
    """

    columns: tuple[str, ...]
    kind: str
    reason: str

    def __str__(self) -> str:
        return f"{', '.join(self.columns) or 'X'}: {self.kind}; {self.reason}"


@final
@dataclass(frozen=True)
class Proposal:
    """A kernel with a reason for each of its parts, made by `auto`.

    Attributes
    ----------
    kernel : Kernel
        The formula. Rules such as ``length_scale="median"`` are replaced by numbers when a machine is fitted.
    reasons : tuple of Reason
        One for each group of columns that are treated alike, the columns that are left out among them.
    """

    kernel: Kernel
    reasons: tuple[Reason, ...]

    def __str__(self) -> str:
        return "\n".join([repr(self.kernel), *(f"  {reason}" for reason in self.reasons)])


def auto(X: Any) -> Proposal:
    """Propose a kernel for a table, a matrix, sets or other values.

    Each column of a table makes a distance in which two random rows are about 2 apart: the squared difference of
    standardised numbers, 2 for two different categories. The kernel is the Gaussian one of their sum, so rows are
    alike where they are alike in every column, and its length is the median distance.

    Parameters
    ----------
    X : table, array-like, sparse matrix, or list of sets or other values
        The training data, without the target.

    Returns
    -------
    Proposal
        With `kernel` and `reasons`; printing it shows both.

    Examples
    --------
    >>> print(auto({"age": [31, 45, 27], "city": ["Bonn", "Ulm", "Bonn"]}))
    RBF('median').of(SquaredEuclidean().on(Standardised()).on('age') + Polarised(Delta().on('city')))
      age: numbers; standardised, so that the unit does not matter
      city: categories; equal or not
    """
    points = as_points(X)
    if isinstance(points, Table):
        return _for_table(points)
    return _for_points(points)


@final
@dataclass(frozen=True)
class _Part:
    """What one column becomes: a distance, or nothing."""

    reason: Reason
    distance: Distance | None


def _for_table(table: Table) -> Proposal:
    numbers = [name for name, column in table.columns.items() if column.domain is Domain.VECTORS and _varies(column)]
    parts = [_numbers(numbers)] if numbers else []
    parts += [_part(name, column) for name, column in table.columns.items() if name not in numbers]
    reasons = tuple(part.reason for part in parts)
    distances = [part.distance for part in parts if part.distance is not None]
    if not distances:
        raise InvalidInput(
            "No kernel can be proposed: no column tells two rows apart.",
            "; ".join(map(str, reasons)) + ".",
            "Pass more rows, or give the kernel as a formula.",
        )
    if len(distances) == 1 and numbers:
        return Proposal(RBF("median").on(Standardised()).on(*numbers), reasons)
    return Proposal(RBF("median").of(reduce(add, distances)), reasons)


def _numbers(names: Sequence[str]) -> _Part:
    reason = Reason(tuple(names), "numbers", "standardised, so that the unit does not matter")
    return _Part(reason, SquaredEuclidean().on(Standardised()).on(*names))


def _varies(column: Column) -> bool:
    return bool((column.values != column.values[0]).any())


def _part(name: str, column: Column) -> _Part:
    if not _varies(column):
        return _Part(Reason((name,), "one value", "left out, since all rows have the same"), None)
    if column.domain is Domain.SETS:
        kernel: Kernel = Tanimoto(SetIntersection()).on(name)
        return _Part(Reason((name,), "sets", "the share of common items"), Polarised(kernel))
    return _Part(Reason((name,), "categories", "equal or not"), Polarised(Delta().on(name)))


def _for_points(points: Points) -> Proposal:
    if isinstance(points, Vectors):
        kernel: Kernel = RBF("median") if points.is_sparse else RBF("median").on(Standardised())
        return Proposal(kernel, (Reason((), "numbers", "standardised, so that the unit does not matter"),))
    if points.domain is Domain.SETS:
        return Proposal(Tanimoto(SetIntersection()), (Reason((), "sets", "the share of common items"),))
    return Proposal(Delta(), (Reason((), "values", "equal or not"),))
