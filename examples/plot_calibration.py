"""
Do the probabilities mean what they say?
========================================

Of the rows that get a probability of 0.8, eight of ten should be of the class. What is further from the diagonal than
its interval is not chance.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from mercer import KernelLogisticRegression
from mercer.plots import CalibrationDisplay

X, y = make_classification(2400, n_features=6, n_informative=4, flip_y=0.15, class_sep=0.7, random_state=0)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.75, random_state=0)

# %%
# A small C keeps f small, and so the probabilities too modest: of what gets 0.65, four of five come true. At a large C
# the ends are too sure of themselves: what gets 0.95 comes true less often than nine times of ten, for some labels are
# wrong.
figure, axes = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
for ax, C in zip(axes, (0.3, 300.0), strict=True):
    model = KernelLogisticRegression(C=C).fit(X, y)
    CalibrationDisplay.from_estimator(model, X_new, y_new, ax=ax)
    ax.set_xlabel(f"predicted probability, C = {C:g}")
plt.show()
