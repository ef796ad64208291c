"""The same choice, scores and predictions as scikit-learn's RidgeCV, and as its grid search over KernelRidge."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import kernel_ridge, linear_model
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit

from mercer.estimators.ridge_cv import KernelRidgeCV

X, y = load_diabetes(return_X_y=True)
X = X[:120] / X.std(axis=0)
y = y[:120] / y.std()
Y = np.column_stack([y, y**2, np.sin(3 * y)])
WIDE = np.hstack([X, X**2, X**3, np.roll(X, 1, axis=1), *[X * X[:, [j]] for j in range(8)]])  # more columns than rows
WEIGHT = np.random.default_rng(0).random(120)
ALPHAS = np.logspace(-3, 4, 15)


@pytest.mark.parametrize("data", [X, WIDE], ids=["by features", "by rows"])
@pytest.mark.parametrize(
    ("target", "alpha_per_target"),
    [(y, False), (Y, False), (Y, True)],
    ids=["one target", "one alpha for all", "an alpha for each"],
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
@pytest.mark.parametrize("fit_intercept", [False, True], ids=["no intercept", "intercept"])
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
def test_leave_one_out_is_that_of_linear_ridge_regression(
    data, target, weight, fit_intercept, scoring, alpha_per_target
):
    parameters = {
        "alphas": ALPHAS,
        "fit_intercept": fit_intercept,
        "scoring": scoring,
        "store_cv_results": True,
        "alpha_per_target": alpha_per_target,
    }
    ours = KernelRidgeCV(**parameters).fit(data, target, weight)
    theirs = linear_model.RidgeCV(**parameters, gcv_mode="svd").fit(data, target, weight)
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.predict(data), theirs.predict(data), rtol=1e-7)
    assert ours.cv_results_.shape == theirs.cv_results_.shape
    assert np.shape(ours.alpha_) == np.shape(theirs.alpha_)


@pytest.mark.parametrize("cv", [5, ShuffleSplit(4, random_state=0), [(np.arange(80), np.arange(80, 120))]])
@pytest.mark.parametrize("target", [y, Y], ids=["one target", "targets"])
@pytest.mark.parametrize("scoring", [None, "neg_median_absolute_error"])
@pytest.mark.parametrize("kernel", [{"kernel": "rbf", "gamma": 0.03}, {"kernel": "linear"}], ids=["rbf", "linear"])
def test_folds_are_those_of_a_grid_search(cv, target, scoring, kernel):
    ours = KernelRidgeCV(ALPHAS, cv=cv, scoring=scoring, **kernel).fit(X, target)
    theirs = GridSearchCV(kernel_ridge.KernelRidge(**kernel), {"alpha": ALPHAS}, cv=cv, scoring=scoring)
    theirs.fit(X, target)
    assert ours.alpha_ == theirs.best_params_["alpha"]
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)


def test_leaving_each_row_out_by_a_splitter_gives_what_the_formula_gives():
    formula = KernelRidgeCV(ALPHAS, kernel="rbf", fit_intercept=True).fit(X[:40], Y[:40])
    folds = KernelRidgeCV(
        ALPHAS, kernel="rbf", fit_intercept=True, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    ).fit(X[:40], Y[:40])
    assert formula.alpha_ == folds.alpha_
    np.testing.assert_allclose(formula.best_score_, folds.best_score_)
    np.testing.assert_allclose(formula.loo_residuals_, folds.loo_residuals_)


@pytest.mark.parametrize("cv", [None, 3])
def test_sparse_rows_give_the_same_choice(cv):
    S = np.where(np.abs(X) > 1, X, 0.0)
    ours = KernelRidgeCV(ALPHAS, cv=cv).fit(sp.csr_array(S), y)
    theirs = linear_model.RidgeCV(ALPHAS, fit_intercept=False, cv=cv).fit(S, y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
