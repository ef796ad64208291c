"""The page: a head, the first lines, and the sections one after the other."""

import os
from importlib import resources
from pathlib import Path
from typing import Any

from mercer.config import version
from mercer.markup import Markup, element
from mercer.report.answers import Answers, answers_of
from mercer.report.case import Case, case_of
from mercer.report.certified import certified
from mercer.report.data import data
from mercer.report.findings import diagnosis_of, found
from mercer.report.formula import formula
from mercer.report.influence import influence
from mercer.report.pictures import pictures
from mercer.report.reproduce import reproduce
from mercer.report.scored import scored
from mercer.report.scores import Score, scores_of
from mercer.report.tables import callout, count, label, number

__all__ = ["report"]

# A page may load nothing: not a picture, not a script, not a font.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def report(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    test: tuple[Any, Any] | None = None,
    path: str | os.PathLike[str] | None = None,
    title: str = "",
) -> str:
    """A fitted machine on one page of HTML, which needs nothing but itself.

    It says what the data is, writes the kernel with its proof, explains the certificate, measures the predictions with
    their standard errors, draws pictures, names the rows that count most and what the doctor found, and ends with how
    to make the same machine again.

    Parameters
    ----------
    estimator : estimator
        A fitted machine of mercer, a pipeline that ends in one, or a search over either.
    X : like the X of its `fit`
        The rows: those that it was fitted on, or others. Which they are is found out by comparing them with the points
        of the model, and said on the page.
    y : array-like, optional
        Their targets. Rows that were held out are predicted and compared. For those of the fit the scores are
        exact leave-one-out where the machine has a formula for it (ridge regression, nearest neighbours, smoothing).
    test : tuple (X_test, y_test), optional
        Rows that were held out, for the scores alone.
    path : path, optional
        The file to write.
    title : str, optional
        The heading.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import RBF, KernelRidge
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> machine = KernelRidge(1e-2, kernel=RBF(1.0)).fit(X, np.sin(X[:, 0]))
    >>> page = report(machine, X, np.sin(X[:, 0]), title="A sine")
    >>> "<h1>A sine</h1>" in page, "Exact leave-one-out" in page, "http" in page.replace("http://www.w3.org", "")
    (True, True, False)
    """
    case = case_of(estimator, X, y, test)
    page = _page(case, title)
    if path is not None:
        _write(Path(path), page)
    return page


def _page(case: Case, title: str) -> str:
    answers = answers_of(case)
    scores = [] if answers is None else scores_of(case, answers)
    diagnosis = diagnosis_of(case)
    heading = title or f"{case.name} on {count(case.certificate.rows)} rows"
    sections: dict[str, tuple[str, Markup]] = {
        "data": ("The data", data(case)),
        "kernel": ("The kernel", formula(case)),
        "certificate": ("The certificate", certified(case)),
        "scores": ("Scores", scored(case, answers, scores)),
        "pictures": ("Pictures", pictures(case, answers)),
        "influence": ("Influential rows", influence(case)),
        "doctor": ("What the doctor found", found(diagnosis)),
        "reproduce": ("How to reproduce it", reproduce(case)),
    }
    links = [element("li", element("a", name, href=f"#{key}")) for key, (name, _) in sections.items()]
    body = [
        element("section", element("h2", name, id=f"{key}-title"), inner, id=key, aria_labelledby=f"{key}-title")
        for key, (name, inner) in sections.items()
    ]
    style = resources.files("mercer.report").joinpath("style.css").read_text(encoding="utf-8")
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="generator", content=f"mercer {version()}"),
        element("title", heading),
        element("style", Markup(style)),
    )
    top = element(
        "header",
        element("p", "mercer report", class_="kicker"),
        element("h1", heading),
        element("p", element("code", _written(case)), class_="subtitle"),
        _verdict(case),
        _summary(case, answers, scores),
        element("nav", element("ol", *links), aria_label="Contents"),
    )
    foot = element("footer", element("p", f"Written by mercer {version()}. This page loads nothing from elsewhere."))
    whole = element("html", head, element("body", top, element("main", *body), foot), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _written(case: Case) -> str:
    """The machine and its kernel as the user wrote them, in one line."""
    given = vars(case.machine).get("kernel", case.model.kernel)
    return label(f"{case.name}(kernel={getattr(given, '__name__', None) or given!r})")


def _verdict(case: Case) -> Markup:
    """The first lines: whether the answer can be relied on."""
    known = case.certificate
    if not known.is_certified:
        return callout(
            "warning", element("b", "✗ Not certified. "), f"{known.heading} Do not rely on this machine yet."
        )
    if known.assumptions:
        words = "; ".join(map(str, known.assumptions))
        return callout("warning", element("b", "✓ Certified, if an assumption holds: "), f"{words}.")
    return callout("good", element("b", "✓ Certified. "), known.heading)


def _summary(case: Case, answers: Answers | None, scores: list[Score]) -> Markup:
    """The figures that a reader wants first."""
    known = case.certificate
    tiles = []
    if answers is not None and scores:
        kind = {
            "HELD_OUT": "held out",
            "LEFT_OUT": "leave-one-out",
            "SHARED": "partly seen",
            "TRAINING": "training rows",
        }
        tiles.append((f"{scores[0].name}, {kind[answers.seen.name]}", scores[0].shown))
    tiles.append(("Fitted on", f"{count(known.rows)} rows"))
    if known.relative_gap == known.relative_gap:
        tiles.append(("Relative duality gap", number(known.relative_gap, 2)))
    basis = len(case.model.basis)
    if basis < known.rows:
        tiles.append(("Support vectors", f"{count(basis)} ({100 * basis / known.rows:.0f} %)"))
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in tiles), class_="tiles"
    )


def _write(path: Path, page: str) -> None:
    """Whole or not at all: a reader never sees half a page."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(page, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
