"""
The three features of (xᵀz)²
============================

(xᵀz)² = x₁²z₁² + 2 x₁x₂z₁z₂ + x₂²z₂² is the inner product of (x₁², √2·x₁x₂, x₂²) and the same of z. An ellipse on the
plane is a plane in the space of these features, and a machine that only knows inner products finds it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from mercer import SVC, Linear
from mercer.plots import DecisionRegionsDisplay, FeatureMapDisplay

X, y = make_circles(140, noise=0.07, factor=0.45, random_state=0)
X[:, 1] *= 0.7
names = np.where(y == 1, "inner", "outer")
model = SVC(C=100.0, kernel=Linear() ** 2).fit(X, names)

figure = plt.figure(figsize=(12, 5.2), layout="constrained")
DecisionRegionsDisplay.from_estimator(model, X, names, ax=figure.add_subplot(1, 2, 1))
shown = FeatureMapDisplay.from_estimator(model, X, names, ax=figure.add_subplot(1, 2, 2, projection="3d"))
shown.ax_.view_init(elev=14, azim=-50)
plt.show()

# %%
# The same number, with and without the features.
φ = model.model_.kernel.feature_map(X)
print(np.allclose(φ(X) @ φ(X).T, (X @ X.T) ** 2))
