"""
A fit is a sum of bumps
=======================

In the dual, a ridge regression is f(x) = Σᵢ αᵢ k(xᵢ, x): one bump for each row, and its height is the residual of that
row divided by λ.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, KernelRidge

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 8, 14))
y = np.sin(x) + 0.25 * rng.standard_normal(14)
kernel = RBF(0.7)
model = KernelRidge(alpha=0.3, kernel=kernel).fit(x[:, None], y)
print(np.allclose(model.dual_coef_, (y - model.predict(x[:, None])) / 0.3))

# %%
# The thin lines are the bumps, the thick one is their sum.
at = np.linspace(-1, 9, 400)[:, None]
bumps = kernel(at, x[:, None]) * model.dual_coef_
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.plot(at, bumps, color="#c8581a", lw=1, alpha=0.7)
axes.plot(at, bumps.sum(axis=1), color="#0b5d8a", lw=2.5, label="f, the sum of all bumps")
axes.vlines(x, model.predict(x[:, None]), y, color="0.6", lw=1)
axes.plot(x, y, "o", color="0.35", label="data")
axes.legend(frameon=False)
plt.show()
