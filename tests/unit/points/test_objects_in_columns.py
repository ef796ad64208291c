"""Strings, graphs, bags and images in the columns of tables, and how a wrong one is named."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import RBF, SpatialPyramid, Spectrum, WeisfeilerLehman
from mercer.errors import DomainMismatch, InvalidInput

RNG = np.random.default_rng(0)
# What a column holds -> the values, a kernel of them, and a value that is none.
COLUMNS = {
    "strings": (["abab", "", "ab", "ba"], Spectrum(2), 3),
    "tokens": ([("to", "be"), (), ("to",), ("be", "to", "be")], Spectrum(1), 3),
    "graphs": ([{"edges": [(0, 1)]}, {"edges": [], "n": 0}, {"edges": [(0, 0)]}, {"edges": [], "n": 3}],
               WeisfeilerLehman(1), "C"),
    "bags": ([RNG.normal(size=(m, 2)) for m in (2, 0, 1, 3)], RBF().summed(), "C"),
    "images": ([RNG.random((h, w)) for h, w in ((4, 4), (5, 3), (4, 4), (2, 9))], SpatialPyramid(1), "C"),
}  # fmt: skip


def in_list(values):
    return mercer.points.Strings(values) if isinstance(values[0], tuple) else values


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_compared_as_a_list_would_be(name):
    values, kernel, _ = COLUMNS[name]
    expected = kernel(in_list(values))
    frame = pd.DataFrame({"x": values, "age": [1.0, 2.0, 3.0, 4.0]})
    np.testing.assert_array_equal(kernel.on("x")(frame), expected)
    both = kernel.on("x") * RBF().on("age")
    np.testing.assert_allclose(both(frame), expected * RBF().on("age")(frame), rtol=1e-12)
    model = mercer.KernelRidge(kernel=both + 1).fit(frame, [0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.predict(frame[1:]), model.predict(frame)[1:], rtol=1e-9)


@pytest.mark.parametrize("name", COLUMNS)
def test_one_missing_value_is_declared_or_refused(name):
    values, kernel, _ = COLUMNS[name]
    frame = pd.DataFrame({"x": [*values[:3], None]})
    with pytest.raises(InvalidInput, match=r"Row 3, column 'x' is missing(.|\n)*OrMissing"):
        kernel.on("x")(frame)
    K = mercer.OrMissing(kernel.on("x"))(frame)
    np.testing.assert_array_equal(K[:3, :3], kernel(in_list(values[:3])))
    assert K[3].tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_wrong_value_is_named_by_its_row(name):
    values, kernel, wrong = COLUMNS[name]
    frame = pd.DataFrame({"x": [*values[:3], wrong]})
    with pytest.raises((DomainMismatch, InvalidInput), match=r"(row|Graph) 3|X\[3\]"):
        kernel.on("x")(frame)
    if name != "tokens":
        with pytest.raises((DomainMismatch, InvalidInput), match=r"(row|Graph) 3|X\[3\]"):
            kernel([*values[:3], wrong])
        fitted = mercer.SVC(kernel=kernel).fit(values, [0, 1, 0, 1])
        with pytest.raises((DomainMismatch, InvalidInput), match=r"(row|Graph) 1|X\[1\]"):
            fitted.predict([values[0], wrong])


def test_a_graph_alone_is_asked_to_go_into_a_list():
    with pytest.raises(DomainMismatch, match="a single graph goes into a list"):
        WeisfeilerLehman()({"edges": [(0, 1), (1, 2)]})


def test_a_missing_bag_in_a_list_is_named():
    with pytest.raises(InvalidInput, match=r"X\[1\] is not an array"):
        RBF().summed()([np.ones((2, 2)), None])
