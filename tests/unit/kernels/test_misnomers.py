"""A parameter by the name that it has elsewhere is answered with the one that is meant, and its value."""

import inspect
import re
from dataclasses import dataclass

import numpy as np
import pytest

from mercer import kernels as mk
from mercer import maps as mm
from mercer.domains import FiniteReal
from mercer.errors import InvalidArgument, InvalidParameter, ParseError
from mercer.misnomers import TABLE
from mercer.term import Term, param

CLASSES = {name: getattr(mk, name, None) or getattr(mm, name) for name in TABLE}


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (lambda: mk.RBF(gamma=0.5), "RBF(length_scale=1.0)"),
        (lambda: mk.RBF(gamma=[0.5, 2.0]), "RBF(length_scale=[1.0, 0.5])"),
        (lambda: mk.RBF(gamma=np.float64(0.5)), "RBF(length_scale=1.0)"),
        (lambda: mk.RBF(gamma="scale"), "RBF(length_scale='scale')"),
        (lambda: mk.RBF(sigma=3), "RBF(length_scale=3)"),
        (lambda: mk.RBF(lengthscale=3.0), "RBF(length_scale=3.0)"),
        (lambda: mk.RBF(nu=1.5), "Matern(nu=1.5)"),
        (lambda: mk.RBF(variance=2.0), "2.0 * RBF()"),
        (lambda: mk.Laplacian(gamma=4.0), "Laplacian(length_scale=0.25)"),
        (lambda: mk.Cauchy(gamma=4.0), "Cauchy(length_scale=0.5)"),
        (lambda: mk.Matern(1.5, ell=2.0), "Matern(1.5, length_scale=2.0)"),
        (lambda: mk.Matern(p=2), "Matern(nu=2.5)"),
        (lambda: mk.RationalQuadratic(shape=2.0, length_scale=3.0), "RationalQuadratic(alpha=2.0, length_scale=3.0)"),
        (lambda: mk.Periodic(periodicity=24.0), "Periodic(period=24.0)"),
        (lambda: mk.Polynomial(3, coef0=2.0), "Polynomial(3, offset=2.0)"),
        (lambda: mk.Polynomial(d=3), "Polynomial(degree=3)"),
        (lambda: mk.Constant(C=3.0), "Constant(value=3.0)"),
        (lambda: mk.ExponentialChiSquared(length_scale=4.0), "ExponentialChiSquared(gamma=0.25)"),
        (lambda: mk.Linear(coef0=1.0), "Linear() + 1.0"),
        (lambda: mm.Scale(length_scale=4.0), "Scale(factors=0.25)"),
        (lambda: mk.RBF().replace(gamma=0.5), "RBF(length_scale=1.0)"),
    ],
)
def test_a_misnamed_parameter_is_answered_with_the_right_one(call, written):
    with pytest.raises(TypeError, match=re.escape(f"Write {written}.")) as refused:
        call()
    assert isinstance(refused.value, InvalidParameter)


def test_the_conversion_is_said():
    with pytest.raises(InvalidArgument, match=r"Got gamma=2\.0; length_scale is \(2·gamma\)\*\*-0\.5"):
        mk.RBF(gamma=2.0)


def test_a_converted_kernel_is_the_one_meant():
    X = np.random.default_rng(0).normal(size=(5, 2))
    squares = mk.SquaredEuclidean()(X)
    gamma = 0.7
    convert = {name: TABLE[name]["gamma"].convert(gamma) for name in ("RBF", "Laplacian", "Cauchy")}
    np.testing.assert_allclose(mk.RBF(convert["RBF"])(X), np.exp(-gamma * squares))
    np.testing.assert_allclose(mk.Laplacian(convert["Laplacian"])(X), np.exp(-gamma * mk.L1()(X)))
    np.testing.assert_allclose(mk.Cauchy(convert["Cauchy"])(X), 1.0 / (1.0 + gamma * squares))


@pytest.mark.parametrize("owner", TABLE)
def test_the_table_names_parameters_that_are_there_for_names_that_are_not(owner):
    fields = inspect.signature(CLASSES[owner]).parameters
    for wrong, meant in TABLE[owner].items():
        assert wrong not in fields
        assert meant.name in fields or (not meant.name and meant.instead)


def test_other_names_are_answered_with_the_nearest_or_with_all():
    with pytest.raises(InvalidArgument, match="Did you mean length_scale"):
        mk.RBF(lenght_scale=2.0)
    with pytest.raises(InvalidArgument, match="its parameters are nu, length_scale"):
        mk.Matern(1.5, colour="red")
    with pytest.raises(TypeError, match="its parameters are none"):
        mk.Cosine(length_scale=1.0)


def test_signatures_are_those_of_the_classes():
    assert str(inspect.signature(mk.RationalQuadratic)).startswith("(length_scale:")
    assert all("kwargs" not in str(inspect.signature(CLASSES[name])) for name in TABLE)


def test_other_errors_of_a_call_stay_type_errors():
    with pytest.raises(TypeError, match="positional"):
        mk.RBF(1.0, 2.0)
    with pytest.raises(TypeError, match="nu"):
        mk.Matern()


def test_a_text_is_answered_too():
    with pytest.raises(ParseError, match=r"RBF\(length_scale=1\.0\)"):
        mk.parse("RBF(gamma=0.5)")


@dataclass(frozen=True, repr=False, eq=False, init=False)
class Shifted(Term):
    """A term with a constructor of its own."""

    amount: float = param(0.0, FiniteReal)

    def __init__(self, *, by):
        self._set("amount", by)


def test_a_constructor_of_its_own_keeps_its_names():
    with pytest.raises(InvalidArgument, match="Shifted has no parameter of"):
        Shifted(of=2)
    assert Shifted(by=2).amount == 2
