from dataclasses import dataclass

import numpy as np
import pytest

import mercer
from mercer import (
    L1,
    RBF,
    ArcCosine,
    ChiSquared,
    Cosine,
    Custom,
    Delta,
    IntersectionExp,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    SetIntersection,
    Sigmoid,
    Tanimoto,
)
from mercer.kernels.rules import CONSTANT
from mercer.testing import check_kernel

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
SETS = [{1, 2}, {3}, {1, 3}, set(), {2, 3, 5}]

GOOD = {
    "RBF": (RBF(), X),
    "a sum with a rule": (RBF("median") + 0.5 * Linear() ** 2, X),
    "Matérn": (Matern(1.5), X),
    "Matérn of another distance": (Matern(1.5).of(L1()), X),
    "polynomial": (Polynomial(3), X),
    "Laplacian": (Laplacian(), X),
    "cosine": (Cosine(), X),
    "arc-cosine": (ArcCosine(1), X),
    "χ²": (ChiSquared(), np.abs(X)),
    "set intersection": (SetIntersection(), SETS),
    "exp of it": (IntersectionExp(), SETS),
    "delta": (Delta(), list("abcab")),
    "Tanimoto": (Tanimoto(), np.abs(X)),
    "float32": (RBF(), X.astype(np.float32)),
    "a user's function": (Custom(lambda x, z: float(x @ z), because="an inner product"), X),
    "one point": (RBF(), X[:1]),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_kernel_passes(name):
    check_kernel(*GOOD[name])


def test_other_points_may_be_given():
    check_kernel(RBF(), X, Z=X[:5] + 1.0)


BAD = {
    "positive": (Sigmoid(1.0, -1.0), "smallest eigenvalue -"),
    "symmetric": (Custom(lambda x, z: x[0] * z[1], because="a guess"), r"k\(x, z\) and k\(z, x\) differ at"),
    "local": (Custom(lambda A, B: A @ B.T / len(A), because="a guess", form="matrix"), "half of the points differ"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_listed_with_numbers(name):
    kernel, words = BAD[name]
    with pytest.raises(AssertionError, match=rf"fails \d of 8 checks on 40 points.\n(.*\n)*.*{name}: .*{words}"):
        check_kernel(kernel, X)


def test_a_class_that_cannot_be_pickled_is_a_listed_failure():
    @dataclass(frozen=True, repr=False, eq=False)
    class One(Kernel):
        rule = CONSTANT

        def lower(self, tape):
            return tape.constant(1.0)

    with pytest.raises(AssertionError, match=r"fails 1 of 8 checks on 40 points.\n  written: it cannot be pickled"):
        check_kernel(One(), X)


def test_testing_is_reached_from_the_package():
    assert mercer.testing.check_kernel is check_kernel


def test_a_function_is_not_a_kernel_yet():
    with pytest.raises(TypeError, match="Custom"):
        check_kernel(min, X)
