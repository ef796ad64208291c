"""scikit-learn's own checks, for the machines of neighbours, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators.centroid import KernelNearestCentroid
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.kernels import RBF, Linear

ESTIMATORS = [
    KernelNeighborsClassifier(),
    KernelNeighborsClassifier(3, kernel=RBF(2.0) + Linear(), weights="distance"),
    KernelNeighborsClassifier(2, kernel="laplacian", weights="kernel"),
    KernelNeighborsRegressor(),
    KernelNeighborsRegressor(2, kernel="rbf", weights="kernel"),
    KernelNearestCentroid(),
    KernelNearestCentroid(kernel="rbf"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
