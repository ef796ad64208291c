"""`mercer prove`: whether a formula is a kernel, and why."""

from typing import Annotated

import typer

from mercer.cli.outcome import Exit
from mercer.cli.printing import Output
from mercer.kernels import Kernel, parse

__all__ = ["run"]


def run(
    out: Output,
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help='Such as "RBF(2.0) + Linear() ** 2".')],
    latex: Annotated[bool, typer.Option("--latex", help="Print the proof in LaTeX.")] = False,
    sources: Annotated[bool, typer.Option("--sources", help="Say where the rules are proved.")] = False,
) -> Exit:
    """Prove that a formula is a kernel.

    Exit code 0: derived. 1: it cannot be derived, or only under an assumption. 2: it is not a formula.
    A distance is proved to be conditionally negative definite.
    """
    found = parse(formula)
    proof = found.proof()
    out.text(proof.latex() if latex else proof)
    if sources:
        out.text()
        for citation in proof.citations:
            out.text(citation)
    out.fact(
        formula=repr(found),
        is_kernel=isinstance(found, Kernel),
        text=found.formula(),
        latex=found.latex(),
        derived=proof.is_derived,
        assumptions=list(proof.assumptions),
        steps=[
            {"number": s.number, "formula": s.formula, "reason": s.reason(), "condition": s.condition}
            for s in proof.steps
        ],
        citations=list(proof.citations),
    )
    return Exit.FINE if proof.is_derived else Exit.NO
