"""Objects and stored rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Objects, Stored, Vectors

VALUES = ["a", (1, 2), None, {"k": 1}]


def test_objects_hold_any_values_as_they_are():
    points = Objects(VALUES)
    assert len(points) == 4
    assert points.raw() == VALUES
    assert points.take([3, 0]).raw() == [{"k": 1}, "a"]
    assert points.take([True, False, False, False]).raw() == ["a"]
    assert pickle.loads(pickle.dumps(points)).raw() == VALUES
    with pytest.raises(ValueError, match="read-only"):
        points.values[0] = 1


@pytest.mark.parametrize("missing", [float("nan"), np.float32("nan"), np.datetime64("NaT"), pd.NA, pd.NaT], ids=repr)
def test_values_that_do_not_equal_themselves_are_refused(missing):
    with pytest.raises(InvalidInput, match=r"Input A contains NaN\.\n.*Row 1"):
        Objects(["a", missing], name="A")


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        ([], InvalidInput, r"0 sample\(s\)"),
        ("abc", DomainMismatch, "A.*\n.*Got a str"),
        ({1}, DomainMismatch, "Got a set"),
    ],
)
def test_what_is_no_list_is_refused(X, error, words):
    with pytest.raises(error, match=words):
        Objects(X, name="A")


def test_stored_rows_share_the_matrix_and_remember_their_place():
    K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    points = Stored(K)
    assert np.shares_memory(points.matrix, K)
    assert np.shares_memory(Stored(Vectors(K)).matrix, K)
    taken = points.take([2, 0]).take([1, 0])
    np.testing.assert_array_equal(taken.matrix, K[[0, 2]])
    np.testing.assert_array_equal(taken.rows, [0, 2])
    again = pickle.loads(pickle.dumps(taken))
    np.testing.assert_array_equal(again.rows, [0, 2])
    assert not again.matrix.flags.writeable


@pytest.mark.parametrize(
    ("K", "words"),
    [([[1.0, np.nan]], "Input K contains NaN"), (sp.eye_array(3), "[Ss]parse input K"), ([1.0], "Expected 2D array")],
)
def test_bad_stored_values_are_refused_by_name(K, words):
    with pytest.raises(InvalidInput, match=words):
        Stored(K, name="K")
