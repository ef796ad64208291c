"""The machines that can be planned: for each, the problem that its fit solves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.doctor.target import CLASSIFICATION, REGRESSION, Target
from mercer.grams.base import Gram
from mercer.problems.losses import LOSSES
from mercer.problems.margins import KINDS, MarginProblem, Margins
from mercer.problems.problem import Problem

__all__ = ["MACHINES", "Machine", "MachineProblem", "machine_named"]

Array = npt.NDArray[np.float64]
# A hard margin is planned as this C.
LARGEST_COST = 1e6

MachineProblem = Problem | MarginProblem
Settings = Mapping[str, Any]


@final
@dataclass(frozen=True)
class Machine:
    """One row.

    Attributes
    ----------
    name : str
        What `plan` calls it.
    estimators : tuple of str
        The names of the estimators that solve this problem.
    task : str
        What its targets are; empty if any will do, or none.
    settings : dict
        The parameters that matter to its cost, with their defaults.
    problem : callable (gram, target, settings) -> Problem or MarginProblem, optional
        What is solved; None if nothing is.
    kind : str
        Of a support vector machine: its row of `mercer.problems.margins.KINDS`. Its solver gathers rows of K.
    passes : float
        Of a machine that solves nothing: how often its fit computes all of K.
    """

    name: str
    estimators: tuple[str, ...]
    task: str
    settings: dict[str, Any]
    problem: Callable[[Gram, Target, Settings], MachineProblem] | None
    kind: str = ""
    passes: float = 0.0


def _ridge(gram: Gram, target: Target, settings: Settings) -> Problem:
    y = target.values if not target.is_classes else target.columns(np.arange(len(target)))
    alpha = max(float(np.max(settings["alpha"])), 0.0)
    cost = np.full(y.shape, np.inf if alpha == 0.0 else 1.0 / alpha)
    B = np.ones((len(y), int(bool(settings["fit_intercept"]))))
    return Problem(gram, y, LOSSES["squared"], cost, B, np.zeros(B.shape[1]))


def _logistic(gram: Gram, target: Target, settings: Settings) -> Problem:
    n, classes = len(target), max(len(target.labels), 2)
    if classes == 2:
        loss, y = LOSSES["logistic"], np.where(target.codes == 1, 1.0, -1.0)[:, None]
    else:
        loss, y = LOSSES["softmax"], np.eye(classes)[target.codes]
    B = np.ones((n, int(bool(settings["fit_intercept"]))))
    return Problem(gram, y, loss, np.full((n, 1), float(settings["C"])), B, np.zeros(B.shape[1]))


def _classifier(kind: str) -> Callable[[Gram, Target, Settings], MarginProblem]:
    def build(gram: Gram, target: Target, settings: Settings) -> MarginProblem:
        order = np.argsort(target.codes, kind="stable")
        cuts = np.concatenate([[0], np.cumsum(target.counts)]).astype(np.int64)
        classes = len(target.labels)
        uses = np.array([(i, j) for i in range(classes) for j in range(i + 1, classes)], dtype=np.int64)
        sizes = np.diff(cuts)[uses]  # (pairs, 2)
        y = np.concatenate([np.repeat([1.0, -1.0], pair) for pair in sizes])
        feasible = float((2.0 * sizes.min(axis=1) / sizes.sum(axis=1)).min())
        batch = _batch(kind, cuts, uses, y, settings, feasible)
        return MarginProblem(gram.take(order), KINDS[kind], batch)

    return build


def _single(kind: str) -> Callable[[Gram, Target, Settings], MarginProblem]:
    def build(gram: Gram, target: Target, settings: Settings) -> MarginProblem:
        n = len(target)
        cuts, uses = np.array([0, n], dtype=np.int64), np.zeros((1, 1), dtype=np.int64)
        return MarginProblem(gram, KINDS[kind], _batch(kind, cuts, uses, target.values[:, 0], settings))

    return build


def _batch(kind: str, cuts: Any, uses: Any, y: Array, settings: Settings, most_nu: float = 1.0) -> Margins:
    cost = np.full(len(y), min(float(settings.get("C", 1.0)), LARGEST_COST))
    nu = min(float(settings.get("nu", 0.5)), most_nu)
    return KINDS[kind].build(cuts, uses, y, cost, nu, float(settings.get("epsilon", 0.0)))


MACHINES: dict[str, Machine] = {
    row.name: row
    for row in (
        Machine("ridge", ("KernelRidge",), REGRESSION, {"alpha": 1.0, "fit_intercept": False}, _ridge),
        Machine(
            "logistic", ("KernelLogisticRegression",), CLASSIFICATION, {"C": 1.0, "fit_intercept": True}, _logistic
        ),
        Machine("svc", ("SVC",), CLASSIFICATION, {"C": 1.0}, _classifier("c-svc"), kind="c-svc"),
        Machine("nu-svc", ("NuSVC",), CLASSIFICATION, {"nu": 0.5}, _classifier("nu-svc"), kind="nu-svc"),
        Machine("svr", ("SVR",), REGRESSION, {"C": 1.0, "epsilon": 0.1}, _single("epsilon-svr"), kind="epsilon-svr"),
        Machine("nu-svr", ("NuSVR",), REGRESSION, {"C": 1.0, "nu": 0.5}, _single("nu-svr"), kind="nu-svr"),
        Machine("one-class", ("OneClassSVM",), "", {"nu": 0.5}, _single("one-class"), kind="one-class"),
        Machine("neighbours", ("KernelNeighborsClassifier", "KernelNeighborsRegressor"), "", {"n_neighbors": 5}, None),
        Machine("centroid", ("KernelNearestCentroid",), CLASSIFICATION, {}, None, passes=0.5),
        Machine("smoother", ("NadarayaWatson", "NadarayaWatsonClassifier"), "", {}, None),
    )
}


def machine_named(name: str) -> Machine | None:
    """The row of a machine, by its name or that of an estimator."""
    return next((row for row in MACHINES.values() if name == row.name or name in row.estimators), None)
