"""
Primal, dual and the gap between them
=====================================

The dual objective is a lower bound of the primal one. Where they meet, both are optimal, and nobody has to trust the
solver: each point is a fit that was stopped after so many steps, judged from its coefficients alone.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from mercer import SVC, KernelLogisticRegression
from mercer.plots import ConvergenceDisplay

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)

# %%
# Steps of two variables (SMO) are cheap, and there are many of them.
svc = SVC(C=10.0).fit(X, y)
ConvergenceDisplay.from_estimator(svc, X, y)
plt.show()

# %%
# Newton's method takes few.
logistic = KernelLogisticRegression(C=10.0, tol=1e-10).fit(X, y)
ConvergenceDisplay.from_estimator(logistic, X, y, kind="values")
plt.show()
