"""`python -m benchmarks.logistic_default`: what C does to kernel logistic regression on bundled sets.

Log-loss and accuracy of five folds for each C, raw, standardised and scaled to [0, 1]: the table of
docs/explanation/logistic-in-the-dual.md. Set MERCER_DATA to look at more sets.
"""

import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mercer import KernelLogisticRegression

COSTS = (0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
SCALERS = {"raw": FunctionTransformer, "standardised": StandardScaler, "to [0, 1]": MinMaxScaler}
BUNDLED = ("breast_cancer", "wine", "iris", "digits")
MORE = ("ionosphere", "sonar", "pima", "vehicle", "glass")
MOST_ROWS = 800


def sets() -> Iterator[tuple[str, Any, Any]]:
    """Name, X and y of each set; at most 800 rows of it."""
    for name in BUNDLED:
        yield name, *few(*getattr(datasets, f"load_{name}")(return_X_y=True))
    folder = os.environ.get("MERCER_DATA")
    if folder:
        spec = importlib.util.spec_from_file_location("load", Path(folder) / "load.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name in MORE:
            X, y = module.load(name)[:2]
            yield name, *few(np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1])


def few(X: Any, y: Any) -> tuple[Any, Any]:
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return X[rows], y[rows]


def main() -> int:
    warnings.simplefilter("ignore")
    print(f"| set | X | {' | '.join(f'C = {C:g}' for C in COSTS)} |")
    print(f"|---|---|{'---|' * len(COSTS)}")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for name, X, y in sets():
        for said, scaler in SCALERS.items():
            cells = []
            for C in COSTS:
                machine = make_pipeline(scaler(), KernelLogisticRegression(C=C))
                found = cross_val_predict(machine, X, y, cv=folds, method="predict_proba")
                cells.append(f"{log_loss(y, found):.3f} ({accuracy_score(y, found.argmax(axis=1)):.1%})")
            print(f"| {name} | {said} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
