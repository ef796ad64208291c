"""
Functions drawn with a kernel
=============================

Before it has seen data, a Gaussian process takes functions like these for likely. Choosing a kernel is choosing among
such pictures: smooth or rough, repeating, growing.
"""

import matplotlib.pyplot as plt

from mercer import RBF, Linear, Matern, Periodic
from mercer.plots import KernelShapeDisplay

kernels = [RBF(1.0), Matern(0.5), Periodic(1.0, period=2.0), Periodic(1.0, period=2.0) + Linear()]
figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
for ax, kernel in zip(axes.flat, kernels, strict=True):
    KernelShapeDisplay.from_kernel(kernel, kind="samples", ax=ax)
plt.show()
