"""Classes by pairs, one against one: problems, the layout of coefficients, votes."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from mercer.kernels.bound import Bound, Cross
from mercer.problems.margins import MarginSolution, all_rows

__all__ = [
    "by_pair", "by_pair_sums", "confidences", "layout", "pair_decisions", "pairs", "winners",
]  # fmt: skip

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Up to this many classes the zeros among the coefficients of all pairs cost less than making blocks of K would.
FEW_CLASSES = 4
# Up to this many new points one matrix for all classes is made sooner than one for each.
FEW_ROWS = 64


@lru_cache(maxsize=8)
def pairs(k: int) -> Index:
    """The pairs (i, j) of k classes with i < j, row by row: (k(k − 1)/2, 2).

    >>> pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    found = np.stack(np.triu_indices(k, 1), axis=1)
    found.flags.writeable = False
    return found


def layout(solution: MarginSolution, scale: Array, k: int) -> Array:  # (k − 1, n)
    """scikit-learn's dual_coef_, of all rows: column x of class i holds its coefficients against the other classes.

    They stand in the order of the other classes; a row's coefficient against class j is in line j, or j − 1 for j > i.
    Two classes have one line.
    """
    batch = solution.batch
    dual = np.zeros((k - 1, int(batch.cuts[-1])))
    sizes = np.diff(batch.cuts)[batch.uses]
    lines = batch.uses[:, ::-1] - [1, 0]  # of the first class j − 1, of the second i
    rows = all_rows(batch.cuts, batch.uses)
    dual[np.repeat(lines, sizes.ravel()), rows] = solution.coef / np.repeat(scale, sizes.sum(axis=1))
    return dual


def by_pair(dual: Array, starts: Index) -> Array:  # (k − 1, s) -> (P, s)
    """A row of coefficients for each pair, from scikit-learn's layout; class i has columns starts[i]:starts[i + 1]."""
    k = len(starts) - 1
    whole = np.zeros((k * (k - 1) // 2, dual.shape[1]))
    for p, (i, j) in enumerate(pairs(k)):
        whole[p, starts[i] : starts[i + 1]] = dual[j - 1, starts[i] : starts[i + 1]]
        whole[p, starts[j] : starts[j + 1]] = dual[i, starts[j] : starts[j + 1]]
    return whole


def by_pair_sums(values: Array, starts: Index) -> Array:  # (k − 1, s) -> (P,)
    """The sum over the support vectors of each pair, of numbers in scikit-learn's layout."""
    sums = np.stack([values[:, begin:end].sum(axis=1) for begin, end in pairwise(starts)])  # (k, k − 1)
    if len(sums) == 2:
        return np.asarray(sums.sum(axis=0))
    first, second = pairs(len(sums)).T
    return np.asarray(sums[first, second - 1] + sums[second, first])


def pair_decisions(
    K: Cross | Array, blocks: Mapping[int, Bound], dual: Array, starts: Index, intercept: Array
) -> Array:  # (m, P)
    """f(x) + b₀ of every pair.

    Parameters
    ----------
    K : Cross or ndarray of shape (m, s)
        K(X, support vectors), as an operator or an array.
    blocks : mapping from class to Bound
        The support vectors of each class; not read where K is an array.
    dual : ndarray of shape (k − 1, s)
        In scikit-learn's layout.
    starts : ndarray of shape (k + 1,)
        Where each class begins among the support vectors.
    intercept : ndarray of shape (P,)
    """
    k = len(starts) - 1
    if not dual.shape[1]:
        return np.tile(intercept, (K.shape[0], 1))
    if k <= FEW_CLASSES:
        return np.asarray(K @ by_pair(dual, starts).T, dtype=np.float64) + intercept
    # The support vectors of one class have k − 1 coefficients and not k(k − 1)/2: class by class no zeros are added.
    values = K.dense() if isinstance(K, Cross) and K.shape[0] <= FEW_ROWS else K
    place = np.zeros((k, k), dtype=np.intp)
    first, second = pairs(k).T
    place[first, second] = place[second, first] = np.arange(len(first))
    out = np.tile(intercept, (K.shape[0], 1))
    for i in range(k):
        mine = slice(starts[i], starts[i + 1])
        if starts[i] == starts[i + 1]:
            continue
        block = blocks[i].cross(values.points) if isinstance(values, Cross) else values[:, mine]
        out[:, np.delete(place[i], i)] += block @ dual[:, mine].T
    return out


def winners(decisions: Array, k: int) -> Index:  # (m, P) -> (m,)
    """The class with the most votes, the first of them in a tie. A pair votes for its first class where f + b₀ > 0."""
    return np.asarray(_votes(decisions > 0.0, k).argmax(axis=1))


def confidences(decisions: Array, k: int) -> Array:  # (m, P) -> (m, k)
    """scikit-learn's "ovr": votes, plus less than a third of one for the sum of the decisions."""
    sums = decisions @ _signs(k)
    return np.asarray(_votes(decisions >= 0.0, k) + sums / (3.0 * (np.abs(sums) + 1.0)))


def _votes(is_first: npt.NDArray[np.bool_], k: int) -> Array:
    # A pair gives its second class a vote, or moves it to the first: one product for all pairs.
    return np.asarray(is_first.astype(np.float64) @ _signs(k) + np.arange(k))


def _signs(k: int) -> Array:  # (P, k)
    """+1 for the first class of each pair and −1 for the second."""
    found = np.zeros((k * (k - 1) // 2, k))
    first, second = pairs(k).T
    places = np.arange(len(found))
    found[places, first], found[places, second] = 1.0, -1.0
    return found
