"""Probabilities of a support vector machine: a slope for each pair of classes, coupled, in accord with `predict`."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.estimators._pairs import pairs
from mercer.estimators._svm import Training
from mercer.points.vectors import Vectors
from mercer.problems.margins import Margins, MarginSolution
from mercer.solvers.calibration import cross_validated_slopes

__all__ = ["Calibration", "agreeing", "coupled"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Pairwise probabilities are kept this far from 0 and 1, so that the coupled ones are unique.
SMALLEST = 1e-7
# By which share the predicted class stands above those that are pooled with it.
EDGE = 1e-12
# Rows whose systems are solved together.
ROWS_AT_ONCE = 2048


@final
class Calibration:
    """The slopes a of P(second | x) = 1/(1 + exp(−a (f(x) + b₀))), found when they are first asked for.

    Until then the training rows are kept; then they are let go.

    Parameters
    ----------
    training : Training
    solution : MarginSolution
        Of all pairs, on all rows.
    nu : float
        Of nu-svc.
    """

    def __init__(self, training: Training, solution: MarginSolution, nu: float) -> None:
        self._training: Training | None = training
        self._solution: MarginSolution | None = solution
        self._nu = nu
        self._slopes: Array | None = None

    def slopes(self, solve: Callable[[Margins, Training, Array], MarginSolution], random: Any) -> Array:  # (P,)
        """One slope per pair.

        Parameters
        ----------
        solve : callable (batch, training, start) -> MarginSolution
        random : RandomState
            Deals the rows of each class into folds.
        """
        if self._slopes is None:
            training, solution = self._training, self._solution
            assert training is not None
            assert solution is not None
            self._slopes = cross_validated_slopes(
                solution,
                random_keys(training, random),
                training.weight,
                self._nu,
                lambda batch, start: solve(batch, training, start),
            )
            self._training = self._solution = None
        return self._slopes


def random_keys(training: Training, random: Any) -> Any:
    """A random number for each row; equal rows have equal ones, so that a weight is a number of copies.

    Rows of a matrix, and points that are no vectors, get theirs by their place.
    """
    points = None if training.bound is None else training.bound.basis
    if not isinstance(points, Vectors):
        return random.permutation(len(training.rows))
    factors = 1 + 2 * random.randint(0, 1 << 62, size=points.width, dtype=np.uint64)
    if points.is_sparse:
        bits = (points.csr.data.astype(np.float64) + 0.0).view(np.uint64)  # −0.0 becomes 0.0, which counts for nothing
        mixed = sp.csr_array((bits * factors[points.csr.indices], points.csr.indices, points.csr.indptr), points.shape)
        return np.asarray(mixed.sum(axis=1)).reshape(-1)
    rows = points.raw()
    keys = np.empty(len(rows), dtype=np.uint64)
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(begin, begin + ROWS_AT_ONCE)
        bits = (rows[some].astype(np.float64) + 0.0).view(np.uint64)
        keys[some] = (bits * factors).sum(axis=1, dtype=np.uint64)
    return keys


def coupled(pairwise: Array, k: int) -> Array:  # (m, P) -> (m, k)
    """The p ≥ 0 of sum one with the least Σ (rⱼᵢ pᵢ − rᵢⱼ pⱼ)², where rᵢⱼ is P(i | i or j).

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin, R. C. Weng. Probability estimates for multi-class classification by pairwise coupling.
       Journal of Machine Learning Research 5 (2004).

    >>> coupled(np.array([[0.5, 0.5, 0.5]]), 3).round(4)
    array([[0.3333, 0.3333, 0.3333]])
    """
    out = np.empty((len(pairwise), k))
    first, second = pairs(k).T
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
    # The largest others are pooled one by one, as long as they are above the mean of those before.
    before = np.column_stack([own, means[:, :-1]])
    pooled = np.cumprod(ordered > before, axis=1).sum(axis=1)
    level = np.where(pooled > 0, means[places, np.maximum(pooled, 1) - 1], own)
    # A tie would go to the first class of the row.
    out = np.minimum(p, np.where(pooled > 0, (1.0 - EDGE) * level, np.inf)[:, None])
    out[places, winner] = level * (1.0 + EDGE * pooled)
    return np.asarray(out)
