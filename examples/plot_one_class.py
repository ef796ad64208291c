"""
What is like the others, and what is not
========================================

A one-class machine learns where the rows are. ν bounds the share of them that are left outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import RBF, OneClassSVM
from mercer.plots import DecisionRegionsDisplay

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 150)
X = np.column_stack([2 * np.cos(angle), np.sin(angle)]) + 0.15 * rng.standard_normal((150, 2))

figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", sharey=True)
for ax, nu in zip(axes, (0.05, 0.3), strict=True):
    model = OneClassSVM(nu=nu, kernel=RBF(0.5)).fit(X)
    DecisionRegionsDisplay.from_estimator(model, X, ax=ax)
    ax.set_xlabel(f"ν = {nu:g}: {np.mean(model.predict(X) < 0):.0%} of the rows are outside")
plt.show()
