"""Small quadratic programs by an interior-point method (Mehrotra's), with bounds that need no trust."""

from typing import NamedTuple

import numpy as np
import scipy.linalg


class Minimum(NamedTuple):
    """A nearly optimal point, and what its value and that of its dual say of the least value."""

    x: np.ndarray
    lower: float
    upper: float


def quadratic_minimum(Q, q, high, A, s, rounds=60):
    """The least ½ xᵀQx + qᵀx over 0 ≤ x ≤ high with A x = s, which some x strictly inside the box satisfies."""
    n = len(q)
    x, y = high / 2.0, np.zeros(len(s))
    z, w = np.ones(n), np.ones(n)  # multipliers of x ≥ 0 and of x ≤ high
    for _ in range(rounds):
        room = high - x
        missed = Q @ x + q - A.T @ y - z + w, A @ x - s
        mean = (x @ z + room @ w) / (2 * n)
        try:
            dx, dy, dz, dw = _step(Q, A, (x, room, z, w), missed, 0.0, 0.0)
            length = _longest((x, dx), (room, -dx), (z, dz), (w, dw))
            after = ((x + length * dx) @ (z + length * dz) + (room - length * dx) @ (w + length * dw)) / (2 * n)
            centre = mean * (after / mean) ** 3
            dx, dy, dz, dw = _step(Q, A, (x, room, z, w), missed, centre - dx * dz, centre + dx * dw)
        except FloatingPointError:  # as far as rounding lets it come
            break
        length = 0.99 * _longest((x, dx), (room, -dx), (z, dz), (w, dw))
        x, y, z, w = x + length * dx, y + length * dy, z + length * dz, w + length * dw
        if mean <= 1e-18 * (1.0 + abs(x @ Q @ x)):
            break
    # For any y: min over x of the Lagrangian is at least −½xᵀQx + sᵀy + Σ high·min(0, Qx + q − Aᵀy).
    slope = Q @ x + q - A.T @ y
    lower = -0.5 * x @ Q @ x + s @ y + high @ np.minimum(slope, 0.0)
    return Minimum(x, float(lower), float(0.5 * x @ Q @ x + q @ x))


def _step(Q, A, point, missed, below, above):
    """Newton's, towards x z = below and (high − x) w = above."""
    (x, room, z, w), (dual, primal), n = point, missed, len(Q)
    M = np.block([[Q + np.diag(z / x + w / room), -A.T], [A, np.zeros((len(A), len(A)))]])
    right = np.concatenate([-dual + (below - x * z) / x - (above - room * w) / room, -primal])
    if not (np.isfinite(M).all() and np.isfinite(right).all()):
        raise FloatingPointError
    move = scipy.linalg.lstsq(M, right)[0]
    dx = move[:n]
    return dx, move[n:], (below - x * z - z * dx) / x, (above - room * w + w * dx) / room


def _longest(*pairs):
    """The largest share of a step, at most 1, that leaves all of them above 0."""
    return min(1.0, *(float(np.min(-v[d < 0.0] / d[d < 0.0], initial=np.inf)) for v, d in pairs))
