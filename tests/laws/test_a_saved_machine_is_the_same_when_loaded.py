"""Law: a machine that was saved and loaded predicts the same numbers, and saves to the same file again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer
from mercer import (
    RBF,
    SVC,
    SVR,
    KernelLogisticRegression,
    KernelNearestCentroid,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    KernelRidgeCV,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    NuSVC,
    NuSVR,
    OneClassSVM,
)

MACHINES: dict[str, Any] = {
    "ridge": KernelRidge(kernel=RBF()),
    "ridge, alpha by leave-one-out": KernelRidgeCV(kernel=RBF(), store_cv_results=True),
    "logistic": KernelLogisticRegression(),
    "svc": SVC(),
    "nu-svc": NuSVC(nu=0.2),
    "svr": SVR(),
    "nu-svr": NuSVR(),
    "one-class": OneClassSVM(),
    "centroid": KernelNearestCentroid(kernel=RBF()),
    "neighbours, labels": KernelNeighborsClassifier(3, kernel=RBF()),
    "neighbours, numbers": KernelNeighborsRegressor(3, kernel=RBF(), weights="distance"),
    "smoother": NadarayaWatson("loo"),
    "smoother, labels": NadarayaWatsonClassifier(0.5),
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
NUMBERS = 2.0 * X[:, 0] + np.sin(X[:, 1])
LABELS = np.array(["high", "low", "middle"])[np.digitize(NUMBERS, [-1.0, 1.0])]


@pytest.mark.parametrize("name", MACHINES)
def test_a_loaded_machine_predicts_the_same_numbers_and_saves_to_the_same_file(name: str, tmp_path: Path) -> None:
    from sklearn.base import clone, is_classifier

    machine = clone(MACHINES[name])
    machine.fit(X, LABELS if is_classifier(machine) else NUMBERS)
    first, second = tmp_path / "first.mercer", tmp_path / "second.mercer"
    machine.save(first)
    loaded = mercer.load(first)
    loaded.save(second)
    assert first.read_bytes() == second.read_bytes()
    new = RNG.normal(size=(9, 3))
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(machine, method):
            assert np.array_equal(getattr(machine, method)(new), getattr(loaded, method)(new)), method
