"""Scores and their standard errors, against fits that leave each row out, scikit-learn and the jackknife."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, log_loss, r2_score, roc_auc_score

from mercer import (
    RBF,
    SVC,
    KernelLogisticRegression,
    KernelNeighborsClassifier,
    KernelNeighborsRegressor,
    KernelRidge,
    Linear,
    NadarayaWatson,
    NadarayaWatsonClassifier,
    OneClassSVM,
)  # fmt: skip
from mercer.errors import InvalidInput
from mercer.points.adapt import as_points
from mercer.report.answers import Seen, answers_of
from mercer.report.case import case_of
from mercer.report.influence import influence
from mercer.report.matching import places_of
from mercer.report.scores import Score, scores_of

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 2))
Y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=60)
LABELS = np.where(Y > 0.2, "up", "down")


def answers(machine, rows, targets, test=None):
    return answers_of(case_of(machine, rows, targets, test))


def scores(machine, rows, targets, test=None):
    case = case_of(machine, rows, targets, test)
    return {score.name: score for score in scores_of(case, answers_of(case))}


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidge(0.3, kernel=RBF(1.0)),
        KernelRidge(0.3, kernel=RBF(1.0), fit_intercept=True),
        KernelRidge(0.3, kernel=Linear() + 1.0),  # in its features
        KernelNeighborsRegressor(4, weights="distance"),
        NadarayaWatson(0.4),
    ],
    ids=repr,
)
def test_leave_one_out_is_what_fits_without_the_row_predict(machine):
    machine.fit(X, Y)
    found = answers(machine, X, Y)
    assert found.seen is Seen.LEFT_OUT
    for i in range(0, 60, 7):
        rest = np.delete(np.arange(60), i)
        again = clone(machine).fit(X[rest], Y[rest]).predict(X[[i]])
        np.testing.assert_allclose(found.predicted[i], again[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.truth, Y)


@pytest.mark.parametrize("machine", [KernelNeighborsClassifier(4), NadarayaWatsonClassifier(0.4)], ids=repr)
def test_leave_one_out_of_votes_is_what_fits_without_the_row_say(machine):
    machine.fit(X, LABELS)
    found = answers(machine, X, LABELS)
    assert found.seen is Seen.LEFT_OUT
    for i in range(0, 60, 7):
        rest = np.delete(np.arange(60), i)
        again = clone(machine).fit(X[rest], LABELS[rest]).predict_proba(X[[i]])
        np.testing.assert_allclose(found.shares[i], again[0], rtol=1e-9, atol=1e-12)


def test_leave_one_out_heeds_the_weights_of_the_rows():
    weight = RNG.uniform(0.5, 2.0, size=60)
    machine = KernelRidge(0.3, kernel=RBF(1.0), fit_intercept=True).fit(X, Y, weight)
    found = answers(machine, X, Y)
    rest = np.arange(1, 60)
    again = KernelRidge(0.3, kernel=RBF(1.0), fit_intercept=True).fit(X[rest], Y[rest], weight[rest])
    np.testing.assert_allclose(found.predicted[0], again.predict(X[[0]])[0], rtol=1e-8)


def test_the_spread_of_leave_one_out_is_that_of_a_new_target():
    machine = KernelRidge(0.3, kernel=RBF(1.0)).fit(X, Y)
    found = answers(machine, X, Y)
    rest = np.arange(1, 60)
    _, deviation = KernelRidge(0.3, kernel=RBF(1.0)).fit(X[rest], Y[rest]).predict(X[[0]], return_std=True)
    unit = np.sqrt(machine.prior_variance_)
    np.testing.assert_allclose(found.spread[0, 0], unit * np.sqrt(deviation[0] ** 2 + 0.3), rtol=1e-8)


def test_error_bars_do_not_depend_on_the_unit_of_the_target():
    machines = [(unit, KernelRidge(0.3, kernel=RBF(1.0), fit_intercept=True).fit(X, unit * Y)) for unit in (1.0, 1e5)]
    (_, first), (_, second) = ((unit, answers(machine, X, unit * Y).spread) for unit, machine in machines)
    np.testing.assert_allclose(second, 1e5 * first, rtol=1e-8)


def test_a_row_that_decides_its_own_prediction_is_not_divided_by_nothing():
    machine = KernelRidge(1e-14, kernel=RBF(0.01)).fit(X, Y)
    assert answers(machine, X, Y).seen is Seen.TRAINING


def test_rows_in_another_order_are_still_left_out_and_other_targets_are_not():
    order = RNG.permutation(60)
    machine = KernelRidge(0.3, kernel=RBF(1.0)).fit(X, Y)
    assert answers(machine, X[order], Y[order]).seen is Seen.LEFT_OUT
    assert answers(machine, X, Y[order]).seen is Seen.TRAINING
    votes = KernelNeighborsClassifier(3).fit(X, LABELS)
    assert answers(votes, X[order], LABELS[order]).seen is Seen.LEFT_OUT
    assert answers(votes, X, LABELS[order]).seen is Seen.TRAINING


@pytest.mark.parametrize(
    ("fitted", "given"),
    [
        (X, {"a": X[:, 0], "b": X[:, 1]}),
        ({"a": X[:, 0], "b": X[:, 1]}, {"b": X[:, 1], "a": X[:, 0]}),
        (sp.csr_array(X), X),
        (X, sp.csr_array(X)),
        ({"a": X[:, 0], "b": X[:, 1]}, X),
    ],
    ids=["table", "other order of columns", "dense", "sparse", "array"],
)
def test_rows_of_the_fit_are_known_in_another_form(fitted, given):
    found = places_of(as_points(fitted).take(np.arange(5)), as_points(given))
    assert found.tolist() == list(range(5))


def test_kernel_values_of_other_rows_are_held_out():
    K, other = RBF(1.0)(X), RBF(1.0)(X + 0.1, X)
    for kind in (SVC, KernelNeighborsClassifier):
        machine = kind(kernel="precomputed").fit(K, LABELS)
        assert answers(machine, other, LABELS).seen is Seen.HELD_OUT
        assert answers(machine, K, LABELS, (other, LABELS)).seen is Seen.HELD_OUT
        assert answers(machine, K, LABELS).seen is not Seen.HELD_OUT


def test_rows_without_a_target_are_counted_and_left_out():
    machine = KernelRidge(0.3, kernel=RBF(1.0)).fit(X, Y)
    found = answers(machine, X + 1, np.where(Y > 1.0, np.nan, Y))
    assert (len(found), found.unknown) == ((Y <= 1.0).sum(), (Y > 1.0).sum())
    assert answers(machine, X + 1, np.full(60, np.nan)) is None
    labels = np.array([None if label == "up" else label for label in LABELS], dtype=object)
    assert answers(SVC().fit(X, LABELS), X + 1, labels).unknown == (LABELS == "up").sum()


def test_targets_that_do_not_fit_are_refused_in_words():
    machine = KernelRidge().fit(X, Y)
    with pytest.raises(InvalidInput, match="must be numbers"):
        answers(machine, X + 1, ["a"] * 60)
    with pytest.raises(InvalidInput, match="shape of the predictions"):
        answers(machine, X + 1, np.zeros((60, 3)))


def test_influential_rows_are_numbered_as_in_the_data_that_was_given():
    order = RNG.permutation(60)
    machine = SVC(kernel=RBF(1.0)).fit(X, LABELS)
    case = case_of(machine, X[order], LABELS[order], None)
    np.testing.assert_array_equal(X[order][case.places], machine.support_vectors_)
    largest = int(np.abs(machine.model_.coef[:, 0]).argmax())
    row = int(np.flatnonzero(order == machine.support_[largest])[0])
    assert f'<th scope="row">{row}</th>' in influence(case)


def test_scores_are_those_of_scikit_learn():
    new = RNG.normal(size=(200, 2))
    truth = np.where(np.sin(new[:, 0]) + new[:, 1] > 0.2, "up", "down")
    machine = KernelLogisticRegression(C=10.0).fit(X, LABELS)
    found = scores(machine, new, truth)
    shares = machine.predict_proba(new)
    assert found["Accuracy"].value == pytest.approx(machine.score(new, truth))
    assert found["Balanced accuracy"].value == pytest.approx(balanced_accuracy_score(truth, machine.predict(new)))
    assert found["Ranking (AUC)"].value == pytest.approx(roc_auc_score(truth == "up", shares[:, 1]))
    assert found["Log-loss"].value == pytest.approx(log_loss(truth, shares))
    assert found["Accuracy"].baseline == pytest.approx(max((truth == "up").mean(), (truth == "down").mean()))


def jackknife(score, *columns):
    n = len(columns[0])
    left = np.array([score(*(np.delete(column, i) for column in columns)) for i in range(n)])
    return np.sqrt((n - 1) / n * np.square(left - left.mean()).sum())


def test_standard_errors_are_close_to_those_of_the_jackknife():
    new = RNG.normal(size=(300, 2))
    truth = np.sin(new[:, 0]) + new[:, 1] + 0.3 * RNG.normal(size=300)
    machine = KernelRidge(0.3, kernel=RBF(1.0)).fit(X, Y)
    predicted = machine.predict(new)
    found = scores(machine, new, truth)
    assert found["R²"].value == pytest.approx(r2_score(truth, predicted))
    assert found["R²"].error == pytest.approx(jackknife(r2_score, truth, predicted), rel=0.05)
    root = lambda a, b: np.sqrt(np.square(a - b).mean())  # noqa: E731
    assert found["RMSE"].error == pytest.approx(jackknife(root, truth, predicted), rel=0.05)
    machine = KernelLogisticRegression().fit(X, LABELS)
    labels = np.where(truth > 0.2, "up", "down")
    found, decisions = scores(machine, new, labels), machine.decision_function(new)
    auc = lambda a, b: roc_auc_score(a == "up", b)  # noqa: E731
    assert found["Ranking (AUC)"].error == pytest.approx(jackknife(auc, labels, decisions), rel=0.05)
    balanced = jackknife(balanced_accuracy_score, labels, machine.predict(new))
    assert found["Balanced accuracy"].error == pytest.approx(balanced, rel=0.05)


def test_the_interval_of_a_share_stays_between_0_and_1_and_is_wilsons():
    rows = np.array([[-1.0], [1.0]] * 5)
    machine = SVC(kernel="linear").fit(rows, rows[:, 0] > 0)
    found = scores(machine, rows * 2.0, rows[:, 0] > 0)["Accuracy"]
    assert (found.value, found.error, found.high) == (1.0, 0.0, pytest.approx(1.0))
    assert found.high <= 1.0
    assert found.low == pytest.approx(10 / (10 + 1.959964**2))


def test_one_class_counts_outliers_where_it_knows_them():
    machine = OneClassSVM(nu=0.1).fit(X)
    new = np.vstack([np.zeros((20, 2)), np.full((5, 2), 9.0)])
    found = scores(machine, X, None, (new, [1] * 20 + [-1] * 5))
    assert found["Outliers found"].value == 1.0
    assert found["False alarms"].value == 0.0
    assert found["Inliers"].value == 0.8


def test_labels_of_another_type_are_the_same_classes():
    machine = SVC().fit(X, (Y > 0).astype(int))
    found = scores(machine, X + 0.01, (Y > 0).astype(float))
    assert found["Accuracy"].value > 0.8


def test_a_number_is_written_with_the_digits_that_its_error_leaves():
    assert Score("", 0.123456, 0.0123, "").shown == "0.123 ± 0.012"
    assert Score("", 1234.56, 45.0, "").shown == "1235 ± 45"
    assert Score("", 0.5, 0.05, "", is_share=True).shown == "50.0 % ± 5.0 %"


def test_equal_rows_are_each_found_once_in_any_kind_of_points():
    assert places_of(as_points([{1}, {2}]), as_points([{2}, {3}, {1}])).tolist() == [2, 0]
    assert places_of(as_points(["b", "z"]), as_points(["a", "b"])).tolist() == [1, -1]
    table = as_points({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert places_of(table.take([1, 0]), table).tolist() == [1, 0]
    assert places_of(as_points([[-0.0]]), as_points([[0.0]])).tolist() == [0]
