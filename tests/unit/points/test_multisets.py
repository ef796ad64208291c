"""Counted sets: sets of numbered copies."""

from collections import Counter

import numpy as np
import pytest

import mercer
from mercer import MinMax, SetIntersection, Tanimoto
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.points import Sets, as_points, numbered

RNG = np.random.default_rng(0)
ITEMS = ["bread", 7, ("a", "tuple"), frozenset("x"), "milk"]
COUNTS = RNG.poisson(1.0, size=(30, len(ITEMS)))
BASKETS = [Counter(dict(zip(ITEMS, map(int, row), strict=True))) for row in COUNTS]


def test_a_list_of_counters_is_sets_of_copies():
    points = as_points(BASKETS)
    assert isinstance(points, Sets)
    assert points.sizes.tolist() == COUNTS.sum(axis=1).tolist()


def test_common_items_are_the_smaller_counts():
    smaller = np.minimum(COUNTS[:, None], COUNTS[None]).sum(axis=2)
    larger = np.maximum(COUNTS[:, None], COUNTS[None]).sum(axis=2)
    np.testing.assert_array_equal(SetIntersection()(BASKETS), smaller)
    share = np.where(larger > 0, smaller / np.maximum(larger, 1), 1.0)
    np.testing.assert_allclose(Tanimoto(SetIntersection())(BASKETS), share, rtol=1e-14)
    np.testing.assert_allclose(MinMax()(COUNTS), share, rtol=1e-14)


def test_sets_are_counters_of_ones_and_zeros_are_absent():
    X = numbered([Counter(a=2, b=0), {"a", "b"}])
    assert SetIntersection()(X).tolist() == [[2, 1], [1, 2]]


def test_machines_take_and_keep_them(tmp_path):
    y = COUNTS[:, 0] > COUNTS[:, 4]
    model = mercer.SVC(kernel="auto").fit(BASKETS, y)
    model.save(tmp_path / "model.mercer")
    new = [Counter(bread=9, other=4), Counter()]
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.mercer").predict(new), model.predict(new))
    assert mercer.auto(BASKETS).kernel == Tanimoto(SetIntersection())


@pytest.mark.parametrize("count", [-1, 0.5, "2", True, None])
def test_a_count_that_is_none_is_named(count):
    with pytest.raises(InvalidInput, match=r"X\[1\] does not count 'b'"):
        as_points([Counter("a"), Counter({"b": count})])


def test_what_is_no_counted_set_is_named():
    with pytest.raises(DomainMismatch, match="row 1 is a list"):
        numbered([Counter("a"), ["a"]])
    with pytest.raises(InvalidInput, match="copy of another"):
        numbered([Counter({("copy", 2, "a"): 1})])


def test_min_max_refuses_negative_numbers():
    with pytest.raises(InvalidInput, match="non-negative"):
        MinMax()([[1.0, -1.0]])
    with pytest.raises((InvalidParameter, TypeError)):
        MinMax(1)  # it has no parameters
    assert MinMax().proof().is_derived
    assert mercer.parse("MinMax()") == MinMax()
    np.testing.assert_allclose(MinMax().normalised()([[1.0, 2.0]]), [[1.0]])
