"""What the laws cannot say of the search: its errors, its ends, pipelines, and what it leaves alone."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mercer import RBF, SVC, SVR, KernelRidge, KernelSearchCV, SetIntersection
from mercer.errors import InvalidInput, InvalidParameter, UncertifiedWarning

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = (X[:, 0] ** 2 > X[:, 1]).astype(int)
GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 1.0]}


def scores(search):
    return search.cv_results_["mean_test_score"]


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_beyond_a_few_rows_scores_agree_to_the_tolerance(load):
    rows, labels = load(return_X_y=True)
    rows = StandardScaler().fit_transform(rows[:700])
    grid = {"C": [0.1, 10.0], "gamma": [0.003, 0.03]}
    found = KernelSearchCV(SVC(), grid, cv=3).fit(rows, labels[:700])
    plain = GridSearchCV(SVC(), grid, cv=3).fit(rows, labels[:700])
    np.testing.assert_allclose(scores(found), scores(plain), atol=2e-3)
    assert found.best_params_ == plain.best_params_


def test_decisions_agree_to_the_tolerance():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    grid = {"C": [0.1, 10.0], "gamma": [0.03]}
    found = KernelSearchCV(SVC(tol=1e-6), grid, scoring="roc_auc").fit(rows, labels)
    plain = GridSearchCV(SVC(tol=1e-6), grid, scoring="roc_auc", cv=5).fit(rows, labels)
    np.testing.assert_allclose(scores(found), scores(plain), atol=1e-6)


def test_a_class_that_a_fold_lacks_is_not_predicted_there():
    labels = np.where(np.arange(60) < 4, 2, Y)
    cv = [(np.arange(10, 60), np.arange(10)), (np.arange(40), np.arange(40, 60))]
    found, plain = (kind(SVC(), GRID, cv=cv).fit(X, labels) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_array_equal(scores(found), scores(plain))


def test_one_class_in_a_fold_is_that_folds_error():
    labels = np.where(np.arange(60) < 5, 1, 0)
    cv = [(np.arange(5, 60), np.arange(5)), (np.arange(0, 50), np.arange(50, 60))]
    with pytest.warns(FitFailedWarning, match="at least 2 classes"), pytest.warns(UserWarning, match="non-finite"):
        search = KernelSearchCV(SVC(), GRID, cv=cv).fit(X, labels)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite(search.cv_results_["split1_test_score"]).all()
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        KernelSearchCV(SVC(), GRID, cv=cv, error_score="raise").fit(X, labels)


def test_a_setting_that_is_refused_is_that_settings_error():
    with pytest.warns(FitFailedWarning, match=r"C of SVC"), pytest.warns(UserWarning, match="non-finite"):
        search = KernelSearchCV(SVC(), {"C": [-1.0, 1.0]}).fit(X, Y)
    assert search.best_params_ == {"C": 1.0}


def test_settings_that_cannot_share_stand_beside_those_that_can():
    grid = [{"C": [1.0, np.inf], "kernel": ["rbf"]}, {"C": [0.5], "kernel": ["sigmoid"]}]
    with pytest.warns(UncertifiedWarning, match="not positive"):
        found, plain = (kind(SVC(), grid, cv=3).fit(X, X[:, 0] > 0) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(scores(found), scores(plain))


@pytest.mark.parametrize("scoring", [make_scorer(accuracy_score), "f1", lambda model, A, b: model.score(A, b)])
def test_any_scoring_is_as_in_a_grid_search(scoring):
    found, plain = (kind(SVC(), GRID, scoring=scoring, cv=3).fit(X, Y) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_array_equal(scores(found), scores(plain))


def test_other_estimators_are_searched_one_by_one():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.1, 1.0]}
    found, plain = (kind(model, grid, cv=3, n_jobs=2).fit(X, Y) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_array_equal(scores(found), scores(plain))


class Counting(StandardScaler):
    fits = 0

    def fit(self, X, y=None, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_the_steps_of_a_pipeline_are_fitted_once_on_each_fold():
    Counting.fits = 0
    grid = {"svc__C": [0.1, 1.0, 10.0], "counting__with_mean": [True, False]}
    KernelSearchCV(make_pipeline(Counting(), SVC()), grid, cv=3).fit(X, Y)
    assert Counting.fits == 2 * 3 + 1


def test_a_pipeline_shares_what_its_steps_make_of_each_fold():
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": ["scale", 0.1], "standardscaler__with_mean": [True, False]}
    found, plain = (kind(model, grid, cv=3).fit(3.0 * X + 1.0, Y) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(scores(found), scores(plain))
    assert found.best_params_ == plain.best_params_
    assert [str(each) for each in found.cv_results_["params"]] == [str(each) for each in plain.cv_results_["params"]]


def test_steps_of_other_kinds_are_not_taken_for_alike():
    model = Pipeline([("scaler", StandardScaler()), ("svc", SVC())])
    grid = {"scaler": [StandardScaler(), MinMaxScaler(), "passthrough"], "svc__C": [0.1, 10.0]}
    options = {"cv": 3, "return_train_score": True, "scoring": ["accuracy", "roc_auc"], "refit": "roc_auc"}
    found, plain = (kind(model, grid, **options).fit(3.0 * X + 1.0, Y) for kind in (KernelSearchCV, GridSearchCV))
    for name in ("mean_test_roc_auc", "mean_train_accuracy", "rank_test_accuracy"):
        np.testing.assert_allclose(found.cv_results_[name], plain.cv_results_[name])
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))


def test_sets_are_searched_too():
    sets = [frozenset(RNG.integers(0, 20, RNG.integers(1, 6)).tolist()) for _ in range(40)]
    labels = [int(3 in each or 5 in each) for each in sets]
    grid = {"C": [0.1, 1.0]}
    found, plain = (
        kind(SVC(kernel=SetIntersection().normalised()), grid, cv=3).fit(sets, labels)
        for kind in (KernelSearchCV, GridSearchCV)
    )
    np.testing.assert_array_equal(scores(found), scores(plain))


def test_the_rows_are_read_as_the_splitter_gives_them():
    mask = np.arange(60) < 40
    found = KernelSearchCV(SVC(), GRID, cv=[(np.flatnonzero(mask), np.flatnonzero(~mask))]).fit(X, Y)
    masked = KernelSearchCV(SVC(), GRID, cv=[(mask, ~mask)]).fit(X, Y)
    np.testing.assert_array_equal(scores(found), scores(masked))


def test_each_setting_sees_the_same_folds():
    cv = ShuffleSplit(3, random_state=np.random.RandomState(0))
    search = KernelSearchCV(SVC(), {"C": [1.0, 1.0, 1.0], "tol": [1e-3, 1e-4]}, cv=cv).fit(X, Y)
    assert np.ptp(scores(search)) < 1e-12


class Impatient(SVC):
    """A machine at whose third fit someone presses Ctrl-C."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        if type(self).fits == 3:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_ctrl_c_leaves_the_best_so_far():
    Impatient.fits = 0
    search = KernelSearchCV(Impatient(), {"C": [0.5, 1.0, 2.0]}, cv=[(np.arange(40), np.arange(40, 60))]).fit(X, Y)
    assert [each["C"] for each in search.cv_results_["params"]] == [0.5, 1.0]
    assert not search.is_finished_
    assert search.best_estimator_.certificate_.status.is_certified


def test_max_time_ends_after_a_setting():
    search = KernelSearchCV(SVC(), GRID, max_time=1e-9).fit(X, Y)
    assert len(search.cv_results_["params"]) == 1
    assert not search.is_finished_
    assert KernelSearchCV(SVC(), GRID).fit(X, Y).is_finished_


def test_leave_one_out_is_refused_where_it_would_take_a_fit_for_each_row():
    with pytest.raises(InvalidParameter, match=r"'C': 0\.1"):
        KernelSearchCV(SVC(), GRID, cv="loo").fit(X, Y)
    with pytest.raises(InvalidParameter, match=r"'alpha': 0\.0"):
        KernelSearchCV(KernelRidge(), {"alpha": [0.0, 1.0]}, cv="loo").fit(X, Y)
    with pytest.raises(InvalidParameter, match="'loo'"):
        KernelSearchCV(SVC(), GRID, cv="leave-one-out").fit(X, Y)
    search = KernelSearchCV(SVR(), {"C": [0.1, 1.0]}, cv=LeaveOneOut(), scoring="neg_mean_squared_error")
    search.fit(X[:9], X[:9, 0])
    assert search.n_splits_ == 9


def test_three_rows_are_enough_to_leave_one_out():
    search = KernelSearchCV(KernelRidge(kernel=RBF()), {"alpha": [0.1, 1.0]}, cv="loo").fit(X[:3], X[:3, 0])
    assert search.best_params_["alpha"] in (0.1, 1.0)
