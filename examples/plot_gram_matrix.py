"""
The Gram matrix, sorted by class
================================

A kernel says how alike two rows are. Sorted by class, a kernel that suits the classes shows a bright block for each,
and what lies between the blocks is what the machine has to tell apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from mercer import RBF
from mercer.plots import GramDisplay

iris = load_iris()
X, names = scale(iris.data), iris.target_names[iris.target]

# %%
# Setosa stands apart; versicolor and virginica overlap.
GramDisplay.from_kernel(RBF(1.5), X, names)
plt.show()

# %%
# A length scale that is far too short makes every row alike only to itself: nothing can be learnt from such a matrix.
GramDisplay.from_kernel(RBF(0.15), X, names)
plt.show()
