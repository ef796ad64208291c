"""Pictures of the machine, in two themes, each with words for those who cannot see it."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from mercer.errors import MercerError
from mercer.markup import Markup, element, joined
from mercer.points.given import Given
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.report.answers import Answers, as_labels
from mercer.report.case import Case
from mercer.report.tables import paragraph, per_cent

__all__ = ["drawn"]

# A table of more classes than these is not read.
MOST_CLASSES = 30
# A path decomposes an n × n matrix.
MOST_ROWS = 1_000


@final
@dataclass(frozen=True)
class Picture:
    """One row of the table of pictures.

    Attributes
    ----------
    display : str
        The class of `mercer.plots` that draws it.
    size : tuple of float
        Width and height in inches.
    needs : callable (Case, Answers or None) -> bool
        Whether there is something to draw.
    draw : callable (display, Case, Answers, axes) -> object
    alt : callable (drawn display) -> str
        What is to be seen, in words.
    dpi : int
        Dots per inch; fewer where every dot differs from its neighbours, and takes a byte.
    """

    display: str
    size: tuple[float, float]
    needs: Callable[[Case, Any], bool]
    draw: Callable[[Any, Case, Any, Any], Any]
    alt: Callable[[Any], str]
    dpi: int = 160


def _is_regression(case: Case, answers: Answers | None) -> bool:
    return answers is not None and not case.is_classifier and not case.is_one_class and len(answers) > 1


def _has_few_classes(case: Case, answers: Answers | None) -> bool:
    if answers is None or not case.is_classifier or answers.truth.ndim != 1:
        return False
    return len(np.unique(as_labels(answers.truth))) <= MOST_CLASSES


def _has_probabilities(_: Case, answers: Answers | None) -> bool:
    return answers is not None and answers.shares is not None and answers.truth.ndim == 1 and len(answers) > 1


def _has_formula(case: Case, _: Answers | None) -> bool:
    return case.kernel is not None and not isinstance(case.points, Given)


def _has_coefficients(case: Case, _: Answers | None) -> bool:
    model = case.model
    return model.votes is None and model.smoothing is None and len(model.basis) > 0


def _width(case: Case) -> int:
    """The number of columns, if all hold numbers; else 0."""
    points = case.shown
    if isinstance(points, Table):
        return points.width if all(column.values.dtype.kind in "fiub" for column in points.columns.values()) else 0
    return points.width if isinstance(points, Vectors) else 0


def _has_regions(case: Case, _: Answers | None) -> bool:
    is_asked = case.is_one_class or (case.is_classifier and _has_one_column(case))
    return is_asked and _width(case) == 2 and not isinstance(case.points, Given)


def _has_curve(case: Case, _: Answers | None) -> bool:
    is_asked = not case.is_classifier and not case.is_one_class and _has_one_column(case)
    return is_asked and _width(case) == 1 and not isinstance(case.points, Given)


def _has_path(case: Case, _: Answers | None) -> bool:
    return case.model.uncertainty is not None and (len(case.model.basis) <= MOST_ROWS)


def _has_trace(case: Case, _: Answers | None) -> bool:
    return len(case.certificate.trace) > 2


def _first(values: Any) -> Any:
    return values if values.ndim == 1 else values[:, 0]


def _calibration(display: Any, case: Case, answers: Answers, ax: Any) -> Any:
    classes, shares = np.asarray(case.model.classes), answers.shares
    assert shares is not None
    if len(classes) == 2:
        is_so, label = as_labels(answers.truth) == as_labels(classes)[1], shares[:, 1]
    else:
        best = shares.argmax(axis=1)
        is_so, label = as_labels(answers.truth) == as_labels(classes)[best], shares[np.arange(len(best)), best]
    return display.from_predictions(is_so, label, label=True, ax=ax, theme="light")


PICTURES = (
    Picture(
        "DecisionRegionsDisplay", (5.6, 5.0), _has_regions,
        lambda display, case, answers, ax: display.from_estimator(
            case.whole, case.X, case.y if _has_one_column(case) else None, ax=ax, theme="light"
        ),
        lambda drawn: "What is predicted in the plane of the two columns, the borders between classes, and the rows.",
    ),
    Picture(
        "RegressionDisplay", (6.0, 4.6), _has_curve,
        lambda display, case, answers, ax: display.from_estimator(case.whole, case.X, case.y, ax=ax, theme="light"),
        lambda drawn: "The predicted curve over the one column, with the rows"
        " and, where the machine states its uncertainty, a band of two standard deviations.",
    ),
    Picture(
        "PredictionDisplay", (5.4, 5.2), _is_regression,
        lambda display, case, answers, ax: display.from_predictions(
            _first(answers.truth), _first(answers.predicted), ax=ax, theme="light"
        ),
        lambda drawn: f"Predicted against true values of {len(drawn.y_true)} rows, around the diagonal; "
        f"root mean squared error {drawn.rmse:.3g}.",
    ),
    Picture(
        "ConfusionDisplay", (5.2, 5.0), _has_few_classes,
        lambda display, case, answers, ax: display.from_predictions(
            as_labels(answers.truth), as_labels(answers.predicted), ax=ax, theme="light"
        ),
        lambda drawn: f"Table of true against predicted classes, {len(drawn.classes)} of them; "
        f"{per_cent(drawn.accuracy)} of the rows are on the diagonal.",
    ),
    Picture(
        "CalibrationDisplay", (5.4, 5.2), _has_probabilities, _calibration,
        lambda drawn: "Predicted probabilities against how often they came true; mean distance from the diagonal "
        f"{drawn.error:.3f}.",
    ),
    Picture(
        "GramDisplay", (5.6, 5.0), _has_formula,
        lambda display, case, answers, ax: display.from_estimator(
            case.whole, case.X, case.y if _has_one_column(case) else None, ax=ax, theme="light"
        ),
        lambda drawn: "The matrix of kernel values between the rows, rows of a class beside each other.", dpi=110,
    ),
    Picture(
        "SpectrumDisplay", (6.0, 4.6), _has_formula,
        lambda display, case, answers, ax: display.from_estimator(case.whole, case.X, ax=ax, theme="light"),
        lambda drawn: f"The eigenvalues of the kernel matrix, from {drawn.eigenvalues[0]:.3g} downwards: how many "
        "directions the kernel tells apart.",
    ),
    Picture(
        "PathDisplay", (6.0, 4.6), _has_path,
        lambda display, case, answers, ax: display.from_estimator(case.whole, ax=ax, theme="light"),
        lambda drawn: "The error of leave-one-out over the penalty, with the penalty of this machine and the best one.",
    ),
    Picture(
        "ConvergenceDisplay", (6.0, 4.6), _has_trace,
        lambda display, case, answers, ax: display.from_estimator(case.whole, ax=ax, theme="light"),
        lambda drawn: "The solver's own measure of progress, step by step, on a logarithmic scale.",
    ),
    Picture(
        "InfluenceDisplay", (6.0, 5.0), _has_coefficients,
        lambda display, case, answers, ax: display.from_estimator(case.whole, ax=ax, theme="light"),
        lambda drawn: f"Bars of the {len(drawn.top)} largest coefficients, the first "
        f"{abs(drawn.values[drawn.top[0]]):.3g}.",
    ),
)  # fmt: skip


def _has_one_column(case: Case) -> bool:
    return case.y is not None and np.asarray(case.y).ndim == 1


def _again(shown: Any, ax: Any) -> Any:
    return shown.plot(ax=ax, theme="dark")


def drawn(case: Case, answers: Answers | None) -> Markup:
    """All that can be drawn."""
    try:
        import mercer.plots as plots  # noqa: PLC0415 (Matplotlib is optional, and takes a while)
    except ImportError:
        return paragraph(
            "Matplotlib is not installed, so that there are no pictures: pip install 'mercer-kernels[plots]'."
        )
    from mercer.plots.images import drawn_on  # noqa: PLC0415

    def image(draw: Callable[[Any], Any], picture: Picture) -> tuple[Any, str]:
        made, encoded = drawn_on(draw, picture.size, picture.dpi)
        return made, f"data:image/png;base64,{base64.b64encode(encoded).decode()}"

    figures = []
    for picture in PICTURES:
        if not picture.needs(case, answers):
            continue
        try:
            shown, light = image(partial(picture.draw, vars(plots)[picture.display], case, answers), picture)
        except (
            MercerError,
            ArithmeticError,
            ValueError,
        ):  # these data do not allow it, or Matplotlib
            continue
        _, dark = image(partial(_again, shown), picture)
        width, height = (round(96 * inches) for inches in picture.size)
        figures.append(
            element(
                "figure",
                element(
                    "picture",
                    element("source", media="screen and (prefers-color-scheme: dark)", srcset=dark),
                    element("img", src=light, alt=picture.alt(shown), width=width, height=height),
                ),
            )
        )
    if not figures:
        return paragraph("There is nothing to draw.")
    return element("div", joined(*figures), class_="figures")
