"""Maps: how points become other points. A kernel composed with a map is again a kernel (the pullback rule)."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from mercer.errors import InvalidInput
from mercer.points import Domain, Indicators, Points, Vectors, require
from mercer.term import Term

__all__ = ["FittedMap", "Map", "StatelessMap", "check_one_per_column"]


class FittedMap(Protocol):
    """A map ready for use: a function of each point by itself, fixed by the basis it was fitted on."""

    def __call__(self, points: Points) -> Points:
        """The images of the points."""


class Map(Term, ABC):
    """A map from points to points.

    What it learns from the basis (a dictionary) is stored in the fitted map, never here; new points never change it.
    """

    needs: ClassVar[frozenset[Domain]]

    @abstractmethod
    def fit(self, points: Points) -> FittedMap:
        """Make the map ready, from the basis."""

    @abstractmethod
    def out_width(self, width: int) -> int | None:
        """Number of columns of the images of vectors with `width` columns; None if it depends on the data."""

    @property
    def condition(self) -> str:
        """What must hold for it to be a map, with its values, for the proof; empty where nothing must."""
        return ""

    @property
    def unresolved(self) -> bool:
        """Whether a parameter is a rule that needs data, such as centre="mean"."""
        return False

    def resolved(self, points: Points) -> Self:  # noqa: ARG002  # for maps that wait
        """The map with its rules replaced by numbers, found on the points."""
        return self

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # for maps that promise something
        """Whether the coordinates of all images are ≥ 0, given whether those of the points are."""
        return False

    def read(self, points: Points) -> Points:
        """The points in a domain that the map needs, or an error that says what would work."""
        return require(points, self.needs, repr(self))

    def read_vectors(self, points: Points) -> Vectors:
        """The points as vectors; indicators become sparse vectors of the same norms."""
        found = self.read(points)
        if isinstance(found, Indicators):
            return found.vectors()
        return Vectors(found)


class StatelessMap(Map):
    """A map that learns nothing and is its own fitted map."""

    def fit(self, points: Points) -> Self:  # noqa: ARG002  # the signature of every map
        """Return the map itself: there is nothing to learn."""
        return self

    @abstractmethod
    def __call__(self, points: Points) -> Points:
        """The images of the points."""


def check_one_per_column(owner: str, name: str, value: Any, width: int) -> None:
    """Check that a parameter given per column fits the vectors."""
    if np.ndim(value) == 1 and len(value) != width:
        raise InvalidInput(
            f"X has {width} features, but {owner} is expecting {len(value)} features as input.",
            f"{name} of {owner} has {len(value)} entries, one per column.",
            "Pass one number for all columns, or one per column.",
        )
