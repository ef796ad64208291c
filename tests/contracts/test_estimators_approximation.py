"""scikit-learn's own checks for the transformers that approximate a kernel, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import RBF, KernelLogisticRegression, KernelRidge, Linear, Matern, Nystroem, RandomFeatures

ESTIMATORS = [
    Nystroem(),
    Nystroem(0.5 * RBF(2.0) + Linear(), n_components=7, landmarks="rpcholesky"),
    RandomFeatures(),
    RandomFeatures(Matern(1.5), n_components=10, orthogonal=False),
    # All rows: a row that is there twice may be chosen twice as likely, so that weights are copies on average only.
    KernelRidge(kernel="rbf", solver="landmarks", n_landmarks=100, fit_intercept=True),
    KernelLogisticRegression(solver="landmarks", n_landmarks=15, landmarks="k-means++"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
