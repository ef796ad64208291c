"""How good a machine is on rows that it has not seen, and how sure that is."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from mercer.cli.machines import CLASSIFICATION, OUTLIERS, Task
from mercer.cli.outcome import BadData
from mercer.errors import shown

__all__ = ["Score", "score", "splits"]

Array = npt.NDArray[np.float64]
# Fewer rows than this are cross-validated, so that the score does not hang on a handful of them.
FEW_ROWS = 2000
FOLDS = 5
SHARE_HELD_OUT = 0.25


@final
@dataclass(frozen=True)
class Score:
    """A score with its standard error, over rows that were held out.

    Attributes
    ----------
    metric : str
    value, error : float
        The score, and its standard error.
    baseline : float
        What a constant answer scores: the commonest label, or the mean of the training rows.
    rows : int
        Rows that were held out.
    how : str
        "5-fold cross-validation" or "25% held out".
    further : dict of str to float
        Other numbers: the root mean squared error, …
    """

    metric: str
    value: float
    error: float
    baseline: float
    rows: int
    how: str
    further: dict[str, float]

    def __str__(self) -> str:
        more = "".join(f", {name} {value:.4g}" for name, value in self.further.items())
        base = "" if np.isnan(self.baseline) else f" (a constant: {self.baseline:.3f})"
        return f"{self.metric} {self.value:.4f} ± {self.error:.4f}{base}{more}; {self.how}, {self.rows} rows"


def splits(
    task: Task, y: Any, n: int, cv: int | None, test_size: float | None, seed: int
) -> tuple[list[tuple[Any, Any]], str]:
    """Pairs of training and held-out rows, with every label in both where that can be; and how it was done."""
    rows = np.zeros(n)
    if n < 4:
        raise BadData(f"{n} rows are too few to hold some out.", "", "A score needs at least 4 rows.")
    labels, counts = np.unique(y, return_counts=True) if task is CLASSIFICATION else (np.empty(0), np.array([n]))
    if task is CLASSIFICATION and counts.min() < 2:
        rare = labels[counts.argmin()]
        raise BadData(
            f"Label {shown(rare)} has one row only, so it cannot be learnt and tried.",
            "",
            "Leave the row out, or join it to another label. If the target is a quantity, say --task regression.",
        )
    if cv is None and test_size is None and n < FEW_ROWS:
        cv = min(FOLDS, n // 2, max(2, int(counts.min())))
    if cv is not None:
        kind = StratifiedKFold if task is CLASSIFICATION else KFold
        cv = min(cv, n)
        if task is CLASSIFICATION and cv > counts.min():
            cv = max(2, int(counts.min()))
        made = kind(cv, shuffle=True, random_state=seed)
        return list(made.split(rows, y)), f"{cv}-fold cross-validation"
    share = SHARE_HELD_OUT if test_size is None else test_size
    is_stratified = task is CLASSIFICATION and int(n * share) >= len(labels) <= n - int(n * share)
    once = (StratifiedShuffleSplit if is_stratified else ShuffleSplit)(1, test_size=share, random_state=seed)
    return list(once.split(rows, y)), f"{share:.0%} held out"


def score(task: Task, truth: Any, answers: Any, constants: Any, how: str) -> Score:
    """Compare answers with the truth; `constants` are the constant answers of the training parts.

    The standard error is that of a mean over rows; of R² = 1 − Σe²/Σv², a ratio of two means, to first order.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cli.machines import CLASSIFICATION
    >>> y = np.array(["a", "b", "a", "b"])
    >>> print(score(CLASSIFICATION, y, np.array(["a", "b", "a", "a"]), np.array(["a"] * 4), "25% held out"))
    accuracy 0.7500 ± 0.2500 (a constant: 0.500); 25% held out, 4 rows
    """
    m = len(answers)
    if task is OUTLIERS:
        inside = (answers > 0).astype(float)
        return Score(task.metric, float(inside.mean()), _error(inside), np.nan, m, how, {})
    if task is CLASSIFICATION:
        right = (truth == answers).astype(float)
        return Score(task.metric, float(right.mean()), _error(right), float((truth == constants).mean()), m, how, {})
    residual, spread = np.square(truth - answers), np.square(truth - constants)
    total = float(spread.mean())
    if total == 0.0:
        raise BadData("The held-out rows all have the same target.", "", "Check --target, or hold out more rows.")
    value = 1.0 - float(residual.mean()) / total
    error = _error(residual - (1.0 - value) * spread) / total
    further = {"RMSE": float(np.sqrt(residual.mean())), "MAE": float(np.abs(truth - answers).mean())}
    return Score(task.metric, value, error, 0.0, m, how, further)


def _error(values: Array) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
