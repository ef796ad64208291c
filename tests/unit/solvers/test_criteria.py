"""The criteria of `learn`: their values by definition, their slopes by differences."""

import numpy as np
import pytest

from mercer import RBF, KernelRidge, NotPositive
from mercer.solvers.criteria import CRITERIA, Sample, leave_one_out, likelihood

RNG = np.random.default_rng(0)
X = RNG.standard_normal((25, 2))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] ** 2], axis=1) + 0.1 * RNG.standard_normal((25, 2))
WEIGHT = RNG.uniform(0.5, 2.0, 25)
K = np.asarray(RBF()(X))


def sample(intercept: int) -> Sample:
    return Sample(Y, 0.1 / WEIGHT, WEIGHT, np.ones((25, intercept)))


@pytest.mark.parametrize("intercept", [0, 1])
def test_leave_one_out_is_the_error_after_refitting(intercept):
    missed = np.empty_like(Y)
    for row in range(25):
        rest = np.delete(np.arange(25), row)
        model = KernelRidge(alpha=0.1, kernel=RBF(), fit_intercept=bool(intercept))
        missed[row] = Y[row] - model.fit(X[rest], Y[rest], sample_weight=WEIGHT[rest]).predict(X[[row]])[0]
    mean = np.average(missed**2, axis=0, weights=WEIGHT).mean()
    assert leave_one_out(K, sample(intercept)).value == pytest.approx(0.5 * np.log(mean), rel=1e-9)


def test_the_likelihood_is_that_of_a_gaussian_with_the_best_variance():
    from scipy.optimize import minimize_scalar
    from scipy.stats import multivariate_normal

    covariance = K + np.diag(0.1 / WEIGHT)

    def negative(log_variance):
        density = multivariate_normal(np.zeros(25), np.exp(log_variance) * covariance)
        return -sum(density.logpdf(column) for column in Y.T) / (25 * 2)

    best = minimize_scalar(negative, bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-10})
    assert likelihood(K, sample(0)).value == pytest.approx(best.fun, rel=1e-9)


@pytest.mark.parametrize("intercept", [0, 1])
@pytest.mark.parametrize("by", CRITERIA)
def test_slopes_are_differences(by, intercept):
    step = RNG.standard_normal((25, 25))
    step += step.T
    rated = CRITERIA[by](K, sample(intercept))
    h = 1e-6
    difference = (
        CRITERIA[by](K + h * step, sample(intercept)).value - CRITERIA[by](K - h * step, sample(intercept)).value
    ) / (2.0 * h)
    assert np.vdot(rated.slope, step) == pytest.approx(difference, rel=1e-6)
    np.testing.assert_allclose(rated.slope, rated.slope.T, rtol=1e-12, atol=1e-15)


def test_a_restricted_likelihood_is_that_of_contrasts():
    # Of an orthonormal basis of all that is orthogonal to 1, whose density has no intercept.
    from scipy.stats import multivariate_normal

    basis = np.linalg.svd(np.eye(25) - 1.0 / 25)[0][:, :24]
    covariance, y = basis.T @ (K + np.diag(0.1 / WEIGHT)) @ basis, basis.T @ Y[:, :1]
    variance = (y.T @ np.linalg.solve(covariance, y)).item() / 24
    expected = -multivariate_normal(np.zeros(24), variance * covariance).logpdf(y[:, 0])
    found = likelihood(K, Sample(Y[:, :1], 0.1 / WEIGHT, WEIGHT, np.ones((25, 1))))
    # Contrasts have det BᵀB = n less in their density.
    assert 25 * found.value == pytest.approx(expected + 0.5 * np.log(25), rel=1e-9)


def test_a_matrix_that_is_not_positive_is_refused():
    with pytest.raises(NotPositive, match="Cholesky factor ends at row"):
        leave_one_out(-np.eye(25), sample(1))
