"""
Regions where there are more than two features
==============================================

Four features have no plane. Two of them are chosen; the others stay at their medians, so that the picture is a slice,
and says so. Rows may lie off the slice, and so on the wrong side of a line that is right for them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.plots import DecisionRegionsDisplay

X, y = load_iris(as_frame=True, return_X_y=True)
y = y.map(dict(enumerate(load_iris().target_names)))
model = make_pipeline(StandardScaler(), SVC(C=10.0)).fit(X, y)
print(f"right for {model.score(X, y):.1%} of the rows")

# %%
# The axes are in centimetres: the picture sees the pipeline from outside.
DecisionRegionsDisplay.from_estimator(model, X, y, features=("petal length (cm)", "petal width (cm)"))
plt.show()
