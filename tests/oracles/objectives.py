"""Primal and dual objectives of every machine from published coefficients, in extended precision, for one problem.

K is the matrix of the rows that count, a the coefficients of f = K a, b the intercept, c > 0 the costs. The dual is
taken at the nearest feasible point: coefficients are clipped to their box and scaled to their sums, which moves those
of a right answer by rounding only. Weak duality then makes primal − dual a bound that needs no solver.
"""

from typing import NamedTuple

import numpy as np

Extended = np.longdouble


class Objectives(NamedTuple):
    """What a pair (a, b) is worth. `moved` is how far a was from being feasible, relative to Σ|a|."""

    primal: float
    dual: float
    energy: float
    moved: float

    @property
    def gap(self):
        return self.primal - self.dual

    @property
    def scale(self):
        """What a gap is relative to."""
        return max(abs(self.primal), abs(self.dual), self.energy)


def squared(K, a, b, y, c, *, intercept):
    """½‖f‖² + Σ cᵢ ½(yᵢ − fᵢ − b)²."""
    feasible = a - c * (a.sum() / c.sum()) if intercept else a
    loss = (c * (y - K @ a - b) ** 2).sum() / 2
    return _objectives(K, a, loss, feasible, feasible @ y - (feasible**2 / c).sum() / 2)


def logistic(K, a, b, y, c, *, intercept):
    """½‖f‖² + Σ cᵢ log(1 + exp(−yᵢ(fᵢ + b)))."""
    u = np.clip(a * y / c, 0, 1)
    feasible = _balanced(y * u * c) if intercept else y * u * c
    u = feasible * y / c
    loss = (c * np.logaddexp(Extended(0), -y * (K @ a + b))).sum()
    return _objectives(K, a, loss, feasible, -(c * (_xlogx(u) + _xlogx(1 - u))).sum())


def softmax(K, a, b, Y, c, *, intercept):
    """½Σ‖fⱼ‖² + Σ cᵢ (log Σⱼ exp gᵢⱼ − gᵢ,yᵢ); sums of columns that miss 0 are charged at |b|."""
    p = np.clip(Y - a / c[:, None], 0, 1)
    p /= p.sum(axis=1, keepdims=True)
    feasible = c[:, None] * (Y - p)
    g = K @ a + b
    top = g.max(axis=1, keepdims=True)
    loss = (c * (top[:, 0] + np.log(np.exp(g - top).sum(axis=1)) - (Y * g).sum(axis=1))).sum()
    missed = np.abs(b) @ np.abs(feasible.sum(axis=0)) if intercept else 0
    return _objectives(K, a, loss, feasible, -(c[:, None] * _xlogx(p)).sum() - missed)


def hinge(K, a, b, y, c):
    """½‖f‖² + Σ cᵢ max(0, 1 − yᵢ(fᵢ + b))."""
    feasible = _balanced(y * np.clip(y * a, 0, c))
    loss = (c * np.maximum(0, 1 - y * (K @ a + b))).sum()
    return _objectives(K, a, loss, feasible, (y * feasible).sum())


def tube(K, a, b, y, c, epsilon):
    """½‖f‖² + Σ cᵢ max(0, |yᵢ − fᵢ − b| − ε)."""
    feasible = _balanced(np.clip(a, -c, c))
    loss = (c * np.maximum(0, np.abs(y - K @ a - b) - epsilon)).sum()
    return _objectives(K, a, loss, feasible, y @ feasible - epsilon * np.abs(feasible).sum())


def nu_tube(K, a, y, c, nu):
    """½‖f‖² + Σ cᵢ (max(0, |yᵢ − fᵢ − b| − ε) + ν ε), at the best b and ε."""
    feasible = _balanced(np.clip(a, -c, c))
    total = np.abs(feasible).sum()
    feasible = feasible * min(Extended(1), nu * c.sum() / total) if total > 0 else feasible
    rest = y - K @ a

    def loss(b):
        errors = np.abs(rest - b)
        epsilon = _level(-errors, c, nu) * -1
        return (c * np.maximum(0, errors - epsilon)).sum() + nu * c.sum() * epsilon

    return _objectives(K, a, _convex_minimum(loss, rest), feasible, y @ feasible)


def nu_margin(K, a, y, c, nu):
    """½‖f‖² + Σ cᵢ max(0, ρ − yᵢ(fᵢ + b)) − ρ ν Σ cᵢ, at the best b and ρ."""
    wanted = nu * c.sum() / 2
    size = np.clip(y * a, 0, c)
    for sign in (1, -1):
        size[y == sign] = _scaled_to(wanted, size[y == sign], c[y == sign])
    f = K @ a

    def loss(b):
        margins = y * (f + b)
        rho = _level(margins, c, nu)
        return (c * np.maximum(0, rho - margins)).sum() - nu * c.sum() * rho

    return _objectives(K, a, _convex_minimum(loss, -f), y * size, Extended(0))


def one_class(K, a, c, nu):
    """½‖f‖² + Σ cᵢ max(0, ρ − fᵢ) − ρ ν Σ cᵢ, at the best ρ."""
    f = K @ a
    rho = _level(f, c, nu)
    loss = (c * np.maximum(0, rho - f)).sum() - nu * c.sum() * rho
    return _objectives(K, a, loss, _scaled_to(nu * c.sum(), np.clip(a, 0, c), c), Extended(0))


def _objectives(K, a, loss, feasible, linear):
    energy, inner = (a * (K @ a)).sum() / 2, (feasible * (K @ feasible)).sum() / 2
    size = np.abs(a).sum()
    moved = np.abs(a - feasible).sum() / size if size > 0 else Extended(0)
    return Objectives(*map(float, (energy + loss, linear - inner, energy, moved)))


def _balanced(a):
    """Of sum zero: the side that is too large is scaled down."""
    up, down = a[a > 0].sum(), -a[a < 0].sum()
    if up == 0 or down == 0:
        return np.zeros_like(a)
    return np.where(a > 0, a * min(Extended(1), down / up), a * min(Extended(1), up / down))


def _scaled_to(wanted, size, c):
    """Of this sum and at most c: what is missing goes where there is room."""
    total = size.sum()
    if total >= wanted:
        return size * (wanted / total)
    room = c - size
    return size + room * min(Extended(1), (wanted - total) / room.sum()) if room.sum() > 0 else size


def _xlogx(u):
    return np.where(u > 0, u * np.log(np.where(u > 0, u, 1)), 0)


def _level(values, c, share):
    """The least of the values up to which there is this share of the costs."""
    order = np.argsort(values)
    reached = np.cumsum(c[order]) >= share * c.sum()
    return values[order][np.argmax(reached)] if reached.any() else values.max()


def _convex_minimum(function, places, rounds=90):
    """Of a convex function that is least between the least and the largest of some places, by golden sections."""
    low, high = min(places), max(places)
    share = (np.sqrt(Extended(5)) - 1) / 2
    best = min(function(low), function(high))
    for _ in range(rounds):
        left, right = high - share * (high - low), low + share * (high - low)
        at_left, at_right = function(left), function(right)
        best = min(best, at_left, at_right)
        low, high = (low, right) if at_left <= at_right else (left, high)
    return best
