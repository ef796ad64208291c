"""The table of machines that the command line can fit, and how each is tuned."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from mercer.cli.outcome import WrongUse
from mercer.estimators import (
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
)

__all__ = ["AUTO", "MACHINES", "TASKS", "Machine", "Task", "choose", "settings"]

AUTO = "auto"
# Whole numbers of at most so many different values are labels, unless --task says otherwise.
MOST_LABELS = 10
DECADES: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
# Logistic regression is slower than support vectors from about here on, but has probabilities.
TUBE = 0.1


@final
@dataclass(frozen=True)
class Task:
    """What is learnt."""

    name: str
    metric: str
    machine: str


CLASSIFICATION = Task("classification", "accuracy", "svc")
REGRESSION = Task("regression", "R²", "ridge")
OUTLIERS = Task("outliers", "share of inliers", "one-class")
TASKS: dict[str, Task] = {task.name: task for task in (CLASSIFICATION, REGRESSION, OUTLIERS)}


@final
@dataclass(frozen=True)
class Machine:
    """One row.

    Attributes
    ----------
    name : str
        As it is typed.
    task : Task
    kind : type
        The estimator.
    fixed : dict
        Parameters that differ from its defaults.
    penalty : str
        The parameter that --tune searches over; empty for none.
    grid : tuple of float
        Its values.
    in_units : tuple of str
        Parameters that are multiplied by the standard deviation of y, so that the unit of y does not matter.
    has_lengths : bool
        Whether --tune also searches over the length scales of the kernel.
    keeps_best : bool
        Whether Ctrl-C leaves the best so far.
    """

    name: str
    task: Task
    kind: type[BaseEstimator]
    fixed: dict[str, Any] = field(default_factory=dict)
    penalty: str = ""
    grid: tuple[float, ...] = ()
    in_units: tuple[str, ...] = ()
    has_lengths: bool = True
    keeps_best: bool = False

    def make(self, kernel: Any, y: Any, **given: Any) -> Any:
        """The estimator, unfitted."""
        own = self.kind().get_params(deep=False)
        fixed = {**self.fixed, **given, **({"keep_best": True} if self.keeps_best else {})}
        unit = float(np.std(y)) if self.in_units else 1.0
        for name in self.in_units:
            if name not in given:
                fixed[name] = (fixed[name] if name in fixed else own[name]) * (unit or 1.0)
        wrong = [name for name in fixed if name not in own]
        if wrong:
            raise WrongUse(
                f"--set {wrong[0]}=… is not a parameter of {self.name}.",
                "",
                f"It has {', '.join(sorted(set(own) - {'kernel', 'verbose'}))}.",
            )
        return self.kind(kernel=kernel, **fixed)

    def candidates(self, y: Any) -> tuple[float, ...]:
        """The values of the penalty to try."""
        unit = float(np.std(y)) if self.penalty in self.in_units else 1.0
        return tuple(value * (unit or 1.0) for value in self.grid)


MACHINES: tuple[Machine, ...] = (
    Machine("svc", CLASSIFICATION, SVC, penalty="C", grid=DECADES[2:], keeps_best=True),
    Machine("nu-svc", CLASSIFICATION, NuSVC, {"nu": 0.2}, "nu", (0.05, 0.1, 0.2, 0.4), keeps_best=True),
    Machine("logistic", CLASSIFICATION, KernelLogisticRegression, penalty="C", grid=DECADES[2:], keeps_best=True),
    Machine("neighbors", CLASSIFICATION, KernelNeighborsClassifier, {}, "n_neighbors", (1, 3, 5, 9, 15, 25), (), False),
    Machine("smoother", CLASSIFICATION, NadarayaWatsonClassifier, {"bandwidth": "loo"}),
    Machine("centroid", CLASSIFICATION, KernelNearestCentroid),
    Machine("ridge", REGRESSION, KernelRidge, {"fit_intercept": True}, "alpha", DECADES[:6], keeps_best=True),
    Machine("svr", REGRESSION, SVR, {"C": 1.0, "epsilon": TUBE}, "C", DECADES[2:], ("C", "epsilon"), True, True),
    Machine("nu-svr", REGRESSION, NuSVR, {"C": 1.0}, "C", DECADES[2:], ("C",), True, True),
    Machine("neighbors", REGRESSION, KernelNeighborsRegressor, {}, "n_neighbors", (1, 3, 5, 9, 15, 25), (), False),
    Machine("smoother", REGRESSION, NadarayaWatson, {"bandwidth": "loo"}),
    Machine("one-class", OUTLIERS, OneClassSVM, {"nu": 0.05}, keeps_best=True),
)


def choose(name: str, task: str, y: npt.NDArray[Any] | None) -> Machine:
    """The machine that was asked for, for the task that fits; with "auto" for either, the usual one."""
    if name != AUTO and name not in {row.name for row in MACHINES}:
        names = ", ".join(dict.fromkeys(row.name for row in MACHINES))
        raise WrongUse(f"There is no machine {name!r}.", "", f"They are {names}, or {AUTO}.")
    if task not in (AUTO, *TASKS):
        raise WrongUse(f"There is no task {task!r}.", "", f"They are {', '.join(TASKS)}, or {AUTO}.")
    fitting = [row for row in MACHINES if name in (AUTO, row.name)]
    if task == AUTO:
        only = {row.task.name for row in fitting}
        task = only.pop() if name != AUTO and len(only) == 1 else _task_of(y)
    if name == AUTO:
        name = TASKS[task].machine
    found = next((row for row in fitting if (row.name, row.task.name) == (name, task)), None)
    if found is None:
        there = ", ".join(row.name for row in MACHINES if row.task.name == task)
        raise WrongUse(f"{name} does not do {task}.", "", f"For {task} there are {there}.")
    if (y is None) != (found.task is OUTLIERS):
        if y is None:
            raise WrongUse(f"{name} needs a --target.", "", "Without one there is --machine one-class.")
        raise WrongUse(
            f"{name} learns what is normal from the columns alone, and takes no --target.",
            "",
            "Leave --target out; --drop keeps its column from the machine.",
        )
    return found


def _task_of(y: npt.NDArray[Any] | None) -> str:
    if y is None:
        raise WrongUse(
            "Which column is to be predicted is not said.",
            "",
            f"Name it with --target; --task {OUTLIERS.name} learns without one what is normal.",
        )
    if y.dtype.kind != "f":
        return CLASSIFICATION.name
    values = np.unique(y)
    is_few = len(values) <= min(MOST_LABELS, max(2, len(y) // 3))
    return CLASSIFICATION.name if is_few and (values == np.round(values)).all() else REGRESSION.name


def settings(said: Iterable[str]) -> dict[str, Any]:
    """What was typed as --set NAME=VALUE.

    Examples
    --------
    >>> settings(["C=inf", "nu=0.5", "weights=kernel", "max_iter=100"])
    {'C': inf, 'nu': 0.5, 'weights': 'kernel', 'max_iter': 100}
    """
    found = {}
    for text in said:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise WrongUse("--set takes NAME=VALUE.", f"Got {text!r}.", "Try --set C=10.")
        if name in ("kernel", "verbose", "keep_best"):
            raise WrongUse(f"--set {name}=… is not for this.", "", "There is --kernel." if name == "kernel" else "")
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    try:
        return float(text) if text in ("inf", "nan") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
