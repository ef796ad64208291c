"""Machines inside Pipelines of scikit-learn: saved by a table of its classes, verified with rows that are given."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import mercer
from mercer import RBF, SVC, KernelFeatures, KernelNeighborsRegressor, KernelRidge, Polynomial
from mercer.estimators._transformers import TRANSFORMERS

RNG = np.random.default_rng(0)
N = 30
X = RNG.normal(size=(N, 3))
Y = X[:, 0] * 2.0 + X[:, 1]
LABELS = np.where(Y > 0.0, "up", "down")
FRAME = pd.DataFrame(
    {
        "age": X[:, 0],
        "pay": np.where(X[:, 1] > 1.0, np.nan, X[:, 1]),
        "town": ["Aarhus", "Bergen", "Cork", "Aarhus", "Bergen"] * 6,
        "size": pd.Categorical(["S", "M", "L"] * 10),
    }
)
STEPS: tuple[Any, ...] = (
    "passthrough",
    Binarizer(),
    FeatureUnion([("scaled", StandardScaler()), ("turned", PCA(1))]),
    FunctionTransformer(),
    FunctionTransformer(np.abs),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    MaxAbsScaler(),
    MinMaxScaler(),
    Normalizer(),
    PCA(2),
    Pipeline([("a", StandardScaler()), ("b", PCA(2))]),
    PolynomialFeatures(),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=5),
    RobustScaler(),
    SimpleImputer(add_indicator=True),
    StandardScaler(),
    TruncatedSVD(2),
    VarianceThreshold(),
)


def round_trip(pipeline: Any, path: Path, X: Any) -> Any:
    mercer.save(pipeline, path, X=X)
    loaded = mercer.load(path, functions={"absolute": np.abs, "exp": np.exp, "log": np.log})
    before = path.read_bytes()
    mercer.save(loaded, path, X=X)
    assert path.read_bytes() == before
    return loaded


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step)[:30].replace("\n", ""))
def test_a_pipeline_comes_back_the_same(step: Any, tmp_path: Path) -> None:
    pipeline = make_pipeline(step, SVC()).fit(X, LABELS)
    loaded = round_trip(pipeline, tmp_path / "pipeline.mercer", X)
    assert np.array_equal(pipeline.decision_function(X), loaded.decision_function(X))
    assert repr(loaded) == repr(pipeline)


def columns() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return ColumnTransformer(
        [
            ("numbers", numbers, ["age", "pay"]),
            ("town", OneHotEncoder(handle_unknown="ignore", min_frequency=8, drop="if_binary"), ["town"]),
            ("rank", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["size"]),
            ("mean", TargetEncoder(), ["town"]),
            ("gone", "drop", ["size"]),
        ],
        remainder="passthrough",
    )


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_columns_of_a_data_frame_come_back_the_same(tmp_path: Path) -> None:
    pipeline = make_pipeline(columns(), KernelRidge(kernel=RBF())).fit(FRAME, Y)
    loaded = round_trip(pipeline, tmp_path / "pipeline.mercer", FRAME)
    new = FRAME.assign(town=["Aarhus", "Dover", "Cork"] * 10)
    assert np.array_equal(pipeline.predict(new), loaded.predict(new))
    assert loaded.feature_names_in_.tolist() == list(FRAME.columns)


@pytest.mark.parametrize("linear", [LinearRegression(), Ridge(), LogisticRegression(), RidgeClassifier()])
def test_a_linear_machine_on_features_comes_back_the_same(linear: Any, tmp_path: Path) -> None:
    pipeline = make_pipeline(KernelFeatures(Polynomial(2)), linear).fit(X, LABELS if is_classifier(linear) else Y)
    loaded = round_trip(pipeline, tmp_path / "pipeline.mercer", X)
    assert np.array_equal(pipeline.predict(X), loaded.predict(X))


def test_transformed_targets_come_back_the_same(tmp_path: Path) -> None:
    for how in ({"transformer": StandardScaler()}, {"func": np.log, "inverse_func": np.exp}):
        machine = TransformedTargetRegressor(KernelRidge(kernel=RBF()), **how).fit(X, np.abs(Y) + 1.0)
        loaded = round_trip(machine, tmp_path / "machine.mercer", X)
        assert np.array_equal(machine.predict(X[:3]), loaded.predict(X[:3]), equal_nan=True)


def test_the_rows_of_a_pipeline_verify_every_step(tmp_path: Path) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.abs), SVC()).fit(X, LABELS)
    path = tmp_path / "pipeline.mercer"
    mercer.save(pipeline, path, X=X)
    with pytest.raises(mercer.BadModelFile, match=r"predicts other values[\s\S]*decision_function of the stored rows"):
        mercer.load(path, functions={"absolute": np.square})
    mercer.save(pipeline, path)  # without rows the last step alone is verified
    mercer.load(path, functions={"absolute": np.square})


def test_a_function_that_is_not_given_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.mercer"
    mercer.save(make_pipeline(FunctionTransformer(np.abs), SVC()).fit(X, LABELS), path)
    with pytest.raises(mercer.BadModelFile, match=r'saved from numpy\.absolute[\s\S]*functions=\{"absolute": …\}'):
        mercer.load(path)


def test_a_function_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mercer.InvalidArgument, match="must be a function"):
        mercer.load(tmp_path / "any", functions={"f": 3}) if (tmp_path / "any").write_bytes(b"") == 0 else None


def test_two_functions_of_one_name_are_told_apart(tmp_path: Path) -> None:
    weights, kernel = (lambda d: 1.0 / (1.0 + d)), (lambda x, z: float(x @ z))
    machine = KernelNeighborsRegressor(3, kernel=kernel, weights=weights).fit(X, Y)
    machine.save(tmp_path / "a.mercer")
    functions = {"function_lambda": kernel, "function_lambda_2": weights}
    assert np.array_equal(mercer.load(tmp_path / "a.mercer", functions=functions).predict(X), machine.predict(X))
    machine.save(tmp_path / "b.mercer", functions={"product": kernel, "nearness": weights})
    functions = {"product": kernel, "nearness": weights}
    assert np.array_equal(mercer.load(tmp_path / "b.mercer", functions=functions).predict(X), machine.predict(X))


def test_a_class_that_is_not_in_the_table_is_named(tmp_path: Path) -> None:
    search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2).fit(X, LABELS)
    with pytest.raises(mercer.NotStorable, match=r"GridSearchCV[\s\S]*Save its best_estimator_"):
        mercer.save(search, tmp_path / "search.mercer")


def test_the_machine_that_a_search_found_can_be_saved(tmp_path: Path) -> None:
    search = mercer.KernelSearchCV(SVC(), {"C": [1.0, 10.0], "kernel": [mercer.RBF(1.0), mercer.Linear()]}, cv=2)
    search.fit(X, LABELS)
    with pytest.raises(mercer.NotStorable, match=r"KernelSearchCV[\s\S]*Save its best_estimator_"):
        mercer.save(search, tmp_path / "found.mercer")
    search.best_estimator_.save(tmp_path / "found.mercer")
    assert np.array_equal(mercer.load(tmp_path / "found.mercer").predict(X), search.predict(X))


def test_a_machine_that_is_not_fitted_cannot_be_saved(tmp_path: Path) -> None:
    from sklearn.exceptions import NotFittedError

    for machine in (SVC(), make_pipeline(StandardScaler(), SVC())):
        with pytest.raises(NotFittedError):
            mercer.save(machine, tmp_path / "machine.mercer")


def test_what_is_no_estimator_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(mercer.NotStorable, match="Only a fitted estimator"):
        mercer.save(RBF(), tmp_path / "machine.mercer")


def test_a_machine_that_cannot_predict_new_points_can_be_saved(tmp_path: Path) -> None:
    machine = KernelNeighborsRegressor(3, kernel="precomputed", weights="distance").fit(X @ X.T, Y)
    machine.save(tmp_path / "machine.mercer")
    assert np.array_equal(mercer.load(tmp_path / "machine.mercer").predict(None), machine.predict(None))


def test_what_belongs_to_the_computer_does_not_travel(tmp_path: Path) -> None:
    pipeline = Pipeline([("a", ColumnTransformer([("x", "passthrough", [0])], n_jobs=1)), ("m", SVC())], memory=None)
    pipeline.fit(X, LABELS).set_params(memory=str(tmp_path / "cache"))
    mercer.save(pipeline, tmp_path / "pipeline.mercer")
    loaded = mercer.load(tmp_path / "pipeline.mercer")
    assert loaded.memory is None
    assert loaded[0].n_jobs is None


def test_the_table_of_transformers_has_the_usual_ones() -> None:
    asked = (
        "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer SimpleImputer OneHotEncoder OrdinalEncoder "
        "PCA ColumnTransformer FunctionTransformer PolynomialFeatures VarianceThreshold TransformedTargetRegressor"
    )
    assert set(asked.split()) <= {row.kind.__name__ for row in TRANSFORMERS.values()}
