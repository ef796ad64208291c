"""Move a dual point onto its constraints: inside the box of the loss, and Bᵀα = p.

Where the slope of the loss is continuous, the point is tilted: α/c is minus the slope at some decision g, and that at
g + B μ satisfies Bᵀα = p for the μ that minimises Σᵢ cᵢ ℓ(gᵢ + Bᵢ μ, yᵢ) + pᵀμ, and is inside by construction. For
Huber's loss and the squared hinge that is the nearest such point in the norm Σᵢ αᵢ²/cᵢ; for probabilities and means,
where an additive change would be larger than the small ones, it is the nearest by entropy. Where there are kinks, or
neither box nor bend, the point is projected.
"""

import numpy as np
import numpy.typing as npt

from mercer.problems.losses import Loss
from mercer.problems.problem import Problem

__all__ = ["best_shift", "feasible"]

Array = npt.NDArray[np.float64]

# Alternating projections onto the box and the equality; the first round is exact where the box is unbounded.
PROJECTION_ROUNDS = 50
# Newton steps for μ, and halvings of one of them.
SHIFT_ROUNDS = 60
HALVINGS = 60
# Bᵀα = p to this share of Σ|Bᵢ αᵢ| is rounding.
ROUNDING = 1e-15
# How far a step goes where no loss bends, in units of g: there slopes say the direction alone. Where they say it column
# by column, the next one goes so many times as far, unless one was too long.
FARTHEST = 1e2
FARTHER = 4.0
# The factor from one scaling of g and μ to the next.
COOLER = 4.0
# A step is short enough if the slope along it has not overshot to the other side by more than this share of itself.
OVERSHOT = 0.5


def feasible(problem: Problem, a: Array) -> Array:  # (n, t) -> (n, t)
    """The dual point moved onto its constraints."""
    is_tilted = problem.loss.is_smooth and not problem.loss.is_quadratic
    return _tilted(problem, a) if is_tilted else _boxed(problem, a)


def best_shift(loss: Loss, g: Array, y: Array, cost: Array, B: Array, price: Array) -> Array:  # (q, t)
    """The μ that minimises Σᵢ cᵢ ℓ(gᵢ + Bᵢ μ, yᵢ) + pᵀμ, for a smooth loss.

    If the loss joins its columns, adding a constant to all of them changes nothing; their mean is then set to 0.

    Far from the solution no loss has curvature, and Newton's method fails. Then g and μ are scaled down until
    all losses do, and scaled back up step by step.
    """
    mu = np.zeros((B.shape[1], g.shape[1]))
    if mu.size == 0:
        return mu
    if g.shape[1] > 1 and not loss.is_joint:
        columns = (slice(j, j + 1) for j in range(g.shape[1]))
        return np.hstack([best_shift(loss, g[:, j], y[:, j], cost[:, j], B, price) for j in columns])
    mu, is_found = _newton_shift(loss, g, y, cost, B, price, mu)
    if not is_found:
        scale = max(float(np.abs(g).max()), float(np.abs(mu).max()), 1.0)
        mu = np.zeros_like(mu)
        while scale > 1.0:
            mu = scale * _newton_shift(loss, g / scale, y, cost, B, price, mu / scale)[0]
            scale /= COOLER
        mu, _ = _newton_shift(loss, g, y, cost, B, price, mu)
    return mu - mu.mean(axis=1, keepdims=True) if loss.is_joint else mu


def _newton_shift(loss: Loss, g: Array, y: Array, cost: Array, B: Array, price: Array, mu: Array) -> tuple[Array, bool]:
    """μ by Newton's method from the one given, and whether it ended at rounding."""
    q, t = mu.shape
    far = FARTHEST

    def pull(at: Array) -> tuple[Array, Array]:  # minus the gradient, and its rounding error
        with np.errstate(invalid="ignore", over="ignore"):  # too far: an infinite slope
            a = -cost * loss.slope(g + B @ at, y)
            return B.T @ a - price[:, None], ROUNDING * (np.abs(B).T @ np.abs(a))

    force, rounding = pull(mu)
    for _ in range(SHIFT_ROUNDS):
        if (np.abs(force) <= rounding).all():
            return mu, True
        H = _border_hessian(cost, loss.bend(g + B @ mu, y), B, loss.is_joint)
        H.flat[:: q * t + 1] += np.abs(force).max() / far
        if not np.isfinite(H).all():
            break
        step = np.linalg.lstsq(H, force.ravel(), rcond=None)[0].reshape(q, t)
        along = float(np.vdot(force, step))
        if not along > 0.0:
            break
        whole = step
        for _ in range(HALVINGS):
            found, rounding = pull(mu + step)
            if float(np.vdot(found, step)) >= -OVERSHOT * along:
                break
            step, along = 0.5 * step, 0.5 * along
        if not np.isfinite(found).all():
            break
        if step is whole and not loss.is_joint:
            far *= FARTHER
        mu, before, force = mu + step, force, found
        if np.linalg.norm(force) >= np.linalg.norm(before) <= 1e3 * np.linalg.norm(rounding):
            return mu, True
    return mu, False


def _border_hessian(cost: Array, d: Array, B: Array, is_joint: bool) -> Array:  # (q t, q t)
    """Σᵢ cᵢ Bᵢ Bᵢᵀ ⊗ diag(dᵢ), or ⊗ (diag(pᵢ) − pᵢ pᵢᵀ) with p = d for a loss that joins its columns.

    pⱼ (1 − pⱼ) is made of the products pⱼ pₖ with the other classes: where one p is nearly 1, the difference would be
    rounding. A constant in all columns of a loss that joins them changes nothing; there H gets a curvature as large as
    elsewhere, because rounding errors in place of 0 must not be divided by.
    """
    q, t = B.shape[1], d.shape[1]
    H = np.empty((q, t, q, t))
    for j in range(q):
        for k in range(q):
            weighted = cost * B[:, j : j + 1] * B[:, k : k + 1] * d
            if not is_joint:
                H[j, :, k, :] = np.diag(weighted.sum(axis=0))
                continue
            block = -(weighted.T @ d)
            np.fill_diagonal(block, 0.0)
            own = -block.sum(axis=1)
            H[j, :, k, :] = block + np.diag(own) + own.sum() / t**2
    return H.reshape(q * t, q * t)


def _tilted(problem: Problem, a: Array) -> Array:
    loss, cost, y = problem.loss, problem.cost, problem.y
    if problem.B.shape[1] == 0 and not loss.is_joint:
        return _clipped(problem, a)[0]
    g = loss.inverse(-a / np.where(cost > 0.0, cost, 1.0), y)
    g = g + problem.B @ best_shift(loss, g, y, cost, problem.B, problem.price)
    return -cost * loss.slope(g, y)


def _clipped(problem: Problem, a: Array) -> tuple[Array, Array, Array]:
    """The point inside its box, and the box."""
    low, high = problem.loss.box(problem.y)
    with np.errstate(invalid="ignore"):  # 0 · ∞, a row without cost: its coefficient is 0
        low, high = (np.where(problem.cost > 0.0, problem.cost * bound, 0.0) for bound in (low, high))
    return np.clip(a, low, high), low, high


def _boxed(problem: Problem, a: Array) -> Array:
    if problem.loss.is_quadratic and problem.B.shape[1] == 0:  # neither bounds nor an equality
        return np.where(problem.cost > 0.0, a, 0.0)
    point, low, high = _clipped(problem, a)
    if problem.B.shape[1] == 0:
        return point
    for _ in range(PROJECTION_ROUNDS):
        for column in range(point.shape[1]):
            free = low[:, column] < high[:, column]
            B = problem.B[free]
            missing = problem.price - problem.B.T @ point[:, column]
            step, *_ = np.linalg.lstsq(B.T, missing, rcond=None)  # the least change that closes the equality
            point[free, column] += step
        inside = np.clip(point, low, high)
        if np.array_equal(inside, point):
            break
        point = inside
    return point
