"""Strings as points: what is read, what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

from mercer import Spectrum
from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Objects, Strings, as_points, require
from mercer.points.base import Domain

KINDS = {
    "characters": ["kernel", "", "é𝒳\ud800", "a" * 1000],
    "bytes": [b"GATTACA", b"", b"\x00\xff"],
    "tokens": [("to", "be"), (), ("or", 3, None)],
}


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
def test_strings_come_back_as_they_were(values):
    points = Strings(values)
    assert points.raw() == values
    assert points.take([2, 0]).raw() == [values[2], values[0]]
    assert pickle.loads(pickle.dumps(points)).raw() == values
    assert list(points.sizes) == [len(value) for value in values]


def test_arrays_and_lists_of_tokens_are_read_too():
    assert Strings(np.array(["a", "bc"])).raw() == ["a", "bc"]
    assert Strings([["a", "bc"], []]).raw() == [("a", "bc"), ()]
    assert Strings([bytearray(b"ab")]).raw() == [b"ab"]


def test_a_list_of_strings_stays_objects_until_a_kernel_asks_for_strings():
    points = as_points(["ab", "b"])
    assert isinstance(points, Objects)
    assert isinstance(require(points, frozenset({Domain.STRINGS}), "Spectrum()"), Strings)


def test_a_table_of_one_column_of_strings_is_strings_too():
    frame = pd.DataFrame({"gene": ["abab", "ab"]})
    assert Spectrum(2)(frame).tolist() == Spectrum(2).on("gene")(frame).tolist() == [[5.0, 2.0], [2.0, 1.0]]
    with pytest.raises(DomainMismatch, match="Choose one column of strings"):
        Spectrum(2)(frame.assign(length=[4, 2]))


@pytest.mark.parametrize(
    "rows", [[["to", "be"], ["or"]], [["to", "be"], ["or", "not"]]], ids=["ragged", "of one length"]
)
def test_lists_of_tokens_ask_to_be_named_strings(rows):
    with pytest.raises((InvalidInput, DomainMismatch), match=r"mercer\.points\.Strings"):
        Spectrum(2)(rows)
    assert Spectrum(1)(Strings(rows)).shape == (2, 2)


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ("GATTACA", DomainMismatch, "Got a str"),
        ([], InvalidInput, "0 sample"),
        (["a", None], InvalidInput, "Row 1 is None"),
        (["a", float("nan")], InvalidInput, "Row 1 is nan"),
        (["a", 3], DomainMismatch, "row 1 is a int"),
        (["a", b"a"], DomainMismatch, "row 1 is a bytes"),
        ([["a"], [["b"]]], InvalidInput, "Token 0 of row 1"),
        ([["a"], ["b", float("nan")]], InvalidInput, "Token 1 of row 1"),
        ([3], DomainMismatch, "row 0 is a int"),
    ],
)
def test_what_is_no_string_is_named(values, error, says):
    with pytest.raises(error, match=says):
        Strings(values)
