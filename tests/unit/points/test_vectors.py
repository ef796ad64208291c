"""Vectors: what is accepted without a copy, what is converted, what is refused and in which words."""

import pickle
import tracemalloc
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Vectors

GOOD = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_contiguous_floats_are_not_copied(dtype):
    X = GOOD.astype(dtype)
    points = Vectors(X)
    assert np.shares_memory(points.dense, X)
    assert points.dtype == dtype
    assert np.shares_memory(points.take(slice(1, 3)).dense, X)


def test_points_are_read_only_and_the_callers_array_is_not():
    X = GOOD.copy()
    points = Vectors(X)
    with pytest.raises(ValueError, match="read-only"):
        points.dense[0, 0] = 1.0
    assert X.flags.writeable
    X[0, 0] = 5.0
    with pytest.raises(FrozenInstanceError):
        points.dense = X
    sparse = sp.csr_array(GOOD)
    with pytest.raises(ValueError, match="read-only"):
        Vectors(sparse).csr.data[0] = 1.0
    assert sparse.data.flags.writeable


def test_read_only_input_is_accepted():
    X = GOOD.copy()
    X.flags.writeable = False
    assert np.shares_memory(Vectors(X).dense, X)


@pytest.mark.parametrize(
    "X",
    [
        GOOD.astype(np.float16),
        GOOD.astype(np.longdouble),
        GOOD.astype(">f8"),
        GOOD.astype(np.int8),
        GOOD.astype(np.uint64),
        GOOD.astype(object),
        np.asfortranarray(GOOD),
        np.repeat(GOOD, 2, axis=0)[::2],
        GOOD.tolist(),
        [tuple(row) for row in GOOD.tolist()],
        list(GOOD),
        np.ma.MaskedArray(GOOD, mask=False),
        memoryview(GOOD),
    ],
    ids=lambda X: f"{type(X).__name__}-{getattr(X, 'dtype', '')}",
)
def test_other_real_data_becomes_contiguous_float64(X):
    dense = Vectors(X).dense
    assert dense.dtype == np.float64
    assert dense.flags.c_contiguous
    assert type(dense) is np.ndarray
    np.testing.assert_array_equal(dense, GOOD)


def test_foreign_byte_order_float32_stays_float32():
    dense = Vectors(GOOD.astype(">f4")).dense
    assert dense.dtype == np.float32
    assert dense.dtype.isnative
    np.testing.assert_array_equal(dense, GOOD)


def test_booleans_become_zero_and_one():
    np.testing.assert_array_equal(Vectors([[True, False]]).dense, [[1.0, 0.0]])


def test_what_has_the_array_protocol_is_read():
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.array(GOOD, dtype=dtype)

    np.testing.assert_array_equal(Vectors(Foreign()).dense, GOOD)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([1.0, 2.0], "Expected 2D array, got 1D array instead"),
        ([1.0, 2.0], "Reshape your data"),
        (3.0, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), "Found array with dim 3, while dim <= 2 is required"),
        (np.empty((0, 3)), r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required."),
        (np.empty((12, 0)), r"Found array with 0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required."),
        ([], r"0 sample\(s\)"),
        (GOOD + 1j, "Complex data not supported"),
        (np.array([[1, 1j]], dtype=object), "Complex data not supported"),
        ([[1.0, 2.0], [3.0]], "ragged.*\n.*Row 0 holds 2 values, row 1 holds 1"),
        ([[1.0, 2.0], 3.0], "ragged"),
        ([[1.0, np.nan]], r"Input A contains NaN\.\n.*Row 0, column 1 is nan"),
        ([[1.0, None]], r"Input A contains NaN\.\n.*Row 0, column 1"),
        (
            [[1.0], [np.inf]],
            "Input A contains infinity or a value too large for dtype\\('float64'\\).\n.*Row 1, column 0",
        ),
        ([[1.0], [-np.inf]], "Row 1, column 0 is -inf"),
        (np.array([[1.0], [np.nan]], dtype=np.float32), "Row 1, column 0"),
        ([[1, 10**400]], "infinity or a value too large for dtype\\('float64'\\)"),
        (np.array([[np.longdouble("1e4000")]]), "infinity or a value too large"),
        (np.ma.MaskedArray(GOOD, mask=GOOD == 5.0), r"masked.*\n.*\(1, 2\)"),
    ],
)
def test_bad_values_are_refused_by_name(X, words):
    with pytest.raises(InvalidInput, match=words) as caught:
        Vectors(X, name="A")
    assert "A" in str(caught.value)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["a", "b"]], "not compatible with arrays of bytes/strings"),
        (np.array([[b"a"]]), "not compatible with arrays of bytes/strings"),
        ([["1.5", "2"]], "strings"),
        (np.array([["1.5", 2.0]], dtype=object), "row 0, column 0 is a str"),
        (np.array([[1.0, {"foo": "bar"}]], dtype=object), "row 0, column 1 is a dict"),
        (np.array([[1.0, {"foo": "bar"}]], dtype=object), "argument must be .* string.* number"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "dtype is datetime64"),
        (np.array([[(1, 2)]], dtype="i4,i4"), "is not numeric"),
        (np.matrix(GOOD), "np.matrix is not supported"),
    ],
)
def test_what_is_not_numeric_is_a_type_error(X, words):
    with pytest.raises(DomainMismatch, match=words) as caught:
        Vectors(X, name="A")
    assert isinstance(caught.value, TypeError)
    assert "A" in str(caught.value)


def test_sums_that_overflow_do_not_look_like_infinity():
    assert len(Vectors(np.full((3, 3), 1e308))) == 3
    assert len(Vectors(np.full((3, 3), 3e38, dtype=np.float32))) == 3


def test_opposite_infinities_are_found():
    with pytest.raises(InvalidInput, match="Row 0, column 0 is inf"):
        Vectors([[np.inf, -np.inf]])


def test_a_late_bad_value_is_found_in_a_large_array():
    X = np.zeros((1_000_000, 3), dtype=np.float32)
    X[999_999, 2] = np.nan
    with pytest.raises(InvalidInput, match="Row 999999, column 2"):
        Vectors(X)


def test_validation_of_good_data_needs_no_memory():
    X = np.ones((200_000, 20))
    tracemalloc.start()
    Vectors(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000


SPARSE = sp.csr_array(np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]))


def assert_sound(points):
    csr = points.csr
    assert points.is_sparse
    assert points.dense is None
    assert isinstance(csr, sp.csr_array)
    assert csr.indices.dtype == csr.indptr.dtype == np.int32
    assert csr.data.dtype in (np.float32, np.float64)
    for row in range(len(points)):
        assert (np.diff(csr.indices[csr.indptr[row] : csr.indptr[row + 1]]) > 0).all()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_, np.longdouble])
def test_every_sparse_format_becomes_sound_csr(form, make, dtype):
    X = make(SPARSE.astype(dtype)).asformat(form)
    points = Vectors(X)
    assert_sound(points)
    assert points.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(points.csr.toarray(), SPARSE.astype(dtype).toarray())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sound_csr_is_not_copied(dtype):
    X = SPARSE.astype(dtype)
    points = Vectors(X)
    assert np.shares_memory(points.csr.data, X.data)
    assert np.shares_memory(points.csr.indices, X.indices)


def test_wide_indices_unsorted_indices_and_duplicates_are_put_right():
    X = sp.csr_array(
        (np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 0, 1], dtype=np.int64), np.array([0, 3, 4], dtype=np.int64)),
        shape=(2, 3),
    )
    assert X.indices.dtype == np.int64
    before = X.indices.copy()
    points = Vectors(X)
    assert_sound(points)
    np.testing.assert_array_equal(points.csr.toarray(), [[5.0, 0.0, 1.0], [0.0, 4.0, 0.0]])
    np.testing.assert_array_equal(X.indices, before)


def test_duplicates_of_small_integers_do_not_wrap():
    X = sp.coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [0, 0])), shape=(1, 1))
    assert Vectors(X).csr.toarray() == 200.0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (sp.csr_array((0, 3)), r"0 sample\(s\)"),
        (sp.csr_array((3, 0)), r"0 feature\(s\)"),
        (SPARSE.astype(complex), "Complex data not supported"),
        (sp.coo_array(np.array([1.0, 2.0])), "Expected 2D input.*sparse"),
        (sp.csr_array(np.array([[0.0, 1.0], [0.0, np.nan]])), "Input A contains NaN.\n.*Row 1, column 1"),
        (sp.csr_array(np.array([[0.0, 1.0], [np.inf, 0.0]])), "infinity.*\n.*Row 1, column 0"),
    ],
)
def test_bad_sparse_values_are_refused_by_name(X, words):
    with pytest.raises(InvalidInput, match=words):
        Vectors(X, name="A")


def test_indices_outside_the_matrix_are_refused_before_they_reach_the_core():
    X = SPARSE.copy()
    X.indices[0] = 7
    with pytest.raises(InvalidInput, match="not a well-formed sparse matrix"):
        Vectors(X)


ROWS = [[2, 0], np.array([2, 0]), np.array([2, 0], dtype=np.uint8), [-1, 0], slice(None, None, -2)]


@pytest.mark.parametrize("rows", ROWS, ids=str)
@pytest.mark.parametrize("X", [SPARSE.toarray(), SPARSE], ids=["dense", "sparse"])
def test_take_accepts_integers_and_slices(X, rows):
    taken = Vectors(X).take(rows)
    raw = taken.raw().toarray() if taken.is_sparse else taken.raw()
    np.testing.assert_array_equal(raw, SPARSE.toarray()[[2, 0]])
    assert taken.is_sparse or taken.dense.flags.c_contiguous


@pytest.mark.parametrize("X", [SPARSE.toarray(), SPARSE], ids=["dense", "sparse"])
def test_take_accepts_masks_and_nothing(X):
    points = Vectors(X)
    assert len(points.take(np.array([True, False, True]))) == 2
    assert len(points.take([])) == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([True, False], "2 booleans for 3 points"),
        ([3], "Got 3 for 3 points"),
        ([-4], "Got -4"),
        ([0.5], "float64"),
        ([[0, 1]], "one-dimensional"),
        (1, "one-dimensional"),
    ],
)
def test_take_refuses_what_is_no_choice_of_rows(rows, words):
    with pytest.raises(InvalidInput, match=words):
        Vectors(SPARSE).take(rows)


@pytest.mark.parametrize("X", [SPARSE.toarray(), SPARSE], ids=["dense", "sparse"])
def test_pickling_keeps_values_and_protection(X):
    points = pickle.loads(pickle.dumps(Vectors(X)))
    store = points.csr.data if points.is_sparse else points.dense
    assert not store.flags.writeable
    assert points.shape == (3, 3)


def test_repr_is_short():
    assert repr(Vectors(SPARSE)) == "Vectors(3 x 3, float64, sparse)"
    assert repr(Vectors(GOOD.astype(np.float32))) == "Vectors(4 x 3, float32)"
