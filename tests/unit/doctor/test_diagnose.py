"""Each check fires on the defect it is for, and not on its healthy twin, nor on clean data."""

import datetime as dt
import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.doctor import CHECKS, Severity
from tests.unit.doctor.planted import PLANTED, N, classes, numbers, vectors

SEEDS = (0, 1)


def diagnosed(arguments: dict[str, Any]) -> mercer.Diagnosis:
    return mercer.diagnose(**arguments)


def made(build: Any, seed: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mercer.UncertifiedWarning)  # what one of the defects is
        return build(np.random.default_rng(seed))  # type: ignore[no-any-return]


def test_every_check_has_a_defect_and_a_healthy_twin() -> None:
    assert list(PLANTED) == list(CHECKS)
    assert all(code == check.code for code, check in CHECKS.items())


@pytest.mark.parametrize("code", CHECKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_check_fires_on_its_defect(code: str, seed: int) -> None:
    found = diagnosed(made(PLANTED[code].ill, seed))
    assert code in found.codes, found
    finding = next(finding for finding in found if finding.code == code)
    assert finding.severity is CHECKS[code].severity
    assert finding.sentence.endswith(".")
    assert finding.remedy.endswith((".", "?"))


@pytest.mark.parametrize("code", CHECKS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_check_is_silent_on_the_healthy_twin(code: str, seed: int) -> None:
    found = diagnosed(made(PLANTED[code].healthy, seed))
    assert code not in found.codes, found


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_clean_data_raises_no_alarm_after_scaling(name: str) -> None:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    found = mercer.diagnose(StandardScaler().fit_transform(X), y)
    assert found.is_healthy, found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("data", [classes, numbers])
def test_made_data_without_a_defect_raises_no_alarm(data: Any, seed: int) -> None:
    found = diagnosed(data(np.random.default_rng(seed)))
    assert found.is_healthy, found


def test_the_raw_wines_are_unscaled_and_the_column_is_named() -> None:
    X, y = datasets.load_wine(return_X_y=True, as_frame=True)
    found = mercer.diagnose(X, y)
    assert found.codes[0] == "MD004"
    assert found.findings[0].columns == ("proline",)


def test_columns_and_rows_concerned_are_named() -> None:
    X = vectors(np.random.default_rng(0))
    X[[3, 9], 1] = np.nan
    (finding,) = (f for f in mercer.diagnose(X) if f.code == "MD001")
    assert finding.columns == ("1",)
    assert finding.rows == (3, 9)
    assert finding.seen["entries"] == 2


def test_arrays_lists_tables_and_sparse_rows_give_the_same_findings() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, 3)) * [1.0, 1.0, 1e4]
    X[50:60] = X[:10]
    y = X[:, 0]
    named = {str(j): X[:, j] for j in range(3)}
    forms = [X, X.tolist(), sp.csr_array(X), pd.DataFrame(named), pl.DataFrame(named), named, np.asfortranarray(X)]
    found = [mercer.diagnose(form, y).to_dict()["findings"] for form in forms]
    codes = [[finding["code"] for finding in findings] for findings in found]
    assert codes[0][:2] == ["MD004", "MD011"]
    assert all(other == codes[0] for other in codes)
    assert [finding["rows"] for finding in found[0]] == [finding["rows"] for finding in found[2]]


def test_a_defect_far_down_in_many_rows_is_found() -> None:
    X = np.random.default_rng(0).standard_normal((60_000, 5))
    X[59_990, 4] = np.inf
    X[30_000:40_000] = X[:10_000]
    found = mercer.diagnose(X)
    assert found.codes[:2] == ("MD002", "MD011")
    assert found.findings[1].seen["rows"] == 10_000
    assert (found.rows, found.sample) == (60_000, 4_000)


def test_the_same_data_gives_the_same_findings() -> None:
    X = np.random.default_rng(0).standard_normal((9_000, 3))
    y = X[:, 0] > 0
    assert mercer.diagnose(X, y).to_dict() == mercer.diagnose(X, y).to_dict()


@pytest.mark.parametrize(
    ("X", "y", "codes"),
    [
        ([[1.0]], None, ()),
        ([[1.0]], [1], ("MD032",)),
        (np.full((50, 2), np.nan), None, ("MD001", "MD003")),
        (np.full((50, 2), np.nan), [0, 1] * 25, ("MD001", "MD003")),
        (np.random.default_rng(0).standard_normal((2, 3)), [0, 1], ("MD034",)),
        ([{1, 2}, {2}, {3, 4}] * 20, [0, 1, 0] * 20, ()),
        (["a", "b"] * 30, ["x", "y"] * 30, ()),
        ([["a", 1]] * 2, None, None),
    ],
    ids=["one row", "one row and its target", "all NaN", "all NaN with y", "two rows", "sets", "strings", "mixed rows"],
)
def test_degenerate_data_gets_an_answer_or_a_clear_error(X: Any, y: Any, codes: tuple[str, ...] | None) -> None:
    if codes is None:
        with pytest.raises(mercer.MercerError, match="not numeric"):
            mercer.diagnose(X, y)
    else:
        found = mercer.diagnose(X, y)
        alarms = {finding.code for finding in found if finding.severity is not Severity.NOTE}
        assert alarms <= set(codes) <= set(found.codes)


def test_a_column_named_like_a_script_is_shown_as_text() -> None:
    X = {"<script>": [1.0] * 20, "b": np.arange(20.0) ** 1.5}
    page = mercer.diagnose(X)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_diagnosis_is_plain_json() -> None:
    found = mercer.diagnose(**made(PLANTED["MD004"].ill, 0))
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["findings"][0]["code"] == "MD004"
    assert not plain["is_healthy"]
    assert str(found).startswith("120 rows, 4 columns")


def test_a_pipeline_is_judged_by_what_its_last_step_sees() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    machine = make_pipeline(StandardScaler(), mercer.SVC(C=1.0)).fit(X, y)
    assert mercer.diagnose(X, y).codes[0] == "MD004"
    found = mercer.diagnose(X, y, estimator=machine)
    assert found.is_healthy, found
    assert found.task == "classification"


def test_a_search_whose_best_value_is_at_the_end_of_its_grid_is_told_so() -> None:
    data = numbers(np.random.default_rng(0))
    machine = mercer.KernelRidge(kernel=mercer.RBF("median"))
    search = GridSearchCV(machine, {"alpha": [10.0, 100.0, 1000.0]}, cv=3).fit(data["X"], data["y"])
    (finding,) = (f for f in mercer.diagnose(**data, estimator=search) if f.code == "MD043")
    assert "alpha = 10 is the smallest of the 3 values" in finding.sentence
    wide = GridSearchCV(machine, {"alpha": [1e-9, 0.01, 0.1, 1.0, 100.0]}, cv=3).fit(data["X"], data["y"])
    assert "MD043" not in mercer.diagnose(**data, estimator=wide).codes


def test_labels_as_text_and_few_whole_numbers_are_classes() -> None:
    X = vectors(np.random.default_rng(0))
    assert mercer.diagnose(X, ["a", "b"] * (N // 2)).task == "classification"
    assert mercer.diagnose(X, np.arange(N) % 3).task == "classification"
    assert mercer.diagnose(X, np.arange(N)).task == "regression"
    assert mercer.diagnose(X, np.arange(N) % 3, task="regression").task == "regression"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"y": [1, 2]}, "inconsistent numbers of samples"),
        ({"kernel": 3}, "kernel must be a Kernel, a formula or a name"),
        ({"kernel": "L1()"}, "is a distance"),
        ({"y": [0] * N, "task": "ranking"}, "task must be one of"),
        ({"y": ["a"] * N, "task": "regression"}, "are numbers"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(mercer.MercerError, match=said):
        mercer.diagnose(vectors(np.random.default_rng(0)), **arguments)


@pytest.mark.parametrize("kernel", [None, "RBF('median').on('a')"])
def test_columns_of_dates_are_found_like_dates_in_texts(kernel: str | None) -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, 60)
    days[7] = np.datetime64("NaT")
    hours = [dt.time(int(hour)) for hour in rng.integers(0, 24, 60)]
    table = pd.DataFrame({"a": rng.normal(size=60), "when": days.astype("datetime64[ns]"), "hour": hours})
    found = mercer.diagnose(table, rng.normal(size=60), kernel=kernel)
    columns = {finding.code: finding.columns for finding in found}
    assert columns["MD001"] == columns["MD007"] == ("when",)
    assert columns["MD009"] == ("when", "hour")
