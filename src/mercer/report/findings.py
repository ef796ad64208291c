"""What the doctor finds in the data."""

from mercer.doctor import Diagnosis, Severity, diagnose
from mercer.errors import MercerError
from mercer.markup import Markup, element, joined
from mercer.report.case import Case
from mercer.report.tables import callout, paragraph

__all__ = ["diagnosis_of", "found"]

KINDS = {Severity.PROBLEM: "warning", Severity.WARNING: "warning", Severity.NOTE: "note"}


def diagnosis_of(case: Case) -> Diagnosis | None:
    """The diagnosis of the rows, as the machine sees them; None of points that the doctor cannot read."""
    try:
        return diagnose(case.X, case.y, estimator=case.whole)
    except MercerError:
        return None


def found(diagnosis: Diagnosis | None) -> Markup:
    """Its findings, the worst first."""
    if diagnosis is None:
        return paragraph("The doctor cannot read data of this kind.")
    items = [
        element(
            "li",
            element("p", element("code", finding.code), " ", element("b", finding.title), f": {finding.sentence}"),
            element("p", finding.remedy, class_="remedy"),
            class_=f"finding {KINDS[finding.severity]}",
        )
        for finding in diagnosis
    ]
    if not items:
        return callout("good", f"{diagnosis.heading}")
    return joined(paragraph(diagnosis.heading), element("ul", *items, class_="findings"))
