"""Newton's method over a box with fixed sums: the conditions of optimality, which suffice for a convex problem."""

import numpy as np
import pytest

from mercer.solvers.box_newton import Box, newton_in_box
from mercer.solvers.watch import Watch

TOL = 1e-8


def made(seed, m=60, rank=None, extent=1.0, width=0.0, groups=1, sign=False):
    """A random problem and a point inside it; the sums are not 0."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((m, m if rank is None else rank))
    K, q = Z @ Z.T, rng.standard_normal(m)
    low, high = -extent * rng.random(m), extent * rng.random(m)
    if sign:
        low, high = np.where(q > 0.0, low, 0.0), np.where(q > 0.0, 0.0, high)
    b = np.where(rng.random(m) < 0.5, low, low + (high - low) * rng.random(m))
    group = (np.arange(m) % groups).astype(np.uint8)
    return Box(K, b, K @ b + q, low, high, group, width), q


def sums(box):
    return [box.b[box.group == g].sum() for g in (0, 1)]


CASES = {
    "one sum": {},
    "two sums": {"groups": 2},
    "a kink": {"width": 0.4},
    "a kink and two sums": {"width": 0.4, "groups": 2},
    "few features": {"rank": 5},
    "few features, a wide box": {"rank": 5, "extent": 1e4},
    "a wide box": {"extent": 1e4, "sign": True},
    "a narrow box": {"extent": 1e-3},
    "a narrow box and a kink": {"extent": 1e-3, "width": 1e-2, "rank": 3},
    "two variables": {"m": 2},
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", CASES)
def test_the_end_is_optimal_and_feasible(name, seed):
    box, q = made(seed, **CASES[name])
    before = sums(box)
    left = newton_in_box(box, TOL, Watch("test"))
    assert left == box.violation() <= TOL
    assert (box.low <= box.b).all()
    assert (box.b <= box.high).all()
    np.testing.assert_allclose(sums(box), before, atol=1e-12 * max(1.0, np.abs(box.high).max()) * len(q))
    np.testing.assert_allclose(box.t, box.K @ box.b + q, atol=1e-9 * max(1.0, np.abs(box.t).max()))


def test_the_violation_is_the_best_pair_by_plain_loops():
    box, _ = made(3, m=12, width=0.3, groups=2)
    up, down = box.slopes()
    pairs = [
        down[j] - up[i]
        for i in range(12)
        for j in range(12)
        if box.group[i] == box.group[j] and box.b[i] < box.high[i] and box.b[j] > box.low[j]
    ]
    assert box.violation() == max(pairs)


def test_a_step_never_raises_the_function():
    def value():
        return 0.5 * box.b @ box.K @ box.b + q @ box.b + box.width * np.abs(box.b).sum()

    box, q = made(1, rank=8, extent=100.0, width=0.2)
    values = [value()]

    class Looking:
        def look(self, share, measure=""):  # noqa: ARG002 (the protocol's)
            values.append(value())
            return False

    newton_in_box(box, TOL, Looking())
    assert len(values) > 3
    assert (np.diff(values) <= 1e-9 * np.abs(values[-1])).all()


def test_a_watch_that_is_over_leaves_the_point():
    box, _ = made(0)
    before = box.b.copy()
    assert newton_in_box(box, TOL, Watch("test", 0.0)) == box.violation() > TOL
    np.testing.assert_array_equal(box.b, before)


def test_what_rounding_forbids_ends_all_the_same():
    box, _ = made(2, rank=4, extent=1e8)
    assert newton_in_box(box, 0.0, Watch("test")) < 1e-3


def test_nothing_moves_at_the_optimum_or_where_nothing_can():
    box, _ = made(4)
    newton_in_box(box, TOL, Watch("test"))
    before = box.b.copy()
    newton_in_box(box, TOL, Watch("test"))
    np.testing.assert_array_equal(box.b, before)
    shut = Box(np.eye(3), np.ones(3), np.arange(3.0), np.ones(3), np.ones(3), np.zeros(3, np.uint8))
    assert newton_in_box(shut, TOL, Watch("test")) == 0.0


def test_a_group_that_cannot_move_does_not_keep_the_other():
    box, _ = made(6, groups=2)
    shut = box.group == 1
    box.low[shut] = box.high[shut] = box.b[shut]
    before = box.b[shut].copy()
    assert newton_in_box(box, TOL, Watch("test")) <= TOL
    np.testing.assert_array_equal(box.b[shut], before)


@pytest.mark.parametrize("seed", range(60))
def test_a_group_that_comes_to_its_walls_keeps_its_sum(seed):
    rng = np.random.default_rng(seed)
    box, _ = made(seed, m=int(rng.integers(4, 9)), rank=1, extent=1e3, groups=2)
    few = np.flatnonzero(box.group == 0)[:2]  # the others of their group are shut
    shut = np.setdiff1d(np.flatnonzero(box.group == 0), few)
    box.low[shut] = box.high[shut] = box.b[shut]
    before = sums(box)
    newton_in_box(box, TOL, Watch("test"))
    np.testing.assert_allclose(sums(box), before, atol=1e-12 * np.abs(box.b).sum())
