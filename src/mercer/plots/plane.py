"""A plane or a line through data of any width: two features vary, or one; the others stay where they are."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, shown
from mercer.plots.reading import Machine, column_names, machine_if_any
from mercer.points.adapt import as_points
from mercer.points.base import Domain, Points
from mercer.points.given import Given
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["Slice", "support_rows"]

Array = npt.NDArray[np.float64]

# Room around the points, as a share of their range.
ROOM = 0.08


@final
@dataclass(frozen=True, eq=False)
class Slice:
    """The features that vary in a picture, and where all others stay.

    Attributes
    ----------
    given : any
        X as the user has it.
    table : ndarray of shape (n, d)
        The same as numbers.
    features : tuple of int
        Which vary.
    names : list of str
        Of all columns.
    """

    given: Any
    table: Array
    features: tuple[int, ...]
    names: list[str]

    @classmethod
    def through(cls, X: Any, features: Any, count: int) -> Self:
        """Check X, and choose the features: the only ones there are, or those that the user has chosen."""
        what = {1: "A curve", 2: "A plane"}[count]
        points = as_points(X)
        table = _numbers(points)
        if table is None:
            raise DomainMismatch(f"{what} can be drawn through vectors only.", f"Got {points!r}.")
        names = column_names(X, table.shape[1])
        if features is None:
            if table.shape[1] != count:
                example = "features=(0, 1)" if count == 2 else "feature=0"
                raise InvalidInput(
                    f"{what} needs {'two features' if count == 2 else 'one feature'}.",
                    f"X has {table.shape[1]}.",
                    f"Choose with {example}; the others then stay at their medians." if table.shape[1] > count else "",
                )
            return cls(X, table, tuple(range(count)), names)
        chosen = [features] if isinstance(features, int | str | np.integer) else list(features)
        found = tuple(_column(feature, names, X) for feature in chosen)
        if len(found) != count or len(set(found)) != count:
            raise InvalidParameter(f"{what} needs {count} different features.", f"Got {shown(features)}.")
        return cls(X, table, found, names)

    @property
    def points(self) -> Array:  # (n, count)
        """The rows, in the features that vary."""
        return self.table[:, list(self.features)]

    @property
    def note(self) -> str:
        """Where the other features stay."""
        d, varied = self.table.shape[1], len(self.features)
        if d == varied:
            return ""
        if d - varied == 1:
            (other,) = set(range(d)) - set(self.features)
            return f"a slice: {self.names[other]} at its median, {np.median(self.table[:, other]):.3g}"
        return f"a slice: the other {d - varied} features at their medians"

    def limits(self, j: int) -> tuple[float, float]:
        """From where to where the feature varies."""
        low, high = float(self.points[:, j].min()), float(self.points[:, j].max())
        room = ROOM * (high - low) or 1.0
        return low - room, high + room

    def at(self, values: Array) -> Any:  # (m, count)
        """Points on the slice, in the form that X has."""
        rows = np.tile(np.median(self.table, axis=0), (len(values), 1))
        rows[:, list(self.features)] = values
        columns = getattr(self.given, "columns", None)
        if isinstance(self.given, dict):
            return dict(zip(self.given, rows.T, strict=True))
        if columns is None:
            return rows
        package = type(self.given).__module__.partition(".")[0]
        named = {"pandas": "columns", "polars": "schema"}.get(package)
        if named is None:  # tables of other packages: mercer reads a dict as well
            return dict(zip(self.names, rows.T, strict=True))
        return type(self.given)(rows, **{named: list(columns)})


def refuse_given_values(estimator: Any) -> None:
    """Refuse a machine that knows only kernel values: there are no points between its rows."""
    inside = machine_if_any(estimator)
    if inside is not None and inside.model.basis.domain is Domain.GRAM:
        raise InvalidInput(
            "A precomputed kernel knows nothing of the points between the rows.", "So nothing can be drawn there.",
            "Fit with a Kernel object, or a function.",
        )  # fmt: skip


def support_rows(machine: Machine, X: Any) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]] | None:
    """The free and the bounded support vectors among the rows of X; None if X is not what the machine was fitted on."""
    own = vars(machine.last)
    if "support_" not in own:
        return None
    points, support = machine.points(X), own["support_"]
    if len(points) != own["shape_fit_"][0]:
        return None
    basis, seen = _numbers(machine.model.basis), _numbers(points.take(support))
    if basis is None or seen is None or basis.shape != seen.shape or not np.allclose(basis, seen):
        return None
    every = np.arange(len(points))
    return np.isin(every, machine.last.free_support_), np.isin(every, machine.last.bounded_support_)


def _numbers(points: Points) -> Array | None:
    """Vectors as an array; None of what are no vectors. A function's points keep the whole of their collection."""
    if isinstance(points, Given):
        return np.asarray(points.raw(), dtype=np.float64)
    if isinstance(points, Table) and points.domain_of(points.names) is Domain.VECTORS:
        points = points.vectors()
    if not isinstance(points, Vectors):
        return None
    return np.asarray(points.csr.toarray() if points.dense is None else points.dense, dtype=np.float64)


def _column(feature: Any, names: list[str], X: Any) -> int:
    """The place of a column, given by number or by name."""
    columns = [str(name) for name in getattr(X, "columns", X if isinstance(X, dict) else names)]
    if isinstance(feature, str):
        if feature in columns:
            return columns.index(feature)
        raise InvalidParameter(f"X has no feature {feature!r}.", f"It has {shown(columns)}.")
    if isinstance(feature, bool) or not isinstance(feature, int | np.integer) or not 0 <= feature < len(names):
        raise InvalidParameter(f"A feature must be a number from 0 to {len(names) - 1}.", f"Got {shown(feature)}.")
    return int(feature)
