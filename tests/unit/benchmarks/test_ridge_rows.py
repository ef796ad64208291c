"""The ridge suite at a small size: every contestant does its work, and its error is measured against a direct solve."""

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.against import direct
from benchmarks.against.ridge import ROWS
from benchmarks.harness import data
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Contestant, Task

SMALL = {"n": 90, "new": 30, "targets": 3}
# Rows that differ in alpha or in their size are one work.
WORKS = {
    f"{contestant.builder.partition(':')[2]} {contestant.parameters.get('targets', '')}": contestant
    for row in ROWS
    for contestant in row.contestants
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(direct, "FOLDER", tmp_path / "kept")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # or the grid search would start processes
    return tmp_path / "kept"


def build(contestant: Contestant) -> Task:
    if contestant.name == "himalaya":
        pytest.importorskip("himalaya")
    module, _, function = contestant.builder.partition(":")
    parameters = {key: min(value, SMALL.get(key, value)) for key, value in contestant.parameters.items()}
    task = getattr(importlib.import_module(module), function)(**parameters)
    assert isinstance(task, Task)
    return task


@pytest.mark.parametrize("contestant", WORKS.values(), ids=WORKS)
def test_every_contestant_solves_its_work_to_the_accuracy_of_its_row(contestant: Contestant) -> None:
    task = build(contestant)
    assert task.error is not None
    assert task.error(task.run()) <= 1e-6


def test_a_row_measures_mercer_first_and_limits_its_error() -> None:
    assert all(row.contestants[0].name == "mercer" and row.accuracy == 1e-6 for row in ROWS)
    assert len({(row.work, row.against) for row in ROWS}) == len(ROWS)


def test_a_wrong_model_has_an_error() -> None:
    made = data.regression(60, 4)

    class Wrong:
        def predict(self, Z: Any) -> Any:
            return direct.ridge(made.X, made.y, Z, 1.001)

    builders = importlib.import_module("benchmarks.against.ridge_builders")
    assert builders.fitted_error(made, 1.0)(Wrong()) > 1e-5


def test_the_direct_solve_leaves_no_residual_and_is_computed_once(folder: Path) -> None:
    made = data.regression(70, 5)
    found = direct.kept(direct.ridge, *made, 0.1)
    coef = np.linalg.solve(direct.gaussian(made.X, made.X) + 0.1 * np.eye(70), made.y)
    assert relative(direct.gaussian(made.Z, made.X) @ coef, found) < 1e-12
    assert np.abs(direct.residual(made.X, made.y, coef, 0.1)).max() < 1e-12
    (file,) = folder.iterdir()
    np.save(file, found + 1.0)
    assert direct.kept(direct.ridge, *made, 0.1)[0] == found[0] + 1.0
    assert direct.kept(direct.ridge, *made, 0.2)[0] != found[0] + 1.0


def test_the_posterior_without_noise_is_certain_at_the_training_rows() -> None:
    X, y, _ = data.regression(30, 20)
    mean, std = direct.posterior(X, y, X, 1e-9).T
    assert relative(y, mean) < 1e-6
    assert std.max() < 1e-3
