"""From the probabilities of pairs of classes to those of classes, in accord with the votes."""

import numpy as np
import numpy.typing as npt

__all__ = ["agreeing", "coupled"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Pairwise probabilities are kept this far from 0 and 1, so that the coupled ones are unique.
SMALLEST = 1e-7
# The relative lead of the predicted class over those pooled with it.
EDGE = 1e-12
# Rows whose systems are solved together.
ROWS_AT_ONCE = 2048


def coupled(pairwise: Array, pairs: Index, k: int) -> Array:  # (m, P) -> (m, k)
    """The p ≥ 0 of sum one with the least Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)², where rᵢⱼ is P(i | i or j).

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin, R. C. Weng. Probability estimates for multi-class classification by pairwise coupling.
       Journal of Machine Learning Research 5 (2004).

    >>> coupled(np.array([[0.5, 0.5, 0.5]]), np.array([[0, 1], [0, 2], [1, 2]]), 3).round(4)
    array([[0.3333, 0.3333, 0.3333]])
    """
    out = np.empty((len(pairwise), k))
    first, second = pairs.T
    for begin in range(0, len(pairwise), ROWS_AT_ONCE):
        some = np.clip(pairwise[begin : begin + ROWS_AT_ONCE], SMALLEST, 1.0 - SMALLEST)
        m = len(some)
        r = np.zeros((m, k, k))
        r[:, first, second], r[:, second, first] = some, 1.0 - some
        system = np.zeros((m, k + 1, k + 1))
        system[:, :k, :k] = -r * r.transpose(0, 2, 1)
        system[:, np.arange(k), np.arange(k)] = (r * r).sum(axis=1)
        system[:, :k, k] = system[:, k, :k] = 1.0
        right = np.zeros((m, k + 1, 1))
        right[:, k] = 1.0
        out[begin : begin + m] = np.linalg.solve(system, right)[:, :k, 0]
    out = np.maximum(out, 0.0)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def agreeing(p: Array, winner: Index) -> Array:  # (m, k), (m,)
    """The nearest point of the simplex where the winner is largest: it and those above it take their common mean.

    >>> agreeing(np.array([[0.5, 0.1, 0.4]]), np.array([1])).round(4)
    array([[0.3333, 0.3333, 0.3333]])
    """
    m, k = p.shape
    places = np.arange(m)
    own = p[places, winner]
    others = p.copy()
    others[places, winner] = -np.inf
    ordered = -np.sort(-others, axis=1)[:, : k - 1]
    sums = own[:, None] + np.cumsum(np.maximum(ordered, 0.0), axis=1)
    means = sums / np.arange(2, k + 1)
    # The largest others are pooled one by one, while they exceed the mean of those pooled so far.
    before = np.column_stack([own, means[:, :-1]])
    pooled = np.cumprod(ordered > before, axis=1).sum(axis=1)
    level = np.where(pooled > 0, means[places, np.maximum(pooled, 1) - 1], own)
    # Avoid a tie, which would go to the first class.
    out = np.minimum(p, np.where(pooled > 0, (1.0 - EDGE) * level, np.inf)[:, None])
    out[places, winner] = level * (1.0 + EDGE * pooled)
    return np.asarray(out)
