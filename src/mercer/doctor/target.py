"""The targets: labels or numbers, also such as no machine would take."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.doctor.source import coded
from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.points.base import is_missing

__all__ = ["CLASSIFICATION", "REGRESSION", "TASKS", "Target", "target_of"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = ("auto", CLASSIFICATION, REGRESSION)
# Whole numbers are taken for labels if there are at most so many different ones, each so often on average.
MOST_LABELS, LEAST_TIMES = 30, 5


@final
@dataclass(frozen=True, eq=False)
class Target:
    """y: a label for each row, or one or more numbers.

    Attributes
    ----------
    task : str
        "classification" or "regression".
    values : ndarray of shape (n, t)
        Numbers; of labels their codes, −1 where the label is missing. Missing numbers are NaN.
    labels : tuple
        The different labels.
    """

    task: str
    values: Array
    labels: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_classes(self) -> bool:
        """Whether y holds labels."""
        return self.task == CLASSIFICATION

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:  # (n,)
        """Which rows have a target that is there and finite."""
        return np.asarray(self.values[:, 0] >= 0 if self.is_classes else np.isfinite(self.values).all(axis=1))

    @cached_property
    def codes(self) -> Index:  # (n,)
        """The number of each row's label."""
        return self.values[:, 0].astype(np.intp)

    @cached_property
    def counts(self) -> Index:
        """How many rows each label has."""
        return np.bincount(self.codes[self.known], minlength=len(self.labels)).astype(np.intp)

    @cached_property
    def is_constant(self) -> bool:
        """Whether there is but one target."""
        known = self.values[self.known]
        return len(known) > 0 and bool((known == known[0]).all())

    def take(self, rows: Index) -> "Target":
        """The targets of these rows; labels that they do not have are forgotten."""
        values = self.values[rows]
        if not self.is_classes:
            return Target(self.task, values)
        kept, codes = np.unique(values[:, 0], return_inverse=True)
        labels = tuple(self.labels[int(code)] for code in kept if code >= 0)
        first = int(kept[0] < 0)  # what is missing stays −1
        return Target(self.task, (codes.reshape(-1) - first).astype(np.float64)[:, None], labels)

    def columns(self, rows: Index) -> Array:  # (len(rows), t or the number of labels)
        """What a regression would fit: the numbers, or a column of 0 and 1 for each label."""
        return np.eye(len(self.labels))[self.codes[rows]] if self.is_classes else self.values[rows]


def target_of(y: Any, n: int, task: str) -> Target:
    """Read y: labels or numbers, by what they look like if the task is "auto"."""
    if task not in TASKS:
        raise InvalidParameter(
            f"task must be one of {', '.join(map(repr, TASKS))}.", f"Got {shown(task)}.", 'Leave it at "auto".'
        )
    array = _as_array(y)
    if len(array) != n:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {len(array)}."
        )
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InvalidInput("y must have one or two axes, and a column.", f"Got shape {array.shape}.")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    numbers = _as_numbers(array)
    if task == "auto":
        task = CLASSIFICATION if array.ndim == 1 and _looks_like_labels(array, numbers) else REGRESSION
    if task == REGRESSION:
        if numbers is None:
            raise InvalidInput("The targets of a regression are numbers.", f"Got {shown(array[0])}.", "Check the task.")
        return Target(task, numbers.reshape(n, -1))
    if array.ndim == 2:
        raise InvalidInput("Labels have one axis.", f"Got y of shape {array.shape}.", "Diagnose one column at a time.")
    return _labelled(array if numbers is None else numbers)


def _as_array(y: Any) -> npt.NDArray[Any]:
    array = y if isinstance(y, np.ndarray) else np.asarray(y)
    if array.ndim == 0:
        raise InvalidInput("y must hold one target per row.", f"Got {shown(y)}.")
    if isinstance(array, np.ma.MaskedArray):
        array = np.array([None if value is np.ma.masked else value for value in array], dtype=object)
    return array


def _as_numbers(array: npt.NDArray[Any]) -> Array | None:
    if array.dtype.kind in "fiu":
        return array.astype(np.float64)
    if array.dtype.kind != "O":
        return None
    kinds = {type(value) for value in array.ravel() if not is_missing(value)}
    if not kinds or not all(issubclass(kind, int | float | np.number) and kind is not bool for kind in kinds):
        return None
    filled = [np.nan if is_missing(value) else float(value) for value in array.ravel()]
    return np.array(filled).reshape(array.shape)


def _looks_like_labels(array: npt.NDArray[Any], numbers: Array | None) -> bool:
    if numbers is None:
        return True
    finite = numbers[np.isfinite(numbers)]
    different = len(np.unique(finite))
    is_whole = bool((finite == np.round(finite)).all())
    return is_whole and (different <= 2 or (different <= MOST_LABELS and LEAST_TIMES * different <= len(array)))


def _labelled(array: npt.NDArray[Any]) -> Target:
    missing = np.fromiter((is_missing(value) for value in array), dtype=bool, count=len(array))
    if array.dtype.kind == "f":
        missing |= np.isinf(array)
    kept = array[~missing]
    codes = np.full(len(array), -1.0)
    if array.dtype.kind == "O":
        found = coded(kept)
        first = np.unique(found, return_index=True)[1]
        labels = tuple(kept[i] for i in first)
        codes[~missing] = found
    else:
        different, found = np.unique(kept, return_inverse=True)
        labels = tuple(_short(label) for label in different.tolist())
        codes[~missing] = found.reshape(-1)
    return Target(CLASSIFICATION, codes[:, None], labels)


def _short(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label
