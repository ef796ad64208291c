"""Rows and targets for the tests of support vector machines."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
two = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(90) > 0, "yes", "no")
three = np.digitize(X[:, 0] + 0.5 * RNG.standard_normal(90), [-0.5, 0.5])
five = RNG.integers(0, 5, 90)
target = np.sin(X[:, 0]) + 0.1 * RNG.standard_normal(90)
new = RNG.standard_normal((40, 3))
