"""The same standard deviations, covariances and likelihoods as scikit-learn's GaussianProcessRegressor.

Its kernel is the prior covariance, its alpha the variance of the noise; alpha/weight where there are weights.
"""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp

from mercer import RBF, InvalidParameter, KernelRidge, Linear, Matern

RTOL = 1e-8
X, y = load_diabetes(return_X_y=True)
X = X[:200] / X.std(axis=0)
y = (y[:200] - y.mean()) / y.std()
Y = np.column_stack([y, y**2])
NEW = X[::7] + 0.1
WEIGHT = np.random.default_rng(0).random(200) + 0.1

INNER = gp.DotProduct(0.0, sigma_0_bounds="fixed")  # scikit-learn takes the logarithm of what is not fixed
KERNELS = {
    "rbf": (RBF(2.0), gp.RBF(2.0)),
    "scaled rbf": (3.0 * RBF(2.0), 3.0 * gp.RBF(2.0)),
    "Matérn 3/2": (Matern(nu=1.5, length_scale=3.0), gp.Matern(length_scale=3.0, nu=1.5)),
    "linear plus rbf": (Linear() + RBF(2.0), INNER + gp.RBF(2.0)),
}
each_kernel = pytest.mark.parametrize(("ours", "theirs"), KERNELS.values(), ids=KERNELS)
each_alpha = pytest.mark.parametrize("alpha", [1.0, 1e-3])


def process(kernel, alpha, targets=y, rows=slice(None)):
    # Without a search for parameters: nothing of scikit-learn's normalisation or restarts takes part.
    return GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None).fit(X[rows], targets[rows])


def ridge(kernel, alpha, targets=y, weight=None, **parameters):
    return KernelRidge(alpha=alpha, kernel=kernel, **parameters).fit(X, targets, sample_weight=weight)


@each_kernel
@each_alpha
def test_standard_deviations_agree(ours, theirs, alpha):
    mean, std = ridge(ours, alpha, solver="cholesky").predict(NEW, return_std=True)
    expected_mean, expected = process(theirs, alpha).predict(NEW, return_std=True)
    assert std.shape == (len(NEW),)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(std, expected, rtol=RTOL)


@each_kernel
@each_alpha
def test_covariances_agree(ours, theirs, alpha):
    mean, covariance = ridge(ours, alpha, solver="cholesky").predict(NEW, return_cov=True)
    expected_mean, expected = process(theirs, alpha).predict(NEW, return_cov=True)
    assert covariance.shape == (len(NEW), len(NEW))
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(covariance, expected, rtol=RTOL, atol=1e-11)


@each_kernel
@each_alpha
def test_likelihoods_agree(ours, theirs, alpha):
    model = ridge(ours, alpha, solver="cholesky")
    assert isinstance(model.log_marginal_likelihood_, float)
    assert model.log_marginal_likelihood_ == pytest.approx(
        process(theirs, alpha).log_marginal_likelihood_value_, rel=1e-10
    )


def test_weights_are_a_noise_variance_of_their_own_for_each_row():
    model = ridge(RBF(2.0), 0.3, weight=WEIGHT)
    expected = process(gp.RBF(2.0), 0.3 / WEIGHT)
    np.testing.assert_allclose(
        model.predict(NEW, return_std=True)[1], expected.predict(NEW, return_std=True)[1], rtol=RTOL
    )
    assert model.log_marginal_likelihood_ == pytest.approx(expected.log_marginal_likelihood_value_, rel=1e-10)


def test_rows_of_weight_zero_are_as_good_as_absent():
    used = np.arange(200) % 3 > 0
    model = ridge(RBF(2.0), 0.3, weight=np.where(used, WEIGHT, 0.0))
    expected = process(gp.RBF(2.0), 0.3 / WEIGHT[used], rows=used)
    np.testing.assert_allclose(
        model.predict(NEW, return_std=True)[1], expected.predict(NEW, return_std=True)[1], rtol=RTOL
    )
    assert model.log_marginal_likelihood_ == pytest.approx(expected.log_marginal_likelihood_value_, rel=1e-10)


def test_several_targets_agree_one_by_one():
    model = ridge(RBF(2.0), 0.3, targets=Y)
    mean, std = model.predict(NEW, return_std=True)
    _, covariance = model.predict(NEW, return_cov=True)
    m = len(NEW)
    assert (mean.shape, std.shape, covariance.shape) == ((m, 2), (m, 2), (m, m, 2))
    assert model.log_marginal_likelihood_.shape == (2,)
    for j in range(2):
        expected = process(gp.RBF(2.0), 0.3, targets=Y[:, j])
        np.testing.assert_allclose(std[:, j], expected.predict(NEW, return_std=True)[1], rtol=RTOL)
        np.testing.assert_allclose(
            covariance[:, :, j], expected.predict(NEW, return_cov=True)[1], rtol=RTOL, atol=1e-11
        )
        assert model.log_marginal_likelihood_[j] == pytest.approx(expected.log_marginal_likelihood_value_, rel=1e-10)


def test_each_target_may_have_its_own_noise():
    model = ridge(RBF(2.0), [0.3, 5.0], targets=Y)
    _, std = model.predict(NEW, return_std=True)
    _, covariance = model.predict(NEW, return_cov=True)
    for j, alpha in enumerate([0.3, 5.0]):
        expected = process(gp.RBF(2.0), alpha, targets=Y[:, j])
        np.testing.assert_allclose(std[:, j], expected.predict(NEW, return_std=True)[1], rtol=RTOL)
        np.testing.assert_allclose(
            covariance[:, :, j], expected.predict(NEW, return_cov=True)[1], rtol=RTOL, atol=1e-11
        )
        assert model.log_marginal_likelihood_[j] == pytest.approx(expected.log_marginal_likelihood_value_, rel=1e-10)


def test_a_finite_map_gives_the_same_posterior_without_a_gram_matrix():
    model = ridge(Linear(), 0.3, solver="primal")
    expected = process(INNER, 0.3)
    np.testing.assert_allclose(
        model.predict(NEW, return_std=True)[1], expected.predict(NEW, return_std=True)[1], rtol=RTOL
    )
    np.testing.assert_allclose(
        model.predict(NEW, return_cov=True)[1], expected.predict(NEW, return_cov=True)[1], rtol=RTOL, atol=1e-11
    )
    assert model.log_marginal_likelihood_ == pytest.approx(expected.log_marginal_likelihood_value_, rel=1e-10)


@pytest.mark.parametrize("kernel", [RBF(2.0), Linear()], ids=["dual", "primal"])
def test_an_intercept_is_a_constant_kernel_of_great_variance(kernel):
    wide = 1e6
    theirs = gp.RBF(2.0) if kernel == RBF(2.0) else INNER
    expected = process(theirs + gp.ConstantKernel(wide), 0.3)
    model = ridge(kernel, 0.3, fit_intercept=True)
    mean, std = model.predict(NEW, return_std=True)
    expected_mean, expected_std = expected.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(std, expected_std, rtol=1e-4)
    # A flat prior has density 1 where the wide one has 1/√(2π wide).
    assert model.log_marginal_likelihood_ == pytest.approx(
        expected.log_marginal_likelihood_value_ + 0.5 * np.log(2.0 * np.pi * wide), rel=1e-5
    )


def test_without_noise_the_training_targets_are_known():
    model = ridge(RBF(0.5), 0.0)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, y, atol=1e-8)
    np.testing.assert_allclose(std, 0.0, atol=1e-6)


def test_the_standard_deviation_is_the_root_of_the_diagonal_of_the_covariance():
    model = ridge(RBF(2.0), 0.3, fit_intercept=True, weight=WEIGHT)
    _, std = model.predict(NEW, return_std=True)
    _, covariance = model.predict(NEW, return_cov=True)
    np.testing.assert_allclose(std, np.sqrt(covariance.diagonal()), rtol=1e-10)
    np.testing.assert_array_equal(covariance, covariance.T)


def test_standard_deviation_and_covariance_at_once_are_refused_as_in_scikit_learn():
    model = ridge(RBF(2.0), 0.3)
    with pytest.raises((InvalidParameter, RuntimeError), match="return_std"):
        model.predict(NEW, return_std=True, return_cov=True)
