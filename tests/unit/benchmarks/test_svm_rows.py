"""The suite of support vector machines on tiny data, with scikit-learn on both sides; and its referee."""

import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.svm import SVC, SVR, OneClassSVM

from benchmarks.against import svm, svm_builders, svm_referee
from benchmarks.harness import data, report
from benchmarks.harness.measuring import judge, measure, stored_peers
from benchmarks.harness.rows import Contestant, Row

TINY = 150
BUNDLED = {"uci_gp/kin40k": "diabetes", "cal_housing": "diabetes", "letter": "digits"}
# Rows that differ in C or in their set alone are one work.
WORKS = {
    " ".join([contestant.builder.partition(":")[2], str(contestant.parameters.get("scaled", ""))]): contestant
    for row in svm.ROWS
    for contestant in row.contestants[1:2]
}


def tiny(contestant: Contestant, library: str = "scikit-learn") -> dict[str, Any]:
    parameters = {**contestant.parameters, "library": library, "rows": TINY}
    parameters["name"] = BUNDLED.get(parameters["name"], "breast_cancer")
    parameters.pop("positive", None)
    return parameters


def on_tiny_data(row: Row, peers: int) -> Row:
    """The row with scikit-learn in the places of all, mercer's first."""
    contestants = tuple(
        Contestant(contestant.name, contestant.builder, tiny(contestant), contestant.work)
        for contestant in row.contestants[: peers + 1]
    )
    return dataclasses.replace(row, contestants=contestants, repeats=1)


@pytest.mark.parametrize("contestant", WORKS.values(), ids=WORKS)
def test_every_work_solves_its_problem_to_the_tolerance_and_is_judged(contestant: Contestant) -> None:
    parameters = tiny(contestant)
    if "Cs" in parameters:
        parameters["Cs"] = [0.1, 1.0]
    task = getattr(svm_builders, contestant.builder.partition(":")[2])(**parameters)
    assert task.facts is not None
    facts = task.facts(task.run())
    assert 0.0 < facts["violation"] <= 1.1 * svm.VIOLATION  # LIBSVM keeps float32 entries
    assert 0.0 < facts["gap"] <= 0.1
    assert 0.0 < facts["accuracy"] <= 1.0
    assert facts["support vectors"] > 0


def test_a_row_measures_mercer_first_and_every_promise_has_its_row() -> None:
    assert all(row.contestants[0].name == "mercer" for row in svm.ROWS)
    assert len({(row.work, row.against) for row in svm.ROWS}) == len(svm.ROWS)
    assert len(svm.FITS) == 24
    for contestant in (contestant for row in svm.ROWS for contestant in row.contestants):
        module, _, function = contestant.builder.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
        assert contestant.parameters["library"] == contestant.name


@pytest.fixture(scope="module")
def measured() -> tuple[Row, dict[str, Any]]:
    row = on_tiny_data(next(row for row in svm.FITS if "magic" in row.work), peers=1)
    return row, measure(row)


def test_a_measured_row_has_its_facts_and_gives_the_rows_over_rows(measured: tuple[Row, dict[str, Any]]) -> None:
    _, record = measured
    assert [side["status"] for side in record["contestants"]] == ["measured"] * 2
    assert record["ratio"] is not None
    rows = svm.derived([record])
    assert [row["work"] for row in rows] == [
        "predict 5000 rows, magic, 15216 × 10, C = 1",
        "fit: the median",
        "fit: the least",
        "predict: the median",
    ]
    assert rows[1]["ratio"] == record["ratio"]
    assert not rows[1]["reached"], "23 rows are missing"
    page = report.table([record, *rows])
    assert "1 of 24 rows" in page
    assert "violation" in page.splitlines()[0]


def test_peers_of_an_earlier_run_are_used_again_and_marked(measured: tuple[Row, dict[str, Any]]) -> None:
    row, record = measured
    again = measure(row, record)
    assert again["contestants"][1] == {**record["contestants"][1], "stored": True}
    assert "(stored)" in report.table([again])
    assert again["contestants"][0]["seconds"] != record["contestants"][0]["seconds"]


@pytest.mark.parametrize("change", [{"cpu": "another"}, {"threads": 99}, {"versions": {"scikit-learn": "0.1"}}])
def test_peers_of_another_machine_are_measured_anew(change: dict[str, Any]) -> None:
    row = Row("work", "peer", (Contestant("mercer", "a:b"), Contestant("peer", "a:b")))
    now: dict[str, Any] = {
        "cpu": "this", "cores": 2, "threads": 2, "system": "Linux", "python": "3.11",
        "versions": {"scikit-learn": "1.9", "mercer-kernels": "0.1"},
    }  # fmt: skip
    sides = [{"name": "mercer", "status": "measured"}, {"name": "peer", "status": "measured", "seconds": 1.0}]
    newer_mercer = {**now, "versions": {**now["versions"], "mercer-kernels": "0.2"}}
    assert stored_peers(row, {**now, "contestants": sides}, newer_mercer)
    assert not stored_peers(row, {**now, "contestants": sides[:1]}, now)
    assert not stored_peers(row, {**now, **change, "contestants": sides}, now)
    assert not stored_peers(row, None, now)


def test_a_missing_library_is_absent_and_not_a_failure() -> None:
    absent = Contestant("absent", "benchmarks.against.no_such_library:work")
    record = measure(Row("work", "peer", (Contestant("mercer", "tests.unit.benchmarks.tasks:counting"), absent)))
    assert record["contestants"][1]["status"] == "absent"
    assert "absent" in report.table([record])


@pytest.mark.parametrize(("slowest", "best", "more_than"), [(3.0, "b", False), (9.0, "a", True)])
def test_the_best_peer_counts_and_a_stopped_one_with_its_limit(slowest: float, best: str, more_than: bool) -> None:
    sides: list[dict[str, Any]] = [
        {"name": "mercer", "status": "measured", "rate": 1.0},
        {"name": "a", "status": "stopped", "rate_below": 1.0 / 6.0},
        {"name": "b", "status": "measured", "rate": 1.0 / slowest},
        {"name": "c", "status": "absent"},
    ]
    verdict = judge(Row("work", "peers", (), 2.0), sides)
    assert verdict["best"] == best
    assert verdict["ratio"] == pytest.approx(min(6.0, slowest))
    assert verdict["more_than"] is more_than
    assert verdict["reached"]


def test_a_gap_worse_than_the_peers_or_a_violation_beyond_the_limit_is_not_reached() -> None:
    def reached(violation: float, gap: float) -> bool:
        mercer = {"name": "mercer", "status": "measured", "facts": {"violation": violation, "gap": gap}}
        peer = {"name": "peer", "status": "measured", "facts": {"gap": 0.01}}
        row = Row("work", "peer", (), limits={"violation": 1e-3}, no_worse={"gap": 1e-3})
        return bool(judge(row, [mercer, peer])["reached"])

    assert reached(1e-3, 0.015)
    assert not reached(1.1e-3, 0.015)
    assert not reached(1e-3, 0.03)


def test_a_peer_may_run_until_its_row_is_decided_and_no_longer_than_the_cap() -> None:
    row = Row("work", "peer", (), at_least=5.0, cap=120.0)
    assert row.limit(1.0, row.stop) == 20.0
    assert row.limit(10.0, row.stop) == 120.0
    assert row.limit(30.0, row.stop) == pytest.approx(180.0)
    assert row.limit(10.0, row.stop, fastest=40.0) == pytest.approx(50.0), "another peer is faster already"


@pytest.mark.parametrize("name", ["adult", "letter", "mnist", "a9a", "uci_gp/kin40k"])
def test_without_real_data_a_set_of_its_shape_is_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MERCER_DATA", raising=False)
    monkeypatch.setitem(data.SHAPES, name, data.SHAPES[name]._replace(rows=400))
    monkeypatch.delitem(data.STANDARD, name, raising=False)
    parts = data.parts(name, rows=200)
    assert parts.X.shape == (200, data.SHAPES[name].columns)
    assert parts.Z.shape[0] == 80
    assert parts.source.startswith("made")


def test_classes_are_numbered_as_the_training_rows_show_them() -> None:
    y, target = np.array(["b", "a", "b", "c"]), np.array(["a", "d", "c", "b"])
    parts = svm_builders.encoded(data.Parts(np.zeros((4, 1)), y, np.zeros((4, 1)), target, "made"), None)
    assert parts.y.tolist() == [0, 1, 0, 2]
    assert parts.target.tolist() == [1, -1, 2, 0]


def gaussian(X: Any, gamma: float) -> Any:
    return np.exp(-gamma * np.square(X[:, None] - X[None]).sum(axis=2))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_referee_finds_how_exact_a_classifier_is(classes: int, sparse: bool) -> None:
    X, y = load_digits(n_class=classes, return_X_y=True)
    X, y, gamma = X[:200] / 16.0, y[:200], 0.3
    A = sp.csr_matrix(X) if sparse else X
    found = {}
    for tol in (1e-2, 1e-5):
        model = SVC(C=2.0, gamma=gamma, tol=tol).fit(A, y)
        found[tol] = svm_referee.classification(A, y, gamma, 2.0, svm_builders.published(model))
        assert 0.0 < found[tol].violation <= 1.01 * tol
        assert found[tol].unfeasible < 1e-12
    assert 0.0 < found[1e-5].gap < 1e-4
    assert found[1e-5].gap < found[1e-2].gap


def test_the_referee_computes_the_gap_of_two_classes_by_its_definition() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:120]
    y, gamma, C = y[:120], 0.03, 3.0
    model = SVC(C=C, gamma=gamma, tol=0.05).fit(X, y)
    K, signs, b = gaussian(X, gamma), 2.0 * y - 1.0, np.zeros(120)
    b[model.support_] = model.dual_coef_[0]
    primal = 0.5 * b @ K @ b + C * np.maximum(0.0, 1.0 - signs * (K @ b + model.intercept_)).sum()
    dual = np.abs(b).sum() - 0.5 * b @ K @ b
    told = svm_referee.classification(X, y, gamma, C, svm_builders.published(model))
    assert told.gap == pytest.approx((primal - dual) / primal, rel=1e-9)


def test_the_referee_judges_regression_and_one_class() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y, gamma = 20.0 * X[:200], (y[:200] - 150.0) / 80.0, 0.1
    regressor = SVR(C=5.0, gamma=gamma, epsilon=0.2, tol=1e-5).fit(X, y)
    told = svm_referee.regression(X, y, gamma, 5.0, 0.2, svm_builders.published(regressor))
    assert told.violation <= 1.01e-5
    assert 0.0 <= told.gap < 1e-5
    enclosing = OneClassSVM(nu=0.3, gamma=gamma, tol=1e-5).fit(X)
    told = svm_referee.one_class(X, gamma, 0.3, svm_builders.published(enclosing))
    assert told.violation <= 1.01e-5
    assert 0.0 <= told.gap < 1e-5
    assert told.unfeasible < 1e-9


@pytest.mark.parametrize("wrong", ["intercept", "coef", "box"])
def test_a_wrong_model_is_found_out(wrong: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    right = svm_builders.published(SVC(C=1.0, gamma=0.03, tol=1e-6).fit(X, y))
    model = {
        "intercept": right._replace(intercept=right.intercept + 0.1),
        "coef": right._replace(dual_coef=0.9 * right.dual_coef),
        "box": right._replace(dual_coef=1.1 * right.dual_coef),
    }[wrong]
    told = svm_referee.classification(X, y, 0.03, 1.0, model)
    assert max(told.violation, told.gap, told.unfeasible) > 1e-2 or told.gap > 1e-3


def test_thunder_publishes_its_own_signs_and_is_translated() -> None:
    class SVC:
        n_classes = 2
        support_ = np.array([0, 1])
        dual_coef_ = np.array([[1.0, -1.0]])
        intercept_ = np.array([0.5])

    told = svm_builders.published_by_thunder(SVC())
    assert told.dual_coef.tolist() == [[-1.0, 1.0]]
    assert told.intercept.tolist() == [0.5]
    y = np.array([0, 1, 1])
    assert svm_builders.labels_for_thunder(np.eye(3), y) is y
    assert svm_builders.labels_for_thunder(sp.csr_matrix(np.eye(3)), y).view(np.float32).tolist() == [0.0, 1.0, 1.0]
    many = type("SVC", (SVC,), {"n_classes": 3})()
    assert svm_builders.published_by_thunder(many).intercept.tolist() == [-0.5]
