"""The machines: how each of them states the one dual of `mercer.problems.margins.batch`, and what its levels mean."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter
from mercer.problems.margins.batch import Margins, row_offsets, variable_rows

__all__ = ["KINDS", "Kind", "MarginSpec", "one_pair"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# What a sum of costs may miss by rounding alone.
ROUNDING = 1e-12
# The box of a convex combination ends here, beyond what its sum of 1 allows: so a vertex that is the whole combination
# counts as free, and the margin passes through it.
BEYOND_ONE = 2.0


@final
@dataclass(frozen=True, eq=False)
class MarginSpec:
    """What the problems of a machine are made from; arrays over the rows of all problems, in the order of `all_rows`.

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
        return row_offsets(self.cuts, self.uses)


@final
@dataclass(frozen=True)
class Kind:
    """One machine: how its problems are made, and what their levels mean.

    At an optimum f + q + ε·sign(α) is the same for all free rows of a group: the group's level h. The intercept and the
    offset are linear in the two of them.

    Attributes
    ----------
    name, formula : str
        Its key, and the primal as it is printed.
    make : callable (MarginSpec) -> Margins
        The batch.
    intercept : tuple of two floats
        b as a sum over (h₀, h₁).
    offset : tuple of two floats
        ρ, or the ε of nu-svr, as such a sum; NaN where there is none.
    minimised : bool
        Whether the primal is that at the best levels, and not that at the published intercept.
    in_margins : bool
        Whether what is published is in units of ρ, as LIBSVM has it.
    """

    name: str
    formula: str
    make: Callable[[MarginSpec], Margins]
    intercept: tuple[float, float]
    offset: tuple[float, float] = (float("nan"), float("nan"))
    minimised: bool = True
    in_margins: bool = False

    def build(self, cuts: Index, uses: Index, y: Array, cost: Array, nu: float = 0.5, epsilon: float = 0.0) -> Margins:
        """The batch made from a `MarginSpec` with these fields."""
        return self.make(MarginSpec(cuts, uses, y, cost, nu, epsilon))


def _c_svc(spec: MarginSpec) -> Margins:
    low, high = _towards(spec.y, spec.cost)
    return Margins(spec.cuts, spec.uses, -spec.y, low, high, np.zeros_like(spec.y), _one_group(spec.y))


def _epsilon_svr(spec: MarginSpec) -> Margins:
    y, cost = spec.y, spec.cost
    start, group = np.zeros_like(y), _one_group(y)
    return Margins(spec.cuts, spec.uses, -y, -cost, cost.copy(), start, group, width=spec.epsilon)


def _one_class(spec: MarginSpec) -> Margins:
    group, zero = _one_group(spec.cost), np.zeros_like(spec.cost)
    start = _filled(spec.offsets, spec.cost, group, spec.nu, (1.0,))
    return Margins(spec.cuts, spec.uses, zero, zero, spec.cost.copy(), start, group)


def _nu_svc(spec: MarginSpec) -> Margins:
    group = _by_class(spec.y)
    start = spec.y * _filled(spec.offsets, spec.cost, group, spec.nu, (0.5, 0.5))
    low, high = _towards(spec.y, spec.cost)
    return Margins(spec.cuts, spec.uses, np.zeros_like(spec.y), low, high, start, group)


def _nu_svr(spec: MarginSpec) -> Margins:
    twice, sizes = variable_rows(spec.offsets, 2), np.diff(spec.offsets)
    group = np.repeat(np.tile([0, 1], len(sizes)), np.repeat(sizes, 2)).astype(np.uint8)
    sign, cost = np.where(group == 0, 1.0, -1.0), spec.cost[twice]
    # Half of ν Σc for each copy, which is a quarter of what both have.
    start = sign * _filled(2 * spec.offsets, cost, group, spec.nu, (0.25, 0.25))
    low, high = _towards(sign, cost)
    return Margins(spec.cuts, spec.uses, -spec.y[twice], low, high, start, group, copies=2)


def _hulls(spec: MarginSpec) -> Margins:
    y, takes_part = spec.y, spec.cost > 0.0
    start = np.zeros_like(y)
    for begin, end in pairwise(spec.offsets):
        for sign in (1.0, -1.0):
            mine = np.flatnonzero(takes_part[begin:end] & (y[begin:end] == sign))
            if not mine.size:
                raise InvalidInput(
                    "The convex hulls of two classes need a row of each.", f"Class {sign:+.0f} of a problem has none."
                )
            start[begin + mine[0]] = sign
    low, high = _towards(y, np.where(takes_part, BEYOND_ONE, 0.0))
    return Margins(spec.cuts, spec.uses, np.zeros_like(y), low, high, start, _by_class(y))


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
        Kind("c-svc", "½‖f‖² + Σ cᵢ max(0, 1 − yᵢ(fᵢ + b))", _c_svc, (-1.0, 0.0), minimised=False),
        Kind("epsilon-svr", "½‖f‖² + Σ cᵢ max(0, |yᵢ − fᵢ − b| − ε)", _epsilon_svr, (-1.0, 0.0), minimised=False),
        Kind("one-class", "½‖f‖² + Σ cᵢ max(0, ρ − fᵢ) − ρ ν Σ cᵢ", _one_class, (-1.0, 0.0), (1.0, 0.0)),
        Kind(
            "nu-svc",
            "½‖f‖² + Σ cᵢ max(0, ρ − yᵢ(fᵢ + b)) − ρ ν Σ cᵢ",
            _nu_svc,
            (-0.5, -0.5),
            (0.5, -0.5),
            in_margins=True,
        ),
        Kind("nu-svr", "½‖f‖² + Σ cᵢ max(0, |yᵢ − fᵢ − b| − ε) + ε ν Σ cᵢ", _nu_svr, (-0.5, -0.5), (-0.5, 0.5)),
        Kind("hulls", "½‖f‖² − 2ρ where yᵢ(fᵢ + b) ≥ ρ", _hulls, (-0.5, -0.5), (0.5, -0.5), in_margins=True),
    )
}


def one_pair(kind: Kind, cuts: Index, use: Index, signs: Array, cost: Array, nu: float) -> Margins:
    """The problem of one pair, with nu or the largest that is feasible: twice the share of the smaller class."""
    sides = float(cost[signs > 0.0].sum()), float(cost[signs < 0.0].sum())
    return kind.build(cuts, use[None, :], signs, cost, min(nu, 2.0 * min(sides) / sum(sides)))
