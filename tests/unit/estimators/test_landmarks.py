"""KernelRidge and KernelLogisticRegression on landmarks: parameters, attributes, blocks, files, refusals."""

import pickle
import tracemalloc

import numpy as np
import pytest

import mercer
from mercer import RBF, Blocks, KernelLogisticRegression, KernelRidge
from mercer.errors import InvalidInput, InvalidParameter

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(400)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
SETTINGS = {"kernel": RBF(1.5), "solver": "landmarks", "n_landmarks": 40, "random_state": 0}


def ridge(**changes):
    return KernelRidge(0.1, fit_intercept=True, **{**SETTINGS, **changes})


def logistic(**changes):
    return KernelLogisticRegression(5.0, **{**SETTINGS, **changes})


def blocks(rows=X, size=70):
    return Blocks(lambda: (rows[i : i + size] for i in range(0, len(rows), size)))


def test_the_model_keeps_the_landmarks_alone():
    model = ridge().fit(X, Y)
    assert model.landmarks_.shape == model.dual_coef_.shape == (40,)
    np.testing.assert_array_equal(model.model_.basis.dense, X[model.landmarks_])
    np.testing.assert_allclose(
        model.predict(X[:9]), RBF(1.5)(X[:9], X[model.landmarks_]) @ model.dual_coef_ + model.intercept_
    )
    assert model.certificate_.landmarks == 40
    assert 0.0 < model.certificate_.left_out < 0.2
    assert "40 landmarks" in model.explain()


@pytest.mark.parametrize("how", ["uniform", "k-means++", "rpcholesky"])
def test_the_choice_is_determined_by_random_state(how):
    one, same, other = (ridge(landmarks=how, random_state=seed).fit(X, Y) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.dual_coef_, same.dual_coef_)
    assert set(one.landmarks_) != set(other.landmarks_)


def test_rows_without_weight_are_no_landmarks():
    weight = np.zeros(400)
    weight[100:150] = 1.0
    found = ridge().fit(X, Y, weight).landmarks_
    assert found.min() >= 100
    assert found.max() < 150


def test_a_weight_of_two_is_two_copies():
    twice, rows = np.ones(400), np.arange(400)
    twice[:50] = 2.0
    again = np.concatenate([rows, rows[:50]])
    chosen = np.arange(30, 70)
    for make, y in ((ridge, Y), (logistic, CLASSES)):
        weighted = make(landmarks=chosen, tol=1e-10).fit(X, y, twice)
        copied = make(landmarks=chosen, tol=1e-10).fit(X[again], y[again])
        assert weighted.certificate_.primal == pytest.approx(copied.certificate_.primal, rel=1e-7)


def test_many_targets_with_penalties_of_their_own():
    targets = np.column_stack([Y, X[:, 1], Y**2])
    both = KernelRidge([0.1, 1.0, 0.1], fit_intercept=True, tol=1e-12, **SETTINGS).fit(X, targets)
    for column, alpha in enumerate((0.1, 1.0, 0.1)):
        alone = KernelRidge(alpha, fit_intercept=True, tol=1e-12, **SETTINGS).fit(X, targets[:, column])
        np.testing.assert_allclose(both.predict(X)[:, column], alone.predict(X), atol=1e-5)


@pytest.mark.parametrize(("make", "y"), [(ridge, Y), (logistic, CLASSES), (logistic, Y > 0)])
def test_rows_in_blocks_give_the_fit_of_the_whole_array(make, y):
    whole = make(tol=1e-10).fit(X, y)
    parts = make(tol=1e-10).fit(blocks(), y)
    np.testing.assert_array_equal(whole.landmarks_, parts.landmarks_)
    assert parts.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=1e-9)
    assert parts.n_features_in_ == 3
    np.testing.assert_array_equal(parts.predict(blocks(size=90))[:50], parts.predict(X[:50]))


def test_the_size_of_blocks_changes_nothing_beyond_rounding():
    found = [ridge(tol=1e-12).fit(blocks(size=size), Y).predict(X) for size in (7, 100, 400)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    np.testing.assert_allclose(found[0], found[2], atol=1e-6)


def test_blocks_are_never_all_in_memory():
    def read():
        rng = np.random.default_rng(0)
        for _ in range(60):
            yield rng.standard_normal((1_000, 50))  # 24 MB in all

    y = np.random.default_rng(1).standard_normal(60_000)
    tracemalloc.start()
    KernelRidge(10.0, kernel=RBF(7.0), n_landmarks=20, random_state=0, tol=1e-3).fit(Blocks(read), y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16e6


def test_a_memory_mapped_file_is_read_where_it_lies(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(mercer.points.as_points(mapped).raw(), mapped)
    np.testing.assert_array_equal(ridge().fit(mapped, Y).predict(X), ridge().fit(X, Y).predict(X))


def test_blocks_need_landmarks():
    with pytest.raises(InvalidParameter, match="come in blocks"):
        ridge(solver="cholesky").fit(blocks(), Y)
    assert ridge(solver="auto").fit(blocks(), Y).explain().startswith("Landmarks, because the rows come in blocks")


def test_auto_takes_landmarks_where_all_rows_would_take_too_long(monkeypatch):
    module = __import__("mercer.estimators._landmarks", fromlist=["VALUES"])
    assert ridge(solver="auto").fit(X, Y).certificate_.landmarks == -1
    monkeypatch.setattr(module, "VALUES", 1e6)
    found = ridge(solver="auto").fit(X, Y)
    assert found.certificate_.landmarks == 40
    assert "because all 400 rows would take about 3e+06 kernel values" in found.explain()
    linear = KernelRidge(kernel=mercer.Linear()).fit(X, Y)
    assert linear.certificate_.solver == "primal"  # few features need no landmarks


def test_a_machine_on_landmarks_is_saved_and_pickled(tmp_path):
    for make, y in ((ridge, Y), (logistic, CLASSES)):
        model = make().fit(X, y)
        model.save(tmp_path / "model.mercer")
        for back in (mercer.load(tmp_path / "model.mercer"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(back.predict(X), model.predict(X))
            np.testing.assert_array_equal(back.landmarks_, model.landmarks_)


def test_a_later_fit_of_all_rows_forgets_the_landmarks():
    model = ridge().fit(X, Y)
    model.set_params(solver="auto").fit(X, Y)
    assert not hasattr(model, "landmarks_")
    assert model.predict(X, return_std=True)[1].shape == (400,)


def test_error_bars_need_all_rows():
    with pytest.raises(InvalidInput, match="This machine keeps 40 landmarks"):
        ridge().fit(X, Y).predict(X, return_std=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks must be a whole number, at least 1, or None"),
        ({"n_landmarks": "many"}, "n_landmarks must be a whole number"),
        ({"landmarks": "best"}, "no way to choose landmarks called 'best'"),
        ({"landmarks": [0.5, 1.0]}, "the name of a choice, or the numbers of rows"),
        ({"landmarks": [0, 400]}, "landmarks must be numbers of rows"),
        ({"random_state": "today"}, "random_state"),
    ],
)
def test_wrong_parameters_are_refused(changes, message):
    for make, y in ((ridge, Y), (logistic, CLASSES)):
        with pytest.raises(InvalidParameter, match=message):
            make(**changes).fit(X, y)


def test_a_constraint_and_a_precomputed_matrix_are_refused():
    with pytest.raises(InvalidParameter, match="it needs alpha above 0"):
        KernelRidge(0.0, **SETTINGS).fit(X, Y)
    with pytest.raises(InvalidParameter, match="needs a kernel of mercer"):
        ridge(kernel="precomputed").fit(RBF()(X), Y)


def test_one_row_is_its_own_landmark():
    assert ridge().fit(X[:1], Y[:1]).predict(X[:1]) == pytest.approx(Y[:1])


def test_rows_that_are_all_the_same_leave_one_landmark():
    model = ridge().fit(np.ones((30, 2)), np.arange(30.0))
    assert model.landmarks_.shape == (1,)
    np.testing.assert_allclose(model.predict(np.ones((1, 2))), 14.5)
