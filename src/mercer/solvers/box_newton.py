"""Newton's method for a quadratic function over a box with fixed sums, all of K at hand.

    minimise  ½ αᵀKα + qᵀα + ε Σᵢ|αᵢ|   over   low ≤ α ≤ high,   the sum of α in each group fixed.

K of the free variables F is nearly singular where this is of use, and the minimum over F lies far outside the box. So
each step Δ minimises the same function plus ½ λ ‖Δ‖², the variables that it would carry out of the box are set on its
wall, and the rest is solved for again until none leaves (to project such a step on the box instead destroys it). λ
falls with the violation.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.problems.margins.groups import is_free, middle, slopes
from mercer.solvers.lapack import Look, factor_in_place, solve_in_place

__all__ = ["Box", "newton_in_box"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Group = npt.NDArray[np.uint8]

# λ as a share of the violation over the width of the box: what is left of the violation if a variable crosses it all.
RIDGE = 0.3
# From a whole step to the next λ falls by this at least; after one that had to be cut, it rises.
FALL = 3.0
RISE = 10.0
WHOLE = 0.9
# A step that would have to be cut to less is not taken: it would do no more than pull variables off their walls.
SHORT = 0.1
# Below this, relative to the largest diagonal entry, λ is lost in K's own rounding.
LEAST_RIDGE = 1e-13
LOST = 2.0
# Steps in all, and such that have not brought the least violation so far down to this share of it, after which there
# is no more to be had: rounding.
STEPS = 60
IDLE = 15
PROGRESS = 0.5
# Variables set on a wall become conditions on the factorised system, until they are this share of it: then it is
# factorised anew without them.
BORDER = 0.12
# A sum that differs by this share of its terms has changed.
SUMS = 1e-13
# A variable this close to a wall, relative to the box, is on it.
ON_WALL = 1e-12


@final
@dataclass(eq=False)
class Box:
    """A problem and a point of it, which is moved.

    Attributes
    ----------
    K : ndarray of shape (m, m)
        Positive semi-definite.
    b : ndarray of shape (m,)
        The point, inside the box; changed in place.
    t : ndarray of shape (m,)
        K b + q, without ε; changed in place.
    low, high : ndarray of shape (m,)
        The box.
    group : ndarray of shape (m,)
        0 or 1; the sum of b over each is kept.
    width : float
        ε.
    """

    K: Array
    b: Array
    t: Array
    low: Array
    high: Array
    group: Group
    width: float = 0.0

    def slopes(self) -> tuple[Array, Array]:
        """The derivatives upwards and downwards; infinite where the box does not let a variable move."""
        return slopes(self, self.b, self.t)

    def is_free(self) -> Mask:
        """Inside the box, and not at the kink of ε|α|."""
        return is_free(self, self.b)

    def room(self) -> Array:
        """How far the slopes of each variable are from pulling it; negative where they do."""
        up, down = self.slopes()
        level = self.levels()[self.group]
        return np.asarray(np.minimum(up - level, level - down))

    def levels(self) -> Array:
        """Of each group, the middle of the free slopes; where none is free, that of those which pull at each other."""
        up, down = self.slopes()
        free = self.is_free()
        levels = np.zeros(2)
        for g in (0, 1):
            mine = self.group == g
            known = up[mine & free]
            if known.size:
                levels[g] = np.median(known)
            elif mine.any():
                levels[g] = middle(down[mine].max(), up[mine].min())
        return levels

    def violation(self) -> float:
        """By how much a decrease in a group gains more than an increase costs, at most."""
        up, down = self.slopes()
        of = [self.group == g for g in (0, 1)]
        return max(0.0, *(float(down[mine].max() - up[mine].min()) for mine in of if mine.any()))


def newton_in_box(box: Box, tol: float, watch: Look) -> float:
    """Move the point until its violation is at most tol, or as far as rounding lets it.

    Parameters
    ----------
    box : Box
        b and t are changed in place.
    tol : float
        The violation to be reached.
    watch : Watch
        Looked at between steps.

    Returns
    -------
    float
        The violation that is left.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.watch import Watch
    >>> K, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-1.0, 1.0])
    >>> box = Box(K, np.zeros(2), q.copy(), np.array([0.0, -5.0]), np.array([5.0, 0.0]), np.zeros(2, np.uint8))
    >>> newton_in_box(box, 1e-9, Watch("two variables")) <= 1e-9
    True
    >>> box.b
    array([ 1., -1.])
    """
    least = LEAST_RIDGE * float(box.K.diagonal().max(initial=0.0))
    violation = box.violation()
    ridge, best, idle = 0.0, np.inf, 0
    for _ in range(STEPS):
        best, idle = (violation, 0) if violation <= PROGRESS * best else (best, idle + 1)
        if violation <= tol or idle == IDLE or watch.look(0.0):
            break
        side = _Side.of(box)
        usual = RIDGE * violation / side.extent()
        ridge = max(usual if ridge == 0.0 else ridge, least)
        length = _move(box, side, ridge, watch)
        last, violation = violation, box.violation()
        # Where a step that meets no wall makes the violation rise, λ is lost in rounding.
        is_lost = violation > LOST * last and len(side.rows) == np.count_nonzero(box.is_free())
        ridge = RISE * ridge if length < WHOLE or is_lost else min(ridge / FALL, usual)
    return violation


@final
@dataclass(eq=False)
class _Side:
    """The variables that are to move, and the part of the box on this side of the kink that each may move in."""

    rows: Index
    slope: Array
    floor: Array
    ceiling: Array

    def extent(self) -> float:
        """The widest of these, as far as they are finite."""
        widths = self.ceiling - self.floor
        return max(float(widths[np.isfinite(widths)].max(initial=0.0)), float(np.finfo(np.float64).tiny))

    @staticmethod
    def of(box: Box) -> "_Side":
        free = box.is_free()
        up, down = box.slopes()
        level = box.levels()[box.group]
        rising, falling = ~free & (up < level), ~free & (down > level)
        rows = np.flatnonzero(free | rising | falling)
        b, low, high, rising = box.b[rows], box.low[rows], box.high[rows], rising[rows]
        if box.width == 0.0:
            return _Side(rows, box.t[rows], low, high)
        above = (b > 0.0) | ((b == 0.0) & rising)
        return _Side(
            rows,
            box.t[rows] + np.where(above, box.width, -box.width),
            np.where(above, np.maximum(low, 0.0), low),
            np.where(above, high, np.minimum(high, 0.0)),
        )


def _move(box: Box, side: _Side, ridge: float, watch: Look) -> float:
    """Take one step; returns its length, 1 for a whole one and 0 for none."""
    rows, group, before = side.rows, box.group[side.rows], box.b[side.rows]
    A = box.K[rows].take(rows, axis=1)  # half the time of np.ix_
    room = (side.floor - before, side.ceiling - before)
    for find in (_step_along_walls, _step_to_wall):
        step = find(A, side.slope, room, group, ridge, watch)
        length = 0.0 if step is None else _best_length(A, side.slope, step)
        if step is None or length < SHORT:
            continue
        after = _landed(before, length * step, side, group)
        if after is not None:
            break
    else:
        return 0.0
    change = np.zeros(len(box.b))
    change[rows] = after - before
    box.b[rows] = after
    box.t += box.K @ change
    return length if find is _step_along_walls else SHORT


def _landed(before: Array, step: Array, side: _Side, group: Group) -> Array | None:
    """Where a step leads, on a wall or clear of it; None where it changes a sum.

    Where every variable of a group comes to a wall, none is left to make up for the others. The system that asks for it
    is singular then, and what rounding makes of it is no step.
    """
    after = np.clip(before + step, side.floor, side.ceiling)
    near = ON_WALL * (side.ceiling - side.floor)
    after = np.where(
        after - side.floor <= near, side.floor, np.where(side.ceiling - after <= near, side.ceiling, after)
    )
    _restore_sums(before, after, side, group)
    for g in (0, 1):
        was, now = before[group == g], after[group == g]
        if abs(float((now - was).sum())) > SUMS * float(np.abs(was).sum() + np.abs(now).sum()):
            return None
    return after


def _best_length(A: Array, slope: Array, step: Array) -> float:
    """What share of a step gains most; 0 where it leads uphill."""
    first, curvature = float(slope @ step), float(step @ (A @ step))
    if not first < 0.0:
        return 0.0
    return min(1.0, -first / curvature) if curvature > 0.0 else 1.0


def _restore_sums(before: Array, after: Array, side: _Side, group: Group) -> None:
    """Take what rounding has added to the sum of a group from those of it that have much more room than that."""
    for g in (0, 1):
        mine = group == g
        excess = float((after[mine] - before[mine]).sum())
        roomy = mine & (np.minimum(after - side.floor, side.ceiling - after) > 2.0 * abs(excess))
        if excess and roomy.any():
            after[roomy] -= excess / np.count_nonzero(roomy)


def _step_along_walls(
    A: Array, slope: Array, room: tuple[Array, Array], group: Group, ridge: float, watch: Look
) -> Array | None:
    """Minimise slopeᵀΔ + ½ Δᵀ(A + λI)Δ with sums 0, Δ between what there is room for; None where that breaks down.

    A variable that would leave the box is set on its wall and stays there: the minimum over the rest is one over the
    box as well, unless a variable would rather leave its wall again, which the next step looks at.
    """
    least, most = room
    near = ON_WALL * (most - least)
    step = np.zeros(len(slope))
    inside = np.arange(len(slope))  # what is solved for
    while inside.size:
        system = _System.of(A, inside, step, slope, group, ridge, watch)
        walls: list[int] = []  # places in `inside`
        while True:
            found = None if system is None else system.solution()
            if system is None or found is None:
                return None
            step[inside] = found
            out = (found < (least - near)[inside]) | (found > (most + near)[inside])
            out[walls] = False
            if not out.any():
                return step
            new = np.flatnonzero(out)
            step[inside[new]] = np.clip(found[new], least[inside[new]], most[inside[new]])
            walls.extend(new.tolist())
            if len(walls) > BORDER * len(inside):
                break
            system.fix(new, step[inside[new]])
        step[inside[walls]] = np.clip(step[inside[walls]], least[inside[walls]], most[inside[walls]])
        inside = np.delete(inside, walls)
    return None


def _step_to_wall(
    A: Array, slope: Array, room: tuple[Array, Array], group: Group, ridge: float, watch: Look
) -> Array | None:
    """The same minimum without the box, as far as the first wall; what is on a wall and would leave the box stays."""
    least, most = room
    near = ON_WALL * (most - least)
    everything = np.arange(len(slope))
    system = _System.of(A, everything, np.zeros(len(slope)), slope, group, ridge, watch)
    stays = np.zeros(len(slope), dtype=np.bool_)
    while system is not None:
        step = system.solution()
        if step is None:
            return None
        stuck = ((step < 0.0) & (least > -near)) | ((step > 0.0) & (most < near))
        new = np.flatnonzero(stuck & ~stays)
        step[stays] = 0.0
        if not new.size:
            share = np.divide(np.where(step < 0.0, least, most), step, out=np.ones_like(step), where=step != 0.0)
            return np.asarray(min(1.0, float(share.min(initial=1.0))) * step)
        stays[new] = True
        system.fix(new, np.zeros(len(new)))
    return None


@final
class _System:
    """(A + λI) Δ = −slope on some rows, factorised, with conditions: sums, and variables that are given."""

    def __init__(self, L: Array, solved: Array, B: Array, price: Array) -> None:
        self._L, self._solved, self._B, self._price = L, solved, B, price

    @staticmethod
    def of(
        A: Array, inside: Index, step: Array, slope: Array, group: Group, ridge: float, watch: Look
    ) -> "_System | None":
        given = np.ones(len(slope), dtype=np.bool_)
        given[inside] = False
        given &= step != 0.0
        # Symmetric: what C calls rows, Fortran calls columns.
        M = (A.copy() if len(inside) == len(A) else A[inside].take(inside, axis=1)).T
        np.fill_diagonal(M, M.diagonal() + ridge)
        if factor_in_place(M, watch):
            return None
        here = [g for g in (0, 1) if (group[inside] == g).any()]
        B = np.column_stack([(group[inside] == g).astype(np.float64) for g in here])
        price = np.array([-float(step[given & (group == g)].sum()) for g in here])
        y = -(slope[inside] + A[np.ix_(inside, np.flatnonzero(given))] @ step[given])
        solved = np.asfortranarray(np.column_stack([y, B]))
        solve_in_place(M, solved)
        return _System(M, solved, B, price)

    def fix(self, places: Index, values: Array) -> None:
        """From now on these are given."""
        units = np.zeros((len(self._L), len(places)), order="F")
        units[places, np.arange(len(places))] = 1.0
        self._B = np.hstack([self._B, units])
        self._price = np.concatenate([self._price, values])
        solve_in_place(self._L, units)
        self._solved = np.hstack([self._solved, units])

    def solution(self) -> Array | None:
        """Δ; None where no variable is left that could make up for a sum."""
        y, border = self._solved[:, 0], self._solved[:, 1:]
        try:
            price = np.linalg.solve(self._B.T @ border, self._B.T @ y - self._price)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(y - border @ price)
