"""Slopes for probabilities: a logistic curve over the decisions of a cross-validation, for each pair of classes."""

from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.special

from mercer.problems.certificate import Status
from mercer.problems.margins import KINDS, Margins, MarginSolution, joined, one_pair, repaired

__all__ = ["SolveFolds", "cross_validated_slopes", "dealt", "slope"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

FOLDS = 5
# The smallest slope, in units of the largest decision: if cross-validation finds no agreement with the labels,
# probabilities are close to ½ but still in the order of the decisions.
LEAST_SLOPE = 1e-3


class SolveFolds(Protocol):
    """Solves the problems of all folds, over the Gram matrix of the whole fit."""

    def __call__(self, batch: Margins, start: Array) -> MarginSolution:
        """From this point."""


def cross_validated_slopes(
    whole: MarginSolution, keys: npt.NDArray[np.generic], weight: Array, nu: float, solve: SolveFolds
) -> Array:  # (P,)
    """The slope a of P(second | x) = 1/(1 + exp(−a (f(x) + b))) for each pair, from decisions of rows left out.

    Parameters
    ----------
    whole : MarginSolution
        Of all pairs, on all rows.
    keys : ndarray of shape (n,)
        The rows of a class are dealt into folds by the order of these; rows with equal keys go together.
    weight : ndarray of shape (n,)
        Of the rows of K.
    nu : float
        Of nu-svc.
    solve : SolveFolds
        The solver that `whole` came from.
    """
    batch, kind = whole.batch, KINDS[whole.kind]
    fold = dealt(batch.cuts, keys)
    problems: list[tuple[int, Mask, Margins, Array]] = []
    for p in range(len(batch)):
        rows, part = batch.rows_of(p), batch.variables_of(p)
        y = np.where(batch.high[part] > 0.0, 1.0, -1.0)
        cost = np.maximum(batch.high[part], -batch.low[part])
        for v in range(FOLDS):
            out = fold[rows] == v
            left = np.where(out, 0.0, cost)
            if not out.any() or not left[y > 0.0].any() or not left[y < 0.0].any():
                continue
            mine = one_pair(kind, batch.cuts, batch.uses[p], y, left, nu)
            problems.append((p, out, mine, np.where(out, 0.0, whole.coef[part])))
    decisions: list[list[Array]] = [[] for _ in range(len(batch))]
    places: list[list[Index]] = [[] for _ in range(len(batch))]
    if problems:
        folds = joined([mine for _, _, mine, _ in problems])
        found = solve(folds, repaired(folds, np.concatenate([coef for _, _, _, coef in problems])))
        for q, (p, out, _, _) in enumerate(problems):
            if found.statuses[q] is not Status.NO_MARGIN:
                decisions[p].append((found.f_of(q)[out] + found.intercepts[q]) / found.units[q])
                places[p].append(np.flatnonzero(out))
    return np.array([_slope_of(whole, p, decisions[p], places[p], weight) for p in range(len(batch))])


def _slope_of(whole: MarginSolution, p: int, decisions: list[Array], places: list[Index], weight: Array) -> float:
    """From the decisions at some places of a pair's rows; from those of the whole fit where there are none."""
    batch = whole.batch
    rows = batch.rows_of(p)
    where = np.concatenate(places) if places else np.arange(len(rows))
    f = np.concatenate(decisions) if places else (whole.certify().f_of(p) + whole.intercepts[p]) / whole.units[p]
    return slope(f, batch.high[batch.variables_of(p)][where] > 0.0, weight[rows[where]])


def dealt(cuts: npt.NDArray[np.int64], keys: npt.NDArray[np.generic]) -> Index:
    """The fold of each row: the distinct keys of a class, in order, are dealt to the folds in turn."""
    fold = np.empty(int(cuts[-1]), dtype=np.intp)
    next_fold = 0
    for begin, end in pairwise(cuts):
        different, index = np.unique(keys[begin:end], return_inverse=True)
        fold[begin:end] = (next_fold + index.reshape(-1)) % FOLDS
        next_fold += len(different)
    return fold


def slope(f: Array, is_positive: Mask, weight: Array) -> float:
    """The a > 0 for which expit(a f) fits the labels best, in the sense of the likelihood.

    Targets are Platt's, (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), so that decisions without an error have a finite slope.

    >>> round(slope(np.array([1.0, -1.0]), np.array([True, False]), np.ones(2)), 4)  # log 2
    0.6931
    """
    largest = float(np.abs(f).max(initial=0.0))
    if largest == 0.0:
        return 1.0
    g = f / largest
    many, few = float(weight[is_positive].sum()), float(weight[~is_positive].sum())
    target = np.where(is_positive, (many + 1.0) / (many + 2.0), 1.0 / (few + 2.0))
    wg = weight * g

    def derivative(a: float) -> float:
        return float(wg @ (scipy.special.expit(a * g) - target))

    high = 1.0
    if derivative(LEAST_SLOPE) >= 0.0:
        return LEAST_SLOPE / largest
    while derivative(high) < 0.0 and high < 1e6:
        high *= 4.0
    if derivative(high) < 0.0:
        return high / largest
    return float(scipy.optimize.brentq(derivative, LEAST_SLOPE, high, xtol=1e-12)) / largest
