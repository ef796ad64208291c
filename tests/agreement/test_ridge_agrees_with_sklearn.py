"""The same coefficients and predictions as scikit-learn's KernelRidge (1.6 and later) for the same parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import kernel_ridge, linear_model
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics.pairwise import pairwise_kernels

from mercer import RBF, KernelRidge, UncertifiedWarning

RTOL = 1e-8
X, y = load_diabetes(return_X_y=True)
X = X[:200] / X.std(axis=0)
y = y[:200] / y.std()
Y = np.column_stack([y, y**2])
NEW = X[::7] + 0.1
WEIGHT = np.random.default_rng(0).random(200)

NAMED = {
    "linear": {},
    "rbf": {"gamma": 0.03},
    "rbf, gamma by default": {"kernel": "rbf"},
    "laplacian": {"gamma": 0.05},
    "poly": {"degree": 2, "coef0": 0.5, "gamma": 0.1},
    "polynomial": {},
    "cosine": {},
}


def both(**parameters):
    return KernelRidge(**parameters), kernel_ridge.KernelRidge(**parameters)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("weight", [None, 0.5, WEIGHT], ids=["no weights", "a number", "weights"])
def test_named_kernels_give_the_same_model(name, weight):
    ours, theirs = both(**{"kernel": name, **NAMED[name]}, alpha=0.3)
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-8 * np.abs(theirs.dual_coef_).max()
    )
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=RTOL)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_the_chi_squared_kernel_gives_the_same_model():
    ours, theirs = both(kernel="chi2", gamma=0.2)
    P = np.abs(X)
    np.testing.assert_allclose(ours.fit(P, y).predict(np.abs(NEW)), theirs.fit(P, y).predict(np.abs(NEW)), rtol=RTOL)


@pytest.mark.parametrize("alpha", [0.3, [0.3, 5.0]], ids=["one alpha", "an alpha for each"])
def test_several_targets_give_the_same_model(alpha):
    ours, theirs = both(kernel="rbf", gamma=0.03, alpha=alpha)
    np.testing.assert_allclose(ours.fit(X, Y).predict(NEW), theirs.fit(X, Y).predict(NEW), rtol=RTOL)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_rows_give_the_same_model(container, kernel):
    S = np.where(np.abs(X) > 1, X, 0.0)
    ours, theirs = both(kernel=kernel)
    ours.fit(container(S), y)
    theirs.fit(S, y)
    np.testing.assert_allclose(ours.predict(container(S)), theirs.predict(S), rtol=RTOL)


def test_a_precomputed_matrix_gives_the_same_model():
    K, rows = pairwise_kernels(X, metric="rbf"), pairwise_kernels(NEW, X, metric="rbf")
    before = K.copy()
    ours, theirs = both(kernel="precomputed")
    np.testing.assert_allclose(ours.fit(K, y).predict(rows), theirs.fit(K, y).predict(rows), rtol=RTOL)
    np.testing.assert_array_equal(K, before)


def test_a_function_of_two_points_gives_the_same_model():
    def fn(x, z, scale):
        return np.exp(-scale * ((x - z) ** 2).sum())

    ours, theirs = both(kernel=fn, kernel_params={"scale": 0.03})
    np.testing.assert_allclose(
        ours.fit(X[:60], y[:60]).predict(NEW), theirs.fit(X[:60], y[:60]).predict(NEW), rtol=RTOL
    )


def test_the_sigmoid_still_fits_with_a_warning():
    ours, theirs = both(kernel="sigmoid", gamma=0.5, coef0=-1.0, alpha=0.7)
    with pytest.warns(UserWarning, match="Singular matrix"):
        theirs.fit(X, y)
    with pytest.warns(UncertifiedWarning, match="not positive semi-definite on this data"):
        ours.fit(X, y)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=1e-6)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_the_intercept_is_that_of_linear_ridge_regression(weight):
    ours = KernelRidge(alpha=0.7, fit_intercept=True).fit(X, Y, sample_weight=weight)
    theirs = linear_model.Ridge(alpha=0.7, fit_intercept=True).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), rtol=RTOL)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=RTOL)


def test_the_prediction_is_the_mean_of_the_gaussian_process():
    process = GaussianProcessRegressor(gp.RBF(3.0), alpha=0.1, optimizer=None).fit(X, y)
    model = KernelRidge(alpha=0.1, kernel=RBF(3.0)).fit(X, y)
    np.testing.assert_allclose(model.predict(NEW), process.predict(NEW), rtol=RTOL)
