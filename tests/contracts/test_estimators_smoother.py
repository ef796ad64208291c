"""scikit-learn's own checks of the smoothers, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.kernels import RBF, Matern

ESTIMATORS = [
    NadarayaWatson(),
    NadarayaWatson(2.0, kernel="tricube"),
    NadarayaWatson(0.5, kernel=0.5 * RBF(2.0) + Matern(1.5)),
    # Leave-one-out leaves rows out with their whole weight, which copies are not: one width, so that both agree.
    NadarayaWatson("loo", bandwidths=[0.7]),
    NadarayaWatsonClassifier(),
    NadarayaWatsonClassifier(3.0, kernel="epanechnikov"),
    NadarayaWatsonClassifier("loo", bandwidths=[0.7]),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
