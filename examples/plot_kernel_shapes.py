"""
What kernels look like
======================

As a function of the distance, a kernel says how far a row reaches, and how smooth the functions are that it makes: a
kink at 0 makes them rough.
"""

import matplotlib.pyplot as plt

from mercer import RBF, Laplacian, Linear, Matern, RationalQuadratic
from mercer.plots import KernelShapeDisplay

figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained", sharex=True, sharey=True)
for ax, kernel in zip(axes.flat, (RBF(1.0), Matern(1.5), Laplacian(1.0), RationalQuadratic(0.5)), strict=True):
    KernelShapeDisplay.from_kernel(kernel, kind="distance", span=(0, 4), ax=ax)
    ax.set_xlabel(f"distance, for {kernel!r}")
plt.show()

# %%
# A kernel that is not a function of the distance is drawn as sections: k(x, z) for three z.
KernelShapeDisplay.from_kernel(RBF(1.0) * (Linear() + 1))
plt.show()
