import numpy as np
import pytest

from mercer.problems.feasible import best_shift
from mercer.problems.losses import LOSSES

EPS = np.finfo(np.float64).eps


@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("away", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e2, 1e4])
def test_intercepts_are_found_from_however_far_away(classes, away, spread):
    rng = np.random.default_rng(classes)
    label = np.r_[np.arange(classes), rng.integers(0, classes, 40)]
    y = np.where(label == 1, 1.0, -1.0)[:, None] if classes == 2 else np.eye(classes)[label]
    loss = LOSSES["logistic" if classes == 2 else "softmax"]
    cost, B = rng.uniform(0.1, 2.0, (len(y), 1)) * 1e3, np.ones((len(y), 1))
    g = spread * rng.standard_normal(y.shape) + away * rng.standard_normal(y.shape[1])
    mu = best_shift(loss, g, y, cost, B, np.zeros(1))
    left = (-cost * loss.slope(g + B @ mu, y)).sum(axis=0)
    # A probability is known to the rounding of its g.
    assert np.abs(left).max() <= 16 * EPS * max(np.abs(g).max(), np.abs(mu).max(), 1.0) * cost.sum()


def test_a_probability_that_is_nearly_one_keeps_its_digits():
    loss, y = LOSSES["softmax"], np.array([[1.0, 0.0, 0.0]])
    g = np.array([[30.0, 0.0, -1.0]])
    wrong = np.exp([-30.0, -31.0])
    slope = loss.slope(g, y)
    np.testing.assert_allclose(slope[0], [-wrong.sum(), *wrong], rtol=1e-12)
    np.testing.assert_allclose(loss.decision(slope, y)[0], [-wrong.sum(), -30.0, -31.0], rtol=1e-12)
    entropy = -wrong.sum() + wrong @ [-30.0, -31.0]
    np.testing.assert_allclose(loss.conjugate(slope, y), [[entropy]], rtol=1e-12)
