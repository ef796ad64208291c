"""Nodes: terms with a meaning for pairs of points.

A node is fields + `lower` + one rule, or `expand` into simpler nodes. Everything else is derived from these.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from mercer.kernels.rules import Rule
from mercer.kernels.tape import Register, Tape
from mercer.mathml import whole
from mercer.notation import Style, render
from mercer.points.base import Points
from mercer.term import Term

__all__ = ["Node", "written"]


class Node(Term):
    """Base of the sorts: kernels, distances, functions of one point."""

    rule: ClassVar[Rule | None] = None
    is_premise: ClassVar[bool] = True

    @property
    def never_negative(self) -> bool:
        """Whether the node's form alone makes its values ≥ 0, as an even power does."""
        return False

    def by(self) -> Rule | None:
        """The rule that derives this node from its parts; None for a node that expands."""
        return self.rule

    def expand(self) -> "Node | None":
        """The same function in simpler nodes; None for a node with a rule of its own."""
        return None

    def lower(self, tape: Tape) -> Register:
        """Write the node's program to a tape; a node that expands may leave this to its expansion."""
        expansion = self.expand()
        if expansion is None:
            raise NotImplementedError(f"{type(self).__name__} has neither lower nor expand")
        return tape.fold(expansion)

    def parts(self) -> Iterator["Node"]:
        """The nodes among the children."""
        for child in self.children():
            if isinstance(child, Node):
                yield child

    def premises(self) -> tuple["Node", ...]:
        """What the node's rule rests on: the kernels and distances among its parts."""
        return tuple(part for part in self.parts() if part.is_premise)

    def reads(self) -> tuple[str | int, ...] | None:
        """The columns of a table that the node reads; None if it reads whatever it is given."""
        parts = [*self.premises(), *(part for part in self.parts() if not part.is_premise)]
        found = [part.reads() for part in parts]
        if not found or None in found:
            return None
        return tuple(dict.fromkeys(name for names in found if names for name in names))

    def inner_coordinates(self, coordinates: bool) -> bool:
        """Whether the coordinates that the parts see are all ≥ 0, given whether those outside are."""
        return coordinates

    def nonnegative_on(self, coordinates: bool) -> bool:
        """Whether all values are ≥ 0, given whether the coordinates of the points are."""
        rule = self.by()
        if rule is not None:
            return rule.nonnegative(self, coordinates)
        expansion = self.expand()
        return expansion is not None and expansion.nonnegative_on(coordinates)

    def confines(self) -> bool:
        """Whether binding refuses points with negative coordinates, so that the node never sees any."""
        rule = self.by()
        if rule is not None:
            return rule.confines or any(premise.confines() for premise in self.premises())
        expansion = self.expand()
        return expansion is not None and expansion.confines()

    @property
    def nonnegative(self) -> bool:
        """Whether all values are derived to be ≥ 0."""
        return self.nonnegative_on(coordinates=self.confines())

    def doubt_on(self, coordinates: bool) -> tuple["Node", str] | None:
        """The smallest part for which values ≥ 0 are not derived, with the reason; None where they are."""
        if self.nonnegative_on(coordinates):
            return None
        rule = self.by()
        if rule is None:
            expansion = self.expand()
            below = None if expansion is None else expansion.doubt_on(coordinates)
            return self, below[1] if below else ""
        inner, parts = self.inner_coordinates(coordinates), list(self.parts())
        doubts = [(parts.count(part) % 2 == 0, doubt) for part in parts if (doubt := part.doubt_on(inner))]
        if doubts:  # blame the factor that is not paired
            return min(doubts, key=lambda each: each[0])[1]
        return self, f"{rule.label}: {rule.doubt}"

    @property
    def doubt(self) -> tuple["Node", str] | None:
        """The smallest part for which values ≥ 0 are not derived, with the reason; None where all values are."""
        return self.doubt_on(coordinates=self.confines())

    # Rules such as length_scale="median", resolved on data

    @property
    def unresolved(self) -> bool:
        """Whether a parameter in the tree is a rule that needs data."""
        return self.waits() or any(part.unresolved for part in self.parts())

    def waits(self) -> bool:
        """Whether a parameter of this node itself is a rule that needs data."""
        return False

    def resolved_here(self, points: Points) -> Self:  # noqa: ARG002 (for nodes that wait)
        """The node with its own rules replaced by numbers."""
        return self

    def points_inside(self, points: Points) -> Points:
        """The points that the parts see."""
        return points

    def resolve_on(self, points: Points) -> Self:
        """The tree with every rule replaced by a number, each computed from the points its node sees."""
        if not self.unresolved:
            return self
        inside = self.points_inside(points) if any(part.unresolved for part in self.parts()) else points
        changed: dict[str, Any] = {
            name: child.resolve_on(inside)
            for name, child in self._slots().items()
            if isinstance(child, Node) and child.unresolved
        }
        replaced = self.replace(**changed) if changed else self
        return replaced.resolved_here(points)

    # Notation

    def latex(self) -> str:
        """The formula in LaTeX."""
        return render(self, Style.LATEX).written

    def formula(self) -> str:
        """The formula in one line of text."""
        return render(self, Style.TEXT).written

    def mathml(self, *, block: bool = False) -> str:
        """The formula as a `math` element of HTML, in a line of its own or within one."""
        return whole(render(self, Style.MATHML).written, block=block)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def written(term: Term | float, level: int) -> str:
    """The source of an operand, in brackets if it binds less tightly than `level`: for messages."""
    if not isinstance(term, Term):
        return repr(term)
    operand = render(term, Style.SOURCE)
    return operand.written if operand.level >= level else f"({operand.written})"
