"""scikit-learn's own checks of the transformer, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import RBF, KernelFeatures, Linear


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        KernelFeatures(),
        KernelFeatures("linear"),
        KernelFeatures(0.5 * Linear() ** 2 + 1.0),
        KernelFeatures(RBF(3.0), order=2),
    ]
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
