"""What a column holds is found from its values and from what its library declares; new tables must hold the same."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.errors import DomainMismatch
from mercer.points import Domain, Table

LETTERS = ["a", "b", None]
LARGE = 2**60 + 1
KINDS = {
    "numbers": [[1, 2.5, None], pd.array([1, None], dtype="Int64"), np.array([1.0, np.nan]), pl.Series([1, None])],
    "booleans": [[True, None], [True, False], pd.Series([True, None], dtype="boolean"), pa.array([True, None])],
    "integers beyond 2**53": [
        [1, LARGE, None],
        np.array([1, LARGE]),
        np.array([2**64 - 1], dtype=np.uint64),
        pd.Series([1, LARGE, None], dtype="Int64"),
        pl.Series([1, LARGE, None]),
        pa.array([1, LARGE, None]),
    ],
    "strings": [LETTERS, pd.Series(LETTERS), pd.Series(LETTERS, dtype="string"), pl.Series(LETTERS), pa.array(LETTERS)],
    "categories": [
        pd.Series(LETTERS, dtype="category"),
        pl.Series(LETTERS, dtype=pl.Categorical),
        pl.Series(LETTERS, dtype=pl.Enum(["b", "a"])),
        pa.array(LETTERS).dictionary_encode(),
        pd.Series(pa.array(LETTERS).dictionary_encode(), dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ],
    "ordered categories": [
        pd.Series(pd.Categorical(LETTERS, categories=["b", "a"], ordered=True)),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["b", "a"]), ordered=True),
        pd.Series(pd.cut([1.0, 2.0], 2)),
    ],
    "values of different types": [[1, "a"], [None, 2.0, ("b",)]],
    "no values": [[None, None], [None], pd.Series([None, None]), pl.Series([None]), pa.nulls(2)],
}


@pytest.mark.parametrize(
    ("kind", "values"), [(kind, values) for kind, each in KINDS.items() for values in each], ids=str
)
def test_columns_say_what_they_hold(kind, values):
    column = Table({"x": values}).columns["x"]
    assert column.kind == kind
    assert (column.domain is Domain.VECTORS) == (kind in ("numbers", "booleans"))


def test_an_order_is_kept_where_somebody_made_it():
    for values in (*KINDS["ordered categories"][:2], pl.Series(LETTERS, dtype=pl.Enum(["b", "a"]))):
        assert Table({"x": values}).columns["x"].levels == ("b", "a")
    for values in (pd.Series(LETTERS, dtype="category"), pl.Series(LETTERS, dtype=pl.Categorical)):
        assert Table({"x": values}).columns["x"].levels == ()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")], ids=str)
def test_everything_that_stands_for_nothing_is_missing(missing):
    for values in ([1.5, missing], ["a", missing], [frozenset({1}), missing], [missing, missing]):
        column = Table({"x": np.array([*values, None], dtype=object)[:2]}).columns["x"]
        assert column.missing().tolist() == [value is missing for value in values]


def test_float32_columns_with_missing_values_stay_float32():
    for values in (pl.Series([1.5, None], dtype=pl.Float32), pa.array([1.5, None], pa.float32())):
        assert Table({"x": values}).columns["x"].values.dtype == np.float32


def test_a_filled_column_has_the_value_whatever_it_is():
    column = Table({"x": [(1, 2), None]}).columns["x"]
    assert column.filled((3, 4)).values.tolist() == [(1, 2), (3, 4)]
    assert column.filled(column.example).values[1] == (1, 2)


PAIRS = [
    ([1.0, 2.0], ["a", "b"], r"holds strings; in training it held numbers.\n.*Row 0 is 'a'"),
    (["a", "b"], [None, 3], r"holds numbers; in training it held strings.\n.*Row 1 is 3"),
    ([1.0, 2.0], np.array(["2024"], dtype="M8[D]"), "holds dates; in training it held numbers"),
    (pd.to_datetime(["2024"]).to_series(), [5.0], "holds numbers; in training it held dates and times"),
    ([{1}, {2}], ["a"], "holds strings; in training it held sets"),
]


@pytest.mark.parametrize(("seen", "new", "words"), PAIRS, ids=str)
def test_a_column_that_holds_other_things_than_in_training_is_named(seen, new, words):
    training = Table({"x": seen}).columns
    with pytest.raises(DomainMismatch, match="Column 'x' of X " + words):
        Table({"x": new}).as_seen(training)


ALIKE = [
    ([1.0, 2.0], [True, False], [1.0, 0.0]),
    ([1.0, 2.0], [None, None], [np.nan, np.nan]),
    ([1.0, 2.0], [LARGE, 1], [float(LARGE), 1.0]),
    ([1, LARGE], [1, 2], [1, 2]),
    (pd.Series([3, 5], dtype="category"), [5, None], [5, None]),
    (["a", "b"], pd.Series(["b"], dtype="category"), ["b"]),
    ([1, "a"], [2.0], [2.0]),
]


@pytest.mark.parametrize(("seen", "new", "values"), ALIKE, ids=str)
def test_a_column_may_come_in_another_form(seen, new, values):
    training = Table({"x": seen}).columns
    column = Table({"x": new}).as_seen(training).columns["x"]
    assert column.domain is training["x"].domain
    np.testing.assert_array_equal(column.values, np.array(values, dtype=column.values.dtype))
