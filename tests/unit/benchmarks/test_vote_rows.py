"""The suites of logistic regression, neighbours and smoothing at a small size: every contestant does its work."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from benchmarks.against import direct, logistic, logistic_builders, neighbours, smoothing
from benchmarks.harness.rows import Contestant, Row, Task

SMALL = {"n": 120, "new": 60, "queries": 60, "rows": 80, "d": 3}
PEERS = {"faiss": "faiss", "statsmodels": "statsmodels"}
ROWS: tuple[Row, ...] = (*logistic.ROWS, *neighbours.ROWS, *smoothing.ROWS)
WORKS = {contestant.builder.partition(":")[2]: (row, contestant) for row in ROWS for contestant in row.contestants}


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(direct, "FOLDER", tmp_path / "kept")
    monkeypatch.setattr(logistic_builders, "LANDMARKS", 40)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("MERCER_DATA", raising=False)


def build(contestant: Contestant) -> Task:
    if contestant.name in PEERS:
        pytest.importorskip(PEERS[contestant.name])
    module, _, function = contestant.builder.partition(":")
    # mnist, which is read as a whole, by digits, which scikit-learn has.
    given = {key: "digits" if key == "name" else value for key, value in contestant.parameters.items()}
    parameters = {key: min(value, SMALL.get(key, value)) for key, value in given.items()}
    task = getattr(importlib.import_module(module), function)(**parameters)
    assert isinstance(task, Task)
    return task


@pytest.mark.filterwarnings("ignore:After 0.17:FutureWarning")  # of statsmodels, about its random numbers
@pytest.mark.parametrize(("row", "contestant"), WORKS.values(), ids=WORKS)
def test_every_contestant_does_its_work_to_the_accuracy_of_its_row(row: Row, contestant: Contestant) -> None:
    task = build(contestant)
    result = task.run()
    facts = task.facts(result) if task.facts else {}
    assert all(np.isfinite(value) for value in facts.values())
    if row.accuracy is not None and contestant.name != "faiss":
        assert task.error is not None
        assert task.error(result) <= row.accuracy
    if contestant.name == "mercer":
        assert set(row.limits) | set(row.no_worse) <= set(facts)
        assert facts.get("gap", 0.0) <= logistic.GAP


def test_a_row_measures_mercer_first_and_is_named_once() -> None:
    assert all(row.contestants[0].name == "mercer" for row in ROWS)
    for suite in (logistic, neighbours, smoothing):
        assert len({(row.work, row.against) for row in suite.ROWS}) == len(suite.ROWS)


def test_the_gaps_of_two_classes_and_of_softmax_are_those_of_the_certificate() -> None:
    import mercer

    made = logistic_builders.classes(90, 3)
    three = (made.X[:, 0] > 0.5).astype(int) + made.y
    for y in (made.y, three):
        model = mercer.KernelLogisticRegression(kernel=mercer.RBF(1.5**0.5), tol=1e-3).fit(made.X, y)
        found = logistic_builders.gap(model, made.X, y)["gap"]
        assert found == pytest.approx(model.certificate_.relative_gap, rel=1e-2, abs=1e-9)
