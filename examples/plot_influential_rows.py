"""
Which rows a fit rests on
=========================

Two questions, two pictures. The coefficient αᵢ is a row's whole part in any prediction. How far the prediction at a
row moves without the row says whether the others would have told the same.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from mercer import RBF, KernelRidge
from mercer.plots import InfluenceDisplay

X, y = load_diabetes(return_X_y=True)
names = [f"patient {i}" for i in range(len(y))]
model = KernelRidge(alpha=1.0, kernel=RBF(5.0), fit_intercept=True).fit(scale(X), y)

# %%
# Both come from the fit by formula; nothing is fitted again.
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for ax, measure in zip(axes, ("coefficient", "leave-one-out"), strict=True):
    InfluenceDisplay.from_estimator(model, measure=measure, names=names, most=12, ax=ax)
plt.show()
