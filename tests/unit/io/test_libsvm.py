"""LIBSVM's model files, both ways, against LIBSVM's own code."""

import io
import re
from contextlib import suppress
from ctypes import c_double
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from libsvm import svm, svmutil
from sklearn.base import clone

import mercer
from mercer import RBF, SVC, SVR, Linear, NuSVC, NuSVR, OneClassSVM, from_libsvm, to_libsvm
from mercer.errors import BadModelFile, InvalidInput, NotFinite, NotStorable, NotWritten

pytestmark = pytest.mark.filterwarnings("ignore:The `probability` parameter")
EXACT = 1e-9  # LIBSVM and mercer add the same numbers in another order

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.0},
    {"kernel": RBF(1.5)},
    {"kernel": Linear()},
]


def data(n: int = 60, k: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = rng.permutation(np.arange(n) % k)
    centres = 2.0 * rng.standard_normal((k, 4))
    X, new = rng.standard_normal((n, 4)) + centres[y], 2.0 * rng.standard_normal((40, 4))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X, y * 3 - 4, new


def theirs(path: Path, X: Any, *, probabilities: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Labels (or values), and decisions or probabilities, of LIBSVM for a model file.

    By its C functions: svmutil.svm_predict gives them too little memory for more than two classes of nu_svc.
    """
    found = svmutil.svm_load_model(str(path))
    assert found is not None
    k = found.get_nr_class()
    values = (c_double * (k if probabilities else max(1, k * (k - 1) // 2)))()
    ask = svm.libsvm.svm_predict_probability if probabilities else svm.libsvm.svm_predict_values
    labels, rows = [], []
    for row in X:
        nodes, _ = svm.gen_svm_nodearray(
            row.tolist() if isinstance(row, np.ndarray) else row, isKernel=isinstance(row, dict)
        )
        labels.append(ask(found, nodes, values))
        rows.append(list(values))
    return np.array(labels), np.array(rows)


def pairs_of(model: Any, X: Any) -> np.ndarray:
    """Decisions of all pairs, positive for the first class of each, as LIBSVM has them."""
    found = model.model_.decide(model.model_.against(mercer.points.as_points(X)))
    return -found if found.shape[1] == 1 and model.model_.pairs is not None else found


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: repr(each["kernel"]))
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_libsvm_decides_as_the_classifier_that_was_written(kind: Any, kernel: Any, k: int, tmp_path: Path) -> None:
    X, y, new = data(k=k)
    model = (NuSVC(nu=0.6, **kernel) if kind is NuSVC else SVC(C=2.0, **kernel)).fit(X, y)
    to_libsvm(model, tmp_path / "model")
    labels, values = theirs(tmp_path / "model", new)
    assert (labels == model.predict(new)).all()
    np.testing.assert_allclose(values, pairs_of(model, new), rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: repr(each["kernel"]))
@pytest.mark.parametrize("kind", [SVR, NuSVR, OneClassSVM])
def test_libsvm_predicts_as_the_machine_that_was_written(kind: Any, kernel: Any, tmp_path: Path) -> None:
    X, _, new = data()
    model = kind(**kernel).fit(X, np.sin(X[:, 0]))
    to_libsvm(model, tmp_path / "model")
    labels, values = theirs(tmp_path / "model", new)
    wanted = model.decision_function(new) if kind is OneClassSVM else model.predict(new)
    np.testing.assert_allclose(values[:, 0], wanted, rtol=EXACT, atol=EXACT)
    if kind is OneClassSVM:
        assert (labels == model.predict(new)).all()


@pytest.mark.parametrize("k", [2, 3])
def test_libsvm_gives_the_probabilities_of_the_classifier_that_was_written(k: int, tmp_path: Path) -> None:
    X, y, new = data(k=k)
    model = SVC(probability=True, random_state=0).fit(X, y)
    to_libsvm(model, tmp_path / "model")
    _, found = theirs(tmp_path / "model", new, probabilities=True)
    again = from_libsvm(tmp_path / "model")
    # LIBSVM stops coupling when it is right to 0.005/k; mercer moves its own answer to agree with the votes.
    assert np.abs(found - again.predict_proba(new)).max() < (1e-9 if k == 2 else 0.01)
    if k == 2:
        np.testing.assert_allclose(found, model.predict_proba(new), atol=EXACT)


OPTIONS = {
    "linear": "-t 0",
    "rbf": "-t 2 -g 0.3",
    "poly": "-t 1 -g 0.5 -d 2 -r 1",
}


def trained(options: str, y: Any, X: np.ndarray, path: Path) -> None:
    model = svmutil.svm_train(list(map(float, y)), [dict(enumerate(row, 1)) for row in X.tolist()], f"-q {options}")
    svmutil.svm_save_model(str(path), model)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kernel", list(OPTIONS.values()))
@pytest.mark.parametrize("kind", ["-s 0 -c 3", "-s 1 -n 0.6"])
@pytest.mark.parametrize("flip", [False, True])
def test_a_classifier_of_libsvm_decides_the_same_here(
    kind: str, kernel: str, k: int, flip: bool, tmp_path: Path
) -> None:
    X, y, new = data(k=k)
    if flip:  # LIBSVM's labels stand in the order of their first row
        X, y = X[::-1], y[::-1]
    trained(f"{kind} {kernel}", y, X, tmp_path / "model")
    labels, values = theirs(tmp_path / "model", new)
    model = from_libsvm(tmp_path / "model")
    assert type(model) is (SVC if "-s 0" in kind else NuSVC)
    assert (model.predict(new) == labels).all()
    sign = 1.0 if k > 2 or svmutil.svm_load_model(str(tmp_path / "model")).get_labels()[0] < model.classes_[1] else -1.0
    np.testing.assert_allclose(sign * values, pairs_of(model, new), rtol=EXACT, atol=EXACT)
    assert (model.predict(sp.csr_array(new)) == labels).all()
    # And back again.
    to_libsvm(model, tmp_path / "again")
    np.testing.assert_array_equal(theirs(tmp_path / "again", new)[0], labels)


@pytest.mark.parametrize("kernel", list(OPTIONS.values()))
@pytest.mark.parametrize(("kind", "estimator"), [("-s 3", SVR), ("-s 4", NuSVR), ("-s 2 -n 0.3", OneClassSVM)])
def test_a_machine_of_libsvm_predicts_the_same_here(kind: str, estimator: Any, kernel: str, tmp_path: Path) -> None:
    X, _, new = data()
    trained(f"{kind} {kernel}", np.sin(X[:, 0]), X, tmp_path / "model")
    labels, values = theirs(tmp_path / "model", new)
    model = from_libsvm(tmp_path / "model")
    assert type(model) is estimator
    if estimator is OneClassSVM:
        assert (model.predict(new) == labels).all()
        np.testing.assert_allclose(model.decision_function(new), values[:, 0], rtol=EXACT, atol=EXACT)
    else:
        np.testing.assert_allclose(model.predict(new), values[:, 0], rtol=EXACT, atol=EXACT)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("flip", [False, True])
def test_probabilities_of_libsvm_are_read_with_their_shifts(k: int, flip: bool, tmp_path: Path) -> None:
    X, y, new = data(80, k)
    if flip:
        X, y = X[::-1], y[::-1]
    trained("-b 1 -g 0.3", y, X, tmp_path / "model")
    assert any(float(b) for b in re.search(r"probB (.*)", (tmp_path / "model").read_text())[1].split())  # type: ignore[index]
    _, found = theirs(tmp_path / "model", new, probabilities=True)
    model = from_libsvm(tmp_path / "model")
    order = [svmutil.svm_load_model(str(tmp_path / "model")).get_labels().index(label) for label in model.classes_]
    assert np.abs(model.predict_proba(new) - found[:, order]).max() < (1e-9 if k == 2 else 0.01)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(new)), model.predict_proba(new), rtol=1e-12)
    to_libsvm(model, tmp_path / "again")
    again = from_libsvm(tmp_path / "again")
    np.testing.assert_allclose(again.predict_proba(new), model.predict_proba(new), rtol=1e-12)


def test_a_precomputed_kernel_goes_both_ways(tmp_path: Path) -> None:
    X, y, new = data()
    K, K_new = X @ X.T, new @ X.T
    rows = [{0: i + 1, **dict(enumerate(row, 1))} for i, row in enumerate(K.tolist())]
    problem = svmutil.svm_problem(y.astype(float).tolist(), rows, isKernel=True)
    svmutil.svm_save_model(str(tmp_path / "a"), svmutil.svm_train(problem, svmutil.svm_parameter("-t 4 -q")))
    new_rows = [{0: 1, **dict(enumerate(row, 1))} for row in K_new.tolist()]
    model = from_libsvm(tmp_path / "a", n_features=len(X))
    labels, values = theirs(tmp_path / "a", new_rows)
    assert (model.predict(K_new) == labels).all()
    model.set_params(decision_function_shape="ovo")
    np.testing.assert_allclose(model.decision_function(K_new), values, rtol=EXACT, atol=EXACT)
    assert model.support_.max() < len(X)
    own = SVC(kernel="precomputed").fit(K, y)
    to_libsvm(own, tmp_path / "b")
    assert (theirs(tmp_path / "b", new_rows)[0] == own.predict(K_new)).all()


def test_a_machine_without_support_vectors_goes_both_ways(tmp_path: Path) -> None:
    X, _, new = data()
    model = SVR(epsilon=50.0).fit(X, np.sin(X[:, 0]))
    assert len(model.support_) == 0
    to_libsvm(model, tmp_path / "model")
    assert (theirs(tmp_path / "model", new)[0] == model.predict(new)).all()
    assert (from_libsvm(tmp_path / "model", n_features=4).predict(new) == model.predict(new)).all()


def test_a_file_that_was_read_makes_an_estimator_like_any_other(tmp_path: Path) -> None:
    X, y, new = data()
    trained("-s 0 -g 0.3 -c 7", y, X, tmp_path / "model")
    model = from_libsvm(tmp_path / "model")
    assert model.get_params()["gamma"] == 0.3
    assert not model.certificate_.is_certified
    assert "another program" in str(model.certificate_)
    assert "LIBSVM" in model.explain()
    assert model.n_support_.sum() == model.support_vectors_.shape[0] == model.dual_coef_.shape[1] == len(model.support_)
    assert clone(model).fit(X, y).predict(new).shape == (len(new),)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(new[:, :3])


def test_columns_that_no_support_vector_has_can_be_counted(tmp_path: Path) -> None:
    X, y, new = data()
    X[:, 3] = 0.0
    trained("-s 0 -g 0.3", y, X, tmp_path / "model")
    text = re.sub(r" 4:0\b", "", (tmp_path / "model").read_text())
    (tmp_path / "model").write_text(text)
    assert from_libsvm(tmp_path / "model").n_features_in_ == 3
    model = from_libsvm(tmp_path / "model", n_features=4)
    assert (model.predict(new) == theirs(tmp_path / "model", new)[0]).all()
    for wrong in (2, True, 3.0, -1):
        with pytest.raises(InvalidInput, match="n_features"):
            from_libsvm(tmp_path / "model", n_features=wrong)  # type: ignore[arg-type]


REFUSED = [
    (SVC(kernel=mercer.Matern(1.5)), [0, 1], "Matern(1.5)"),
    (SVC(kernel=RBF([1.0, 2.0, 1.0, 1.0])), [0, 1], "RBF([1.0, 2.0, 1.0, 1.0])"),
    (SVC(kernel=RBF() + Linear()), [0, 1], "RBF() + Linear()"),
    (SVC(), ["no", "yes"], "'no', 'yes'"),
    (SVC(), [0, 1 << 40], "labels"),
    (mercer.KernelRidge(), [0, 1], "KernelRidge"),
    (mercer.KernelLogisticRegression(), [0, 1], "KernelLogisticRegression"),
]


@pytest.mark.parametrize(("model", "labels", "part"), REFUSED, ids=[part for *_, part in REFUSED])
def test_what_libsvm_does_not_have_is_named(model: Any, labels: list[Any], part: str, tmp_path: Path) -> None:
    X, _, _ = data()
    model.fit(X, np.array(labels)[(X[:, 0] > 0).astype(int)])
    with pytest.raises(NotStorable, match=re.escape(part)) as caught:
        to_libsvm(model, tmp_path / "model")
    assert "to_onnx" in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    X, y, _ = data()
    with pytest.raises(NotWritten, match="Make the folder first"):
        to_libsvm(SVC().fit(X, y), tmp_path / "none" / "model")
    with pytest.raises(FileNotFoundError):
        from_libsvm(tmp_path / "none")
    with pytest.raises(InvalidInput, match="not a file"):
        from_libsvm("/dev/zero")
    with pytest.raises(InvalidInput, match="open for reading bytes"):
        from_libsvm(io.StringIO(GOOD))
    (tmp_path / "dos").write_bytes(GOOD.replace("\n", "\r\n").encode())
    assert from_libsvm(tmp_path / "dos").classes_.tolist() == [1, 2, 3]


GOOD = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 3
total_sv 4
rho 0.1 0.2 0.3
label 1 2 3
probA -1 -1 -1
probB 0 0 0
nr_sv 1 1 2
SV
1 0.5 1:0.5 3:1
-1 1 2:2
-0.5 -0.5 1:1
0 -0.5 1:2 2:1e-3
"""
BROKEN = [
    ("gamma 0.5", "gamma nan", "Line 3: 'nan'"),
    ("gamma 0.5", "gamma 1e999", "Line 3"),
    ("gamma 0.5", "gamma 0_5", "Line 3"),
    ("gamma 0.5", "gamma -0.5", "gamma"),
    ("gamma 0.5", "gamma", "one value, got 0"),
    ("gamma 0.5\n", "", "needs the line 'gamma'"),
    ("gamma 0.5\n", "gamma 0.5\ngamma 0.5\n", "second line 'gamma'"),
    ("kernel_type rbf", "kernel_type magic", "'magic'; known are linear"),
    ("svm_type c_svc", "svm_type c_svc2", "svm_type"),
    ("nr_class 3", "nr_class 1", "two classes or more"),
    ("nr_class 3", "nr_class 2000000000", "rho needs 1999999999000000000 values"),
    ("nr_class 3", "nr_class " + "9" * 10000, "not an integer"),
    ("total_sv 4", "total_sv 2147483646", "nr_sv has a sum of 4"),
    ("label 1 2 3", "label 1 2 2", "twice"),
    ("label 1 2 3", "label 1 2.5 3", "'2.5' is not an integer"),
    ("nr_sv 1 1 2", "nr_sv 1 1 -2", "'-2' is not an integer"),
    ("probB 0 0 0\n", "", "only one"),
    ("SV\n", "", "begins with '1'"),
    ("-1 1 2:2", "-1 1 2:2 2:3", "Line 13: The index 2 stands behind 2"),
    ("-1 1 2:2", "-1 1 0:2", "count from 1"),
    ("-1 1 2:2", "-1 1 2147483648:2", "'2147483648'"),
    ("-1 1 2:2", "-1 1 2:", "not a finite number"),
    ("-1 1 2:2", "-1 1 2", "not index:value"),
    ("-1 1 2:2", "-1", "2 coefficients"),
    ("-1 1 2:2\n", "", "3 lines follow"),
    ("1 0.5 1:0.5", "1 ½ 1:0.5", "not a character"),
    ("total_sv 4", "total_sv four", "'four'"),
    (GOOD, "", "Line 1: It begins with ''"),
    (GOOD, "svm_type c_svc", "There is no line 'SV'"),
    (GOOD, "SV\n", "no line 'svm_type'"),
    (GOOD, "\x89PNG\r\n", "not a LIBSVM model file"),
]


@pytest.mark.parametrize(("old", "new", "said"), BROKEN, ids=[said for *_, said in BROKEN])
def test_what_is_wrong_with_a_file_is_said(old: str, new: str, said: str) -> None:
    assert old in GOOD
    assert from_libsvm(io.BytesIO(GOOD.encode())).predict([[0.0, 0.0, 0.0]]).shape == (1,)
    with pytest.raises(BadModelFile, match=re.escape(said)):
        from_libsvm(io.BytesIO(GOOD.replace(old, new, 1).encode()))


def test_a_wide_index_costs_no_memory() -> None:
    model = from_libsvm(io.BytesIO(GOOD.replace("2:2", "2147483646:2").encode()))
    row = sp.csr_array(([1.0], ([0], [5])), shape=(1, 2147483646))
    assert model.predict(row).shape == (1,)


def test_a_mutated_file_is_read_or_refused() -> None:
    rng = np.random.default_rng(0)
    good = GOOD.encode()
    pieces = [
        b"\x00",
        b" ",
        b"\n",
        b"9" * 30,
        b"-",
        b"1e308",
        b":",
        b"nan",
        b"SV\n",
        b"\xff",
        b"rho 1\n",
        b"2147483647",
    ]
    read = 0
    for _ in range(600):
        data = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            at, length = int(rng.integers(len(data) + 1)), int(rng.integers(0, 12))
            piece = pieces[rng.integers(len(pieces))] if rng.random() < 0.6 else bytes(rng.integers(0, 256, 3).tolist())
            data[at : at + (length if rng.random() < 0.7 else len(data))] = piece
        try:
            model = from_libsvm(io.BytesIO(bytes(data)))
        except BadModelFile:
            continue
        read += 1
        with suppress(NotFinite):  # of numbers such as 1e308
            assert model.predict(sp.csr_array((1, model.n_features_in_))).shape == (1,)
    assert 0 < read < 300


@pytest.mark.parametrize("probability", [False, True])
def test_a_machine_that_was_read_can_be_saved_as_any_other(tmp_path, probability):
    X, y, new = data()
    to_libsvm(SVC(probability=probability).fit(X, y), tmp_path / "model.libsvm")
    read = from_libsvm(tmp_path / "model.libsvm")
    read.save(tmp_path / "svc.mercer")
    loaded = mercer.load(tmp_path / "svc.mercer")
    np.testing.assert_array_equal(loaded.decision_function(new), read.decision_function(new))
    assert repr(loaded) == repr(read)
    if probability:
        np.testing.assert_array_equal(loaded.predict_proba(new), read.predict_proba(new))
