"""The kernel: its formula, why it is positive, and its parameters."""

from typing import Any

import numpy as np

from mercer.kernels.kernel import Kernel
from mercer.kernels.proof import Proof
from mercer.kernels.rules import CITATIONS
from mercer.markup import Markup, element, joined
from mercer.report.case import Case
from mercer.report.tables import callout, label, number, paragraph, table

__all__ = ["formula"]


def formula(case: Case) -> Markup:
    """The kernel in mathematics, with its proof."""
    kernel = case.kernel
    if kernel is None:
        return joined(
            element("pre", element("code", repr(case.model.kernel))),
            callout(
                "note",
                "These weights are a smoothing window. They need not be positive semi-definite, so that there is no "
                "proof; a weighted mean needs none.",
            ),
        )
    proof = kernel.proof()
    return joined(
        element("div", Markup(f"{kernel.mathml(block=True)}"), class_="formula"),
        paragraph(element("code", repr(kernel)), _given_as(case)),
        _parameters(kernel),
        element("h3", "Proof"),
        _verdict(proof),
        element("div", proof.table(), class_="wide", role="region", aria_label="Proof", tabindex=0),
        _rules(proof),
    )


def _given_as(case: Case) -> Markup | None:
    """What was written, where data has filled it in."""
    given: Any = vars(case.machine).get("kernel")
    if isinstance(given, Kernel):
        return None if given == case.kernel else joined(" is what the data made of ", element("code", repr(given)), ".")
    return joined(" is what was asked for as ", element("code", repr(given)), ".") if isinstance(given, str) else None


def _parameters(kernel: Kernel) -> Markup | None:
    short = {
        name: value for name, value in kernel.full_params(deep=True).items() if isinstance(value, int | float | str)
    }
    arrays = {name: value for name, value in kernel.full_params(deep=True).items() if isinstance(value, np.ndarray)}
    rows = [
        [name, number(float(value), 8) if isinstance(value, int | float) else label(value)]
        for name, value in short.items()
    ]
    rows += [
        [name, f"{value.size} numbers from {number(float(value.min()))} to {number(float(value.max()))}"]
        for name, value in arrays.items()
    ]
    return table(("Parameter", "Value"), rows, "Parameters of the kernel") if rows else None


def _verdict(proof: Proof) -> Markup:
    if proof.is_derived:
        return paragraph(proof.claim("This formula"), " Every step is a theorem; nothing is assumed.")
    return callout(
        "warning",
        element("b", "Assumed, not derived. "),
        proof.claim("This formula"),
        " ",
        *(f"{words}. " for words in proof.assumptions),
        "The certificate is worth as much as this claim: mercer.refute and check_gram look for a counter-example.",
    )


def _rules(proof: Proof) -> Markup:
    rows = [[rule.label, rule.statement, CITATIONS[rule.citation]] for rule in proof.rules]
    made = table(("Rule", "States", "Proved in"), rows, "Rules that the proof uses")
    return element("details", element("summary", "What the rules say, and where they are proved"), made)
