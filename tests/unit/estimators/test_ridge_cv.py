import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import KFold, LeaveOneOut

from mercer import RBF, InvalidInput, InvalidParameter, KernelRidge, Linear, SetIntersection, UncertifiedWarning
from mercer.estimators.ridge_cv import KernelRidgeCV

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
y = np.sin(2.0 * X[:, 0]) + 0.2 * RNG.standard_normal(60) + 5.0
Y = np.column_stack([y, X[:, 1], RNG.standard_normal(60)])
ALPHAS = np.logspace(-4, 4, 17)
WEIGHT = np.where(np.arange(60) % 7 == 0, 0.0, RNG.random(60) + 0.1)


@pytest.mark.parametrize("kernel", [RBF(), Linear()], ids=["rows", "features"])
@pytest.mark.parametrize("cv", [None, "gcv", 4], ids=["leave-one-out", "gcv", "folds"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_the_fit_is_that_of_kernel_ridge_with_the_penalty_chosen(kernel, cv, weight):
    model = KernelRidgeCV(ALPHAS, kernel=kernel, cv=cv, fit_intercept=True, alpha_per_target=True).fit(X, Y, weight)
    again = KernelRidge(model.alpha_, kernel=kernel, fit_intercept=True).fit(X, Y, weight)
    assert model.alpha_.shape == model.best_score_.shape == (3,)
    np.testing.assert_allclose(model.predict(X), again.predict(X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, again.intercept_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.log_marginal_likelihood_, again.log_marginal_likelihood_, rtol=1e-7)
    _, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(std, again.predict(X, return_std=True)[1], rtol=1e-6)
    assert model.certificate_.status.is_certified
    assert "alphas by" in model.explain()
    np.testing.assert_allclose(model.predict_one(X[0]), model.predict(X[:1])[0], rtol=1e-9)


def test_residuals_are_those_of_fits_without_each_row():
    model = KernelRidgeCV(ALPHAS, kernel=RBF(), fit_intercept=True).fit(X, y, WEIGHT)
    for row in (0, 1, 30, 59):  # the first has no weight
        weight = WEIGHT.copy()
        weight[row] = 0.0
        without = KernelRidge(model.alpha_, kernel=RBF(), fit_intercept=True).fit(X, y, weight)
        np.testing.assert_allclose(model.loo_residuals_[row], y[row] - without.predict(X[[row]])[0], rtol=1e-7)
    np.testing.assert_allclose(model.best_score_, -np.mean(WEIGHT * model.loo_residuals_**2))


@pytest.mark.parametrize("cv", [None, "gcv", 4], ids=["leave-one-out", "gcv", "folds"])
def test_each_target_chooses_as_if_it_were_alone(cv):
    together = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=cv, alpha_per_target=True).fit(X, Y)
    assert together.loo_residuals_.shape == (60, 3)
    for target in range(3):
        alone = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=cv).fit(X, Y[:, target])
        assert isinstance(alone.alpha_, float)
        assert isinstance(alone.best_score_, float)
        assert alone.loo_residuals_.shape == (60,)
        assert together.alpha_[target] == alone.alpha_
        np.testing.assert_allclose(together.best_score_[target], alone.best_score_)
        np.testing.assert_allclose(together.loo_residuals_[:, target], alone.loo_residuals_, rtol=1e-8)


def test_results_are_kept_only_when_asked_for():
    assert not hasattr(KernelRidgeCV().fit(X, y), "cv_results_")
    one = KernelRidgeCV(ALPHAS, store_cv_results=True, kernel=RBF()).fit(X, y)
    assert one.cv_results_.shape == (60, 17)
    chosen = list(ALPHAS).index(one.alpha_)
    np.testing.assert_allclose(one.cv_results_[:, chosen], one.loo_residuals_**2, rtol=1e-8)
    several = KernelRidgeCV(ALPHAS, store_cv_results=True, scoring="r2", kernel=RBF()).fit(X, Y)
    assert several.cv_results_.shape == (60, 3, 17)
    chosen = list(ALPHAS).index(several.alpha_)
    np.testing.assert_allclose(several.cv_results_[:, :, chosen], Y - several.loo_residuals_, rtol=1e-8)


def test_a_fold_is_scored_by_its_weights_so_that_a_weight_of_two_is_two_rows():
    counts = np.array([1, 2, 0] * 20)
    copies = np.repeat(np.arange(60), counts)
    half = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    halves = [tuple(np.flatnonzero(np.isin(copies, part)) for part in split) for split in half]
    weighted = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=half, fit_intercept=True).fit(X, y, counts)
    repeated = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=halves, fit_intercept=True).fit(X[copies], y[copies])
    assert weighted.alpha_ == repeated.alpha_
    np.testing.assert_allclose(weighted.best_score_, repeated.best_score_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7)


def test_a_fold_without_weight_is_not_there():
    weight = np.r_[np.zeros(20), np.ones(40)]
    three = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=KFold(3)).fit(X, y, weight)
    two = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=KFold(2)).fit(X[20:], y[20:])
    np.testing.assert_allclose(three.best_score_, two.best_score_)


def test_few_rows_to_a_feature_in_a_fold_fall_back_on_the_kernel():
    wide = RNG.standard_normal((40, 18))  # 36 <= 40, but not <= 30
    model = KernelRidgeCV(ALPHAS, cv=4, fit_intercept=True).fit(wide, y[:40])
    by_rows = KernelRidgeCV(ALPHAS, cv=4, fit_intercept=True, kernel="precomputed").fit(wide @ wide.T, y[:40])
    assert model.alpha_ == by_rows.alpha_
    np.testing.assert_allclose(model.best_score_, by_rows.best_score_)


@pytest.mark.parametrize("cv", [None, "gcv", 4], ids=["leave-one-out", "gcv", "folds"])
def test_a_precomputed_matrix_gives_the_same_choice(cv):
    model = KernelRidgeCV(ALPHAS, kernel="precomputed", cv=cv).fit(RBF()(X), y)
    other = KernelRidgeCV(ALPHAS, kernel=RBF(), cv=cv).fit(X, y)
    assert model.alpha_ == other.alpha_
    np.testing.assert_allclose(model.predict(RBF()(X[:5], X)), other.predict(X[:5]), rtol=1e-9)


def test_points_without_columns_are_fitted_too():
    sets = [frozenset(RNG.choice(9, size=4, replace=False).tolist()) for _ in range(30)]
    target = np.array([float(3 in s) for s in sets])
    for cv in (None, 3):
        model = KernelRidgeCV([1e-2, 1e2], kernel=SetIntersection(), cv=cv).fit(sets, target)
        assert model.alpha_ == 1e-2


def test_a_scorer_sees_the_predictions_for_rows_left_out():
    seen = []

    def scorer(estimator, predictions, target):
        seen.append(estimator.predict(predictions) - target)
        return -np.abs(seen[-1]).max()

    model = KernelRidgeCV(ALPHAS, kernel=RBF(), scoring=scorer).fit(X, y)
    assert len(seen) == 17
    np.testing.assert_allclose(-seen[list(ALPHAS).index(model.alpha_)], model.loo_residuals_, rtol=1e-8)
    assert model.best_score_ == max(-np.abs(error).max() for error in seen)
    named = KernelRidgeCV(ALPHAS, kernel=RBF(), scoring="neg_mean_absolute_error").fit(X, y)
    made = KernelRidgeCV(ALPHAS, kernel=RBF(), scoring=make_scorer(mean_absolute_error, greater_is_better=False))
    assert named.alpha_ == made.fit(X, y).alpha_


def test_it_is_cloned_and_pickled_and_leaves_its_parameters_alone():
    alphas = [0.1, 1.0]
    model = KernelRidgeCV(alphas, kernel=RBF("median"), fit_intercept=True)
    fitted = clone(model).set_params(kernel__length_scale=2.0).fit(X, y)
    assert fitted.kernel == RBF(2.0)
    assert model.alphas is alphas
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_one_number_is_a_path_of_one():
    assert KernelRidgeCV(0.3, kernel=RBF()).fit(X, y).alpha_ == 0.3


def test_the_first_of_equally_good_penalties_is_taken():
    assert KernelRidgeCV([3.0, 1.0, 10.0], scoring=lambda *_: 1.0).fit(X, y).alpha_ == 3.0


def test_a_constant_target_leaves_nothing():
    model = KernelRidgeCV(kernel=RBF(), fit_intercept=True).fit(X, np.full(60, 2.0))
    np.testing.assert_allclose(model.loo_residuals_, 0.0, atol=1e-12)
    assert model.certificate_.status.is_certified


def test_one_row_can_be_left_out_only_without_an_intercept():
    assert KernelRidgeCV(kernel=RBF()).fit(X[:1], y[:1]).loo_residuals_[0] == pytest.approx(y[0])
    with pytest.raises(InvalidInput, match="more than one sample"):
        KernelRidgeCV(kernel=RBF(), fit_intercept=True).fit(X[:1], y[:1])
    with pytest.raises(InvalidInput, match="more than one sample"):
        KernelRidgeCV(kernel=RBF(), fit_intercept=True).fit(X, y, np.arange(60) == 3)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alphas": []}, "alphas must be"),
        ({"alphas": [1.0, 0.0]}, r"alphas\[1\] is 0.0"),
        ({"alphas": -1.0}, r"alphas\[0\] is -1.0"),
        ({"alphas": [np.inf]}, "alphas must be"),
        ({"alphas": "strong"}, "alphas must be"),
        ({"alphas": [[1.0]]}, "alphas must be"),
        ({"cv": "loo"}, "cv must be"),
        ({"cv": "gcv", "scoring": "r2"}, "score of its own"),
        ({"cv": "gcv", "store_cv_results": True}, "needs leave-one-out"),
        ({"cv": 5, "store_cv_results": True}, "needs leave-one-out"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        KernelRidgeCV(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_a_score_that_is_never_a_number_is_refused():
    with pytest.raises(InvalidInput, match="Every score is NaN"):
        KernelRidgeCV(kernel=RBF(), cv=LeaveOneOut()).fit(X[:10], y[:10])


def test_folds_without_training_weight_are_refused():
    with pytest.raises(InvalidInput, match="Fold 0 has no training row"):
        KernelRidgeCV(kernel=RBF(), cv=KFold(2)).fit(X, y, np.r_[np.ones(30), np.zeros(30)])
    with pytest.raises(InvalidInput, match="no folds"):
        KernelRidgeCV(kernel=RBF(), cv=[(np.arange(30), np.arange(30, 60))]).fit(X, y, np.r_[np.ones(30), np.zeros(30)])


def test_an_indefinite_function_fits_with_a_warning_and_without_a_certificate():
    with pytest.warns(UncertifiedWarning, match="not positive"):
        model = KernelRidgeCV(kernel=lambda x, z: np.tanh(x @ z - 1.0)).fit(X, y)
    assert not model.certificate_.status.is_certified


def test_an_assumed_kernel_that_is_one_on_the_data_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelRidgeCV(kernel=lambda x, z: np.exp(-((x - z) ** 2).sum())).fit(X, y)
        KernelRidgeCV(kernel="precomputed").fit(RBF()(X.astype(np.float32)), y)
