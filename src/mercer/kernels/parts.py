"""What a sum over parts takes from bags: where each begins, and what the kernel of the parts takes from all of them."""

from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _core
from mercer.kernels.binding import Reading, crossed
from mercer.kernels.plan import Leaf
from mercer.kernels.sources import SOURCES
from mercer.kernels.tape import compile_plan
from mercer.points.adapt import require
from mercer.points.bags import Bags
from mercer.points.base import Domain, Points

__all__ = ["bags_of"]


def bags_of(points: Points, owner: str) -> Bags:
    """The points as bags."""
    found = require(points, frozenset({Domain.BAGS}), owner)
    assert isinstance(found, Bags)
    return found


@final
@dataclass(frozen=True)
class _Parts:
    """Bags, read part by part: a plan inside the plan, bound to the parts of the basis."""

    owner: str
    plan: _core.Plan
    reading: Reading

    @classmethod
    def fit(cls, leaf: Leaf, owner: str, basis: Points, /) -> Self:
        part: Any = leaf.part
        plan = compile_plan(part)
        return cls(owner, crossed(plan), Reading(plan, bags_of(basis, owner).parts, part))

    def add(self, side: _core.Side, points: Points) -> None:
        bags = bags_of(points, self.owner)
        side.bags(bags.offsets, self.plan, self.reading.side(bags.parts))


SOURCES["bags"] = _Parts
