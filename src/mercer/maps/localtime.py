"""Moments in the time of a place."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from mercer.domains import refusal
from mercer.errors import InvalidInput, InvalidParameter
from mercer.maps.base import StatelessMap
from mercer.points import Domain, Points, Vectors
from mercer.term import REQUIRED, param

__all__ = ["LocalTime"]

_DAY = 86400.0


@final
@dataclass(frozen=True)
class _Zone:
    text: str = "the name of a time zone, such as 'Europe/Zurich' or 'UTC'"

    def check(self, owner: str, name: str, value: Any) -> str:
        """The name, if the zone is known on this machine."""
        try:
            return str(ZoneInfo(value).key)
        except (ZoneInfoNotFoundError, TypeError, ValueError, OSError):
            attempt = "On a system without time zones, pip install tzdata."
            raise refusal(InvalidParameter, owner, name, value, self.text, attempt) from None


@final
@dataclass(frozen=True, repr=False, eq=False)
class LocalTime(StatelessMap):
    r"""Move days since 1970-01-01 of UTC to the clock of a place, summer time included.

    .. math:: t \mapsto t + \text{offset of the zone at } t

    A column of dates and times with a time zone is read as days of UTC, in which noon in Zurich is a different fraction
    of the day in summer than in winter. ``RBF().on(Torus(1.0)).on(LocalTime("Europe/Zurich")).on("at")`` compares the
    time of day there, `Torus(7.0)` the time of the week.

    Parameters
    ----------
    zone : str
        The name of the time zone.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> LocalTime("UTC")(as_points([[18444.5]])).raw()
    array([[18444.5]])
    """

    needs: ClassVar[frozenset[Domain]] = frozenset({Domain.VECTORS})
    zone: str = param(REQUIRED, _Zone())

    def out_width(self, width: int) -> int:
        """The number of columns does not change."""
        return width

    def __call__(self, points: Points) -> Vectors:
        """The days of the place."""
        vectors = self.read_vectors(points).filled()
        rows = np.asarray(vectors.raw())
        moments, where = np.unique(rows, return_inverse=True)
        zone = ZoneInfo(self.zone)
        shifts = np.array([self._shift(float(moment), zone) for moment in moments])
        return Vectors(rows + shifts[where].reshape(rows.shape))

    def _shift(self, days: float, zone: ZoneInfo) -> float:
        try:
            offset = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days)).astimezone(zone).utcoffset()
        except (OverflowError, ValueError):
            raise InvalidInput(
                f"{self!r} knows the years 1 to 9999.", f"Got {days:.6g} days since 1970.", "Drop that row."
            ) from None
        assert offset is not None
        return offset.total_seconds() / _DAY
