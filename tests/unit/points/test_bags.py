import pickle

import numpy as np
import pytest

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Arrays, Bags, Domain, Objects, Sets, Table, Vectors, as_points, require

NEEDS = frozenset({Domain.BAGS})
BAGS = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.empty((0, 2)), np.array([[5.0, 6.0]])]


def test_a_list_of_arrays_is_read_as_arrays_and_becomes_bags_where_they_are_needed():
    points = as_points(BAGS)
    assert isinstance(points, Arrays)
    bags = require(points, NEEDS, "k")
    assert isinstance(bags, Bags)
    np.testing.assert_array_equal(bags.sizes, [2, 0, 1])
    assert bags.parts.raw().tolist() == [[1, 2], [3, 4], [5, 6]]


def test_nested_lists_and_arrays_of_three_dimensions_are_arrays():
    assert as_points([[[1, 2], [3, 4]], [[5, 6]]]).raw()[0].tolist() == [[1, 2], [3, 4]]
    images = as_points(np.ones((3, 4, 5), dtype=np.float32))
    assert (len(images), images.dtype, images.raw()[0].shape) == (3, np.float32, (4, 5))
    assert isinstance(as_points([np.ones(3), np.ones(3)]), Vectors)


def test_points_are_taken_and_pickled():
    for points in (as_points(BAGS), Bags(BAGS), Bags([["a"], [], ["b", "a"]])):
        again = pickle.loads(pickle.dumps(points.take([2, 0])))
        for a, b in zip(again.raw(), points.take([2, 0]).raw(), strict=True):
            np.testing.assert_array_equal(a, b)
        assert len(points.take([True, False, True])) == 2
        assert len(points.take(slice(1, None))) == 2


def test_parts_may_be_of_any_domain():
    assert isinstance(Bags([["red"], ["green", "red"]]).parts, Objects)
    assert isinstance(Bags([[{1, 2}], [{2}, set()]]).parts, Sets)
    inner = Bags.of([[1.0], [2.0], [3.0]], [2, 1])
    assert isinstance(Bags.of(inner, [1, 1]).parts, Bags)
    assert isinstance(Bags.of({"a": [1, 2], "b": ["x", "y"]}, [2]).parts, Table)


def test_parts_are_grouped_by_a_label():
    bags, labels = Bags.grouped(np.arange(10.0).reshape(5, 2), by=["m2", "m1", "m2", "m1", "m3"])
    assert labels.tolist() == ["m2", "m1", "m3"]
    assert [bag[:, 0].tolist() for bag in bags.raw()] == [[0, 4], [2, 6], [8]]


def test_float32_stays_where_all_of_it_is():
    small = [np.ones((1, 2), dtype=np.float32), np.ones((2, 2), dtype=np.float32)]
    assert Bags(small).dtype == np.float32
    assert Bags([*small, np.ones((1, 2))]).dtype == np.float64
    assert Bags([*small, []]).dtype == np.float32


def broken(row: int, value: float) -> list[np.ndarray]:
    bags = [np.ones((2, 2)) for _ in range(3)]
    bags[row][1, 0] = value
    return bags


@pytest.mark.parametrize(
    ("X", "error", "says"),
    [
        (broken(2, np.nan), InvalidInput, r"X\[2\] contains NaN\.\n  Row 1, column 0 is nan"),
        (broken(1, np.inf), InvalidInput, r"X\[1\] contains infinity"),
        ([np.ones((2, 2)), np.ones((1, 3))], InvalidInput, r"X\[0\] have 2 columns, those of X\[1\] have 3"),
        ([np.ones((2, 2)), np.ones(2)], InvalidInput, r"X\[1\] is not an array of two or more dimensions"),
        ([np.ones((2, 2)), np.array([["a", "b"]])], DomainMismatch, r"X\[1\] is not numeric"),
        ([[[1.0, 2.0], [3.0]]], InvalidInput, r"X\[0\] is ragged"),
        ([np.empty((2, 0)), []], InvalidInput, "have no columns"),
        ([np.ones((1, 2, 2))], InvalidInput, r"X\[0\] is not a table of parts"),
        ([[1.0], 2.0], DomainMismatch, "row 1 is a float"),
        ("bag", DomainMismatch, "not a list of bags"),
        ([], InvalidInput, r"0 sample\(s\)"),
    ],
)
def test_what_is_no_bag_is_named(X, error, says):
    with pytest.raises(error, match=says):
        Bags(X)


def test_sizes_and_labels_must_fit_the_parts():
    with pytest.raises(InvalidInput, match="add up to all of them"):
        Bags.of([[1.0], [2.0]], [1])
    with pytest.raises(InvalidInput, match="one label for each part"):
        Bags.grouped([[1.0], [2.0]], by=["a"])
    with pytest.raises(DomainMismatch, match="not a collection"):
        Bags.of(3, [1])


def test_arrays_say_what_they_are_not():
    with pytest.raises(DomainMismatch, match="at least three dimensions"):
        Arrays(np.ones((2, 2)))
    with pytest.raises(DomainMismatch, match="not a list of arrays"):
        Arrays("images")
    with pytest.raises(InvalidInput, match=r"0 sample\(s\)"):
        Arrays([])
    with pytest.raises(InvalidInput, match=r"X\[1\] contains NaN"):
        as_points(np.array([[[1.0]], [[np.nan]]]))
