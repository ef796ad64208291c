"""Scores with their uncertainty, and what they were measured on."""

import math
from typing import Any

import numpy as np

from mercer.markup import Markup, element, joined
from mercer.report.answers import Answers, Seen
from mercer.report.case import Case
from mercer.report.scores import Score
from mercer.report.tables import callout, count, label, paragraph, per_cent, table

__all__ = ["scored"]

# A table of more classes than these is not read.
MOST_CLASSES = 30
# With fewer rows of a class, an interval says more than a standard error.
FEW = 30


def scored(case: Case, answers: Answers | None, scores: list[Score]) -> Markup:
    """What is known of the predictions on rows that count."""
    if answers is None:
        why = (
            "A one-class machine is fitted without targets; with test=(X_test, y_test), or targets of −1 and 1, the "
            "outliers that it finds are counted."
            if case.is_one_class
            else "There are no targets to compare predictions with. Pass y, or test=(X_test, y_test)."
        )
        return joined(callout("note", why), _bound(case))
    heads = ("Score", "Estimate ± standard error", "A constant answer")
    rows = [
        [
            joined(score.name, element("small", score.meaning)),
            joined(score.shown, element("small", f"95 %: {score.written(score.low)} to {score.written(score.high)}")),
            score.written(score.baseline),
        ]
        for score in scores
    ]
    return joined(
        callout("good" if answers.seen.is_honest else "warning", f"{answers.seen.value} {count(len(answers))} rows."),
        table(heads, rows, "Scores", numeric=(1, 2)),
        paragraph(_method(answers, scores)),
        _classes(case, answers),
        _bound(case) if answers.seen is Seen.TRAINING else None,
    )


def _method(answers: Answers, scores: list[Score]) -> str:
    """How the standard errors are made."""
    words = (
        "Each score is made of one number per row; its standard error is the spread of these numbers over √n, as if "
        "the rows were drawn independently (for R² and RMSE by the delta method, for the ranking as DeLong has it). "
        "Intervals of shares are Wilson's, the others ± 1.96 standard errors."
    )
    if answers.seen is Seen.LEFT_OUT:
        words += (
            " Errors of leave-one-out depend on each other a little, which is left out of account; and a kernel or "
            "penalty that was chosen on these very rows makes them look better than new rows will."
        )
    if len(answers) < FEW:
        words += f" With {len(answers)} rows all of this is rough."
    if any(score.is_share and score.value in (0.0, 1.0) for score in scores):
        words += " A share of 0 or 1 has no spread: look at its interval instead."
    return words


def _classes(case: Case, answers: Answers) -> Markup | None:
    """For each class how often it is found, and how often it is meant when it is said."""
    if not case.is_classifier or answers.truth.ndim != 1:
        return None
    truth, predicted = (np.asarray(column).astype(str) for column in (answers.truth, answers.predicted))
    labels = np.unique(np.concatenate([truth, predicted]))
    if len(labels) > MOST_CLASSES:
        return paragraph(f"There are {count(len(labels))} classes, too many for a table.")
    rows = []
    for name in labels.tolist():
        is_so, is_said = truth == name, predicted == name
        both = int((is_so & is_said).sum())
        rows.append(
            [label(name), count(int(is_so.sum())), _share(both, int(is_so.sum())), _share(both, int(is_said.sum()))]
        )
    heads = ("Class", "Rows", "Found (recall)", "Right when said (precision)")
    return joined(element("h3", "Class by class"), table(heads, rows, "Scores of each class", numeric=(1, 2, 3)))


def _share(part: int, whole: int) -> str:
    if not whole:
        return "–"
    p = part / whole
    return f"{per_cent(p)} ± {per_cent(math.sqrt(p * (1 - p) / whole))}"


def _bound(case: Case) -> Markup | None:
    """Of a soft margin: only support vectors can be wrong when they are left out."""
    known: Any = case.certificate
    if known.machine != "c-svc" or not known.is_certified or known.assumptions:
        return None
    support, rows = len(case.model.basis), known.rows
    return paragraph(
        f"Only the {count(support)} support vectors of {count(rows)} rows can be predicted wrong when they are left "
        f"out of the fit, because no other row takes part in f: at fixed parameters, the error of leave-one-out is "
        f"at most {per_cent(support / rows)}."
    )
