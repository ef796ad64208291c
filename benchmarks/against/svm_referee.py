"""One referee for the support vector machines of every library: plain float64 in NumPy, with nothing of mercer in it.

It is given what a model publishes (the rows of its support vectors, `dual_coef_` and `intercept_` in scikit-learn's
layout) and computes everything else anew. With b the signed coefficients, f = K b and b₀ the intercept, each pair of
classes (or a regression as a whole) is the problem

    minimise  ½ bᵀKb + qᵀb + ε Σ|bᵢ|   over   low ≤ b ≤ high   with the sum of b fixed.

The kernel is the Gaussian exp(−γ‖x − z‖²) throughout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

Array = np.ndarray[Any, Any]
ENTRIES = 4_000_000
"""Kernel entries in memory at once."""
NEAR = 1e-8
"""A coefficient within this share of C from its bound is at the bound: libraries round differently there."""


class Published(NamedTuple):
    """What a fitted model says, in scikit-learn's layout."""

    support: Array  # (s,)
    dual_coef: Array  # (classes − 1, s), or (1, s)
    intercept: Array  # (pairs,)


class Verdict(NamedTuple):
    """How good a model is as a solution of its problem; of several pairs of classes, the largest violation."""

    violation: float
    """max over b > low of the derivative downwards, less min over b < high of that upwards: LIBSVM's measure."""
    gap: float
    """Primal at the published intercept less dual, over the larger of both; sums over the pairs."""
    support: int
    unfeasible: float
    """How far coefficients leave the box or their sum is off, over C."""


@dataclass(frozen=True)
class Problem:
    """One problem with its point b, over some of the rows."""

    rows: Array
    coef: Array  # (m,)
    intercept: float
    linear: Array  # (m,): q
    low: Array
    high: Array
    width: float = 0.0
    total: float = 0.0
    """What the coefficients must add up to."""

    def judge(self, f: Array, losses: Array) -> tuple[float, float, float, float]:
        """Return the violation, the gap, what it is relative to, and how far b is from being feasible."""
        C = (self.high - self.low).max()
        up = f + self.linear + np.where(self.coef >= -NEAR * C, self.width, -self.width)
        down = f + self.linear + np.where(self.coef > NEAR * C, self.width, -self.width)
        rises, falls = self.coef < self.high - NEAR * C, self.coef > self.low + NEAR * C
        violation = max(0.0, down[falls].max(initial=-np.inf) - up[rises].min(initial=np.inf))
        half = 0.5 * float(self.coef @ f)
        primal = half + float(losses.sum())
        dual = -half - float(self.linear @ self.coef) - self.width * float(np.abs(self.coef).sum())
        # The constraint's multiplier is the intercept: where the sum is off, so is the dual's value.
        dual += self.intercept * (self.total - float(self.coef.sum()))
        outside = np.maximum(self.low - self.coef, self.coef - self.high).max()
        unfeasible = max(float(outside), abs(float(self.coef.sum()) - self.total)) / C
        return violation, primal - dual, max(abs(primal), abs(dual), half), unfeasible


def rows_of(X: Any, rows: Array) -> Any:
    return X if len(rows) == X.shape[0] else X[rows]


def centred(X: Any) -> Any:
    """Return X less its mean row, which changes no distance and keeps digits; sparse rows stay as they are."""
    return X.astype(np.float64) if sp.issparse(X) else np.asarray(X, np.float64) - np.mean(X, axis=0, dtype=np.float64)


def squares(X: Any) -> Array:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def image(X: Any, Z: Any, coef: Array, gamma: float) -> Array:
    """Return k(X, Z) @ coef, some rows at a time."""
    out = np.empty(X.shape[0])
    right, left = squares(Z), squares(X)
    step = max(1, ENTRIES // max(1, Z.shape[0]))
    for i in range(0, X.shape[0], step):
        K = X[i : i + step] @ Z.T
        K = K.toarray() if sp.issparse(K) else K
        K *= -2.0
        K += left[i : i + step, None]
        K += right
        np.maximum(K, 0.0, out=K)
        K *= -gamma
        out[i : i + step] = np.exp(K, out=K) @ coef
    return out


def judged(X: Any, gamma: float, problem: Problem, losses: Any) -> tuple[float, float, float, float]:
    """Compute f on the problem's rows and judge; `losses` is the function of f that the primal adds."""
    chosen = problem.coef != 0.0
    f = image(rows_of(X, problem.rows), X[problem.rows[chosen]], problem.coef[chosen], gamma)
    return problem.judge(f, losses(f))


def verdict(found: list[tuple[float, float, float, float]], support: int) -> Verdict:
    violations, gaps, scales, unfeasible = (np.array(column) for column in zip(*found, strict=True))
    return Verdict(float(violations.max()), float(gaps.sum() / scales.sum()), support, float(unfeasible.max()))


def pairs(y: Array, C: float, model: Published) -> Iterator[tuple[Problem, Array]]:
    """Take `dual_coef_` apart: yield the problem of each pair of classes, with its labels ±1.

    Of two classes, the second is the positive one; of a pair (i, j) of many, the first is. A support vector of class i
    has its coefficient against class j in row j − 1 if j > i, and in row j otherwise.
    """
    classes = np.unique(y)
    owner = y[model.support]
    for p, (i, j) in enumerate(combinations(range(len(classes)), 2)):
        rows = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        signs = np.where(y[rows] == classes[i], 1.0, -1.0) * (-1.0 if len(classes) == 2 else 1.0)
        full = np.zeros(len(y))
        for own, row in ((i, j - 1), (j, i)):
            mine = owner == classes[own]
            full[model.support[mine]] = model.dual_coef[row, mine]
        low, high = np.minimum(0.0, C * signs), np.maximum(0.0, C * signs)
        yield Problem(rows, full[rows], float(model.intercept[p]), -signs, low, high), signs


def classification(X: Any, y: Array, gamma: float, C: float, model: Published) -> Verdict:
    """Judge an SVC: hinge loss, all pairs of classes."""
    X = centred(X)

    def one(problem: Problem, signs: Array) -> tuple[float, float, float, float]:
        return judged(X, gamma, problem, lambda f: C * np.maximum(0.0, 1.0 - signs * (f + problem.intercept)))

    return verdict([one(problem, signs) for problem, signs in pairs(y, C, model)], len(model.support))


def spread(n: int, model: Published) -> Array:
    full = np.zeros(n)
    full[model.support] = model.dual_coef[0]
    return full


def regression(X: Any, y: Array, gamma: float, C: float, epsilon: float, model: Published) -> Verdict:
    """Judge an SVR: the loss is max(0, |y − f − b₀| − ε)."""
    box = np.full(len(y), C)
    b0 = float(model.intercept[0])
    problem = Problem(np.arange(len(y)), spread(len(y), model), b0, -np.asarray(y, float), -box, box, epsilon)
    found = judged(centred(X), gamma, problem, lambda f: C * np.maximum(0.0, np.abs(y - f - b0) - epsilon))
    return verdict([found], len(model.support))


def one_class(X: Any, gamma: float, nu: float, model: Published) -> Verdict:
    """Judge a OneClassSVM in LIBSVM's units: coefficients in [0, 1] that add up to ν n; the intercept is −ρ."""
    n = X.shape[0]
    b0 = float(model.intercept[0])
    problem = Problem(np.arange(n), spread(n, model), b0, np.zeros(n), np.zeros(n), np.ones(n), total=nu * n)

    def losses(f: Array) -> Array:
        return np.maximum(0.0, -f - b0) + b0 * nu  # Σ max(0, ρ − f) − ρ ν n

    return verdict([judged(centred(X), gamma, problem, losses)], len(model.support))
