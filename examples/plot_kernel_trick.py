"""
The kernel trick: a circle becomes a plane
==========================================

No line divides the inside of a circle from the outside. With the three features x₁², √2 x₁x₂ and x₂², a plane does;
and the kernel (xᵀz)² gives their inner products without computing them.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, Linear

rng = np.random.default_rng(0)
X = rng.uniform(-1.5, 1.5, (260, 2))
radius = np.linalg.norm(X, axis=1)
X, y = X[abs(radius - 1) > 0.12], np.sign(1 - radius[abs(radius - 1) > 0.12])

# %%
# The kernel never sees the features.
model = SVC(C=100.0, kernel=Linear() ** 2).fit(X, y)
print(f"right for {model.score(X, y):.0%} of the rows, with {len(model.support_)} support vectors")

# %%
# On the left, the decision in the plane. On the right, the same rows in the space of the features: seen along the
# plane that divides them, it is a line.
features = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
figure = plt.figure(figsize=(10, 4.4), layout="constrained")
plane = figure.add_subplot(1, 2, 1)
side = np.linspace(-1.5, 1.5, 200)
grid = np.stack(np.meshgrid(side, side), axis=-1)
decision = model.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
plane.contour(side, side, decision, levels=[-1, 0, 1], colors="0.5", linestyles=["--", "-", "--"])
space = figure.add_subplot(1, 2, 2, projection="3d")
for label, colour in ((1, "#c8581a"), (-1, "#0b5d8a")):
    plane.plot(*X[y == label].T, "o", color=colour, ms=4)
    space.plot(*features[y == label].T, "o", color=colour, ms=4)
plane.set(xlabel="x₁", ylabel="x₂", aspect="equal")
space.view_init(elev=12, azim=-45)
space.set(xlabel="x₁²", ylabel="√2 x₁x₂", zlabel="x₂²")
plt.show()
