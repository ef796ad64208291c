"""
Which digits are taken for which
================================

Rows of the table are what is true, columns what was said. The colour is the share of the true class.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer import SVC
from mercer.plots import ConfusionDisplay

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
ConfusionDisplay.from_estimator(SVC(C=10.0).fit(X, y), X_new, y_new)
plt.show()
