import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import (
    RBF,
    Constant,
    Cosine,
    DomainMismatch,
    InvalidInput,
    InvalidParameter,
    KernelRidge,
    Laplacian,
    Linear,
    NotPositive,
    Polynomial,
    Precomputed,
    SetIntersection,
    UncertifiedWarning,
)
from mercer.problems import Status

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
y = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(80)


def test_every_fit_carries_its_certificate():
    model = KernelRidge(alpha=0.1, kernel=RBF()).fit(X, y)
    assert model.certificate_.status.is_certified
    assert 0.0 <= model.certificate_.relative_gap < 1e-12
    residual = y - model.predict(X)
    np.testing.assert_allclose(model.dual_coef_, residual / 0.1, rtol=1e-8, atol=1e-10)


def test_a_grid_search_replaces_parameters_of_the_kernel():
    grid = {"kernel__length_scale": [0.1, 1.0, 10.0], "alpha": [0.1, 1.0]}
    kernel = RBF() + Linear()
    search = GridSearchCV(KernelRidge(kernel=kernel), grid, cv=3).fit(X, y)
    assert search.best_params_["kernel__length_scale"] in (0.1, 1.0, 10.0)
    assert kernel == RBF() + Linear()
    assert search.best_estimator_.kernel == RBF(search.best_params_["kernel__length_scale"]) + Linear()


def test_setting_a_parameter_of_the_kernel_replaces_the_kernel():
    kernel = 0.5 * RBF() + Linear()
    model = KernelRidge(kernel=kernel)
    copy = clone(model).set_params(kernel__length_scale=3.0, alpha=2.0)
    assert (copy.kernel, copy.alpha) == (0.5 * RBF(3.0) + Linear(), 2.0)
    assert model.kernel is kernel
    assert model.get_params()["kernel__length_scale"] == 1.0
    assert clone(model).set_params(kernel=RBF(), kernel__length_scale=2.0).kernel == RBF(2.0)


def test_a_named_kernel_has_no_parameters_to_replace():
    with pytest.raises(InvalidParameter, match="Only a Kernel object has parameters"):
        KernelRidge(kernel="rbf").set_params(kernel__length_scale=2.0)


def test_rules_are_resolved_on_the_training_points():
    model = KernelRidge(kernel=RBF("median")).fit(X, y)
    assert model.kernel == RBF("median")
    assert isinstance(model.binding_.kernel.length_scale, float)


def test_pipelines_and_cross_validation_take_it_as_it_is():
    model = make_pipeline(StandardScaler(), KernelRidge(kernel=RBF(), alpha=0.1))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.5


def test_cross_validation_slices_a_precomputed_matrix_both_ways():
    scores = cross_val_score(KernelRidge(kernel="precomputed", alpha=0.1), RBF()(X), y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(KernelRidge(kernel=RBF(), alpha=0.1), X, y, cv=3))


def test_a_data_frame_keeps_its_names():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelRidge(kernel=RBF().on("a", "b") + Linear().on("c")).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"c": "d"}))


def test_points_without_columns_are_fitted_too():
    sets = [frozenset(RNG.choice(9, size=4, replace=False).tolist()) for _ in range(30)]
    target = np.array([float(3 in s) for s in sets])
    model = KernelRidge(alpha=1e-2, kernel=SetIntersection()).fit(sets, target)
    assert model.score(sets, target) > 0.99
    np.testing.assert_allclose(model.predict([{3}, {4, 77}]), [1.0, 0.0], atol=0.05)
    assert not hasattr(model, "n_features_in_")


def test_a_pickled_model_predicts_the_same():
    model = KernelRidge(kernel=RBF("median"), fit_intercept=True).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_the_intercept_is_not_penalised():
    far = y + 1e6
    near = KernelRidge(kernel=RBF(), fit_intercept=True).fit(X, y)
    shifted = KernelRidge(kernel=RBF(), fit_intercept=True).fit(X, far)
    np.testing.assert_allclose(shifted.predict(X) - 1e6, near.predict(X), atol=1e-8)


def test_an_indefinite_function_fits_with_a_warning_and_without_a_certificate():
    with pytest.warns(UncertifiedWarning, match="not positive"):
        model = KernelRidge(kernel=lambda x, z: np.tanh(x @ z - 1.0), alpha=0.1).fit(X, y)
    assert not model.certificate_.status.is_certified
    assert "assuming" in str(model.certificate_)


def test_an_assumed_kernel_that_is_one_on_the_data_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelRidge(kernel=lambda x, z: np.exp(-((x - z) ** 2).sum())).fit(X, y)
        KernelRidge(kernel="precomputed").fit(RBF()(X.astype(np.float32)), y)
    assert model.certificate_.assumptions


@pytest.mark.parametrize("kernel", ["precomputed", Precomputed()])
def test_a_precomputed_matrix_that_is_not_symmetric_is_refused(kernel):
    K = RBF()(X)
    K[3, 5] += 0.1
    with pytest.raises(NotPositive, match=r"not symmetric.*\n.*K\[3, 5\]"):
        KernelRidge(kernel=kernel).fit(K, y)


def test_a_precomputed_matrix_that_is_not_square_is_refused():
    with pytest.raises(InvalidInput, match="n_samples, n_samples"):
        KernelRidge(kernel="precomputed").fit(X, y)


def test_a_factorisation_that_breaks_down_is_a_message_about_conditioning():
    with pytest.raises(NotPositive, match=r"condition number.*\n.*\n.*Raise alpha"):
        KernelRidge(alpha=1e-30, kernel=RBF(), solver="cholesky").fit(np.vstack([X, X]), np.r_[y, y])


def test_duplicate_rows_without_a_penalty_give_the_least_squares_solution_of_least_norm():
    model = KernelRidge(alpha=0.0, kernel=RBF()).fit(np.vstack([X, X]), np.r_[y, y + 1.0])
    assert model.certificate_.status is Status.LEAST_SQUARES
    assert model.certificate_.rank == 80
    assert model.certificate_.normal_residual < 1e-8
    np.testing.assert_allclose(model.predict(X), y + 0.5, atol=1e-6)
    np.testing.assert_allclose(model.dual_coef_[:80], model.dual_coef_[80:], rtol=1e-6)  # the least norm is even
    assert np.isinf(model.error_bound(X)).all()
    assert "rank          80 of 160" in model.explain()


def test_without_a_penalty_distinct_rows_are_interpolated():
    model = KernelRidge(alpha=0.0, kernel=RBF(0.5)).fit(X, y)
    assert model.certificate_.status is Status.INTERPOLATING
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)


def test_the_weights_of_contradicting_rows_count_without_a_penalty():
    weight = np.repeat([3.0, 1.0], 80)
    model = KernelRidge(alpha=0.0, kernel=RBF()).fit(np.vstack([X, X]), np.r_[y, y + 1.0], sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), y + 0.25, atol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("t", [1, 3])
def test_the_primal_weights_are_the_features_times_the_dual_coefficients(fit_intercept, t):
    targets = np.column_stack([y, y**2, X[:, 1]])[:, :t]
    kernel = Polynomial(2)
    for solver in ("primal", "cholesky"):
        model = KernelRidge(alpha=0.2, kernel=kernel, fit_intercept=fit_intercept, solver=solver).fit(X, targets)
        phi = kernel.feature_map(X)
        np.testing.assert_allclose(model.coef_, (phi(X).T @ model.dual_coef_).T, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(phi(X) @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-8, atol=1e-9)


def test_an_infinite_map_has_no_primal_weights():
    assert not hasattr(KernelRidge(kernel=RBF()), "coef_")
    assert not hasattr(KernelRidge(kernel=RBF()).fit(X, y), "coef_")


def test_the_solver_is_explained_and_can_be_overridden():
    model = KernelRidge(kernel=Linear()).fit(X, y)
    assert "→ primal" in model.explain()
    assert "3 features in place of 80 rows" in model.explain()
    forced = KernelRidge(kernel=Linear(), solver="cholesky").fit(X, y)
    assert forced.certificate_.solver == "cholesky"
    np.testing.assert_allclose(forced.predict(X), model.predict(X), rtol=1e-9)


def test_one_row_is_predicted_by_the_fast_path_as_by_predict():
    for kernel, target in ((RBF(), y), (Linear(), y), (RBF(), np.column_stack([y, y]))):
        model = KernelRidge(kernel=kernel).fit(X, target)
        np.testing.assert_allclose(model.predict_one(X[3]), model.predict(X[3:4])[0], rtol=1e-12)
        np.testing.assert_allclose(model.predict_one(X[3].tolist()), model.predict(X[3:4])[0], rtol=1e-12)
    assert isinstance(KernelRidge(kernel=RBF()).fit(X, y).predict_one(X[0]), float)
    for wrong in (X[:1], X[0, :2], [1.0, np.nan, 2.0]):
        with pytest.raises(InvalidInput, match="one vector of finite numbers"):
            model.predict_one(wrong)


def test_too_few_iterations_give_the_best_so_far_with_a_warning():
    many = np.random.default_rng(1).standard_normal((500, 3))
    with pytest.warns(UncertifiedWarning, match="max_iter, max_time or Ctrl-C ended it"):
        model = KernelRidge(alpha=1e-4, kernel=Laplacian(0.3), solver="cg", max_iter=1).fit(many, many[:, 0])
    assert model.certificate_.status is Status.STOPPED
    assert model.n_iter_ == 1
    assert model.certificate_.gap > 0.0


def test_too_little_time_gives_the_best_so_far_with_a_warning():
    for solver in ("cholesky", "cg"):
        with pytest.warns(UncertifiedWarning, match="max_iter, max_time or Ctrl-C ended it"):
            model = KernelRidge(alpha=1e-6, kernel=RBF(), solver=solver, max_time=1e-9).fit(X, y)
        assert np.isfinite(model.predict(X)).all()


def test_verbose_draws_nothing_on_a_short_solve(capsys):
    KernelRidge(kernel=RBF(), verbose=1).fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": [1.0, 2.0]}, "alpha must be"),
        ({"alpha": "strong"}, "alpha must be"),
        ({"alpha": np.nan}, "alpha must be"),
        ({"kernel": "rfb"}, "not the name of a kernel"),
        ({"kernel": 3}, "kernel must be a Kernel"),
        ({"kernel": RBF(), "gamma": 0.1}, "gamma has no effect"),
        ({"kernel": "rbf", "kernel_params": {"a": 1}}, "kernel_params has no effect"),
        ({"kernel": min, "gamma": 0.1}, "gamma has no effect"),
        ({"solver": "magic"}, "no solver 'magic'"),
        ({"solver": "primal", "kernel": RBF()}, "no finite feature map"),
        ({"solver": "cg", "alpha": 0.0}, "alpha above 0"),
        ({"solver": np.arange(3.0)}, "solver of KernelRidge must be"),
        ({"tol": 0.0}, "tol must lie"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"max_time": -1.0}, "max_time must be"),
        ({"fit_intercept": "yes"}, "fit_intercept of KernelRidge must be"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, words):
    with pytest.raises(InvalidParameter, match=words):
        KernelRidge(**parameters).fit(X, y)


def test_what_scikit_learn_calls_additive_chi2_is_refused():
    with pytest.raises(NotPositive, match="additive_chi2"):
        KernelRidge(kernel="additive_chi2").fit(np.abs(X), y)


@pytest.mark.parametrize(
    ("target", "weight", "words"),
    [
        (y[:-1], None, "inconsistent numbers of samples"),
        (np.where(np.arange(80) == 3, np.nan, y), None, "y contains NaN"),
        (["a"] * 80, None, "real numbers"),
        (np.ones((80, 2, 2)), None, "dim 3"),
        (3.0, None, "y must have one or two axes"),
        (y, np.ones(79), "inconsistent numbers of samples"),
        (y, -np.ones(80), "Negative values"),
        (y, np.zeros(80), "All sample weights are zero"),
        (y, np.ones((80, 2)), "1D"),
    ],
)
def test_targets_and_weights_that_do_not_fit_are_refused(target, weight, words):
    with pytest.raises(ValueError, match=words):
        KernelRidge().fit(X, target, sample_weight=weight)


def test_points_of_another_domain_are_refused():
    with pytest.raises(DomainMismatch):
        KernelRidge(kernel=SetIntersection()).fit(X, y)


def test_a_constant_target_is_certified():
    model = KernelRidge(kernel=RBF(), fit_intercept=True).fit(X, np.full(80, 3.0))
    assert model.certificate_.status.is_certified
    np.testing.assert_allclose(model.predict(X), 3.0)


@pytest.mark.parametrize("kernel", [Constant(0.5), Polynomial(1, 3.0, 2.2), Cosine()], ids=repr)
@pytest.mark.parametrize("weight", [None, np.random.default_rng(0).random(14)])
def test_what_is_constant_leaves_all_to_the_intercept_without_a_penalty(kernel, weight):
    constant = np.full((14, 2), 0.3)
    targets = np.square(np.arange(14.0))
    model = KernelRidge(alpha=0.0, kernel=kernel, fit_intercept=True).fit(constant, targets, weight)
    assert model.certificate_.status is Status.LEAST_SQUARES
    np.testing.assert_allclose(model.predict(constant), np.average(targets, weights=weight))
    decisions = kernel(constant) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(constant), decisions)


def test_large_means_of_the_features_cost_no_digits_beside_an_intercept():
    ordinary = KernelRidge(alpha=0.0, fit_intercept=True).fit(X, y)
    moved = KernelRidge(alpha=0.0, fit_intercept=True).fit(X + 128.0, y)
    np.testing.assert_allclose(moved.predict(X + 128.0), ordinary.predict(X), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_coefficients_have_digits_where_the_residuals_have_none(fit_intercept):
    # The penalty is 1e-25 of K: the residuals, of which the coefficients are multiples, are below the rounding of y.
    X = 1e9 * np.random.default_rng(0).normal(size=(31, 5))
    y = X @ np.full(5, 1e-9)
    with warnings.catch_warnings():  # the last bits of y decide whether the gap closes
        warnings.simplefilter("ignore", UncertifiedWarning)
        model = KernelRidge(1e-6, kernel=Linear(), fit_intercept=fit_intercept).fit(X, y)
    by_coefficients = (X @ X.T) @ model.dual_coef_ + model.intercept_
    rounding = np.finfo(float).eps * (abs(X) @ abs(X).T) @ abs(model.dual_coef_)  # of the product by the coefficients
    assert rounding.max() < 1e-3
    assert (abs(by_coefficients - model.predict(X)) <= 8.0 * rounding + 1e-12).all()
    assert (abs(by_coefficients - y) <= 8.0 * rounding + 1e-12).all()
    assert model.certificate_.solver == "primal"


@pytest.mark.parametrize("intercept", [False, True])
def test_the_prior_variance_makes_the_targets_likeliest_and_leaves_predictions_as_they_are(intercept):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    Y = 1e3 * np.c_[np.sin(X[:, 0]), X[:, 1] ** 2] + 1e2 * rng.standard_normal((40, 2))

    def fitted(factor):
        return KernelRidge(0.3 * factor, kernel=factor * RBF(1.0), fit_intercept=intercept).fit(X, Y)

    plain = fitted(1.0)
    for target, variance in enumerate(plain.prior_variance_):
        best, *others = (fitted(variance * step).log_marginal_likelihood_[target] for step in (1.0, 0.9, 1.1))
        assert best > max(others)
        scaled = fitted(variance)
        np.testing.assert_allclose(scaled.predict(X), plain.predict(X), rtol=1e-8)
        deviation = plain.predict(X, return_std=True)[1]
        np.testing.assert_allclose(scaled.predict(X, return_std=True)[1], np.sqrt(variance) * deviation, rtol=1e-6)
        np.testing.assert_allclose(scaled.prior_variance_[target], 1.0, rtol=1e-8)
    assert isinstance(KernelRidge(kernel=RBF(1.0)).fit(X, Y[:, 0]).prior_variance_, float)
