"""scikit-learn's own checks of kernel logistic regression, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators.logistic import KernelLogisticRegression
from mercer.kernels import RBF, Linear

ESTIMATORS = [
    KernelLogisticRegression(),
    KernelLogisticRegression(kernel=0.5 * RBF(2.0) + Linear()),
    KernelLogisticRegression(kernel="linear", solver="newton-cg"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
