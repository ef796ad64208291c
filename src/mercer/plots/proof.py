"""The proof of a kernel as a tree: what is to be shown on top, and below each step what it rests on."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, final

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from mercer.errors import InvalidInput, InvalidParameter
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.proof import Proof
from mercer.kernels.rules import ASSUMED
from mercer.plots.reading import joined, machine_of
from mercer.plots.style import canvas, figure_of, head

__all__ = ["ProofDisplay", "Row"]

# In widths of a letter, and in shares of the distance between two rows.
INDENT = 2.6
BESIDE = 1.6
ABOVE, BELOW = 0.17, 0.2
# A letter is about so wide, and a row about so high, in font sizes.
LETTER, HEIGHT = 0.6, 3.1
LARGEST, SMALLEST = 10.5, 4.0


class Row(NamedTuple):
    """One line of the tree."""

    depth: int
    parent: int  # its line; -1 of the first
    step: int
    formula: str
    reason: str
    is_assumed: bool


@final
@dataclass(eq=False, repr=False)
class ProofDisplay:
    """The steps of a proof, indented below what they show, each with its rule.

    Attributes
    ----------
    proof : Proof
        What is drawn.
    rows : list of Row
        The tree, line by line: depth, parent, number of the step, formula and reason. A step that was drawn already
        is only referred to.
    nodes_, edges_, formulas_, reasons_, numbers_
        The artists: discs, lines, and texts.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mercer.kernels import RBF, Linear
    >>> shown = ProofDisplay.from_kernel(RBF(2.0) + Linear(), ax=Figure().subplots())
    >>> [(row.depth, row.step) for row in shown.rows]
    [(0, 6), (1, 5), (2, 4), (3, 3), (4, 2), (5, 1), (1, 1)]
    """

    proof: Proof
    rows: list[Row] = field(init=False)
    nodes_: PathCollection = field(init=False)
    edges_: LineCollection = field(init=False)
    formulas_: list[Text] = field(init=False)
    reasons_: list[Text] = field(init=False)
    numbers_: list[Text] = field(init=False)
    ax_: Axes = field(init=False)
    figure_: Figure = field(init=False)

    def __post_init__(self) -> None:
        steps = {step.number: step for step in self.proof.steps}
        self.rows, seen = [], set[int]()

        def visit(number: int, depth: int, parent: int) -> None:
            step = steps[number]
            is_known = number in seen and bool(step.premises)
            seen.add(number)
            rule = "the same function" if step.rule is None else step.rule.label
            reason = joined(f"{rule}, shown above" if is_known else rule, "" if is_known else step.condition)
            line = len(self.rows)
            self.rows.append(Row(depth, parent, number, step.formula, reason, step.rule is ASSUMED))
            if not is_known:
                for premise in step.premises:
                    visit(premise, depth + 1, line)

        visit(self.proof.steps[-1].number, 0, -1)

    @classmethod
    def from_kernel(cls, kernel: Any, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw the proof of a kernel, or of a distance.

        Parameters
        ----------
        kernel : Kernel, Distance or Proof
        ax : Axes, optional
            A new figure, as high as the proof is long, if not given.
        theme : {"light", "dark"}, optional
            The one that suits the axes if not given.
        """
        if isinstance(kernel, Proof):
            return cls(kernel).plot(ax=ax, theme=theme)
        if not isinstance(kernel, Kernel | Distance):
            raise InvalidParameter(
                "Only kernels and distances have a proof.", f"Got a {type(kernel).__name__}.", 'Try parse("RBF(1.0)").'
            )
        return cls(kernel.proof()).plot(ax=ax, theme=theme)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *,  # noqa: ARG003 (as all displays)
        ax: Any = None, theme: str | None = None,
    ) -> Self:  # fmt: skip
        """Draw the proof of the kernel that a machine was fitted with; X and y are not needed."""
        kernel = machine_of(estimator).model.kernel
        if not isinstance(kernel, Kernel):
            raise InvalidInput(
                f"{kernel!r} has no proof.", "It is a window: a weight, which is not a kernel.", "Fit with a kernel."
            )
        return cls.from_kernel(kernel, ax=ax, theme=theme)

    def plot(self, *, ax: Any = None, theme: str | None = None) -> Self:
        """Draw it; parameters as for `from_kernel`."""
        lines, widest = len(self.rows), max(_width(row) for row in self.rows)
        wide = min(max(LETTER * LARGEST * widest / 72.0 + 0.5, 5.0), 14.0)
        ax, look = canvas(ax, theme, (wide, 0.9 + HEIGHT * LARGEST / 72.0 * lines))
        self.ax_, self.figure_ = ax, figure_of(ax)
        box = ax.get_position()
        points = 72.0 * self.figure_.get_size_inches() * (0.98, 0.98) * (box.width, box.height)
        size = max(SMALLEST, min(LARGEST, points[0] / (LETTER * widest), points[1] / (HEIGHT * lines)))
        ax.set(xlim=(-1.2, widest), ylim=(lines - 0.4, -0.6), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        where = [(INDENT * row.depth, float(i)) for i, row in enumerate(self.rows)]
        edges = [
            [where[row.parent], (where[row.parent][0], where[i][1]), where[i]]
            for i, row in enumerate(self.rows)
            if row.parent >= 0
        ]
        self.edges_ = ax.add_collection(LineCollection(edges, colors=look.muted, linewidths=1.1, zorder=1))
        colours = [look.colour(1) if row.is_assumed else look.colour(0 if i else 2) for i, row in enumerate(self.rows)]
        self.nodes_ = ax.scatter(*zip(*where, strict=True), s=(1.75 * size) ** 2, c=colours, zorder=2)
        self.numbers_, self.formulas_, self.reasons_ = [], [], []
        for (x, y), row in zip(where, self.rows, strict=True):
            number = ax.text(
                x, y, str(row.step), ha="center", va="center_baseline", color=look.paper, fontsize=0.82 * size,
                fontweight="bold", zorder=3,
            )  # fmt: skip
            left = x + BESIDE
            formula = ax.text(left, y - ABOVE, row.formula, va="center", color=look.ink, fontsize=size)
            reason = ax.text(left, y + BELOW, row.reason, va="center", color=look.muted, fontsize=0.8 * size)
            self.numbers_.append(number)
            self.formulas_.append(formula)
            self.reasons_.append(reason)
        assumed = "; ".join(self.proof.assumptions)
        head(ax, look, "Proof", f"Assumed, not derived: {assumed}" if assumed else "every step is derived by a rule")
        return self


def _width(row: Row) -> float:
    """In letters of the formula's size."""
    return INDENT * row.depth + BESIDE + max(len(row.formula), 0.82 * len(row.reason)) + 1.0
