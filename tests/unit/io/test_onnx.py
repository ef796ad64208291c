"""ONNX graphs, run by onnxruntime, against the machines that they were written from."""

import io
import json
import re
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import mercer
from mercer import (
    L1,
    RBF,
    SVC,
    SVR,
    Linear,
    Matern,
    Polarised,
    Scale,
    SquaredEuclidean,
    UnitRows,
    to_onnx,
)
from mercer.errors import InvalidInput, NotStorable
from mercer.io.onnx.kernels import LEAVES, ON_DIAGONAL, OPERATORS, UNREADABLE
from mercer.io.onnx.machines import MACHINES
from mercer.kernels import names
from mercer.kernels.plan import LEAVES as ALL_LEAVES
from mercer.kernels.plan import OPERATIONS
from mercer.problems.margins.kinds import KINDS

RELATIVE = 1e-6  # what is promised; most are found to agree to 1e-13


def session(model: Any) -> onnxruntime.InferenceSession:
    file = io.BytesIO()
    to_onnx(model, file)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])


def outputs(model: Any, X: np.ndarray) -> dict[str, np.ndarray]:
    opened = session(model)
    return dict(zip([each.name for each in opened.get_outputs()], opened.run(None, {"X": X}), strict=True))


def close(found: np.ndarray, wanted: np.ndarray) -> bool:
    assert found.shape == wanted.shape
    return bool(np.abs(found - wanted).max() <= RELATIVE * np.abs(wanted).max())


def data(n: int = 40, d: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.random((n, d))
    return X, np.sin(3.0 * X[:, 0]) + X[:, -1], np.vstack([rng.random((20, d)), X[:5], np.zeros((1, d))])


FORMULAS = [
    "RBF()", "RBF([1.0, 2.0, 3.0])", "RBF('median')", "Laplacian(0.5)", "Matern(0.5)", "Matern(1.5)", "Matern(2.5)",
    "Matern(3.5, 0.3)", "Matern(6.5)", "RationalQuadratic(1.0, 2.0)", "RationalQuadratic(1.0, 1000000.0)",
    "Cauchy(2.0)", "Periodic(1.0, 0.7)", "Periodic([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])", "Polynomial(3)",
    "Polynomial(2, gamma='scale')", "Linear()", "0.1 * Linear() + 0.3", "Constant(0.1) * Linear()", "Cosine()",
    "ChiSquared()", "ExponentialChiSquared(2.0)", "HistogramIntersection()", "ArcCosine(0)", "ArcCosine(1)",
    "ArcCosine(2)", "Quadratic([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])", "Constant(1.0)", "Delta()",
    "Delta().on(0)", "RBF() + 2.0 * Linear() * Matern(1.5)", "(Linear() + 1.0) ** 3", "Linear().exp()",
    "Linear().exp().normalised()", "((Linear() + 1.0) ** 2 * Linear().exp()).normalised()",
    "(Linear() + Linear() ** 2 + 3.0).exp().normalised()", "(0.5 * Linear() ** 3).normalised()",
    "(RBF() + Linear().exp()).normalised()", "RBF().on(0, 2)", "RBF() ** 0.5",
]  # fmt: skip
BUILT = [
    RBF().on(Scale([1.0, 2.0, 3.0])) + Linear().on(UnitRows()),
    RBF().of(L1()),
    Matern(1.5).of(L1() ** 0.5),
    Matern(2.5).of(L1() ** 0.3),
    RBF().of(Polarised(Linear() ** 2)),
    RBF().of(Polarised(0.5 * Linear() + 2.0)),
    RBF().of((SquaredEuclidean() + 2.0 * L1()).log1p()),
]


@pytest.mark.parametrize("kernel", [*map(mercer.parse, FORMULAS), *BUILT], ids=repr)
def test_every_kernel_on_vectors_predicts_the_same_as_a_graph(kernel: mercer.Kernel) -> None:
    X, y, new = data()
    model = mercer.KernelRidge(alpha=0.1, kernel=kernel).fit(X, y)
    assert close(outputs(model, new)["prediction"], model.predict(new))


@pytest.mark.parametrize("name", sorted(set(names.TABLE) - {"additive_chi2", "precomputed", "sigmoid"}))
def test_every_named_kernel_predicts_the_same_as_a_graph(name: str) -> None:
    X, y, new = data()
    model = mercer.KernelRidge(alpha=0.1, kernel=name, gamma=0.3).fit(X, y)
    assert close(outputs(model, new)["prediction"], model.predict(new))


def test_the_tables_are_complete() -> None:
    assert set(OPERATORS) == set(OPERATIONS)
    assert set(LEAVES) | set(UNREADABLE) == set(ALL_LEAVES)
    assert set(LEAVES) == set(ON_DIAGONAL)
    assert set(KINDS) <= set(MACHINES)


@pytest.mark.parametrize("d", [33, 200])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_distances_in_many_columns_keep_their_digits(d: int, offset: float) -> None:
    X, y, _ = data(60, d)
    X, new = X + offset, np.vstack([X[:10], X[:10] + 1e-7]) + offset
    model = mercer.KernelRidge(alpha=1e-3, kernel=Matern(0.5, 2.0)).fit(X, y)
    assert close(outputs(model, new)["prediction"], model.predict(new))


def test_values_that_overflow_before_they_are_normalised_are_the_same() -> None:
    X, y, new = data()
    model = mercer.KernelRidge(alpha=0.1, kernel=((Linear() + 1.0) ** 2).exp().normalised()).fit(40.0 * X, y)
    assert close(outputs(model, 40.0 * new)["prediction"], model.predict(40.0 * new))


def test_large_angles_keep_their_place_on_the_circle() -> None:
    X, y, new = data()
    model = mercer.KernelRidge(alpha=0.1, kernel=mercer.Periodic(1.0, 0.25)).fit(X, y)
    far = new - 1e6
    assert close(outputs(model, far)["prediction"], model.predict(far))


def test_a_small_penalty_in_few_features_costs_no_digits_and_keeps_few_points() -> None:
    X, y, new = data(400)
    model = mercer.KernelRidge(alpha=1e-5, kernel=mercer.Polynomial(2), solver="primal").fit(X, y)
    assert close(outputs(model, new)["prediction"], model.predict(new))
    file = io.BytesIO()
    to_onnx(model, file)
    basis = max(int(each.dims[-1]) for each in onnx.load_from_string(file.getvalue()).graph.initializer if each.dims)
    assert basis <= 10  # monomials up to degree 2 of 3 columns


REGRESSORS = [
    SVR(C=10.0),
    SVR(epsilon=50.0),  # no support vectors
    mercer.NuSVR(),
    mercer.KernelRidge(kernel="rbf", fit_intercept=True),
    mercer.KernelRidgeCV(kernel=RBF()),
    mercer.NadarayaWatson(0.2),
    mercer.NadarayaWatson(0.05, kernel="epanechnikov"),
    mercer.NadarayaWatson(0.05, kernel="uniform"),
    mercer.KernelNeighborsRegressor(3, kernel=RBF()),
    mercer.KernelNeighborsRegressor(3, kernel="laplacian", weights="distance"),
    mercer.KernelNeighborsRegressor(3, kernel=RBF(), weights="kernel"),
]


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_every_regressor_predicts_the_same_as_a_graph(model: Any) -> None:
    X, y, new = data()
    model.fit(X, y)
    assert close(outputs(model, new)["prediction"], model.predict(new))


def test_several_targets_are_columns() -> None:
    X, y, new = data()
    for model in (mercer.KernelRidge(kernel="rbf"), mercer.NadarayaWatson(0.3)):
        model.fit(X, np.column_stack([y, y**2]))
        assert close(outputs(model, new)["prediction"], model.predict(new))


CLASSIFIERS = [
    SVC(),
    SVC(kernel="linear", C=10.0, decision_function_shape="ovo"),
    SVC(kernel=Matern(1.5), break_ties=True),
    mercer.NuSVC(nu=0.2),
    mercer.KernelLogisticRegression(kernel=RBF(0.5)),
    mercer.KernelNearestCentroid(kernel=RBF()),
    mercer.NadarayaWatsonClassifier(0.3),
    mercer.KernelNeighborsClassifier(5, kernel=RBF(), weights="distance"),
]


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
def test_every_classifier_decides_the_same_as_a_graph(model: Any, k: int) -> None:
    X, _, new = data()
    labels = np.array(["ä", "b", "c", "d", "e", "f"])[:k]
    model.fit(X, labels[np.random.default_rng(k).integers(0, k, len(X))])
    found = outputs(model, new)
    assert (found["label"] == model.predict(new)).all()
    assert set(found) > {"label"}
    if "decision" in found:
        assert close(found["decision"], model.decision_function(new))
    if "probabilities" in found:
        assert close(found["probabilities"], model.predict_proba(new))


@pytest.mark.filterwarnings("ignore:The `probability` parameter")
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("kind", [SVC, mercer.NuSVC])
def test_probabilities_of_pairs_are_coupled_in_the_graph(kind: Any, k: int) -> None:
    X, _, new = data(60)
    y = np.random.default_rng(k).integers(0, k, len(X))
    settings = {"nu": 0.2} if kind is mercer.NuSVC else {"C": 20.0}
    model = kind(probability=True, random_state=0, **settings).fit(X, y)
    found = outputs(model, new)
    assert close(found["probabilities"], model.predict_proba(new))
    if k > 2:  # ties excepted, which the two break by rounding
        assert (found["probabilities"].argmax(axis=1) == found["label"]).all()


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [([3, 7], "int64"), (["no", "yes"], "object"), ([False, True], "bool"), ([0.5, 1.5], "float64")],
)
def test_labels_keep_their_type(labels: list[Any], dtype: str) -> None:
    X, y, new = data()
    try:
        model = SVC().fit(X, np.array(labels)[(y > y.mean()).astype(int)])
    except ValueError:
        assert dtype == "float64"  # scikit-learn's rule: these are targets
        return
    found = outputs(model, new)["label"]
    assert found.dtype == dtype
    assert (found == model.predict(new)).all()


def test_a_one_class_machine_says_inside_or_outside() -> None:
    X, _, new = data()
    model = mercer.OneClassSVM(nu=0.3).fit(X)
    for points in (new, X):  # on the border, rounding does not decide
        found = outputs(model, points)
        assert (found["label"] == model.predict(points)).all()
        assert close(found["decision"], model.decision_function(points))


def test_batches_may_have_any_size() -> None:
    X, y, _ = data()
    opened = session(SVR(kernel="laplacian").fit(X, y))
    whole = opened.run(None, {"X": np.tile(X, (30, 1))})[0]
    assert whole.shape == (30 * len(X),)
    for rows in (0, 1, 7):
        assert np.array_equal(opened.run(None, {"X": X[:rows]})[0], whole[:rows])


def test_the_number_of_columns_is_part_of_the_graph() -> None:
    X, y, _ = data()
    opened = session(SVR().fit(X, y))
    assert opened.get_inputs()[0].shape == ["n", 3]
    with pytest.raises(Exception, match=r"(?i)invalid dimensions"):
        opened.run(None, {"X": X[:, :2]})


def test_a_table_gives_its_numeric_columns_by_name() -> None:
    X, y, _ = data()
    table = {"age": X[:, 0], "place": ["here", "there"] * 20, "income": X[:, 1], "size": X[:, 2]}
    kernel = RBF().on("income", "age") + Linear().on("size")
    model = mercer.KernelRidge(alpha=0.1, kernel=kernel).fit(table, y)
    opened = session(model)
    assert json.loads(opened.get_modelmeta().custom_metadata_map["columns"]) == ["age", "income", "size"]
    assert close(opened.run(None, {"X": X})[0], model.predict(table))


def test_rows_of_sparse_points_and_single_precision_are_written_too() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    X, y, new = data()
    model = SVR().fit(sparse.csr_array(np.where(X > 0.5, X, 0.0)), y)
    assert close(outputs(model, new)["prediction"], model.predict(sparse.csr_array(new)))
    model = SVR().fit(X.astype(np.float32), y)
    assert close(outputs(model, new)["prediction"], model.predict(new))


def two_points(x: Any, z: Any) -> float:
    return float(np.dot(x, z))


def weight(X: Any) -> Any:
    return X[:, 0]


SETS = [{1, 2}, {2}, {3}, {1}]
REFUSED = [
    (mercer.Custom(two_points, because="an inner product"), np.eye(4), "Custom"),
    (RBF() + mercer.Custom(two_points, because="an inner product"), np.eye(4), "Custom"),
    (Linear().scaled_by(weight), np.eye(4), "scaled_by(weight)"),
    (RBF().on(weight_map := (lambda X: X[:, :1])), np.eye(4), "lambda"),
    (mercer.SetIntersection(), SETS, "sets"),
    (mercer.Delta(), mercer.points.Objects(["a", "b", "c", "a"]), "objects"),
    (mercer.Delta().on("colour"), {"colour": ["a", "b", "c", "a"], "size": [1.0, 2.0, 3.0, 4.0]}, "'colour'"),
    ("precomputed", np.eye(4), "precomputed"),
]


@pytest.mark.parametrize(("kernel", "X", "part"), REFUSED, ids=[part for *_, part in REFUSED])
def test_what_a_graph_cannot_hold_is_named(kernel: Any, X: Any, part: str) -> None:
    model = mercer.KernelRidge(kernel=kernel).fit(X, [1.0, 2.0, 3.0, 4.0])
    file = io.BytesIO()
    with pytest.raises(NotStorable, match=re.escape(part)) as caught:
        to_onnx(model, file)
    assert "save" in str(caught.value)
    assert file.getvalue() == b""


def test_only_fitted_machines_are_written(tmp_path: Any) -> None:
    for other in (SVC(), object(), 3, SVC):
        with pytest.raises(InvalidInput, match="Only a fitted machine"):
            to_onnx(other, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_file_is_written_whole(tmp_path: Any) -> None:
    X, y, new = data()
    model = SVR().fit(X, y)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    to_onnx(model, str(path))
    assert list(tmp_path.iterdir()) == [path]
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert close(onnxruntime.InferenceSession(path).run(None, {"X": new})[0], model.predict(new))
