"""Input is called what it is: categories, masked arrays, complex numbers hidden in objects."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Objects, Sets, as_points


@pytest.mark.parametrize("values", [["a", "b", "a"], [1, 2, 1]], ids=["text", "numbers"])
def test_a_categorical_is_objects_that_are_categories(values):
    for given in (pd.Categorical(values), pd.Series(values, dtype="category")):
        points = as_points(given)
        assert isinstance(points, Objects)
        assert repr(points) == repr(points.take([0, 1, 2])) == "Objects(3, categories)"
        np.testing.assert_array_equal(mercer.Delta()(given), [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
        with pytest.raises(DomainMismatch, match=r"RBF\(\) cannot read X(.|\n)*categories"):
            mercer.RBF()(given)


def test_a_column_of_categories_is_called_so():
    frame = pd.DataFrame({"size": pd.Categorical([1, 2, 3]), "age": [1.0, 2.0, 3.0]})
    with pytest.raises(DomainMismatch, match="column 'size' holds categories"):
        mercer.RBF()(frame)


@pytest.mark.parametrize(
    "read",
    [
        lambda: as_points([np.ma.masked_less(np.arange(3.0), 1.0)]),
        lambda: Objects(np.ma.array(["a", "b"], mask=[0, 1])),
        lambda: Sets(np.ma.array([{1}, {2}], mask=[0, 1], dtype=object)),
        lambda: as_points([[1.0], [2.0]]).take(np.ma.array([0, 1], mask=[0, 1])),
    ],
    ids=["rows", "objects", "sets", "a choice of rows"],
)
def test_masked_arrays_are_refused_everywhere(read):
    with pytest.raises(InvalidInput, match="masked"):
        read()


def test_a_masked_array_that_masks_nothing_is_an_array():
    np.testing.assert_array_equal(as_points(np.ma.array([[1.0, 2.0]])).raw(), [[1.0, 2.0]])


def test_complex_numbers_among_objects_are_refused():
    with pytest.raises(InvalidInput, match="Complex data"):
        as_points(np.array([[np.complex128(1.0)]], dtype=object))
    with pytest.raises(InvalidInput, match="Complex data"):
        as_points({"a": [np.complex128(1.0), 2.0]}).select(["a"])


def test_a_masked_target_is_named_in_the_advice():
    with pytest.raises(InvalidInput, match=r"y\.filled"):
        mercer.KernelRidge().fit(np.eye(3), np.ma.masked_less(np.arange(3.0), 1.0))
