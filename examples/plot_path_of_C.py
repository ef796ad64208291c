"""
Leave-one-out along C
=====================

A row that is no support vector changes nothing when it is left out. So leave-one-out of a support vector machine takes
one fit for each support vector, not one for each row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import RBF, SVC
from mercer.plots import PathDisplay

X, y = make_moons(80, noise=0.3, random_state=0)
model = SVC(C=1.0, kernel=RBF(0.7)).fit(X, y)

# %%
# At a very low C the machine says the same class everywhere: the larger one, which a row of the other always leaves
# behind. With as many rows of both, it is then wrong about every row that is left out.
PathDisplay.from_estimator(model, X, y, Cs=np.logspace(-2, 3, 11))
plt.show()
