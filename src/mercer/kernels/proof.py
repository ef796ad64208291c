"""Proofs: the fold of a tree over its rules, and how they are written.

Each node becomes one step that names its rule and the steps it rests on; a node that expands becomes the steps of its
expansion and one more that says so. Equal sub-expressions are proved once.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import final

from mercer.kernels.node import Node
from mercer.kernels.rules import ASSUMED, CITATIONS, Rule
from mercer.markup import Markup, element, joined
from mercer.mathml import flow, whole
from mercer.notation import Style, Writable, render, render_condition

__all__ = ["Proof", "Step", "prove"]

# A formula longer than this is written in terms of the steps that it rests on.
WIDEST = 56
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_MEANING = {
    "kernel": "every Gram matrix is positive semi-definite",
    "distance": "conditionally negative definite, zero on the diagonal",
}
# How a step is referred to, by its sort and number.
_SYMBOLS = {"kernel": ("k", "k"), "distance": ("ψ", r"\psi")}


@final
@dataclass(frozen=True)
class Step:
    """One line of a proof."""

    number: int
    node: Node
    rule: Rule | None  # None: the node is the same function as the step that it rests on
    premises: tuple[int, ...]
    sort: str  # "kernel" or "distance"
    formula: str
    formula_latex: str
    formula_mathml: str
    condition: str
    condition_latex: str
    condition_mathml: str

    def reason(self) -> str:
        """The rule and what it rests on, in words."""
        steps = ", ".join(map(str, self.premises))
        if self.rule is None:
            return f"the same function as {steps}"
        return f"{self.rule.label} of {steps}" if steps else self.rule.label


@final
@dataclass(frozen=True, repr=False)
class Proof:
    """A derivation: numbered steps, the last of which is what was to be shown.

    ``str(proof)`` is the text, ``proof.latex()`` the same in LaTeX; ``proof.assumptions`` holds the claims that were
    assumed, and is empty for a kernel that is derived in full.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> print(RBF(2.0).proof())
    RBF(2.0) is a kernel: every Gram matrix is positive semi-definite.
      1. ⟨x, z⟩                 rule 1 (inner-product)
      2. 0.25·⟨x, z⟩            rule 2 (scaling) of 1; c = 0.25 ≥ 0
      3. exp(0.25·⟨x, z⟩)       rule 7 (exponential) of 2
      4. exp(−‖x‖²/(2·2²))·exp(0.25·⟨x, z⟩)·exp(−‖z‖²/(2·2²))  rule 6 (congruence) of 3; ...
      5. exp(−‖x − z‖²/(2·2²))  the same function as 4
    """

    subject: Node

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The numbered steps, written on first use: a fit only needs the assumptions."""
        fold = _Fold()
        fold.visit(self.subject)
        return tuple(fold.steps)

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """What is claimed, not derived."""
        if not _assumes(self.subject):
            return ()
        return tuple(f"{step.node!r}: {step.condition}" for step in self.steps if step.rule is ASSUMED)

    @property
    def is_derived(self) -> bool:
        """Whether nothing is assumed."""
        return not self.assumptions

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules used, in order of first use."""
        return tuple(dict.fromkeys(step.rule for step in self.steps if step.rule is not None))

    @cached_property
    def citations(self) -> tuple[str, ...]:
        """Where the rules are proved."""
        return tuple(dict.fromkeys(CITATIONS[rule.citation] for rule in self.rules))

    def text(self) -> str:
        """The proof in plain text."""
        width = max(len(step.formula) for step in self.steps)
        digits = len(str(len(self.steps)))
        lines = [self.claim()]
        for step in self.steps:
            condition = f"; {step.condition}" if step.condition else ""
            lines.append(f"  {step.number:>{digits}}. {step.formula:<{width}}  {step.reason()}{condition}")
        if self.assumptions:
            lines.append(f"Assumed, not derived: {'; '.join(self.assumptions)}")
        return "\n".join(lines)

    def latex(self) -> str:
        """The proof as a LaTeX `align*` environment."""
        rows = []
        for step in self.steps:
            condition = f",\\; {step.condition_latex}" if step.condition_latex else ""
            reason = _escaped(step.reason())
            rows.append(f"({step.number})\\quad & {step.formula_latex} && \\text{{{reason}}}{condition}")
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"

    def claim(self, subject: str = "") -> str:
        """What was to be shown, in one sentence about the formula, or what it is called there."""
        sort = self.steps[-1].sort
        assumed = len(self.assumptions)
        proviso = ("", " if its assumption holds", " if its assumptions hold")[min(assumed, 2)]
        return f"{subject or repr(self.subject)} is a {sort}{proviso}: {_MEANING[sort]}."

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.steps)

    def table(self) -> Markup:
        """The steps as a table of HTML, the formulas in MathML."""
        heads = (element("th", words, scope="col") for words in ("Step", "Formula", "Because"))
        return element(
            "table",
            element("thead", element("tr", *heads)),
            element("tbody", *map(_written_row, self.steps)),
            class_="proof",
        )

    def _repr_html_(self) -> str:
        assumed = [element("p", element("b", "Assumed, not derived: "), words) for words in self.assumptions]
        return element("div", element("p", self.claim()), self.table(), *assumed)

    def _repr_latex_(self) -> str:
        return self.latex()


def prove(node: Node) -> Proof:
    """Fold a tree into its proof."""
    return Proof(node)


def _assumes(node: Node) -> bool:
    """Whether some step rests on an assumption, found without writing the proof."""
    rule = node.by()
    if rule is None:
        return _expansion_assumes(node)
    return rule is ASSUMED or any(map(_assumes, node.premises()))


@lru_cache(maxsize=128)
def _expansion_assumes(node: Node) -> bool:
    # Kept, because to expand a kernel takes longer than a small prediction, and many fits have the same kernel.
    expansion = node.expand()
    return any(map(_assumes, node.premises() if expansion is None else (expansion,)))


class _Fold:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.known: dict[Node, Step] = {}
        # Nodes with long formulas, which later formulas refer to by step, so that no line grows with the tree.
        self.long: dict[Style, dict[Writable, str]] = {Style.TEXT: {}, Style.LATEX: {}, Style.MATHML: {}}

    def visit(self, node: Node) -> Step:
        if node in self.known:
            return self.known[node]
        rule = node.by()
        expansion = node.expand()
        if rule is not None:
            premises = [self.visit(premise) for premise in node.premises()]
            sort = rule.concludes
        elif expansion is not None:
            premises = [self.visit(expansion)]
            sort = premises[0].sort
        else:
            raise NotImplementedError(f"{type(node).__name__} has neither a rule nor an expansion")
        text, is_long = self._written(node)
        if rule is None and text == premises[0].formula:
            step = premises[0]  # same text: do not repeat the step
        else:
            step = Step(
                number=len(self.steps) + 1,
                node=node,
                rule=rule,
                premises=tuple(premise.number for premise in premises),
                sort=sort,
                formula=text,
                formula_latex=self._formula(node, Style.LATEX, is_long),
                formula_mathml=self._formula(node, Style.MATHML, is_long),
                condition=self._condition(node, Style.TEXT),
                condition_latex=self._condition(node, Style.LATEX),
                condition_mathml=self._condition(node, Style.MATHML),
            )
            self.steps.append(step)
        self.known[node] = step
        if is_long:
            for style, names in self.long.items():
                names[node] = _named(step, style)
        return step

    def _written(self, node: Node) -> tuple[str, bool]:
        """The whole formula if it is short, else in terms of earlier steps; and whether it is long."""
        whole = render(node, Style.TEXT, refer=self.long[Style.TEXT]).written
        if len(whole) <= WIDEST:
            return whole, False
        return render(node, Style.TEXT, refer=self._names(Style.TEXT)).written, True

    def _formula(self, node: Node, style: Style, is_long: bool) -> str:
        return render(node, style, refer=self._names(style) if is_long else self.long[style]).written

    def _condition(self, node: Node, style: Style) -> str:
        return "" if node.by() is None else render_condition(node, style, self.long[style])

    def _names(self, style: Style) -> dict[Writable, str]:
        return {node: _named(step, style) for node, step in self.known.items()}


def _named(step: Step, style: Style) -> str:
    symbol, latex = _SYMBOLS[step.sort]
    if style is Style.MATHML:
        return f"<msub><mi>{symbol}</mi><mn>{step.number}</mn></msub>"
    return f"{symbol}{str(step.number).translate(_SUBSCRIPTS)}" if style is Style.TEXT else f"{latex}_{{{step.number}}}"


def _written_row(step: Step) -> Markup:
    condition = joined("; ", flow(step.condition_mathml)) if step.condition_mathml else None
    return element(
        "tr",
        element("th", str(step.number), scope="row"),
        element("td", Markup(whole(step.formula_mathml))),
        element("td", step.reason(), condition),
    )


def _escaped(words: str) -> str:
    return words.replace("_", r"\_")
