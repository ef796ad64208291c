"""
The tube of support vector regression
=====================================

Errors below ε cost nothing. Rows inside the tube could be left out without any change: the support vectors, which are
filled, lie on its edge or outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, SVR
from mercer.plots import RegressionDisplay

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 9, 60))
y = np.sin(x) + 0.15 * rng.standard_normal(len(x))

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained", sharey=True)
for ax, epsilon in zip(axes, (0.1, 0.4), strict=True):
    model = SVR(C=10.0, epsilon=epsilon, kernel=RBF(1.0)).fit(x[:, None], y)
    RegressionDisplay.from_estimator(model, x[:, None], y, ax=ax)
plt.show()
