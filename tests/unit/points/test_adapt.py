"""From Python data to points, and what a kernel may ask of them."""

import array
from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import (
    Domain,
    Indicators,
    Objects,
    Sets,
    Stored,
    Table,
    Vectors,
    as_points,
    check_same_width,
    require,
)

X = np.arange(6.0).reshape(3, 2)


class Foreign:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (X, Vectors),
        (X.tolist(), Vectors),
        (tuple(map(tuple, X.tolist())), Vectors),
        (list(X), Vectors),
        ([pd.Series([1, 2]), pd.Series([3, 4])], Vectors),
        (X.astype(object), Vectors),
        (np.fromiter([X[0], X[1]], dtype=object), Vectors),
        (sp.csr_array(X), Vectors),
        (sp.coo_matrix(X), Vectors),
        (Foreign(X), Vectors),
        (memoryview(X), Vectors),
        ([[1]], Vectors),
        ([{1}, frozenset({2})], Sets),
        (np.array([{1}, {2}], dtype=object), Sets),
        (pd.Series([{1}, {2}]), Sets),
        (["a", "bc"], Objects),
        (np.array(["a", "bc"]), Objects),
        (pd.Series(["a", "bc"]), Objects),
        (pl.Series(["a", "bc"]), Objects),
        (pa.array(["a", "bc"]), Objects),
        (pa.chunked_array([["a"], ["bc"]]), Objects),
        ([{"k": 1}, {"k": 2}], Objects),
        (["a", 1, None], Objects),
        (np.array(["2020-01-01"], dtype="M8[D]"), Objects),
        (pd.DataFrame(X), Table),
        ({"a": [1]}, Table),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, type) else value.__name__,
)
def test_data_finds_its_kind_of_points(data, kind):
    points = as_points(data)
    assert type(points) is kind
    assert len(points) == (len(data) if not isinstance(data, (sp.sparray, sp.spmatrix, Foreign, dict)) else len(points))


def test_points_are_returned_as_they_are():
    for points in (Vectors(X), Sets([{1}]), Objects(["a"]), Stored(X), Table({"a": [1]}), Indicators([0], [], 0, [])):
        assert as_points(points) is points


def test_one_large_dense_array_is_not_copied_on_the_way():
    assert np.shares_memory(as_points(X).dense, X)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([1.0, 2.0], InvalidInput, "Expected 2D array, got 1D array instead"),
        (range(3), InvalidInput, "Reshape your data"),
        (array.array("d", [1.0]), InvalidInput, "Reshape your data"),
        (X[0], InvalidInput, "Reshape your data"),
        (np.array([1, 2], dtype=object), InvalidInput, "Reshape your data"),
        (pd.Series([1.0, 2.0]), InvalidInput, "Expected a 2-dimensional container but got .*Series"),
        (pl.Series([1.0, 2.0]), InvalidInput, "Expected a 2-dimensional container but got .*Series"),
        (pa.array([1.0, 2.0]), InvalidInput, "Expected a 2-dimensional container"),
        (5, InvalidInput, "got scalar array"),
        (None, InvalidInput, "got scalar array"),
        ([], InvalidInput, r"0 sample\(s\)"),
        (pd.Series(["a", None]), InvalidInput, "A contains NaN.\n.*Row 1"),
        ([[1.0], [2.0, 3.0]], InvalidInput, "ragged"),
        ([["a"], ["b"]], DomainMismatch, "strings"),
        (np.array([["a"], ["b"]]), DomainMismatch, "strings"),
        (Foreign([["a"]]), DomainMismatch, "strings"),
        ([{1}, [2]], DomainMismatch, "row 1 is a list"),
        ("abc", DomainMismatch, "list of strings"),
        ({1, 2}, DomainMismatch, "not a collection of points"),
        ((row for row in X), DomainMismatch, r"list\(X\)"),
        (object(), DomainMismatch, "not a collection of points"),
        (pl.LazyFrame({"a": [1]}), DomainMismatch, "collect"),
        (np.matrix(X), DomainMismatch, "np.matrix"),
    ],
    ids=lambda value: str(value)[:40] if not isinstance(value, type) else value.__name__,
)
def test_what_is_no_points_is_refused_by_name(data, error, words):
    with pytest.raises(error, match=words) as caught:
        as_points(data, name="A")
    assert "A" in str(caught.value)


def test_other_sequences_are_read_like_lists():
    assert isinstance(as_points(deque([[1.0], [2.0]])), Vectors)


VECTORS, SETS = frozenset({Domain.VECTORS}), frozenset({Domain.SETS})


def test_require_passes_what_fits_and_converts_what_can_stand_for_it():
    points = Vectors(X)
    assert require(points, VECTORS, "k") is points
    assert isinstance(require(Table({"a": [1, 2]}), VECTORS, "k"), Vectors)
    assert isinstance(require(Table({"s": [{1}, {2}]}), SETS, "k"), Sets)
    assert isinstance(require(Table({"s": ["a"], "x": [1]}), frozenset({Domain.OBJECTS}), "k"), Objects)
    assert isinstance(require(points, frozenset({Domain.GRAM}), "k"), Stored)
    assert isinstance(require(Table({"a": [1, 2]}), frozenset({Domain.GRAM}), "k"), Stored)


@pytest.mark.parametrize(
    ("points", "needs", "words"),
    [
        (Sets([{1}]), VECTORS, r"RBF\(\) cannot read A: it needs vectors.\n.*Sets\(1.*\n.*Indicator\(\)"),
        (Objects(["a"]), VECTORS, r"\.on\(fn\)"),
        (Stored(X), VECTORS, "Precomputed"),
        (Vectors(X), SETS, "Pass a list of sets"),
        (Table({"x": [1], "s": ["a"]}), SETS, r"Columns\(name\)"),
        (Table({"x": [1], "s": ["a"]}), VECTORS, r"column 's' holds.*\n.*\n.*Columns\('x'\)"),
        (Vectors(X), frozenset({Domain.OBJECTS}), "mercer.points.Objects"),
    ],
    ids=str,
)
def test_require_says_what_would_work(points, needs, words):
    with pytest.raises(DomainMismatch, match=words):
        require(points, needs, "RBF()", name="A")


def test_same_width_is_asked_in_the_words_of_scikit_learn():
    check_same_width(Vectors(X), Vectors(X[:1]))
    check_same_width(Vectors(X), Vectors(sp.csr_array(X)))
    check_same_width(Table({"a": [1], "b": [2]}), Vectors(X))
    check_same_width(Sets([{1}]), Sets([{1, 2}]))
    with pytest.raises(InvalidInput, match="X has 1 features, but SVC is expecting 2 features as input"):
        check_same_width(Vectors(X), Vectors(X[:, :1]), name="X", owner="SVC")


def test_new_points_of_another_kind_are_refused():
    with pytest.raises(DomainMismatch, match="Z holds sets, but Kernel is expecting vectors"):
        check_same_width(Vectors(X), Sets([{1}]))


@pytest.mark.parametrize(
    ("names", "words"), [(["a", "c"], "unseen at fit time: c.*now missing: b"), (["b", "a"], "same order")]
)
def test_new_tables_need_the_names_of_the_basis(names, words):
    basis = Table({"a": [1], "b": [2]})
    with pytest.raises(InvalidInput, match="feature names should match") as caught:
        check_same_width(basis, Table({name: [1] for name in names}))
    assert caught.match(words)
