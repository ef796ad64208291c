"""
Prediction against truth
========================

Points on the diagonal are right. The rows were not seen in the fit, or the picture would flatter the machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import RBF, KernelRidgeCV
from mercer.plots import PredictionDisplay

X, y = load_diabetes(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.4, random_state=0)
model = make_pipeline(StandardScaler(), KernelRidgeCV(np.logspace(-3, 3, 40), kernel=RBF(5.0), fit_intercept=True)).fit(
    X, y
)

shown = PredictionDisplay.from_estimator(model, X_new, y_new)
print(f"R² {shown.r2:.2f}, root mean squared error {shown.rmse:.0f}")
plt.show()
