"""scikit-learn's own checks, for every estimator and kind of kernel, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators.ridge import KernelRidge
from mercer.estimators.ridge_cv import KernelRidgeCV
from mercer.kernels import RBF, Linear

# Not "precomputed": the checks pass matrices that are not positive, which mercer does not certify (and says so).
ESTIMATORS = [
    KernelRidge(),
    KernelRidge(kernel="rbf", fit_intercept=True),
    KernelRidge(kernel=0.5 * RBF(2.0) + Linear()),
    KernelRidge(kernel="rbf", solver="cg", fit_intercept=True),
    KernelRidgeCV(),
    KernelRidgeCV(kernel="rbf", fit_intercept=True, cv="gcv"),
    KernelRidgeCV(kernel=0.5 * RBF(2.0) + Linear(), fit_intercept=True, alpha_per_target=True),
    KernelRidgeCV(kernel="rbf", cv=3),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
