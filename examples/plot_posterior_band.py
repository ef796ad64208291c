"""
A regression that knows where it has no data
============================================

Ridge regression with a kernel is the mean of a Gaussian process whose covariance is the kernel and whose noise has the
variance alpha. Its standard deviation is small at the rows, and large where there are none.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, KernelRidge
from mercer.plots import RegressionDisplay

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(0, 3.5, 22), rng.uniform(5.5, 9, 18)]))
y = np.sin(x) + 0.2 * rng.standard_normal(len(x))

# %%
# alpha is the variance of the noise, 0.2².
model = KernelRidge(alpha=0.04, kernel=RBF(1.0), fit_intercept=True).fit(x[:, None], y)
RegressionDisplay.from_estimator(model, x[:, None], y)
plt.show()
