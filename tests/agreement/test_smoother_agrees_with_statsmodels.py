"""The smoother and its leave-one-out against statsmodels' local constant regression."""

import numpy as np
import pytest

from mercer.estimators.smoother import NadarayaWatson
from mercer.kernels import RBF

kernel_regression = pytest.importorskip("statsmodels.nonparametric.kernel_regression")

# Of statsmodels: random numbers that are not asked of it here, and negative bandwidths that its search tries.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::RuntimeWarning")

RNG = np.random.default_rng(5)
X = RNG.uniform(-2, 2, (60, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(60)


def theirs(bandwidth):
    return kernel_regression.KernelReg(y, X, "cc", reg_type="lc", bw=np.array(bandwidth))


def test_predictions_with_a_width_for_each_column():
    new = RNG.uniform(-2, 2, (25, 2))
    expected = theirs([0.3, 0.7]).fit(new)[0]
    np.testing.assert_allclose(NadarayaWatson(kernel=RBF([0.3, 0.7])).fit(X, y).predict(new), expected, rtol=1e-9)
    np.testing.assert_allclose(NadarayaWatson(0.5, kernel=RBF([0.6, 1.4])).fit(X, y).predict(new), expected, rtol=1e-9)


@pytest.mark.parametrize("h", [0.1, 0.4, 2.0])
def test_the_criterion_of_leave_one_out(h):
    peer = theirs([h, h])
    expected = peer.cv_loo(np.array([h, h]), peer.est["lc"])
    model = NadarayaWatson("loo", bandwidths=[h]).fit(X, y)
    np.testing.assert_allclose(-model.loo_score_, expected, rtol=1e-9)


def test_the_chosen_width_is_theirs_to_the_step_of_the_grid():
    x, target = X[:, :1], np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(60)
    peer = kernel_regression.KernelReg(target, x, "c", reg_type="lc", bw="cv_ls")
    model = NadarayaWatson("loo", bandwidths=np.geomspace(0.02, 1.0, 80)).fit(x, target)
    assert model.bandwidth_ == pytest.approx(abs(float(peer.bw[0])), rel=0.06)  # theirs may be negative
