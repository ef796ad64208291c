"""Tables from pandas, polars, pyarrow and dicts: columns of mixed domains."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Domain, Objects, Sets, Table, Vectors, as_points

DATA = {
    "age": [31, 45, 27],
    "weight": [60.5, 80.25, 71.0],
    "smokes": [True, False, True],
    "city": ["Bonn", "Ulm", "Bonn"],
}
FRAMES = [dict, pd.DataFrame, pl.DataFrame, pa.table, pa.RecordBatch.from_pydict]


@pytest.mark.parametrize("frame", FRAMES)
def test_every_library_gives_the_same_table(frame):
    table = as_points(frame(DATA))
    assert isinstance(table, Table)
    assert len(table) == 3
    assert table.names == ("age", "weight", "smokes", "city")
    np.testing.assert_array_equal(
        table.select(["weight", "age", "smokes"]).dense, [[60.5, 31.0, 1.0], [80.25, 45.0, 0.0], [71.0, 27.0, 1.0]]
    )
    assert table.select(["city"]).raw() == ["Bonn", "Ulm", "Bonn"]
    assert table.select([3]).raw() == ["Bonn", "Ulm", "Bonn"]
    assert table.select(["city", "age"]).raw() == [("Bonn", 31), ("Ulm", 45), ("Bonn", 27)]
    assert table.take([2, 0]).select(["city"]).raw() == ["Bonn", "Bonn"]
    assert table.take([False, True, False]).select(["age"]).dense == 45.0


@pytest.mark.parametrize("frame", FRAMES)
def test_a_numeric_table_acts_as_vectors(frame):
    table = as_points(frame({"a": [1, 2], "b": [0.5, 1.5]}))
    np.testing.assert_array_equal(table.vectors().dense, [[1.0, 0.5], [2.0, 1.5]])


@pytest.mark.parametrize("frame", FRAMES)
def test_float32_columns_stay_float32_only_together(frame):
    half = np.array([1.0, 2.0], dtype=np.float32)
    table = as_points(frame({"a": half, "b": half, "c": np.array([1.0, 2.0])}))
    assert table.select(["a", "b"]).dtype == np.float32
    assert table.select(["a", "c"]).dtype == np.float64


@pytest.mark.parametrize("frame", FRAMES)
def test_a_mixed_table_is_no_vectors_and_says_which_column(frame):
    with pytest.raises(
        DomainMismatch, match=r"Input A is not numeric: column 'city' holds strings.\n.*\n.*Columns\('age'"
    ):
        as_points(frame(DATA), name="A").vectors()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("values", [[1.0, None, 3.0], [1, None, 3], [True, None, False]], ids=str)
def test_missing_numbers_are_named_by_row_and_column(frame, values):
    table = as_points(frame({"x": values, "y": [1.0, 2.0, 3.0]}), name="A")
    with pytest.raises(InvalidInput, match=r"Input A contains NaN\.\n.*Row 1, column 'x'"):
        table.select(["y", "x"])
    assert len(table.select(["y"])) == 3


@pytest.mark.parametrize("frame", FRAMES)
def test_missing_strings_are_named_by_row_and_column(frame):
    table = as_points(frame({"x": ["a", None, "b"], "y": [1.0, 2.0, 3.0]}), name="A")
    for names in (["x"], ["y", "x"]):
        with pytest.raises(InvalidInput, match=r"Input A contains NaN\.\n.*Row 1, column 'x'"):
            table.select(names)


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "Float32", "boolean", "int64[pyarrow]", "double[pyarrow]", "UInt8"]
)
def test_nullable_pandas_columns_are_numbers(dtype):
    frame = pd.DataFrame({"x": pd.array([1, 0, 1], dtype=dtype)})
    vectors = as_points(frame).vectors()
    np.testing.assert_array_equal(vectors.dense, [[1.0], [0.0], [1.0]])
    assert vectors.dtype == (np.float32 if dtype == "Float32" else np.float64)
    with pytest.raises(InvalidInput, match=r"Input X contains NaN\.\n.*Row 1, column 'x'"):
        as_points(pd.DataFrame({"x": pd.array([1, None, 1], dtype=dtype)})).vectors()


@pytest.mark.parametrize("dtype", ["string", "str", "category", "object", "string[pyarrow]"])
def test_pandas_text_of_every_kind_becomes_objects(dtype):
    series = pd.Series(["a", "b", "a"], dtype=dtype)
    assert as_points(pd.DataFrame({"x": series})).select(["x"]).raw() == ["a", "b", "a"]
    series = pd.Series(["a", None, "a"], dtype=dtype)
    with pytest.raises(InvalidInput, match="Row 1, column 'x' is missing"):
        as_points(pd.DataFrame({"x": series})).select(["x"])


def test_categories_that_look_like_numbers_are_objects():
    for frame in (
        pd.DataFrame({"x": pd.Series([3, 5, 3], dtype="category")}),
        pa.table({"x": pa.array([3, 5, 3]).dictionary_encode()}),
    ):
        points = as_points(frame).select(["x"])
        assert isinstance(points, Objects)
        assert points.raw() == [3, 5, 3]


def test_polars_categories_are_objects():
    frame = pl.DataFrame(
        {"x": pl.Series(["a", "b"], dtype=pl.Categorical), "e": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))}
    )
    assert as_points(frame).select(["x"]).raw() == ["a", "b"]
    assert as_points(frame).select(["e"]).raw() == ["a", "b"]


def test_object_columns_of_numbers_are_numbers():
    frame = pd.DataFrame({"x": np.array([1, 2.5, Decimal("0.5")], dtype=object)})
    np.testing.assert_array_equal(as_points(frame).vectors().dense, [[1.0], [2.5], [0.5]])


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_decimals_are_numbers(frame):
    np.testing.assert_array_equal(
        as_points(frame({"x": [Decimal("0.5"), Decimal("1.5")]})).vectors().dense, [[0.5], [1.5]]
    )


@pytest.mark.parametrize(
    "frame", [dict, pd.DataFrame, lambda d: pl.DataFrame({"s": pl.Series(d["s"], dtype=pl.Object), "x": d["x"]})]
)
def test_a_column_of_sets_becomes_sets(frame):
    table = as_points(frame({"s": [{1, 2}, {2}], "x": [1.0, 2.0]}))
    points = table.select(["s"])
    assert isinstance(points, Sets)
    assert points.raw() == [{1, 2}, {2}]
    assert isinstance(table.select(["s", "x"]), Objects)
    assert table.domain_of(["x"]) is Domain.VECTORS


def test_a_missing_set_is_named():
    with pytest.raises(InvalidInput, match=r"Row 1, column 's' is missing"):
        as_points({"s": [{1}, None]}).select(["s"])


def test_a_dict_may_hold_arrays_and_series_of_any_library():
    table = as_points(
        {"a": np.array([1, 2]), "b": pd.Series([3, 4]), "c": pl.Series([5, 6]), "d": pa.array([7, 8]), "e": (9, 10)}
    )
    np.testing.assert_array_equal(table.vectors().dense, [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]])


def test_labels_that_are_no_strings_become_strings():
    table = as_points(pd.DataFrame(np.arange(6.0).reshape(2, 3)))
    assert table.names == ("0", "1", "2")
    np.testing.assert_array_equal(table.select([2]).dense, [[2.0], [5.0]])


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ({}, r"0 sample\(s\) \(shape=\(0, 0\)\)"),
        ({"a": []}, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=range(3)), r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        ({"a": [1, 2], "b": [1]}, "differ in length"),
        ({"a": np.zeros((2, 2))}, "Column 'a' of A must be one-dimensional"),
        (pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"]), "A has two columns named 'a'"),
        ({1: [1], "1": [2]}, "two columns named '1'"),
    ],
    ids=str,
)
def test_misshapen_tables_are_refused(X, words):
    with pytest.raises(InvalidInput, match=words):
        as_points(X, name="A")


def test_a_column_that_is_no_list_is_refused():
    with pytest.raises(DomainMismatch, match="Column 'a' of A"):
        as_points({"a": "abc"}, name="A")


@pytest.mark.parametrize("name", ["height", 4, -1])
def test_a_column_that_is_not_there_is_refused_and_the_others_listed(name):
    with pytest.raises(InvalidInput, match=rf"A has no column .*{name}.*\n.*'age', 'weight'"):
        Table(DATA, name="A").select([name])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, np.inf], "infinity.*\n.*Row 1, column 'a'"),
        (np.array([1.0, 1j]), "Complex data not supported"),
        (np.ma.MaskedArray([1.0, 2.0], mask=[False, True]), "NaN.*\n.*Row 1, column 'a'"),
    ],
    ids=str,
)
def test_bad_numbers_are_refused_when_selected(values, words):
    with pytest.raises(InvalidInput, match=words):
        as_points({"a": values}).vectors()


def test_a_table_is_made_of_tables_only():
    with pytest.raises(DomainMismatch, match="A is not a table"):
        Table([1, 2], name="A")


def test_pickling_keeps_the_columns():
    table = pickle.loads(pickle.dumps(Table(DATA)))
    assert table.names == tuple(DATA)
    assert isinstance(table.select(["age"]), Vectors)
    assert table.raw()["city"].tolist() == DATA["city"]


def test_subclasses_of_frames_are_frames():
    class Geo(pd.DataFrame):
        pass

    assert isinstance(as_points(Geo({"a": [1.0]})), Table)
