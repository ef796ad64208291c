"""The one dual of the support vector machines, and a batch of such problems over one Gram matrix.

    minimise  ½ bᵀKb + qᵀb + ε Σᵢ|bᵢ|   over   low ≤ b ≤ high,   the sum of b in each group fixed.

The coefficients b are signed (there is no y in front of them), so that a decision is Σᵢ bᵢ k(xᵢ, x) + b₀ for all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter

__all__ = ["KINDS", "Kind", "Margins", "Rows", "rows_of"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# What a sum of costs may miss by rounding alone.
ROUNDING = 1e-12
# The box of a convex combination ends here, beyond what its sum of 1 allows: so a vertex that is the whole combination
# counts as free, and the margin passes through it.
BEYOND_ONE = 2.0


@final
@dataclass(frozen=True, eq=False)
class Margins:
    """Problems that share one Gram matrix: the pairs of classes, the folds of a cross-validation, or just one.

    The rows of K fall into ranges, and a problem consists of some of them, one after the other. Its variables are these
    rows, or these rows twice (`copies`). All arrays over variables hold those of the first problem, then those of the
    second, and so on.

    Attributes
    ----------
    cuts : ndarray of shape (s + 1,)
        Where the s ranges of rows begin and end: range r is cuts[r]:cuts[r + 1].
    uses : ndarray of shape (P, r)
        The ranges of each problem.
    linear, low, high : ndarray of shape (N,)
        q and the box. A row with low = high = 0 takes no part; its decision is computed all the same.
    start : ndarray of shape (N,)
        A point inside the box. The sums over its groups are those that every point must have.
    group : ndarray of shape (N,), uint8
        0 or 1.
    width : float
        ε; above 0 for regression only.
    copies : int
        How often a problem has each row: 1, or 2 (the second copy after the first).
    """

    cuts: Index
    uses: Index
    linear: Array
    low: Array
    high: Array
    start: Array
    group: npt.NDArray[np.uint8]
    width: float = 0.0
    copies: int = 1

    def __len__(self) -> int:
        return len(self.uses)

    @cached_property
    def row_offsets(self) -> Index:
        """Where the rows of each problem begin, in arrays over rows: (P + 1,)."""
        return _row_offsets(self.cuts, self.uses)

    @cached_property
    def offsets(self) -> Index:
        """Where the variables of each problem begin: (P + 1,)."""
        return self.copies * self.row_offsets

    @cached_property
    def entries(self) -> Index:
        """Of each variable, the place of its row in arrays over rows: (N,)."""
        return _entries(self.row_offsets, self.copies)

    def rows(self, p: int) -> Index:
        """The rows of K that problem p consists of."""
        return np.concatenate([np.arange(self.cuts[r], self.cuts[r + 1]) for r in self.uses[p]])


def rows_of(cuts: Index, uses: Index) -> Index:
    """The rows of K that the problems consist of, those of the first, then those of the second, and so on.

    >>> rows_of(np.array([0, 2, 3, 5]), np.array([[0, 1], [0, 2]]))
    array([0, 1, 2, 0, 1, 3, 4])
    """
    first, sizes = cuts[:-1][uses].ravel(), np.diff(cuts)[uses].ravel()
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.repeat(first, sizes) + within, dtype=np.int64)


def _row_offsets(cuts: Index, uses: Index) -> Index:
    sizes = np.diff(cuts)[uses].sum(axis=1)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _entries(row_offsets: Index, copies: int) -> Index:
    if copies == 1:
        return np.arange(row_offsets[-1])
    sizes = np.diff(row_offsets)
    problem = np.repeat(np.arange(len(sizes)), copies * sizes)
    local = np.arange(copies * row_offsets[-1]) - copies * row_offsets[problem]
    return np.asarray(row_offsets[problem] + local % sizes[problem], dtype=np.int64)


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """What the problems of a machine are made from; arrays over the rows of all problems, in the order of `rows_of`.

    Attributes
    ----------
    cuts, uses : ndarray
        As in `Margins`.
    y : ndarray of shape (M,)
        ±1 for classes, a target for regression, of no matter for one-class.
    cost : ndarray of shape (M,)
        c; a row with 0 takes no part.
    nu : float
        Of the nu machines and of one-class.
    epsilon : float
        Of epsilon-svr.
    """

    cuts: Index
    uses: Index
    y: Array
    cost: Array
    nu: float = 0.5
    epsilon: float = 0.0

    @cached_property
    def offsets(self) -> Index:
        """Where the rows of each problem begin: (P + 1,)."""
        return _row_offsets(self.cuts, self.uses)


@final
@dataclass(frozen=True)
class Kind:
    """One machine: how its problems are made, and what their levels mean.

    At an optimum f + q + ε·sign(b) is the same for all free rows of a group: the group's level h. The intercept and the
    offset are linear in the two of them.

    Attributes
    ----------
    name, formula : str
        Its key, and the primal as it is printed.
    of_rows : callable (Rows) -> Margins
        The batch.
    intercept : tuple of two floats
        b₀ as a sum over (h₀, h₁).
    offset : tuple of two floats
        ρ, or the ε of nu-svr, as such a sum; NaN where there is none.
    minimised : bool
        Whether the primal is that at the best levels, and not that at the published intercept.
    """

    name: str
    formula: str
    of_rows: Callable[[Rows], Margins]
    intercept: tuple[float, float]
    offset: tuple[float, float] = (float("nan"), float("nan"))
    minimised: bool = True

    def build(self, cuts: Index, uses: Index, y: Array, cost: Array, nu: float = 0.5, epsilon: float = 0.0) -> Margins:
        """The batch made from `Rows` with these fields."""
        return self.of_rows(Rows(cuts, uses, y, cost, nu, epsilon))


def _c_svc(rows: Rows) -> Margins:
    low, high = _towards(rows.y, rows.cost)
    return Margins(rows.cuts, rows.uses, -rows.y, low, high, np.zeros_like(rows.y), _one_group(rows.y))


def _epsilon_svr(rows: Rows) -> Margins:
    y, cost = rows.y, rows.cost
    start, group = np.zeros_like(y), _one_group(y)
    return Margins(rows.cuts, rows.uses, -y, -cost, cost.copy(), start, group, width=rows.epsilon)


def _one_class(rows: Rows) -> Margins:
    group, zero = _one_group(rows.cost), np.zeros_like(rows.cost)
    start = _filled(rows.offsets, rows.cost, group, rows.nu, (1.0,))
    return Margins(rows.cuts, rows.uses, zero, zero, rows.cost.copy(), start, group)


def _nu_svc(rows: Rows) -> Margins:
    group = _by_class(rows.y)
    start = rows.y * _filled(rows.offsets, rows.cost, group, rows.nu, (0.5, 0.5))
    low, high = _towards(rows.y, rows.cost)
    return Margins(rows.cuts, rows.uses, np.zeros_like(rows.y), low, high, start, group)


def _nu_svr(rows: Rows) -> Margins:
    twice, sizes = _entries(rows.offsets, 2), np.diff(rows.offsets)
    group = np.repeat(np.tile([0, 1], len(sizes)), np.repeat(sizes, 2)).astype(np.uint8)
    sign, cost = np.where(group == 0, 1.0, -1.0), rows.cost[twice]
    # Half of ν Σc for each copy, which is a quarter of what both have.
    start = sign * _filled(2 * rows.offsets, cost, group, rows.nu, (0.25, 0.25))
    low, high = _towards(sign, cost)
    return Margins(rows.cuts, rows.uses, -rows.y[twice], low, high, start, group, copies=2)


def _hulls(rows: Rows) -> Margins:
    y, takes_part = rows.y, rows.cost > 0.0
    start = np.zeros_like(y)
    for begin, end in pairwise(rows.offsets):
        for sign in (1.0, -1.0):
            mine = np.flatnonzero(takes_part[begin:end] & (y[begin:end] == sign))
            if not mine.size:
                raise InvalidInput(
                    "The convex hulls of two classes need a row of each.", f"Class {sign:+.0f} of a problem has none."
                )
            start[begin + mine[0]] = sign
    low, high = _towards(y, np.where(takes_part, BEYOND_ONE, 0.0))
    return Margins(rows.cuts, rows.uses, np.zeros_like(y), low, high, start, _by_class(y))


def _by_class(y: Array) -> npt.NDArray[np.uint8]:
    return (y < 0.0).astype(np.uint8)


def _one_group(values: Array) -> npt.NDArray[np.uint8]:
    return np.zeros(len(values), dtype=np.uint8)


def _towards(sign: Array, cost: Array) -> tuple[Array, Array]:
    """The box between 0 and sign · cost."""
    return np.where(sign < 0.0, -cost, 0.0), np.where(sign < 0.0, 0.0, cost)


def _filled(offsets: Index, cost: Array, group: npt.NDArray[np.uint8], nu: float, shares: tuple[float, ...]) -> Array:
    """LIBSVM's first point: a group adds up to its share of ν Σc, and its rows in their order take all they can."""
    start = np.zeros_like(cost)
    for begin, end in pairwise(offsets):
        whole = nu * float(cost[begin:end].sum())
        for k, share in enumerate(shares):
            wanted = share * whole
            mine = begin + np.flatnonzero(group[begin:end] == k)
            room = np.cumsum(cost[mine])
            there = float(room[-1]) if mine.size else 0.0
            if wanted > there * (1.0 + ROUNDING):
                raise InvalidParameter(
                    "specified nu is infeasible: the rows of one side cannot take their share of it.",
                    f"Got costs that add up to {there:.6g} there; nu asks for {wanted:.6g}.",
                    f"Try nu of at most {nu * there / wanted:.6g}, or weights that are more even.",
                )
            start[mine] = np.clip(wanted - (room - cost[mine]), 0.0, cost[mine])
    return start


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("c-svc", "½‖f‖² + Σ cᵢ max(0, 1 − yᵢ(fᵢ + b₀))", _c_svc, (-1.0, 0.0), minimised=False),
        Kind("epsilon-svr", "½‖f‖² + Σ cᵢ max(0, |yᵢ − fᵢ − b₀| − ε)", _epsilon_svr, (-1.0, 0.0), minimised=False),
        Kind("one-class", "½‖f‖² + Σ cᵢ max(0, ρ − fᵢ) − ρ ν Σ cᵢ", _one_class, (-1.0, 0.0), (1.0, 0.0)),
        Kind("nu-svc", "½‖f‖² + Σ cᵢ max(0, ρ − yᵢ(fᵢ + b₀)) − ρ ν Σ cᵢ", _nu_svc, (-0.5, -0.5), (0.5, -0.5)),
        Kind("nu-svr", "½‖f‖² + Σ cᵢ max(0, |yᵢ − fᵢ − b₀| − ε) + ε ν Σ cᵢ", _nu_svr, (-0.5, -0.5), (-0.5, 0.5)),
        Kind("hulls", "½‖f‖² − 2ρ where yᵢ(fᵢ + b₀) ≥ ρ", _hulls, (-0.5, -0.5), (0.5, -0.5)),
    )
}
