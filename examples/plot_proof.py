"""
The proof of a kernel
=====================

A formula becomes a kernel by rules: sums, products, limits and compositions of kernels are kernels. The tree shows
what each step rests on, down to inner products.
"""

import matplotlib.pyplot as plt

from mercer import RBF, Linear, Periodic
from mercer.plots import ProofDisplay

kernel = RBF(2.0) * Periodic(1.0) + 0.5 * Linear()
ProofDisplay.from_kernel(kernel)
plt.show()

# %%
# The same as text:
print(kernel.proof())
