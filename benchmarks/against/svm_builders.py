"""The works of the support vector machines: the same run for every library, and the facts that the referee finds.

A library is imported by the builder: each process has only its own contestant in memory.
"""

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.against import svm_referee as referee
from benchmarks.harness import data
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]
TOL = 1e-3
CACHE_MEGABYTES = 2000
NEW = 5_000
"""Rows to predict."""
PREDICTIONS = 3
PREDICTING = 0.1
"""Seconds of repeated predictions, where one takes less."""
EPSILON = 0.1
FIRST = 60
"""Rows of a fit before all others, by which a library loads what it loads late and starts its threads."""


def published(model: Any) -> referee.Published:
    coef = model.dual_coef_
    coef = coef.toarray() if sp.issparse(coef) else np.asarray(coef)
    return referee.Published(np.asarray(model.support_), coef, np.atleast_1d(model.intercept_))


def published_by_thunder(model: Any) -> referee.Published:
    """ThunderSVM's decision is Σ coef k(x, ·) less its intercept, positive for the first class also of two."""
    told = published(model)
    if type(model).__name__ == "SVC" and model.n_classes == 2:
        return told._replace(dual_coef=-told.dual_coef)
    return told._replace(intercept=-told.intercept)


def labels(X: Any, y: Array) -> Array:  # noqa: ARG001 (a row of the table)
    return y


def labels_for_thunder(X: Any, y: Array) -> Array:
    """ThunderSVM reads the integers that it makes of sparse rows' labels as bits of float32, and then never ends."""
    return y.astype(np.float32).view(np.int32) if sp.issparse(X) else y


@dataclass(frozen=True)
class Library:
    """What differs between libraries.

    Attributes
    ----------
    module, memory : str
        Where its machines are, and how it names the megabytes for kernel entries.
    published, labels : callable
        What a model says, in scikit-learn's layout; and the labels as the library must be given them.
    environment : dict
        Set before the library is loaded.
    """

    module: str
    memory: str = "cache_size"
    published: Callable[[Any], referee.Published] = published
    labels: Callable[[Any, Array], Array] = labels
    environment: dict[str, str] = field(default_factory=dict)

    def load(self) -> Any:
        os.environ.update(self.environment)
        return importlib.import_module(self.module)

    def machine(self, name: str, **parameters: Any) -> Any:
        options = {"kernel": "rbf", "tol": TOL, self.memory: CACHE_MEGABYTES}
        return getattr(self.load(), name)(**options, **parameters)


LIBRARIES = {
    "mercer": Library("mercer"),
    "scikit-learn": Library("sklearn.svm"),
    "scikit-learn-intelex": Library("sklearnex.svm"),
    # Its threads meet after each small step; where they spin for each other, a busy core makes it ten times slower.
    "ThunderSVM": Library(
        "thundersvm", "max_mem_size", published_by_thunder, labels_for_thunder, {"OMP_WAIT_POLICY": "passive"}
    ),
}


def gamma_scale(X: Any) -> float:
    """Return 1 / (d · variance of all entries), which scikit-learn names "scale"."""
    variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
    return float(1.0 / (X.shape[1] * variance))


def encoded(parts: data.Parts, positive: int | None) -> data.Parts:
    """Return the parts with classes 0, 1, … in the order in which the training rows show them.

    That is the order of ThunderSVM, and thereby the sorted order of all others. With `positive`, this class stands
    against all others together.
    """
    y, target = parts.y, parts.target
    if positive is not None:
        y, target = y == positive, target == positive
    values, first, codes = np.unique(y, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    found = np.clip(np.searchsorted(values, target), 0, len(values) - 1)
    new = np.where(values[found] == target, rank[found], -1)  # a class without training rows is never right
    return parts._replace(y=rank[codes].astype(np.int64), target=new.astype(np.int64))


def standard(parts: data.Parts) -> data.Parts:
    """Return the parts with targets of mean 0 and variance 1, so that ε = 0.1 means the same for every set."""
    mean, deviation = parts.y.mean(), parts.y.std()
    return parts._replace(y=(parts.y - mean) / deviation, target=(parts.target - mean) / deviation)


def share_right(expected: Array, found: Array) -> float:
    return float(np.mean(expected == found))


def share_explained(expected: Array, found: Array) -> float:
    return float(1.0 - np.square(expected - found).sum() / np.square(expected - expected.mean()).sum())


def predicted(model: Any, Z: Any, new: int = NEW) -> tuple[Array, float]:
    """Return predictions for new rows (those held out, again and again) and the shortest time that they took."""
    Z = Z[np.resize(np.arange(Z.shape[0]), new)]
    times: list[float] = []
    while len(times) < PREDICTIONS or sum(times) < PREDICTING:
        start = time.perf_counter()
        found = model.predict(Z)
        times.append(time.perf_counter() - start)
    return np.asarray(found), min(times)


def judged_as(verdict: referee.Verdict) -> dict[str, Any]:
    return {"violation": verdict.violation, "gap": verdict.gap, "support vectors": verdict.support}


def evaluations(library: str, model: Any, y: Array) -> dict[str, float]:
    """Only mercer counts its kernel evaluations; of several problems, also how many it made for one that is needed."""
    if library != "mercer":
        return {}
    made = int(model.certificate_.evaluations)
    found: dict[str, float] = {"kernel evaluations": made}
    if model.model_.pairs is None or model.model_.pairs.k == 2:
        return found
    return {**found, "evaluations over needed": made / needed(model, y)}


def needed(model: Any, y: Array) -> int:
    """Return how many entries of K the support vectors need: each against the rows of its problems, and each once."""
    coef, starts = model.model_.coef, model.model_.pairs.starts
    sizes = np.unique(y, return_counts=True)[1]
    total = 0
    for i, (begin, end) in enumerate(pairwise(starts)):
        own = coef[begin:end] != 0.0
        total += int((own @ np.delete(sizes, i)).sum()) + int(own.any(axis=1).sum()) * int(sizes[i])
    return total


def fitting(
    library: str, parts: data.Parts, machine: Callable[[], Any], judge: Callable[[referee.Published], referee.Verdict],
    score: Callable[[Array, Array], float], repeat: int = 1, new: int = NEW,
) -> Task:  # fmt: skip
    """Fit a machine (`repeat` times); the facts are the referee's, the time of predictions and their score."""
    y = LIBRARIES[library].labels(parts.X, parts.y)
    machine().fit(parts.X[:FIRST], y[:FIRST])

    def run() -> Any:
        for _ in range(repeat - 1):
            machine().fit(parts.X, y)
        return machine().fit(parts.X, y)

    def facts(model: Any) -> dict[str, Any]:
        found, seconds = predicted(model, parts.Z, new)
        count = min(new, len(parts.target))
        return {
            **evaluations(library, model, y), **judged_as(judge(LIBRARIES[library].published(model))),
            "accuracy": score(parts.target[:count], found[:count]), "predict seconds": seconds,
        }  # fmt: skip

    return Task(run, source=parts.source, facts=facts)


def classify(
    library: str, name: str, C: float, rows: int | None = None, positive: int | None = None, scaled: bool = True,
    repeat: int = 1, new: int = NEW,
) -> Task:  # fmt: skip
    parts = encoded(data.parts(name, rows, scaled), positive)
    gamma = gamma_scale(parts.X)
    return fitting(
        library, parts, lambda: LIBRARIES[library].machine("SVC", C=C, gamma=gamma),
        lambda model: referee.classification(parts.X, parts.y, gamma, C, model), share_right, repeat, new,
    )  # fmt: skip


def regress(library: str, name: str, C: float, rows: int | None = None) -> Task:
    parts = standard(data.parts(name, rows))
    gamma = gamma_scale(parts.X)
    return fitting(
        library, parts, lambda: LIBRARIES[library].machine("SVR", C=C, gamma=gamma, epsilon=EPSILON),
        lambda model: referee.regression(parts.X, parts.y, gamma, C, EPSILON, model), share_explained,
    )  # fmt: skip


def enclose(library: str, name: str, nu: float, rows: int | None = None) -> Task:
    """Fit a OneClassSVM; its accuracy is the share of held-out rows that it takes for its own, ideally 1 − ν."""
    parts = data.parts(name, rows)
    parts = parts._replace(target=np.ones(len(parts.target)))
    gamma = gamma_scale(parts.X)
    return fitting(
        library, parts, lambda: LIBRARIES[library].machine("OneClassSVM", nu=nu, gamma=gamma),
        lambda model: referee.one_class(parts.X, gamma, nu, model), share_right,
    )  # fmt: skip


def path(library: str, name: str, Cs: list[float], rows: int | None = None) -> Task:
    """Models along C: mercer's path, or separate fits. The facts are the worst of all, the accuracy is the last's."""
    parts = encoded(data.parts(name, rows), None)
    gamma = gamma_scale(parts.X)
    LIBRARIES[library].machine("SVC", gamma=gamma).fit(parts.X[:FIRST], parts.y[:FIRST])

    def separately() -> list[Any]:
        return [LIBRARIES[library].machine("SVC", C=C, gamma=gamma).fit(parts.X, parts.y) for C in Cs]

    def along() -> list[Any]:
        module = LIBRARIES[library].load()
        options = {"kernel": "rbf", "gamma": gamma, "tol": TOL, "cache_size": CACHE_MEGABYTES}
        return list(module.svm_path(parts.X, parts.y, Cs, **options))

    def facts(models: list[Any]) -> dict[str, Any]:
        judged = [
            referee.classification(parts.X, parts.y, gamma, C, LIBRARIES[library].published(model))
            for C, model in zip(Cs, models, strict=True)
        ]
        found = models[-1].predict(parts.Z)
        counted = [evaluations(library, model, parts.y) for model in models]
        return {
            **({"kernel evaluations": sum(count["kernel evaluations"] for count in counted)} if all(counted) else {}),
            "violation": max(verdict.violation for verdict in judged), "gap": max(verdict.gap for verdict in judged),
            "support vectors": judged[-1].support, "accuracy": share_right(parts.target, found),
        }  # fmt: skip

    return Task(along if library == "mercer" else separately, source=parts.source, facts=facts)
