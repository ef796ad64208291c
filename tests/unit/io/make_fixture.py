"""Writes the files of this schema that later versions must load: python -m tests.unit.io.make_fixture.

Run once when `SCHEMA` is raised; what is there of earlier schemas is never written again.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.estimators._saved import SCHEMA

FOLDER = Path(__file__).parent / "fixtures"
X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0], [3.0, 1.0], [0.5, 2.5], [2.5, 0.0]])
Y = np.array([0.0, 1.0, 4.0, 9.0, 2.0, 5.0])
LABELS = np.array(["a", "a", "b", "c", "b", "c"])
SETS = [{"tea", "milk"}, {"tea"}, {"nails"}, {"glue", "nails"}, {"milk"}, {"glue"}]


def machines() -> dict[str, tuple[Any, Any]]:
    """Name -> a fitted machine, and the points it is asked about."""
    table = {"a": X[:, 0], "w": LABELS.astype(object)}
    mixed = mercer.RBF().on("a") * mercer.Delta().on("w")
    return {
        "svc": (mercer.SVC().fit(X, LABELS), X),
        "ridge": (mercer.KernelRidge(kernel=mercer.RBF() + 0.5 * mercer.Linear()).fit(X, Y), X),
        "table": (mercer.KernelRidge(kernel=mixed).fit(table, Y), table),
        "sets": (mercer.KernelNeighborsClassifier(3, kernel=mercer.SetIntersection()).fit(SETS, LABELS), SETS),
        "smoother": (mercer.NadarayaWatson(0.5).fit(X, Y), X),
        "pipeline": (make_pipeline(StandardScaler(), mercer.SVR()).fit(X, Y), X),
    }


def main() -> None:
    """Write the machines, and what each predicts."""
    folder = FOLDER / f"schema-{SCHEMA}"
    folder.mkdir(parents=True)
    predictions = {}
    for name, (machine, points) in machines().items():
        mercer.save(machine, folder / f"{name}.mercer")
        predictions[name] = machine.predict(points).tolist()
    (folder / "predictions.json").write_text(json.dumps(predictions, indent=1) + "\n")


if __name__ == "__main__":
    main()
