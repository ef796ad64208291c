"""
Pictures on dark and on light paper
===================================

A display suits the axes that it is drawn on, or the theme that it is given. Settings of Matplotlib are never changed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, SVC
from mercer.plots import DecisionRegionsDisplay

X, y = make_moons(100, noise=0.2, random_state=0)
names = np.where(y == 1, "lower", "upper")
model = SVC(C=10.0, kernel=RBF(0.7)).fit(X, names)

# %%
# A theme by its name,
shown = DecisionRegionsDisplay.from_estimator(model, X, names, theme="dark")
plt.show()

# %%
# and the same display once more, on axes whose colour decides.
with plt.style.context("ggplot"):
    figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
shown.plot(ax=ax)
plt.show()
