import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import RBF, InvalidInput, InvalidParameter, Linear, Polynomial, SetIntersection, UncertifiedWarning
from mercer.estimators.logistic import KernelLogisticRegression
from mercer.grams.choose import gram_of
from mercer.problems import Status

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
two = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(90) > 0, "yes", "no")
three = np.digitize(X[:, 0] + 0.5 * RNG.standard_normal(90), [-0.5, 0.5])


@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
def test_every_fit_carries_its_certificate(y):
    model = KernelLogisticRegression(kernel=RBF()).fit(X, y)
    assert model.certificate_.status is Status.OPTIMAL
    assert 0.0 <= model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.n_iter_ == model.certificate_.steps >= 1


def test_shapes_are_those_of_scikit_learn():
    binary = KernelLogisticRegression(kernel=Linear()).fit(X, two)
    assert binary.classes_.tolist() == ["no", "yes"]
    assert binary.dual_coef_.shape == (90,)
    assert binary.coef_.shape == (1, 3)
    assert binary.intercept_.shape == (1,)
    assert binary.decision_function(X).shape == (90,)
    many = KernelLogisticRegression(kernel=Linear()).fit(X, three)
    assert many.dual_coef_.shape == (90, 3)
    assert many.coef_.shape == (3, 3)
    assert many.intercept_.shape == (3,)
    assert many.decision_function(X).shape == (90, 3)
    assert many.intercept_.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
def test_probabilities_sum_to_one_and_agree_with_predictions_and_logarithms(y):
    model = KernelLogisticRegression(C=100.0, kernel=RBF()).fit(X, y)
    far = np.vstack([X, 100.0 * X])
    p = model.predict_proba(far)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(far))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(far)), p, atol=1e-14)


def test_a_logarithm_stays_finite_where_its_probability_is_zero():
    model = KernelLogisticRegression(kernel=Linear()).fit(X, two)
    far = 1e6 * np.sign(model.coef_)
    assert model.predict_proba(far)[0, 0] == 0.0
    assert -1e8 < model.predict_log_proba(far)[0, 0] < -700


@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_all_solvers_find_the_same(y, fit_intercept):
    given = {"C": 2.0, "kernel": Polynomial(2), "fit_intercept": fit_intercept, "tol": 1e-10}
    models = [
        KernelLogisticRegression(**given, solver=solver).fit(X, y)
        for solver in ("primal", "newton-cholesky", "newton-cg")
    ]
    new = RNG.standard_normal((20, 3))
    for model in models:
        np.testing.assert_allclose(model.predict_proba(new), models[0].predict_proba(new), atol=1e-5)
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-4)
        phi = Polynomial(2).feature_map(X)
        g = phi(new) @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(g.squeeze(), model.decision_function(new), atol=1e-9)


def test_many_features_of_many_classes_are_preconditioned_class_by_class(monkeypatch):
    given = {"C": 20.0, "kernel": Polynomial(2), "solver": "primal", "tol": 1e-10}
    whole = KernelLogisticRegression(**given).fit(X, three)
    monkeypatch.setattr("mercer.solvers.newton_systems.INNER", 5)
    parts = KernelLogisticRegression(**given).fit(X, three)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-5)


def test_few_features_are_solved_in_the_primal():
    assert KernelLogisticRegression(kernel="linear").fit(X, two).certificate_.solver == "primal"
    model = KernelLogisticRegression().fit(X, two)
    assert model.certificate_.solver == "newton-cholesky"
    assert "→ newton-cholesky" in model.explain()
    assert "cannot: the kernel has no finite feature map" in model.explain()
    assert "by newton-cholesky on" in model.explain()


def test_an_infinite_map_has_no_primal_weights():
    assert not hasattr(KernelLogisticRegression(), "coef_")
    assert not hasattr(KernelLogisticRegression().fit(X, two), "coef_")


def test_sparse_rows_are_fitted_as_dense_ones():
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    a = KernelLogisticRegression().fit(sparse, three, sample_weight=np.arange(90) % 3)
    b = KernelLogisticRegression().fit(sparse.toarray(), three, sample_weight=np.arange(90) % 3)
    np.testing.assert_allclose(a.predict_proba(sparse), b.predict_proba(sparse.toarray()), atol=1e-9)


def test_points_without_columns_are_fitted_too():
    sets = [frozenset(RNG.choice(9, size=4, replace=False).tolist()) for _ in range(40)]
    label = np.array([3 in s for s in sets])
    model = KernelLogisticRegression(C=100.0, kernel=SetIntersection()).fit(sets, label)
    assert model.score(sets, label) == 1.0


def test_a_data_frame_keeps_its_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelLogisticRegression(kernel=RBF().on("a", "b")).fit(frame, pd.Series(two))
    assert list(model.feature_names_in_) == ["a", "b", "c"]


def test_a_precomputed_matrix_is_the_kernel_itself():
    given = KernelLogisticRegression(kernel="precomputed").fit(RBF()(X), two)
    plain = KernelLogisticRegression(kernel=RBF()).fit(X, two)
    np.testing.assert_allclose(given.predict_proba(RBF()(X)), plain.predict_proba(X), atol=1e-12)


def test_searches_and_pickles_take_it_as_it_is():
    grid = {"kernel__length_scale": [0.3, 1.0, 3.0], "C": [1.0, 10.0]}
    search = GridSearchCV(KernelLogisticRegression(kernel=RBF()), grid, cv=3, scoring="neg_log_loss").fit(X, two)
    model = search.best_estimator_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert cross_val_score(KernelLogisticRegression(), X, three, cv=3).mean() > 0.5


def test_balanced_weights_give_every_class_the_same_sum():
    rare = np.where(np.arange(90) < 9, "rare", "common")
    balanced = KernelLogisticRegression(class_weight="balanced", tol=1e-10).fit(X, rare)
    by_hand = KernelLogisticRegression(class_weight={"rare": 5.0, "common": 90 / 162}, tol=1e-10).fit(X, rare)
    np.testing.assert_allclose(balanced.predict_proba(X), by_hand.predict_proba(X), atol=1e-8)


def test_without_structure_the_probabilities_are_the_shares_of_the_classes():
    same = np.zeros((10, 1))
    model = KernelLogisticRegression(tol=1e-12).fit(same, [0] * 3 + [1] * 7)
    np.testing.assert_allclose(model.predict_proba(same)[0], [0.3, 0.7], atol=1e-6)
    model = KernelLogisticRegression(tol=1e-12).fit(same, [0] * 2 + [1] * 3 + [2] * 5)
    np.testing.assert_allclose(model.predict_proba(same)[0], [0.2, 0.3, 0.5], atol=1e-6)


def test_two_rows_are_enough():
    model = KernelLogisticRegression().fit([[0.0], [1.0]], [0, 1])
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_products_in_float32_do_not_show(monkeypatch):
    monkeypatch.setattr("mercer.estimators._machine.gram_to_solve", lambda binding, primal: gram_of(binding, budget=0))
    given = {"C": 5.0, "kernel": RBF(), "solver": "newton-cg"}
    for tol in (1e-4, 1e-10):
        model = KernelLogisticRegression(**given, tol=tol).fit(X, three)
        assert "K stored in a few bits" in model.certificate_.note
        assert model.certificate_.status is Status.OPTIMAL


def test_separable_classes_with_almost_no_penalty_end_with_a_true_word():
    label = (X[:, 0] > 0).astype(int)
    with pytest.warns(UncertifiedWarning, match="max_iter, max_time or Ctrl-C ended it"):
        model = KernelLogisticRegression(C=1e12, kernel=RBF(), max_iter=5).fit(X, label)
    assert model.certificate_.status is Status.STOPPED
    assert model.certificate_.gap > 0.0
    assert model.score(X, label) == 1.0
    longer = KernelLogisticRegression(C=1e8, kernel=RBF()).fit(X, label)
    assert longer.certificate_.status is Status.OPTIMAL


def test_an_indefinite_function_fits_with_a_warning_and_without_a_certificate():
    with pytest.warns(UncertifiedWarning, match="not positive"):
        model = KernelLogisticRegression(kernel=lambda x, z: np.tanh(x @ z - 1.0)).fit(X, two)
    assert model.certificate_.status is Status.INDEFINITE
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"C": 0.0}, "C must be"),
        ({"C": np.inf}, "C must be"),
        ({"C": "large"}, "C must be"),
        ({"solver": "magic"}, "no solver 'magic'"),
        ({"solver": "primal"}, "no finite feature map"),
        ({"tol": 0.0}, "tol must lie"),
        ({"tol": "small"}, "tol must lie"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"max_iter": 1.5}, "max_iter must be"),
        ({"max_iter": "many"}, "max_iter must be"),
        ({"max_time": "long"}, "max_time must be"),
        ({"verbose": "much"}, "verbose of KernelLogisticRegression must be"),
        ({"fit_intercept": "no"}, "fit_intercept of KernelLogisticRegression must be"),
        ({"kernel": RBF}, "not its class"),
        ({"kernel": RBF(), "gamma": 0.1}, "gamma has no effect"),
        ({"class_weight": {"maybe": 1.0}}, "not in y"),
        ({"class_weight": {"yes": -1.0}}, "≥ 0"),
        ({"class_weight": {"yes": "much"}}, "must be numbers"),
        ({"class_weight": "even"}, "class_weight must be"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        KernelLogisticRegression(**parameters).fit(X, two)


@pytest.mark.parametrize(
    ("parameters", "scale", "weight"),
    [
        ({"C": 1e300}, 1.0, None),
        ({}, 1.0, np.full(90, 1e150)),
        ({"kernel": "linear"}, 1e145, None),
    ],
)
@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
def test_what_float64_cannot_hold_is_refused(parameters, scale, weight, y):
    with pytest.raises(InvalidInput, match="too large to compute with"):
        KernelLogisticRegression(**parameters).fit(scale * X, y, sample_weight=weight)


@pytest.mark.parametrize("y", [two, three], ids=["two", "three"])
@pytest.mark.parametrize(("C", "scale"), [(1e3, 1e6), (1e6, 1e5), (1.0, 1e50)])
def test_columns_without_scale_end_with_a_true_word(C, scale, y):
    solver = KernelLogisticRegression(C=C, kernel="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        model, certificate = solver.fit(scale * X, y).model_, solver.certificate_
    assert certificate.status in (Status.OPTIMAL, Status.INEXACT)
    if certificate.status is Status.OPTIMAL:
        K = (scale * X.astype(np.longdouble)) @ (scale * X.T.astype(np.longdouble))
        g, a = K @ model.coef + model.intercept, model.coef
        index = np.unique(y, return_inverse=True)[1]
        logits = np.column_stack([0.0 * g, g]) if g.shape[1] == 1 else g
        losses = np.log(np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)) + logits.max(axis=1)
        primal = 0.5 * (a * (K @ a)).sum() + C * (losses - logits[np.arange(len(y)), index]).sum()
        assert float(primal) == pytest.approx(certificate.primal, rel=1e-4)


@pytest.mark.parametrize("C", [1e-8, 1e-3, 1.0, 10.0])
@pytest.mark.parametrize("points", [np.ones((30, 2)), np.arange(150)[:, None] % 2.0], ids=["one", "two"])
def test_few_different_rows_are_no_sign_of_a_negative_eigenvalue(C, points):
    model = KernelLogisticRegression(C=C, kernel=RBF(1.0)).fit(points, np.arange(len(points)) % 3 == 0)
    assert model.certificate_.status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("y", "weight", "words"),
    [
        (None, None, "requires y to be passed"),
        (two[:-1], None, "inconsistent numbers of samples"),
        (X[:, 0], None, "Unknown label type"),
        (["same"] * 90, None, "only one class"),
        (np.where(np.arange(90) == 3, np.nan, 1.0), None, "NaN"),
        (np.eye(3)[three], None, "1d"),
        (two, (two == "yes").astype(float), "Class 'no' has none"),
        (two, -np.ones(90), "Negative values"),
    ],
)
def test_labels_and_weights_that_do_not_fit_are_refused(y, weight, words):
    with pytest.raises(ValueError, match=words):
        KernelLogisticRegression().fit(X, y, sample_weight=weight)


def test_wrong_points_are_refused():
    with pytest.raises(InvalidInput, match="NaN"):
        KernelLogisticRegression().fit(np.where(X > 2, np.nan, X), two)
