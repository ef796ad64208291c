"""
The spectrum of a kernel
========================

How fast the eigenvalues of K fall says how many directions of feature space the data fills. A long length scale leaves
few, and a machine with it is stiff; a short one leaves as many as there are rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

from mercer import RBF, KernelRidge
from mercer.plots import SpectrumDisplay

X, y = load_diabetes(return_X_y=True)
X, y = scale(X[:200]), y[:200]

# %%
# Ridge regression with penalty λ keeps the share σ/(σ + λ) of a direction with eigenvalue σ: what lies above the line
# is kept, what lies below is not. The sum of these shares is the number of degrees of freedom.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, length_scale in zip(axes, (10.0, 2.0), strict=True):
    model = KernelRidge(alpha=1.0, kernel=RBF(length_scale)).fit(X, y)
    SpectrumDisplay.from_estimator(model, X, ax=ax)
    ax.set_xlabel(f"number of the eigenvalue, for the length scale {length_scale:g}")
plt.show()
