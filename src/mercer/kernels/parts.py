"""What a sum over parts takes from bags: where each begins, and what the kernel of the parts takes from all of them."""

from dataclasses import dataclass
from typing import Any, Self, final

from mercer import _core
from mercer.errors import InvalidInput
from mercer.kernels.binding import Reading, crossed
from mercer.kernels.plan import Instruction, Leaf, Plan
from mercer.kernels.sources import SOURCES
from mercer.kernels.tape import compile_plan
from mercer.points.adapt import conformed, require
from mercer.points.bags import Bags
from mercer.points.base import Domain, Points

__all__ = ["bags_of", "parts_of"]


def bags_of(points: Points, owner: str) -> Bags:
    """The points as bags."""
    found = require(points, frozenset({Domain.BAGS}), owner)
    assert isinstance(found, Bags)
    return found


def parts_of(points: Points, node: Any) -> Points:
    """The parts of bags, from which something is learnt."""
    parts = bags_of(points, repr(node)).parts
    if len(parts) == 0:
        raise InvalidInput(
            f"{node!r} has nothing to learn from: all bags are empty.", f"Got {len(points)} bags without parts.",
            "Fit it to bags of which one at least has a part.",
        )  # fmt: skip
    return parts


@final
@dataclass(frozen=True)
class _Learnt:
    """What a basis with parts says of others."""

    reading: Reading
    example: Points  # one part
    columns: tuple[str | int, ...] | None  # that the kernel names

    def side(self, parts: Points, owner: str) -> _core.Side:
        if len(parts) == 0:
            return self.reading.side_of_none(self.example)
        return self.reading.side(conformed(self.example, parts, "X (its parts)", owner, self.columns))


# Where all bags of the basis are empty, nothing says what parts look like, and all sums are 0.
_ZERO = Plan((), (), (), (Instruction("constant", 0),), 1, 0, (None,))


@final
@dataclass(frozen=True)
class _Parts:
    """Bags, read part by part: a plan inside the plan, bound to the parts of the basis."""

    owner: str
    plan: _core.Plan
    learnt: _Learnt | None

    @classmethod
    def fit(cls, leaf: Leaf, owner: str, basis: Points, /) -> Self:
        part: Any = leaf.part
        parts = bags_of(basis, owner).parts
        if len(parts) == 0:
            return cls(owner, crossed(_ZERO), None)
        plan = compile_plan(part)
        return cls(owner, crossed(plan), _Learnt(Reading(plan, parts, part), parts.take([0]), part.reads()))

    def add(self, side: _core.Side, points: Points) -> None:
        bags = bags_of(points, self.owner)
        parts = _core.Side(len(bags.parts)) if self.learnt is None else self.learnt.side(bags.parts, self.owner)
        side.bags(bags.offsets, self.plan, parts)


SOURCES["bags"] = _Parts
