"""Sets and indicators: ragged points as offsets and values."""

import pickle

import numpy as np
import pytest

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Indicators, Sets

SETS = [{1, 2}, set(), frozenset({2, 3, 4}), {1}]


def as_objects(values):
    return np.fromiter(values, dtype=object, count=len(values))


@pytest.mark.parametrize("X", [SETS, tuple(SETS), as_objects(SETS)], ids=["list", "tuple", "array"])
def test_sets_are_offsets_and_items(X):
    points = Sets(X)
    assert points.offsets.tolist() == [0, 2, 2, 5, 6]
    assert points.offsets.dtype == np.int64
    assert points.sizes.tolist() == [2, 0, 3, 1]
    assert points.raw() == SETS


def test_items_may_be_tuples_and_mixed():
    mixed = [{("a", 1), "b", 3, None}]
    assert Sets(mixed).raw() == mixed


@pytest.mark.parametrize(
    "rows", [[2, 0, 0], slice(0, 3), slice(None, None, -1), [], [False, True, True, False]], ids=str
)
def test_take_chooses_the_same_sets_as_a_list_would(rows):
    chosen = np.arange(4)[rows].tolist() if len(np.arange(4)[rows]) else []
    assert Sets(SETS).take(rows).raw() == [SETS[i] for i in chosen]


def test_sets_are_read_only_also_after_pickling():
    for points in (Sets(SETS), pickle.loads(pickle.dumps(Sets(SETS)))):
        with pytest.raises(ValueError, match="read-only"):
            points.items[0] = 5
        with pytest.raises(ValueError, match="read-only"):
            points.offsets[0] = 5


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        ([], InvalidInput, r"0 sample\(s\)"),
        ([{1}, [1, 2]], DomainMismatch, "row 1 is a list"),
        ([{1}, "ab"], DomainMismatch, "row 1 is a str"),
        ({1, 2}, DomainMismatch, "Got a set"),
        ("abc", DomainMismatch, "Got a str"),
        ([{1}, {2.0, float("nan")}], InvalidInput, "A contains NaN.\n.*set in row 1"),
    ],
)
def test_what_is_no_list_of_sets_is_refused_by_name(X, error, words):
    with pytest.raises(error, match=words) as caught:
        Sets(X, name="A")
    assert "A" in str(caught.value)


def test_indicators_keep_true_sizes_and_exact_norms():
    points = Indicators([0, 2, 3, 3], [0, 2, 1], n_items=3, sizes=[2, 3, 5])
    np.testing.assert_array_equal(points.csr().toarray(), [[1, 0, 1], [0, 1, 0], [0, 0, 0]])
    vectors = points.vectors().csr.toarray()
    np.testing.assert_allclose((vectors**2).sum(axis=1), points.sizes, rtol=1e-15)
    np.testing.assert_array_equal(vectors[:, :3], points.csr().toarray())
    assert points.codes.dtype == np.int32
    assert points.csr(np.float32).dtype == np.float32


@pytest.mark.parametrize("rows", [[2, 0], slice(None, None, -2), [True, False, True]], ids=str)
def test_indicators_take_codes_and_sizes_together(rows):
    points = Indicators([0, 2, 3, 3], [0, 2, 1], n_items=3, sizes=[2, 3, 5])
    taken = points.take(rows)
    chosen = np.arange(3)[rows]
    np.testing.assert_array_equal(taken.sizes, points.sizes[chosen])
    np.testing.assert_array_equal(taken.csr().toarray(), points.csr().toarray()[chosen])
    again = pickle.loads(pickle.dumps(taken))
    np.testing.assert_array_equal(again.codes, taken.codes)
    assert not again.codes.flags.writeable
