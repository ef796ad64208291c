import copy
import pickle

import numpy as np
import pytest

from mercer.errors import InvalidParameter
from mercer.kernels import RBF, Constant, Linear, Matern, Periodic, Polynomial, Quadratic, Tanimoto
from mercer.maps import Columns, Scale


def test_equality_is_structural_and_hashes_agree():
    assert RBF(2) == RBF(2.0)
    assert hash(RBF(2)) == hash(RBF(2.0))
    assert RBF([1, 2]) == RBF(np.array([1.0, 2.0]))
    assert RBF([1, 2]) != RBF([1, 3])
    assert RBF() != Matern(0.5)
    assert len({RBF(), RBF(1.0), RBF(2.0)}) == 2
    assert RBF() != 1


def test_terms_are_frozen():
    with pytest.raises(AttributeError):
        RBF().length_scale = 2.0
    with pytest.raises(ValueError, match="read-only"):
        Quadratic([[1.0]]).A[0, 0] = 2.0


def test_arrays_given_as_parameters_are_copied():
    lengths = np.array([1.0, 2.0])
    kernel = RBF(lengths)
    lengths[0] = 5.0
    assert kernel == RBF([1.0, 2.0])


def test_terms_survive_pickle_and_copies():
    kernel = RBF([1.0, 2.0]).on(Columns(0, 1)) + Tanimoto(Linear() ** 2)
    hash(kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert copy.deepcopy(kernel) == kernel
    assert kernel.__sklearn_clone__() is kernel


def test_parameters_have_full_names_and_short_ones_where_unique():
    params = (RBF() + 2 * Polynomial(3)).get_params()
    assert params["0__length_scale"] == params["length_scale"] == 1.0
    assert params["1__scale"] == params["scale"] == 2.0
    assert params["1__kernel__degree"] == params["degree"] == 3
    assert params["0"] == RBF()


def test_replace_takes_full_and_short_names():
    kernel = RBF() + 2 * Polynomial(3)
    assert kernel.replace(length_scale=2.0) == RBF(2.0) + 2 * Polynomial(3)
    assert kernel.replace(**{"1__kernel__degree": 2, "scale": 1.0}) == RBF() + 1.0 * Polynomial(2)
    assert kernel.replace(**{"0": Linear()}) == Linear() + 2 * Polynomial(3)
    assert RBF().on(Scale(2.0)).replace(factors=3.0) == RBF().on(Scale(3.0))
    assert kernel.replace() == kernel


def test_a_replaced_term_that_is_a_sum_is_opened():
    assert (RBF() + Linear()).replace(**{"0": RBF() + Linear()}) == RBF() + Linear() + Linear()


def test_an_ambiguous_short_name_lists_the_full_ones():
    with pytest.raises(InvalidParameter, match="0__length_scale, 1__length_scale"):
        (RBF() + Periodic()).replace(length_scale=2.0)


def test_an_unknown_name_lists_the_parameters():
    with pytest.raises(InvalidParameter, match="no parameter gamma"):
        RBF().replace(gamma=1.0)


def test_a_replaced_value_is_checked():
    with pytest.raises(InvalidParameter, match="length_scale of RBF"):
        (RBF() + Linear()).replace(length_scale=-1.0)


def test_negative_zero_is_zero():
    assert Constant(-0.0) == Constant(0.0)
    assert repr(Constant(-0.0)) == "Constant(0.0)"


def test_repr_leaves_defaults_out():
    assert repr(RBF()) == "RBF()"
    assert repr(Polynomial(2, 1.0, 0.5)) == "Polynomial(2, gamma=0.5)"
    assert repr(Matern(1.5, [1.0, 2.0])) == "Matern(1.5, [1.0, 2.0])"
    assert repr(RBF().on("a", "b")) == "RBF().on('a', 'b')"
