"""
Margins and support vectors
===========================

C is the price of a row on the wrong side of its margin. A low price makes a wide margin with many bounded support
vectors; a high one a narrow margin that follows single rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, SVC
from mercer.plots import DecisionRegionsDisplay

X, y = make_moons(120, noise=0.25, random_state=0)
names = np.where(y == 1, "lower", "upper")

# %%
# Only support vectors are filled. Those with a ring are free and lie on the margin; those with a cross are bounded.
figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained", sharey=True)
for ax, C in zip(axes, (0.1, 1.0, 100.0), strict=True):
    model = SVC(C=C, kernel=RBF(0.7)).fit(X, names)
    DecisionRegionsDisplay.from_estimator(model, X, names, ax=ax)
    ax.set_xlabel(f"C = {C:g}")
    if C != 1.0:
        ax.get_legend().remove()
plt.show()
