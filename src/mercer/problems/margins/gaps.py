"""The arithmetic of the referee: primal, dual, gap and violation of a batch, from α and f = Kα.

One formula serves all machines. With φᵢ(α) = qᵢ α + ε|α| inside the box, and a level h for each group, whose sum is s,

    P(α, h) = ½ αᵀKα + Σᵢ φᵢ*(h − fᵢ) − Σ h s,      D(α) = −½ αᵀKα − Σᵢ φᵢ(αᵢ),      f = Kα,

where φᵢ*(h − fᵢ), the largest of α (h − fᵢ) − φᵢ(α) over the box, is the hinge, the ε-insensitive loss or what a nu
machine has in their place: h stands for −b, ρ − b, −ρ − b, … (`Kind`). For the feasible α' = α + δ next to α,

    P(α, h) − D(α') = ½ δᵀKδ + Σᵢ [φᵢ*(h − fᵢ) + φᵢ(α'ᵢ) − α'ᵢ (h − fᵢ)],

a sum of terms that are ≥ 0 (Fenchel-Young), and it is computed as that sum.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.problems.certificate import Status
from mercer.problems.margins.batch import Margins
from mercer.problems.margins.groups import Segments, ends, is_free, middle, over_variables, segments
from mercer.problems.margins.kinds import Kind

__all__ = ["Findings", "findings", "free_variables", "intercepts"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

EPSILON = float(np.finfo(np.float64).eps)
# αᵀKα below this, relative to its size if nothing cancelled, is negative and not rounding.
NEGATIVE = 1e-10
# A coefficient that is off its bound by less, relative to its box, is on it: sums of costs round.
SNAP = 1e-12
# A point that has to be moved by more than this share of itself to satisfy the constraints does not satisfy them.
ROUNDING = 1e-9
# The violation that is rounding, in units of what one term of f rounds.
ROUNDED = 4.0
# P and D of so many times what one term of their sums rounds are nothing.
NOTHING = 8.0
# Two points of feature space are one up to this share of their size, in squared distance: rounding, and a little more.
COINCIDENT = 1e-14


@final
@dataclass(frozen=True, eq=False)
class Findings:
    """What there is to know of each problem; arrays of shape (P,), of which `MarginSolution` explains those it has.

    Attributes
    ----------
    primals, duals, gaps, relative_gaps, moved, violations, intercepts, spreads, offsets : ndarray
        As in `MarginSolution`.
    least_violations, solvable : ndarray
        The violation that is nothing but rounding, for the machines whose α and f scale with the costs; for all, that
        to which steps can come, where coefficients cancel.
    is_feasible, is_negative, has_margin : ndarray of bool
        Whether the point satisfies its constraints and all is finite; whether αᵀKα is negative by more than rounding;
        whether it is more than rounding, for the kinds in units of ρ.
    """

    primals: Array
    duals: Array
    gaps: Array
    relative_gaps: Array
    moved: Array
    violations: Array
    intercepts: Array
    spreads: Array
    offsets: Array
    least_violations: Array
    solvable: Array
    is_feasible: Mask
    is_negative: Mask
    has_margin: Mask

    def is_closed(self, gap: float) -> Mask:
        """Whether the relative gap is at most `gap`: 0 where there is nothing that it could be relative to."""
        return (self.relative_gaps <= gap) & self.has_margin

    def statuses(self, tol: float, gap: float, *, stopped: bool) -> tuple[Status, ...]:
        """How each problem ended, where tol is the violation and gap the relative gap that were asked for."""
        # A coefficient that is no number is above and below nothing, and so violates nothing: hence is_feasible.
        is_stationary = (self.violations <= np.maximum(tol, self.least_violations)) & self.is_feasible
        is_solved = is_stationary & self.is_closed(gap)
        found = np.full(len(self.gaps), Status.STOPPED if stopped else Status.INEXACT, dtype=object)
        if not stopped:
            found[is_stationary] = Status.GAP_OPEN
        found[is_solved] = Status.MARGIN_OPTIMAL
        found[~self.has_margin & ~is_solved] = Status.NO_MARGIN
        found[self.is_negative] = Status.INDEFINITE
        return tuple(found)


def findings(kind: Kind, batch: Margins, coef: Array, f: Array, diagonal: Array) -> Findings:
    """What there is to know of some coefficients.

    Parameters
    ----------
    kind : Kind
        A row of `KINDS`.
    batch : Margins
        What was to be minimised.
    coef : ndarray of shape (N,)
        What the solver claims.
    f : ndarray of shape (M,)
        Kα on the rows of each problem, made from these coefficients in float64.
    diagonal : ndarray of shape (n,)
        kᵢᵢ, from which ½ δᵀKδ ≤ ½ (Σ |δᵢ| √kᵢᵢ)².

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.margins.kinds import KINDS
    >>> x = y = np.array([1.0, -1.0])
    >>> batch = KINDS["c-svc"].build(np.array([0, 1, 2]), np.array([[0, 1]]), y, np.ones(2))
    >>> coef = np.array([0.5, -0.5])
    >>> found = findings(KINDS["c-svc"], batch, coef, x * (x @ coef), x * x)
    >>> found.primals, found.duals, found.gaps, found.violations
    (array([0.5]), array([0.5]), array([0.]), array([0.]))
    """
    problems, groups = segments(batch)
    by_group = (len(batch), 1 if groups is problems else 2)
    f = over_variables(batch, f)
    t = f + batch.linear
    roots = _roots(batch, diagonal)

    snapped = _snapped(batch, coef)
    free = np.flatnonzero(is_free(batch, snapped))
    among = groups.take(free)
    least_up, most_down = ends(batch, groups, snapped, t)
    published, spread = _levels(batch, among, free, snapped, t, middle(most_down, least_up))
    violation = np.maximum(most_down - least_up, 0.0).reshape(by_group).max(axis=1)

    sums = groups.sum(batch.start)
    point = _feasible(batch, groups, among, free, coef, sums)
    delta = point - coef
    h = _best_levels(batch, groups, point, t, sums) if kind.minimised else published
    r = h[groups.of] - t
    losses = _losses(batch, r)
    # The rest of a Fenchel-Young term: φ(α') − α' (h − f).
    rest = batch.width * np.abs(point) - point * r if batch.width > 0.0 else -point * r
    priced = (h * sums).reshape(by_group).sum(axis=1)

    absolute, step = np.abs(coef), np.abs(delta)
    twice_energy, loss, remainder, excess, loss_of_nothing, length, root_length, way, root_way = problems.sums(
        coef * f, losses, rest, np.maximum(losses + rest, 0.0), _losses(batch, -batch.linear),
        absolute, absolute * roots, step, step * roots,
    )  # fmt: skip
    energy, second = 0.5 * twice_energy, 0.5 * root_way**2
    size = root_length**2  # of αᵀKα, had nothing cancelled
    # The same, had all rows the largest kᵢᵢ: coefficients round too, those that are almost zero as others do.
    longest = problems.most(roots)
    reach = length * longest
    is_homogeneous = not batch.linear.any()
    primal = energy + loss - priced
    # φ(α') + δ f = rest + α' (h − f) + δ f = rest + α' h − α f, and α' h adds up to h s.
    dual = energy - second - remainder - priced
    gap = second + excess
    values = np.maximum.reduce([np.abs(primal), np.abs(dual), energy])
    # The size of P and D below which they are zero.
    rounding = EPSILON * (loss_of_nothing + (reach**2 if is_homogeneous else 0.0))
    moved = _ratio(way, length)
    # Where P and D are rounding, so is their gap. Divided by ρ, rounding is no longer nothing.
    is_nothing = (values <= NOTHING * rounding) & np.isfinite(gap) & (not kind.in_margins)
    return Findings(
        primals=primal,
        duals=dual,
        gaps=gap,
        relative_gaps=np.where(is_nothing, 0.0, _ratio(gap, np.maximum(values, rounding))),
        moved=moved,
        violations=violation,
        intercepts=_combined(published.reshape(by_group), kind.intercept),
        spreads=_combined(spread.reshape(by_group), (abs(kind.intercept[0]), abs(kind.intercept[1]))),
        offsets=_combined(published.reshape(by_group), kind.offset),
        least_violations=(ROUNDED if is_homogeneous else 0.0) * EPSILON * reach * longest,
        solvable=EPSILON * reach * longest,
        is_feasible=(moved <= ROUNDING) & np.isfinite(energy),
        is_negative=energy < -NEGATIVE * size,
        # Half the sum of |α| is what each side weighs: of hulls, 1.
        has_margin=2.0 * energy > 0.25 * COINCIDENT * size if kind.in_margins else np.ones(len(batch), dtype=np.bool_),
    )


def intercepts(kind: Kind, batch: Margins, coef: Array, f: Array) -> Array:  # (P,)
    """The intercepts b alone, as in `findings`.

    >>> from mercer.problems.margins.kinds import KINDS
    >>> x = y = np.array([1.0, -1.0])
    >>> batch = KINDS["c-svc"].build(np.array([0, 1, 2]), np.array([[0, 1]]), y, np.ones(2))
    >>> intercepts(KINDS["c-svc"], batch, 0.5 * y, x) + 0.0
    array([0.])
    """
    problems, groups = segments(batch)
    t = (f[batch.entries] if batch.copies > 1 else f) + batch.linear
    snapped = _snapped(batch, coef)
    free = np.flatnonzero(is_free(batch, snapped))
    least_up, most_down = ends(batch, groups, snapped, t)
    level, _ = _levels(batch, groups.take(free), free, snapped, t, middle(most_down, least_up))
    return _combined(level.reshape(len(batch), 1 if groups is problems else 2), kind.intercept)


def free_variables(batch: Margins, coef: Array) -> Index:
    """The variables that determine the levels: inside the box, and not at the kink, by more than rounding."""
    return np.flatnonzero(is_free(batch, _snapped(batch, coef)))


def _combined(levels: Array, weights: tuple[float, float]) -> Array:  # (P, 1 or 2) -> (P,)
    """The weighted sum over the groups of each problem."""
    return np.asarray(levels @ np.array(weights[: levels.shape[1]]))


def _snapped(batch: Margins, coef: Array) -> Array:
    """The coefficients, those within rounding of a bound (or of the kink) on it."""
    near = SNAP * np.minimum(batch.high - batch.low, np.abs(coef).max(initial=0.0))
    snapped = np.where(coef <= batch.low + near, batch.low, np.where(coef >= batch.high - near, batch.high, coef))
    return np.where(np.abs(snapped) <= near, 0.0, snapped) if batch.width > 0.0 else snapped


def _levels(
    batch: Margins, among: Segments, free: Index, coef: Array, t: Array, otherwise: Array
) -> tuple[Array, Array]:
    """The mean level of the free variables and how far they are apart; where a group has none, what is given and 0."""
    level = t[free] + batch.width * np.sign(coef[free]) if batch.width > 0.0 else t[free]
    counts = among.sum(np.ones(len(free)))
    some = counts > 0.0
    mean = np.divide(among.sum(level), counts, out=otherwise.copy(), where=some)
    return mean, np.subtract(among.most(level), among.least(level), out=np.zeros_like(mean), where=some)


def _feasible(batch: Margins, groups: Segments, among: Segments, free: Index, coef: Array, sums: Array) -> Array:
    """The point clipped to the box, its sums then repaired on the free variables where these have the room."""
    point = np.clip(coef, batch.low, batch.high)
    missing = sums - groups.sum(point)
    if not missing.any():
        return point
    some = free
    room, whole = _room(batch, among, some, point, missing)
    lacks = whole < np.abs(missing)
    if lacks.any():
        some = np.union1d(free, np.flatnonzero(lacks[groups.of]))
        room, whole = _room(batch, groups.take(some), some, point, missing)
    share = np.divide(missing, whole, out=np.zeros_like(whole), where=whole > 0.0)
    point[some] = np.clip(point[some] + share[groups.of[some]] * room, batch.low[some], batch.high[some])
    return point


def _room(batch: Margins, among: Segments, some: Index, coef: Array, missing: Array) -> tuple[Array, Array]:
    """How far these variables can go where their group misses something, at most all of it; and the sums of that."""
    wanted = missing[among.of]
    room = np.where(wanted > 0.0, batch.high[some] - coef[some], coef[some] - batch.low[some])
    room = np.minimum(room, np.abs(wanted))
    return room, among.sum(room)


def _best_levels(batch: Margins, groups: Segments, coef: Array, t: Array, sums: Array) -> Array:
    """The h that minimise Σ φ*(h − f) − h s for machines without ε, group by group: a weighted quantile of t.

    The slope at h is the sum of `high` over t < h and of `low` over t > h, minus s. It is ≤ 0 below min up and ≥ 0
    above max down of a feasible coef, so only the t in between are put in order.
    """
    first, last = ends(batch, groups, coef, t)
    best = middle(last, first)
    begins = first[groups.of]
    inside = np.flatnonzero((begins <= t) & (t <= last[groups.of]) & (batch.low < batch.high))
    if not inside.size:
        return best
    inside = inside[np.lexsort((t[inside], groups.of[inside]))]
    cell, jump = groups.of[inside], (batch.high - batch.low)[inside]
    before = groups.sum(np.where(t < begins, batch.high, batch.low)) - sums
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    sizes = np.diff(starts, append=len(cell))
    risen = np.cumsum(jump)
    slope = before[cell] + risen - np.repeat(risen[starts] - jump[starts], sizes)
    crossing = np.minimum.reduceat(np.where(slope >= 0.0, np.arange(len(cell)), len(cell)), starts)
    best[cell[starts]] = t[inside[np.minimum(crossing, starts + sizes - 1)]]
    return best


def _losses(batch: Margins, r: Array) -> Array:
    """φ*: the largest of α r − ε|α| over the box, where low ≤ 0 ≤ high."""
    beyond = r - np.clip(r, -batch.width, batch.width) if batch.width > 0.0 else r
    # The end of an unbounded box times 0 is no number, hence the third case.
    return np.where(beyond > 0.0, batch.high, np.where(beyond < 0.0, batch.low, 0.0)) * beyond


def _roots(batch: Margins, diagonal: Array) -> Array:
    """√kᵢᵢ over variables."""
    return np.asarray(over_variables(batch, np.sqrt(np.maximum(diagonal, 0.0))[batch.rows]))


def _ratio(part: Array, whole: Array) -> Array:
    """0/0 is 0; an infinite part (of an unbounded box) is infinite whatever the whole."""
    nothing = np.where(part == 0.0, 0.0, np.inf)
    return np.divide(part, whole, out=nothing, where=(whole > 0.0) & np.isfinite(part))
