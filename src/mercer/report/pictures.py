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
from mercer.report.answers import Answers
from mercer.report.case import Case
from mercer.report.tables import paragraph, per_cent

__all__ = ["pictures"]

# A table of more classes than these is not read.
MOST_CLASSES = 30


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
    return len(np.unique(answers.truth.astype(str))) <= MOST_CLASSES


def _has_probabilities(_: Case, answers: Answers | None) -> bool:
    return answers is not None and answers.shares is not None and answers.truth.ndim == 1 and len(answers) > 1


def _has_formula(case: Case, _: Answers | None) -> bool:
    return case.kernel is not None and not isinstance(case.points, Given)


def _has_coefficients(case: Case, _: Answers | None) -> bool:
    model = case.model
    return model.votes is None and model.smoothing is None and len(model.basis) > 0


def _first(values: Any) -> Any:
    return values if values.ndim == 1 else values[:, 0]


def _calibration(display: Any, case: Case, answers: Answers, ax: Any) -> Any:
    classes, shares = np.asarray(case.model.classes), answers.shares
    assert shares is not None
    if len(classes) == 2:
        is_so, label = answers.truth.astype(str) == str(classes[1]), shares[:, 1]
    else:
        best = shares.argmax(axis=1)
        is_so, label = answers.truth.astype(str) == classes[best].astype(str), shares[np.arange(len(best)), best]
    return display.from_predictions(is_so, label, label=True, ax=ax, theme="light")


PICTURES = (
    Picture(
        "PredictionDisplay", (5.4, 5.2), _is_regression,
        lambda display, case, answers, ax: display.from_predictions(
            _first(answers.truth), _first(answers.predicted), ax=ax, theme="light"
        ),
        lambda drawn: f"Predicted against true values of {len(drawn.y_true)} rows, around the diagonal; "
        f"R² {drawn.r2:.3f}, root mean squared error {drawn.rmse:.3g}.",
    ),
    Picture(
        "ConfusionDisplay", (5.2, 5.0), _has_few_classes,
        lambda display, case, answers, ax: display.from_predictions(
            answers.truth.astype(str), answers.predicted.astype(str), ax=ax, theme="light"
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
        "InfluenceDisplay", (6.0, 5.0), _has_coefficients,
        lambda display, case, answers, ax: display.from_estimator(case.whole, ax=ax, theme="light"),
        lambda drawn: f"Bars of the {len(drawn.top)} largest coefficients, the first "
        f"{abs(drawn.values[drawn.top[0]]):.3g}.",
    ),
)  # fmt: skip


def _has_one_column(case: Case) -> bool:
    return case.y is not None and np.asarray(case.y).ndim == 1


def pictures(case: Case, answers: Answers | None) -> Markup:
    """All that can be drawn."""
    try:
        from mercer import plots  # noqa: PLC0415 (Matplotlib is optional, and takes a while)
    except ImportError:
        return paragraph(
            "Matplotlib is not installed, so that there are no pictures: pip install 'mercer-kernels[plots]'."
        )
    from mercer.plots.images import drawn_on  # noqa: PLC0415

    def image(draw: Callable[[Any], Any], picture: Picture) -> tuple[Any, str]:
        drawn, encoded = drawn_on(draw, picture.size, picture.dpi)
        return drawn, f"data:image/png;base64,{base64.b64encode(encoded).decode()}"

    figures = []
    for picture in PICTURES:
        if not picture.needs(case, answers):
            continue
        try:
            drawn, light = image(partial(picture.draw, vars(plots)[picture.display], case, answers), picture)
        except MercerError:  # a picture that these data do not allow
            continue
        _, dark = image(lambda ax, drawn=drawn: drawn.plot(ax=ax, theme="dark"), picture)
        width, height = (round(96 * inches) for inches in picture.size)
        figures.append(
            element(
                "figure",
                element(
                    "picture",
                    element("source", media="(prefers-color-scheme: dark)", srcset=dark),
                    element("img", src=light, alt=picture.alt(drawn), width=width, height=height),
                ),
            )
        )
    if not figures:
        return paragraph("There is nothing to draw.")
    return element("div", joined(*figures), class_="figures")
