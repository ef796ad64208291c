"""
Leave-one-out along alpha
=========================

One decomposition of K gives the exact leave-one-out error for every penalty. To the left the machine follows the
noise: its error on its own rows falls, that on rows it has not seen rises. To the right it follows nothing.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from mercer import RBF, KernelRidge
from mercer.plots import PathDisplay

X, y = load_diabetes(return_X_y=True)
model = KernelRidge(alpha=0.1, kernel=RBF(5.0), fit_intercept=True).fit(scale(X), y)

# %%
# The machine holds all that is needed; nothing is fitted again.
shown = PathDisplay.from_estimator(model)
print(f"alpha = {shown.best:.2g} is best, with a typical error of {shown.errors.min() ** 0.5:.1f}")
plt.show()
