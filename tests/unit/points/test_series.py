"""Series: what is read as such, and what is refused."""

import pickle

import numpy as np
import pytest

from mercer import RBF, GlobalAlignment
from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Arrays, Domain, Series, Vectors, as_points, require

SERIES = frozenset({Domain.SERIES})
UNEQUAL = [np.array([1.0, 2.0, 3.0]), np.array([4.0]), np.array([])]


def test_a_list_of_arrays_of_different_lengths_is_series():
    points = as_points(UNEQUAL)
    assert isinstance(points, Series)
    assert (len(points), points.channels, points.sizes.tolist()) == (3, 1, [3, 1, 0])
    assert repr(points) == "Series(3, lengths 0 to 3, 1 channel)"
    assert [each.ravel().tolist() for each in points.raw()] == [[1.0, 2.0, 3.0], [4.0], []]


def test_series_are_taken_and_pickled():
    points = Series([np.ones((3, 2)), np.zeros((1, 2)), np.empty((0, 2))])
    taken = points.take([2, 0])
    assert [len(each) for each in taken.raw()] == [0, 3]
    again = pickle.loads(pickle.dumps(taken))
    np.testing.assert_array_equal(again.parts, taken.parts)
    assert repr(again) == repr(taken) == "Series(2, lengths 0 to 3, 2 channels)"


@pytest.mark.parametrize(
    ("X", "kind", "shape"),
    [
        (np.ones((4, 7)), Vectors, (4, 7, 1)),
        ([np.ones(7)] * 4, Vectors, (4, 7, 1)),
        (np.ones((4, 7, 2)), Arrays, (4, 7, 2)),
        ([np.ones((7, 2))] * 4, Arrays, (4, 7, 2)),
    ],
)
def test_rows_of_one_length_are_series_where_a_kernel_needs_them(X, kind, shape):
    points = as_points(X)
    assert isinstance(points, kind)
    found = require(points, SERIES, "a kernel")
    assert (len(found), int(found.sizes[0]), found.channels) == shape


def test_float32_is_kept_where_all_are():
    assert Series([np.ones(3, dtype=np.float32), np.array([])]).dtype == np.float32
    assert Series([np.ones(3, dtype=np.float32), np.ones(2)]).dtype == np.float64
    assert Series([np.array([1, 2]), [True]]).dtype == np.float64


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([np.ones(3), np.array([1.0, np.nan])], r"contains NaN.*\n.*row 1, at position 1\.\n"),
        ([np.ones((3, 2)), np.array([[1.0, 2.0], [np.inf, 1.0]])], r"infinity.*\n.*row 1, at position 1, channel 0"),
        ([np.ones(3), [1.0, None]], "row 1, at position 1"),
        ([np.ones((3, 2)), np.ones((2, 3))], r"X\[0\] has 2, X\[1\] has 3"),
        ([np.ones(3), np.ones((2, 2))], "number of channels"),
        ([[1.0, 2.0], ["a", "b"]], r"X\[1\] is not a series of numbers"),
        ([[1.0, 2.0], 3.0], r"X\[1\] is not a series"),
        ([[[1.0], [2.0, 3.0]]], r"X\[0\] is ragged"),
        (np.ones(3), "it is one"),
        ("abc", "not a list of series"),
        ([], "0 sample"),
    ],
)
def test_what_is_no_series_is_named(X, message):
    with pytest.raises((InvalidInput, DomainMismatch), match=message):
        Series(X)


def test_a_kernel_of_vectors_says_what_would_work():
    with pytest.raises(DomainMismatch, match="GlobalAlignment"):
        RBF()(UNEQUAL)


@pytest.mark.parametrize("X", [["abc", "de"], [{1, 2}, {3}], [{"edges": [(0, 1)]}]])
def test_a_kernel_of_series_refuses_other_points(X):
    with pytest.raises(DomainMismatch, match="series"):
        GlobalAlignment(1.0)(X)


def test_lists_of_unequal_lists_are_still_ragged_rows():
    with pytest.raises(InvalidInput, match="ragged"):
        as_points([[1.0, 2.0], [3.0]])
