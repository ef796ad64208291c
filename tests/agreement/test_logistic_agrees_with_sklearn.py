"""With a linear kernel, scikit-learn's LogisticRegression; with any, the mode of its GaussianProcessClassifier."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.linear_model import LogisticRegression

from mercer import RBF
from mercer.estimators.logistic import KernelLogisticRegression

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 4))
labels = {
    "two": (X[:, 0] + 0.5 * RNG.standard_normal(150) > 0.3).astype(int),
    "four": np.digitize(X[:, 0] + X[:, 1] + 0.5 * RNG.standard_normal(150), [-1.0, 0.0, 1.0]),
}
AGREE = 1e-5


@pytest.mark.parametrize("solver", ["primal", "newton-cholesky", "newton-cg"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("which", labels)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_linear_kernel_gives_logistic_regression(solver, fit_intercept, which, C):
    y, weight = labels[which], RNG.uniform(0.2, 2.0, 150)
    theirs = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-10, max_iter=2000)
    theirs.fit(X, y, sample_weight=weight)
    ours = KernelLogisticRegression(C=C, kernel="linear", fit_intercept=fit_intercept, solver=solver, tol=1e-11)
    ours.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=AGREE)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_the_mode_is_that_of_the_gaussian_process():
    y = labels["two"]
    theirs = GaussianProcessClassifier(2.0 * kernels.RBF(1.5), optimizer=None, max_iter_predict=1000).fit(X, y)
    ours = KernelLogisticRegression(kernel=2.0 * RBF(1.5), fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], theirs.base_estimator_.pi_, atol=AGREE)
