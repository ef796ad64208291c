"""Classes decided by pairs, one against one: the layout of coefficients, decisions, votes and probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.special

from mercer.kernels.binding import Binding, Cross
from mercer.models.coupling import agreeing, coupled

__all__ = ["Pairs", "pairs"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Up to this many classes, multiplying by the zero coefficients costs less than computing K in blocks.
FEW_CLASSES = 4
# Up to this many new points, one matrix for all classes is faster than one per class.
FEW_ENTRIES = 1 << 20


@lru_cache(maxsize=8)
def pairs(k: int) -> Index:
    """The pairs (i, j) of k classes with i < j, row by row: (k(k − 1)/2, 2).

    >>> pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    found = np.stack(np.triu_indices(k, 1), axis=1)
    found.flags.writeable = False
    return found


@final
@dataclass(frozen=True, eq=False)
class Pairs:
    """How the coefficients and decisions of a classifier belong to pairs of classes.

    The basis points stand class by class. A point of class i has k − 1 coefficients, against each of the other classes
    in their order: against class j in column j, or j − 1 for j > i. (This is scikit-learn's `dual_coef_`, transposed.)
    With two classes there is one column, and the decision is that of the second class; with more, the decision of the
    pair (i, j) is that of class i.

    Attributes
    ----------
    starts : ndarray of shape (k + 1,)
        Where each class begins and ends among the basis points.
    slopes : ndarray of shape (P,), optional
        a > 0 in P(first) = 1/(1 + exp(−a f)) for each pair, where probabilities were asked for at fit; with two
        classes it is P(second).
    shifts : ndarray of shape (P,), optional
        s in 1/(1 + exp(−a f − s)), of machines that another program has fitted: their probabilities are as they come,
        and may contradict the votes.
    """

    starts: Index
    slopes: Array | None = None
    shifts: Array | None = None

    @property
    def k(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1

    @cached_property
    def _places(self) -> Index:  # (k, k − 1)
        """The number of the pair that each column of a class belongs to."""
        place = np.zeros((self.k, self.k), dtype=np.intp)
        first, second = pairs(self.k).T
        place[first, second] = place[second, first] = np.arange(len(first))
        return place[~np.eye(self.k, dtype=bool)].reshape(self.k, self.k - 1)

    @cached_property
    def _signs(self) -> Array:  # (P, k)
        """+1 for the first class of each pair and −1 for the second."""
        found = np.zeros((self.k * (self.k - 1) // 2, self.k))
        first, second = pairs(self.k).T
        places = np.arange(len(found))
        found[places, first], found[places, second] = 1.0, -1.0
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"starts": self.starts, "slopes": self.slopes, "shifts": self.shifts}

    def ranges(self) -> list[slice]:
        """The basis points of each class."""
        return [slice(begin, end) for begin, end in pairwise(self.starts.tolist())]

    def by_pair(self, coef: Array) -> Array:  # (m, k − 1) -> (m, P)
        """A column of coefficients for each pair."""
        if self.k == 2:
            return coef
        whole = np.zeros((len(coef), self.k * (self.k - 1) // 2))
        for mine, places in zip(self.ranges(), self._places, strict=True):
            whole[mine, places] = coef[mine]
        return whole

    def decide(
        self, K: Cross | Array, coef: Array, intercept: Array, block: Callable[[int], Binding] | None = None
    ) -> Array:
        """f(x) + b of every pair, (K's rows, P).

        Parameters
        ----------
        K : Cross or ndarray of shape (m, s)
            K(points, basis), as an operator or an array.
        coef : ndarray of shape (s, k − 1)
        intercept : ndarray of shape (P,)
        block : callable (class) -> Binding, optional
            The kernel on the basis points of a class; not needed where K is an array.
        """
        if self.k <= FEW_CLASSES:
            return np.asarray(K @ self.by_pair(coef), dtype=np.float64) + intercept
        # The points of one class have k − 1 coefficients and not k(k − 1)/2: class by class no zeros are added.
        values = K.dense() if isinstance(K, Cross) and K.shape[0] * K.shape[1] <= FEW_ENTRIES else K
        out = np.repeat(intercept[:, None], K.shape[0], axis=1)  # a pair's decisions side by side, to be added to fast
        for i, mine in enumerate(self.ranges()):
            if mine.start == mine.stop:
                continue
            if isinstance(values, Cross):
                assert block is not None  # where K is an operator
                out[self._places[i]] += (block(i).cross(values.points) @ coef[mine]).T
            else:
                out[self._places[i]] += (values[:, mine] @ coef[mine]).T
        return out.T

    def winners(self, decisions: Array) -> Index:  # (m, P) -> (m,)
        """The class with the most votes, the first of them in a tie. A pair votes for its first class where f > 0."""
        if self.k == 2:
            return (decisions[:, 0] > 0.0).astype(np.intp)
        return np.asarray(self._votes(decisions > 0.0).argmax(axis=1))

    def confidences(self, decisions: Array) -> Array:  # (m, P) -> (m, k)
        """scikit-learn's "ovr": votes, plus less than a third of one for the sum of the decisions."""
        sums = decisions @ self._signs
        return np.asarray(self._votes(decisions >= 0.0) + sums / (3.0 * (np.abs(sums) + 1.0)))

    def probabilities(self, decisions: Array, slopes: Array, winners: Index) -> Array:  # (m, P) -> (m, k)
        """P(class | x): of pairs by their slopes, of more than two classes coupled, in accord with the winners."""
        z = self.logits(decisions, slopes)
        if self.k == 2:
            return np.asarray(scipy.special.expit(z * [-1.0, 1.0]))
        found = coupled(scipy.special.expit(z), pairs(self.k), self.k)
        return agreeing(found, winners) if self.shifts is None else found

    def logits(self, decisions: Array, slopes: Array) -> Array:  # (m, P) -> (m, P)
        """The logarithm of the odds in each pair."""
        z = decisions * slopes
        return z if self.shifts is None else z + self.shifts

    def _votes(self, is_first: npt.NDArray[np.bool_]) -> Array:
        # A pair gives its second class a vote, or moves it to the first: one product for all pairs.
        return np.asarray(is_first.astype(np.float64) @ self._signs + np.arange(self.k))
