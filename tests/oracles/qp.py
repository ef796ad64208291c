"""The dual of a support vector machine as a quadratic program for a general solver: SciPy's SLSQP, for small n."""

import numpy as np
import scipy.optimize


def margin_dual(K, q, low, high, group, sums, width=0.0):
    """The least ½ bᵀKb + qᵀb + ε Σ|bᵢ| over low ≤ b ≤ high with the given sum in each group: (b, value).

    b = S x for x ≥ 0, a variable for each direction that the box leaves open: so ε Σ|bᵢ| = ε Σ xⱼ at the minimum.
    """
    S = np.hstack([np.diag(np.ones(len(q)))[:, high > 0.0], np.diag(-np.ones(len(q)))[:, low < 0.0]])
    ends = np.concatenate([high[high > 0.0], -low[low < 0.0]])
    Q, slope = S.T @ K @ S, S.T @ q + width
    scale = max(1.0, float(np.abs(slope).max()))
    sides = [(S.T @ (group == k), s) for k, s in enumerate(sums) if (group == k).any()]
    found = scipy.optimize.minimize(
        lambda x: (0.5 * x @ Q @ x + slope @ x) / scale,
        np.minimum(ends, 1.0) / 2,
        jac=lambda x: (Q @ x + slope) / scale,
        bounds=[(0.0, end) for end in ends],
        constraints=[{"type": "eq", "fun": lambda x, a=a, s=s: a @ x - s, "jac": lambda x, a=a: a} for a, s in sides],
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 2000},
    )
    b = S @ found.x
    return b, float(0.5 * b @ K @ b + q @ b + width * np.abs(b).sum())
