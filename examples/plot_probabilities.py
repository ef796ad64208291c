"""
Where a classifier is sure
==========================

Logistic regression with a kernel gives probabilities. Between the dashed lines neither class has more than 0.9.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, KernelLogisticRegression
from mercer.plots import DecisionRegionsDisplay

X, y = make_moons(200, noise=0.3, random_state=2)
names = np.where(y == 1, "lower", "upper")
model = KernelLogisticRegression(C=10.0, kernel=RBF(0.8)).fit(X, names)
DecisionRegionsDisplay.from_estimator(model, X, names)
plt.show()

# %%
# Every row has a coefficient here: C times the probability that the model leaves to the wrong class.
wrong = 1.0 - model.predict_proba(X).max(axis=1)
print(f"{np.mean(wrong < 0.1):.0%} of the rows have a probability above 0.9")
