"""The certificate, every figure with a plain sentence."""

from mercer.markup import Markup, element, joined
from mercer.report.case import Case
from mercer.report.tables import callout, paragraph, table

__all__ = ["certified"]


def certified(case: Case) -> Markup:
    """How far the answer is from solved."""
    known = case.certificate
    kind, mark = ("good", "✓ Certified. ") if known.is_certified else ("warning", "✗ Not certified. ")
    assumed = [
        callout("warning", element("b", "It rests on an assumption. "), str(assumption))
        for assumption in known.assumptions
    ]
    rows = [[name, text, meaning] for name, text, meaning in known.figures() if name != "assuming"]
    return joined(
        callout(kind, element("b", mark), known.heading),
        *assumed,
        table(("Figure", "Value", "What it says"), rows, "Certificate"),
        paragraph(
            "The referee recomputed f in float64 from the published coefficients, and every figure from f; the solver "
            "does not certify itself."
        )
        if known.solver
        else None,
    )
