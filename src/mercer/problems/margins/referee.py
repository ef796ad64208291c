"""The referee of the support vector machines: primal, dual, gap and violation of a batch, from b and f = K b.

One formula serves all machines. With φᵢ(b) = qᵢ b + ε|b| inside the box, and a level h for each group, whose sum is s,

    P(b, h) = ½ bᵀKb + Σᵢ φᵢ*(h − fᵢ) − Σ h s,      D(b) = −½ bᵀKb − Σᵢ φᵢ(bᵢ),      f = K b,

where φᵢ*(h − fᵢ), the largest of b (h − fᵢ) − φᵢ(b) over the box, is the hinge, the ε-insensitive loss or what a nu
machine has in their place: h stands for −b₀, ρ − b₀, −ρ − b₀, … (`Kind`). For the feasible b' = b + δ next to b,

    P(b, h) − D(b') = ½ δᵀKδ + Σᵢ [φᵢ*(h − fᵢ) + φᵢ(b'ᵢ) − b'ᵢ (h − fᵢ)],

a sum of terms that are ≥ 0 (Fenchel-Young), and it is computed as that sum.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.problems.certificate import Status
from mercer.problems.margin_cells import Segments, ends, is_free, middle, segments
from mercer.problems.margin_solution import MarginSolution
from mercer.problems.margins import KINDS, Margins, rows_of

__all__ = ["MarginSolution", "free_variables", "judge"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# bᵀKb below this, relative to its size if nothing cancelled, is negative and not rounding.
NEGATIVE = 1e-10
# A coefficient that is off its bound by less, relative to its box, is on it: sums of costs round.
SETTLED = 1e-12
# A point that has to be moved by more than this share of itself to satisfy the constraints does not satisfy them.
ROUNDING = 1e-9


def judge(
    kind: str,
    batch: Margins,
    coef: Array,
    image: Array,
    *,
    steps: Index,
    kernel_evaluations: int,
    tol: float,
    stopped: bool,
    seconds: float,
    assumptions: tuple[Any, ...],
    diagonal: Array | None = None,
) -> MarginSolution:
    """The solution with its certificate.

    Parameters
    ----------
    kind : str
        A row of `KINDS`.
    batch : Margins
        What was to be minimised.
    coef : ndarray of shape (N,)
        What the solver claims.
    image : ndarray of shape (M,)
        K b on the rows of each problem, made from these coefficients in float64.
    steps, kernel_evaluations, seconds, assumptions
        For the record.
    tol : float
        Violation up to which a problem counts as solved.
    stopped : bool
        Whether max_iter or max_time ended it.
    diagonal : ndarray of shape (n,), optional
        kᵢᵢ, from which ½ δᵀKδ ≤ ½ (Σ |δᵢ| √kᵢᵢ)². Without it that term, of second order in what rounding leaves of the
        constraints, is left out of the gap.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.problems.margins import KINDS
    >>> x = y = np.array([1.0, -1.0])
    >>> cuts, uses = np.array([0, 1, 2]), np.array([[0, 1]])
    >>> batch = KINDS["c-svc"].build(cuts, uses, y, np.ones(2), nu=0.5, epsilon=0.0)
    >>> b = np.array([0.5, -0.5])
    >>> solution = judge("c-svc", batch, b, x * (x @ b), steps=np.ones(1, int), kernel_evaluations=4, tol=1e-3,
    ...                  stopped=False, seconds=0.0, assumptions=())
    >>> solution.primal, solution.dual, solution.gap, solution.kkt_violation
    (0.5, 0.5, 0.0, 0.0)
    """
    row = KINDS[kind]
    problems, cells = segments(batch)
    by_group = (len(batch), 1 if cells is problems else 2)
    f = image[batch.entries] if batch.copies > 1 else image
    t = f + batch.linear
    roots = None if diagonal is None else _roots(batch, diagonal)

    settled = _settled(batch, coef)
    free = np.flatnonzero(is_free(batch, settled))
    among = cells.take(free)
    least_up, most_down = ends(batch, cells, settled, t)
    published, spread = _levels(batch, among, free, settled, t, middle(most_down, least_up))
    violation = np.maximum(most_down - least_up, 0.0).reshape(by_group).max(axis=1)

    sums = cells.sum(batch.start)
    point = _feasible(batch, cells, among, free, coef, sums)
    delta = point - coef
    h = _best_levels(batch, cells, point, t, sums) if row.minimised else published
    r = h[cells.of] - t
    losses = _losses(batch, r)
    # The rest of a Fenchel-Young term: φ(b') − b' (h − f).
    rest = batch.width * np.abs(point) - point * r if batch.width > 0.0 else -point * r
    second = _second_order(problems, delta, roots)
    priced = (h * sums).reshape(by_group).sum(axis=1)

    energy = 0.5 * problems.sum(coef * f)
    primal = energy + problems.sum(losses) - priced
    # φ(b') + δ f = rest + b' (h − f) + δ f = rest + b' h − b f, and b' h adds up to h s.
    dual = energy - second - problems.sum(rest) - priced
    gap = second + problems.sum(np.maximum(losses + rest, 0.0))
    scale = np.maximum.reduce([np.abs(primal), np.abs(dual), energy, _rounding(batch, problems, coef, roots)])
    moved = _ratio(problems.sum(np.abs(delta)), problems.sum(np.abs(coef)))
    is_indefinite = bool((energy < 0.0).any()) and bool((energy < -NEGATIVE * _size(problems, coef, f, roots)).any())
    return MarginSolution(
        kind=kind,
        batch=batch,
        coef=coef,
        image=image,
        primals=primal,
        duals=dual,
        gaps=gap,
        relative_gaps=_ratio(gap, scale),
        moved=moved,
        violations=violation,
        intercepts=_combined(published.reshape(by_group), row.intercept),
        spreads=_combined(spread.reshape(by_group), (abs(row.intercept[0]), abs(row.intercept[1]))),
        offsets=_combined(published.reshape(by_group), row.offset),
        steps=steps,
        kernel_evaluations=kernel_evaluations,
        status=_status(violation, energy, moved, tol, is_indefinite=is_indefinite, stopped=stopped),
        seconds=seconds,
        assumptions=assumptions,
    )


def free_variables(batch: Margins, coef: Array) -> Index:
    """The variables that determine the levels: inside the box, and not at the kink, by more than rounding."""
    return np.flatnonzero(is_free(batch, _settled(batch, coef)))


def _combined(levels: Array, weights: tuple[float, float]) -> Array:  # (P, 1 or 2) -> (P,)
    """The weighted sum over the groups of each problem."""
    return np.asarray(levels @ np.array(weights[: levels.shape[1]]))


def _settled(batch: Margins, b: Array) -> Array:
    """The coefficients, those within rounding of a bound (or of the kink) on it."""
    near = SETTLED * np.minimum(batch.high - batch.low, np.abs(b).max(initial=0.0))
    settled = np.where(b <= batch.low + near, batch.low, np.where(b >= batch.high - near, batch.high, b))
    return np.where(np.abs(settled) <= near, 0.0, settled) if batch.width > 0.0 else settled


def _levels(batch: Margins, among: Segments, free: Index, b: Array, t: Array, otherwise: Array) -> tuple[Array, Array]:
    """The mean level of the free variables and how far they are apart; where a group has none, what is given and 0."""
    level = t[free] + batch.width * np.sign(b[free]) if batch.width > 0.0 else t[free]
    counts = among.sum(np.ones(len(free)))
    some = counts > 0.0
    mean = np.divide(among.sum(level), counts, out=otherwise.copy(), where=some)
    return mean, np.subtract(among.most(level), among.least(level), out=np.zeros_like(mean), where=some)


def _feasible(batch: Margins, cells: Segments, among: Segments, free: Index, b: Array, sums: Array) -> Array:
    """The point clipped to the box, its sums then repaired on the free variables where these have the room."""
    point = np.clip(b, batch.low, batch.high)
    missing = sums - cells.sum(point)
    if not missing.any():
        return point
    some = free
    room, whole = _room(batch, among, some, point, missing)
    lacks = whole < np.abs(missing)
    if lacks.any():
        some = np.union1d(free, np.flatnonzero(lacks[cells.of]))
        room, whole = _room(batch, cells.take(some), some, point, missing)
    share = np.divide(missing, whole, out=np.zeros_like(whole), where=whole > 0.0)
    point[some] = np.clip(point[some] + share[cells.of[some]] * room, batch.low[some], batch.high[some])
    return point


def _room(batch: Margins, among: Segments, some: Index, b: Array, missing: Array) -> tuple[Array, Array]:
    """How far these variables can go where their group misses something, at most all of it; and the sums of that."""
    wanted = missing[among.of]
    room = np.where(wanted > 0.0, batch.high[some] - b[some], b[some] - batch.low[some])
    room = np.minimum(room, np.abs(wanted))
    return room, among.sum(room)


def _best_levels(batch: Margins, cells: Segments, b: Array, t: Array, sums: Array) -> Array:
    """The h that minimise Σ φ*(h − f) − h s for machines without ε, group by group: a weighted quantile of t.

    The slope at h is the sum of `high` over t < h and of `low` over t > h, minus s. It is ≤ 0 below min up and ≥ 0
    above max down of a feasible b, so only the t in between are put in order.
    """
    first, last = ends(batch, cells, b, t)
    best = middle(last, first)
    begins = first[cells.of]
    inside = np.flatnonzero((begins <= t) & (t <= last[cells.of]) & (batch.low < batch.high))
    if not inside.size:
        return best
    inside = inside[np.lexsort((t[inside], cells.of[inside]))]
    cell, jump = cells.of[inside], (batch.high - batch.low)[inside]
    before = cells.sum(np.where(t < begins, batch.high, batch.low)) - sums
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    sizes = np.diff(starts, append=len(cell))
    risen = np.cumsum(jump)
    slope = before[cell] + risen - np.repeat(risen[starts] - jump[starts], sizes)
    crossing = np.minimum.reduceat(np.where(slope >= 0.0, np.arange(len(cell)), len(cell)), starts)
    best[cell[starts]] = t[inside[np.minimum(crossing, starts + sizes - 1)]]
    return best


def _losses(batch: Margins, r: Array) -> Array:
    """φ*: the largest of b r − ε|b| over the box, where low ≤ 0 ≤ high."""
    beyond = r - np.clip(r, -batch.width, batch.width) if batch.width > 0.0 else r
    # The end of an unbounded box times 0 is no number, hence the third case.
    return np.where(beyond > 0.0, batch.high, np.where(beyond < 0.0, batch.low, 0.0)) * beyond


def _roots(batch: Margins, diagonal: Array) -> Array:
    """√kᵢᵢ over variables."""
    return np.asarray(np.sqrt(np.maximum(diagonal, 0.0))[rows_of(batch.cuts, batch.uses)][batch.entries])


def _second_order(problems: Segments, delta: Array, roots: Array | None) -> Array | float:
    return 0.0 if roots is None else np.asarray(0.5 * problems.sum(np.abs(delta) * roots) ** 2)


def _size(problems: Segments, b: Array, f: Array, roots: Array | None) -> Array:
    """What bᵀKb is small against: (Σ |bᵢ| √kᵢᵢ)², since f itself may be nothing but rounding."""
    return problems.sum(np.abs(b * f)) if roots is None else np.asarray(problems.sum(np.abs(b) * roots) ** 2)


def _rounding(batch: Margins, problems: Segments, b: Array, roots: Array | None) -> Array:
    """The size of P below which it is zero: rounding of Σ φ*(0) and, where the diagonal of K is known, of bᵀKb."""
    size = problems.sum(_losses(batch, -batch.linear))
    if roots is not None:
        size += problems.sum(np.abs(b) * roots) ** 2
    return np.asarray(np.finfo(np.float64).eps * size)


def _status(violation: Array, energy: Array, moved: Array, tol: float, *, is_indefinite: bool, stopped: bool) -> Status:
    if is_indefinite:
        return Status.INDEFINITE
    # A coefficient that is no number is above and below nothing, and so violates nothing.
    if (violation <= tol).all() and (moved <= ROUNDING).all() and np.isfinite(energy).all():
        return Status.MARGIN_OPTIMAL
    return Status.STOPPED if stopped else Status.INEXACT


def _ratio(part: Array, whole: Array) -> Array:
    """0/0 is 0; an infinite part (of an unbounded box) is infinite whatever the whole."""
    nothing = np.where(part == 0.0, 0.0, np.inf)
    return np.divide(part, whole, out=nothing, where=(whole > 0.0) & np.isfinite(part))
