"""Scores with their standard errors, each from one number per row."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.report.answers import Answers, as_labels
from mercer.report.case import Case

__all__ = ["Score", "scores_of"]

Array = npt.NDArray[np.float64]

# Of a normal distribution: 95 % lie within so many standard deviations.
TWO_SIDED = 1.959964
# A probability is not taken for smaller than this, so that one row cannot make the logarithm infinite.
LEAST_SHARE = 1e-15


@final
@dataclass(frozen=True)
class Score:
    """One number about how well a machine does.

    Attributes
    ----------
    name : str
        What it is called.
    value, error : float
        The estimate and its standard error.
    meaning : str
        A plain sentence.
    baseline : float
        What the best constant answer has; NaN where that means nothing.
    low, high : float
        An interval of 95 %.
    is_share : bool
        Whether it is a share of rows, shown in per cent.
    """

    name: str
    value: float
    error: float
    meaning: str
    baseline: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_share: bool = False

    def written(self, number: float) -> str:
        """A number in the units of the score, with the digits that its error leaves."""
        if math.isnan(number):
            return "–"
        if self.is_share:
            return f"{100.0 * number:.1f} %"
        digits = 2 if not 0.0 < self.error < math.inf else 1 - math.floor(math.log10(self.error))
        return f"{number:.{max(0, digits)}f}" if digits <= 6 and abs(number) < 1e6 else f"{number:.4g}"

    @property
    def shown(self) -> str:
        """Value ± standard error."""
        return f"{self.written(self.value)} ± {self.written(self.error)}"


def scores_of(case: Case, answers: Answers) -> list[Score]:
    """The scores that suit the machine, the most important first."""
    if case.is_classifier:
        return [score for score in _of_classes(case, answers) if math.isfinite(score.value)]
    if case.is_one_class:
        return list(_of_one_class(answers))
    columns = answers.truth.reshape(len(answers), -1)
    found: list[Score] = []
    for j in range(columns.shape[1]):
        spread = None if answers.spread is None else answers.spread[:, j]
        name = f" of target {j}" if columns.shape[1] > 1 else ""
        found += _of_numbers(
            columns[:, j].astype(np.float64), answers.predicted.reshape(columns.shape)[:, j], spread, name
        )
    return found


def _share(name: str, is_so: npt.NDArray[np.bool_], meaning: str, baseline: float = math.nan) -> Score:
    """The share of the rows for which something holds, with the interval of Wilson."""
    n, p = len(is_so), float(np.mean(is_so))
    z = TWO_SIDED**2 / n
    middle = (p + z / 2) / (1 + z)
    half = TWO_SIDED / (1 + z) * math.sqrt(p * (1 - p) / n + z / (4 * n))
    return Score(
        name, p, math.sqrt(p * (1 - p) / n), meaning, baseline,
        max(0.0, middle - half), min(1.0, middle + half), is_share=True,
    )  # fmt: skip


def _mean(name: str, values: Array, meaning: str, baseline: float = math.nan) -> Score:
    return _normal(name, float(values.mean()), _error(values), meaning, baseline)


def _normal(name: str, value: float, error: float, meaning: str, baseline: float = math.nan) -> Score:
    return Score(name, value, error, meaning, baseline, value - TWO_SIDED * error, value + TWO_SIDED * error)


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _of_classes(case: Case, answers: Answers) -> Iterator[Score]:
    truth, predicted = as_labels(answers.truth), as_labels(answers.predicted)
    if truth.ndim != 1:
        for j in range(truth.shape[1]):
            yield _share(f"Accuracy of output {j}", truth[:, j] == predicted[:, j], "The share of rows that are right.")
        return
    is_right = truth == predicted
    labels, codes = np.unique(truth, return_inverse=True)
    sizes = np.bincount(codes)
    yield _share(
        "Accuracy", is_right, "The share of rows whose class is predicted right.", float(sizes.max() / sizes.sum())
    )
    if len(labels) > 1:
        recalls = np.bincount(codes, is_right) / sizes
        error = math.sqrt(float((recalls * (1 - recalls) / sizes).sum())) / len(labels)
        value, half = float(recalls.mean()), TWO_SIDED * error
        yield Score(
            "Balanced accuracy", value, error, "The mean over the classes of the share that is right in each.",
            1 / len(labels), max(0.0, value - half), min(1.0, value + half), is_share=True,
        )  # fmt: skip
    if answers.decisions is not None and len(labels) == 2 and len(case.model.classes) == 2:
        yield _ranking(answers.decisions, truth == as_labels(case.model.classes)[1])
    if answers.shares is not None:
        place = {label: j for j, label in enumerate(as_labels(case.model.classes).tolist())}
        columns = np.array([place.get(label, -1) for label in truth.tolist()])
        of_truth = np.where(columns >= 0, answers.shares[np.arange(len(truth)), columns], 0.0)
        frequencies = sizes / sizes.sum()
        yield _mean(
            "Log-loss", -np.log(np.maximum(of_truth, LEAST_SHARE)),
            "The mean of −log of the probability that the true class was given: 0 is perfect, smaller is better.",
            float(-(frequencies * np.log(frequencies)).sum()),
        )  # fmt: skip


def _ranking(decisions: Array, is_second: npt.NDArray[np.bool_]) -> Score:
    """The area under the ROC curve, with the standard error of DeLong."""
    order = np.unique(decisions, return_inverse=True)[1]
    positive, negative = order[is_second], order[~is_second]
    below = _placements(positive, negative)
    above = 1.0 - _placements(negative, positive)
    error = math.sqrt(sum(part.var(ddof=1) / len(part) for part in (below, above) if len(part) > 1))
    value = float(below.mean())
    low, high = max(0.0, value - TWO_SIDED * error), min(1.0, value + TWO_SIDED * error)
    meaning = "The chance that a row of the second class is ranked above one of the first (area under the ROC curve)."
    return Score("Ranking (AUC)", value, error, meaning, 0.5, low, high)


def _placements(own: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> Array:
    """For each value the share of the others that is smaller, ties counted half."""
    ordered = np.sort(others)
    less, not_more = np.searchsorted(ordered, own, "left"), np.searchsorted(ordered, own, "right")
    return np.asarray((less + not_more) / (2.0 * len(others)))


def _of_numbers(truth: Array, predicted: Array, spread: Array | None, name: str) -> list[Score]:
    residual = truth - predicted
    squares, around = np.square(residual), np.square(truth - truth.mean())
    found = []
    total = float(around.mean())
    if total > 0.0 and len(truth) > 1:
        value = 1.0 - float(squares.mean()) / total
        influence = (squares - (1.0 - value) * around) / total  # of each row on the ratio
        meaning = "The share of the variance of the target that is explained: 1 is perfect, 0 no better than the mean."
        found.append(_normal(f"R²{name}", value, _error(influence), meaning, 0.0))
    root = math.sqrt(float(squares.mean()))
    of_root = _error(squares) / (2.0 * root) if root > 0.0 else 0.0
    meaning = "The typical size of an error (root of the mean square), in the units of the target."
    found.append(_normal(f"RMSE{name}", root, of_root, meaning, math.sqrt(total)))
    middle = float(np.abs(truth - np.median(truth)).mean())
    found.append(_mean(f"Mean absolute error{name}", np.abs(residual), "The mean size of an error.", middle))
    if spread is not None:
        meaning = (
            "The share of rows within two standard deviations of the prediction: 95.4 % where the kernel, times the "
            "number that makes the targets likeliest (prior_variance_), is the prior. Far from that, use no error bars."
        )
        found.append(_share(f"Coverage{name}", np.abs(residual) <= 2.0 * spread, meaning))
    return found


def _of_one_class(answers: Answers) -> Iterator[Score]:
    inside = answers.predicted > 0
    yield _share("Inliers", inside, "The share of rows that the machine takes for usual.")
    truth = answers.truth
    if truth.ndim == 1 and truth.dtype.kind in "iuf" and set(np.unique(truth)) <= {-1, 1} and len(np.unique(truth)) > 1:
        yield _share("Outliers found", ~inside[truth < 0], "Of the rows marked −1, the share that is found.")
        yield _share("False alarms", ~inside[truth > 0], "Of the rows marked 1, the share taken for unusual.")
