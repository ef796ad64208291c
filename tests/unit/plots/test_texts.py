"""Nothing is cut off, on the figure of a display and on a small one, in either theme."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import mercer
from mercer import RBF, Linear, Matern, plots

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
Y = X[:, 0] + 0.5 * RNG.standard_normal(60)
LABELS = np.where(Y > 0, "a rather long name of a class", "b")
MANY = np.array([f"class number {i}" for i in range(10)])[RNG.integers(0, 10, 60)]
NAMES = [f"patient number {i}" for i in range(60)]
SVC = mercer.SVC(kernel=RBF(1.0)).fit(X, LABELS)
RIDGE = mercer.KernelRidge(alpha=0.3, kernel=RBF(1.0)).fit(X[:, :1], Y)
LOGISTIC = mercer.KernelLogisticRegression().fit(X, LABELS)

DRAWN: dict[str, Callable[..., Any]] = {
    "calibration": lambda **on: plots.CalibrationDisplay.from_estimator(LOGISTIC, X, LABELS, **on),
    "confusion": lambda **on: plots.ConfusionDisplay.from_predictions(MANY, np.roll(MANY, 1), **on),
    "convergence": lambda **on: plots.ConvergenceDisplay.from_estimator(SVC, X, LABELS, **on),
    "regions": lambda **on: plots.DecisionRegionsDisplay.from_estimator(SVC, X, LABELS, **on),
    "many regions": lambda **on: plots.DecisionRegionsDisplay.from_estimator(mercer.SVC().fit(X, MANY), X, MANY, **on),
    "gram": lambda **on: plots.GramDisplay.from_estimator(SVC, X, MANY, **on),
    "influence": lambda **on: plots.InfluenceDisplay.from_estimator(SVC, names=NAMES, **on),
    "shape": lambda **on: plots.KernelShapeDisplay.from_kernel(RBF(1.0) * (Linear() + 1) + Matern(1.5), **on),
    "path": lambda **on: plots.PathDisplay.from_estimator(RIDGE, **on),
    "prediction": lambda **on: plots.PredictionDisplay.from_estimator(RIDGE, X[:, :1], 1e5 * Y, **on),
    "proof": lambda **on: plots.ProofDisplay.from_kernel((RBF(2.0) + Matern(1.5)) ** 2, **on),
    "regression": lambda **on: plots.RegressionDisplay.from_estimator(RIDGE, X[:, :1], Y, **on),
    "spectrum": lambda **on: plots.SpectrumDisplay.from_estimator(SVC, X, **on),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize(("theme", "size"), [("light", (6.4, 5.0)), ("dark", (4.2, 3.8))], ids=["usual", "small"])
def test_nothing_is_cut_off(name: str, theme: str, size: tuple[float, float]) -> None:
    figure = Figure(figsize=size, layout="constrained")
    DRAWN[name](ax=figure.subplots(), theme=theme)
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()  # in inches; of all artists, tick labels and legends among them
    assert (drawn.min >= -0.02).all()
    assert (drawn.max <= np.array(size) + 0.02).all()
