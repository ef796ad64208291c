"""From the decisions of a support vector machine to probabilities: a slope for each problem, by cross-validation."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.special

from mercer.problems.margin_solution import MarginSolution, margins
from mercer.problems.margin_start import repaired
from mercer.problems.margins import KINDS, Margins

__all__ = ["calibrated", "dealt", "slope"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

FOLDS = 5
# The least slope, in units of the largest decision: where cross-validation finds no accord with the labels at all,
# probabilities are next to ½ and still in the order of the decisions.
LEAST_SLOPE = 1e-3


def calibrated(
    full: MarginSolution, weight: Array, keys: Any, nu: float, solve: Callable[[Margins, Array], MarginSolution]
) -> Array:  # (P,)
    """The slope a of P(first | x) = 1/(1 + exp(−a f(x))) for each problem, on decisions for rows that were held out.

    Parameters
    ----------
    full : MarginSolution
        Of all problems, on all rows.
    weight : ndarray of shape (n,)
        Of the rows of K.
    keys : ndarray of shape (n,)
        The rows of a class are dealt into folds in the order of these; equal keys come into one fold.
    nu : float
        Of nu-svc.
    solve : callable (batch, start) -> MarginSolution
    """
    batch = full.batch
    fold = dealt(batch.cuts, keys)
    problems: list[tuple[int, npt.NDArray[np.bool_], Margins, Array]] = []
    for p in range(len(batch)):
        rows = batch.rows(p)
        part = slice(batch.offsets[p], batch.offsets[p + 1])
        y = np.where(batch.high[part] > 0.0, 1.0, -1.0)
        cost = np.maximum(batch.high[part], -batch.low[part])
        for v in range(FOLDS):
            out = fold[rows] == v
            left = np.where(out, 0.0, cost)
            if not out.any() or not left[y > 0.0].any() or not left[y < 0.0].any():
                continue
            mine = _one_pair(full.kind, batch.cuts, batch.uses[p], y, left, nu)
            problems.append((p, out, mine, np.where(out, 0.0, full.coef[part])))
    decisions: list[list[Array]] = [[] for _ in range(len(batch))]
    places: list[list[Index]] = [[] for _ in range(len(batch))]
    if problems:
        whole = _joined([mine for _, _, mine, _ in problems])
        start = repaired(whole, np.concatenate([b for _, _, _, b in problems]))
        found = solve(whole, start)
        scale = margins(found)
        for q, (p, out, _, _) in enumerate(problems):
            if scale[q] > 0.0:
                decisions[p].append((found.image_of(q)[out] + found.intercepts[q]) / scale[q])
                places[p].append(np.flatnonzero(out))
    scale = margins(full)
    slopes = np.empty(len(batch))
    for p in range(len(batch)):
        part = slice(batch.offsets[p], batch.offsets[p + 1])
        where = np.concatenate(places[p]) if places[p] else np.arange(len(batch.rows(p)))
        f = np.concatenate(decisions[p]) if places[p] else (full.image_of(p) + full.intercepts[p]) / scale[p]
        slopes[p] = slope(f, batch.high[part][where] > 0.0, weight[batch.rows(p)[where]])
    return slopes


def dealt(cuts: Any, keys: Any) -> Index:
    """The fold of each row: the different keys of a class in their order, dealt one after the other."""
    fold = np.empty(int(cuts[-1]), dtype=np.intp)
    next_fold = 0
    for begin, end in pairwise(cuts):
        different, index = np.unique(keys[begin:end], return_inverse=True)
        fold[begin:end] = (next_fold + index.reshape(-1)) % FOLDS
        next_fold += len(different)
    return fold


def slope(f: Array, is_positive: npt.NDArray[np.bool_], weight: Array) -> float:
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


def _one_pair(kind: str, cuts: Any, use: Any, signs: Array, cost: Array, nu: float) -> Margins:
    """The problem of one pair, with nu or the largest that is feasible: twice the share of the smaller class."""
    sides = float(cost[signs > 0.0].sum()), float(cost[signs < 0.0].sum())
    return KINDS[kind].build(cuts, use[None, :], signs, cost, min(nu, 2.0 * min(sides) / sum(sides)))


def _joined(batches: list[Margins]) -> Margins:
    """Problems over the same rows of K as one batch."""

    def whole(name: str) -> Any:
        return np.concatenate([getattr(batch, name) for batch in batches])

    arrays = {name: whole(name) for name in ("uses", "linear", "low", "high", "start", "group")}
    return Margins(cuts=batches[0].cuts, **arrays)
