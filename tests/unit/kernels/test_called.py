"""Functions given as kernels: what they may be, and what they may give."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels as mk
from mercer.errors import InvalidInput

ROWS = np.array([[1.0, -2.0], [3.0, 4.0], [0.5, 0.0]])


def of(fn, form="pair"):
    return mk.Custom(fn, because="of the test", form=form)


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda x, z: complex(x @ z, 1.0), "A kernel is real"),
        (lambda x, z: np.complex128(x @ z), "A kernel is real"),
        (lambda x, z: "1", "It gave '1'"),
        (lambda x, z: None, "It gave None"),
        (lambda x, z: np.ma.masked, "one number for two points"),
        (lambda x, z: x, 'form="matrix"'),
    ],
)
def test_a_function_of_two_points_gives_one_real_number(fn, said):
    with pytest.raises(InvalidInput, match=said):
        of(fn)(ROWS)


@pytest.mark.parametrize(
    ("fn", "said"),
    [
        (lambda X, Z: (X @ Z.T).astype(complex), "real numbers"),
        (lambda X, Z: (X @ Z.T).astype(complex).astype(object), "array of object"),
        (lambda X, Z: np.full((len(X), len(Z)), "1"), "array of <U1"),
        (lambda X, Z: np.full((len(X), len(Z)), "1", dtype=object), "array of object"),
        (lambda X, Z: np.ma.masked_less(X @ Z.T, 0.0), "masked"),
        (lambda X, Z: [[1.0], [1.0, 2.0]], "differ in length"),
        (lambda X, Z: [[10**400]], "beyond float64"),
        (lambda X, Z: None, "array of object|shape"),
        (lambda X, Z: X, "shape"),
    ],
)
def test_a_function_of_two_collections_gives_a_matrix_of_real_numbers(fn, said):
    with pytest.raises(InvalidInput, match=said):
        of(fn, "matrix")(ROWS)


@pytest.mark.parametrize("number", [2, 2.0, np.float32(2.0), np.int64(2), np.array(2.0), True, np.True_])
def test_every_real_number_will_do(number):
    np.testing.assert_array_equal(of(lambda x, z: number)(ROWS), np.full((3, 3), float(number)))


def test_a_sparse_matrix_is_a_matrix():
    np.testing.assert_array_equal(of(lambda X, Z: sp.csr_array(X @ Z.T), "matrix")(ROWS), ROWS @ ROWS.T)


class Unhashable:
    """As the kernels of scikit-learn's Gaussian processes: equal by their parameters, hence without a hash."""

    __hash__ = None

    def __eq__(self, other):
        return isinstance(other, Unhashable)

    def __call__(self, x, z):
        return float(x @ z)

    def method(self, x, z):
        return float(x @ z)


@pytest.mark.parametrize(
    "fn",
    [Unhashable(), Unhashable().method, functools.partial(Unhashable()), functools.partial(np.dot)],
    ids=["object", "method", "partial of an object", "partial"],
)
def test_whatever_can_be_called_is_a_function(fn):
    kernel = of(fn)
    np.testing.assert_allclose(kernel(ROWS), ROWS @ ROWS.T)
    np.testing.assert_allclose((2.0 * kernel + kernel)(ROWS), 3.0 * ROWS @ ROWS.T)
    assert kernel == of(fn)
    assert hash(kernel) == hash(of(fn))
    assert kernel.fn is fn
    assert kernel.proof().assumptions
    assert kernel.latex()


def test_functions_are_the_same_only_if_they_are_one_object():
    assert of(Unhashable()) != of(Unhashable())


def test_a_partial_is_named_by_its_function():
    assert repr(of(functools.partial(Unhashable.method))) == "Custom(method, 'of the test')"


@pytest.mark.parametrize("table", [{"age": [30.0, 40.0], "town": ["Cork", "Ghent"]}, {"town": ["Cork", "Ghent"]}])
def test_a_function_of_two_rows_of_a_table_is_given_their_values_by_name(table):
    found = of(lambda x, z: 1.0 + (x["town"] == z["town"]))(table)
    np.testing.assert_array_equal(found, [[2.0, 1.0], [1.0, 2.0]])
