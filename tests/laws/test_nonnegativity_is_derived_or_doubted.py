"""Values ≥ 0 are derived, and hold on data; or a smallest part is named for which they are not."""

import numpy as np
import pytest
from hypothesis import given

from mercer import kernels as mk
from mercer import maps as mm
from mercer.errors import InvalidInput
from mercer.kernels.node import Node
from tests.laws.strategies import law, samples, vector_samples
from tests.oracles.tape import evaluate_plan


def least(kernel, X):
    K = evaluate_plan(kernel, X)
    return K.min() / max(1.0, np.abs(K).max())


@law(150)
@given(samples())
def test_a_derived_kernel_has_no_negative_value_and_any_other_has_a_doubtful_part(sample):
    kernel, X = sample
    if kernel.nonnegative:
        assert kernel.doubt is None
        assert least(kernel, X) >= -1e-12
    else:
        part, reason = kernel.doubt
        assert part in list(kernel.walk())
        assert isinstance(part, Node)
        assert reason
        # It is the smallest: none of its own parts is in doubt.
        assert all(below.nonnegative_on(part.inner_coordinates(False)) for below in part.parts()) or part.expand()


@law(100)
@given(vector_samples())
def test_a_kernel_that_is_derived_for_coordinates_without_sign_keeps_that(sample):
    kernel, X = sample
    if kernel.nonnegative_on(coordinates=True) and np.min(X) >= 0.0:
        assert least(kernel, X) >= -1e-12


@pytest.mark.parametrize(
    ("kernel", "derived"),
    [
        (mk.RBF(), True),
        (mk.Laplacian() + mk.Matern(1.5) * mk.Cauchy(), True),
        (2.0 * mk.RationalQuadratic() + 1.0, True),
        (mk.Linear() ** 2, True),
        (mk.Linear() ** 3, False),
        (mk.Linear() * mk.Linear(), True),
        (mk.Linear() * mk.Linear() * mk.Cosine(), False),
        (mk.polynomial(mk.Linear(), [1, 0, 2]), True),
        (mk.polynomial(mk.Linear(), [1, 1]), False),
        (mk.Cosine().exp(), True),
        (mk.Delta() * mk.Constant(3.0), True),
        (mk.SetIntersection(), True),
        (mk.Tanimoto(mk.SetIntersection()), True),
        (mk.HistogramIntersection() + mk.ChiSquared(), True),
        (mk.HistogramIntersection() * mk.Linear(), True),  # points with negative coordinates are refused
        (mk.polynomial(mk.HistogramIntersection(), [1]) * mk.Linear(), False),  # a constant refuses none
        (mk.HistogramIntersection().on(mm.Scale(-1.0)) * mk.Linear(), False),
        ((mk.ChiSquared() * mk.Cosine()).on(mm.Scale(-1.0)), True),
        (mk.Linear().on(mm.UnitRows()).on(mm.Indicator()), True),
        (mk.Quadratic([[1.0]]), False),
        (mk.Sigmoid(), False),
    ],
)
def test_the_fact_of_some_kernels(kernel, derived):
    assert kernel.nonnegative is derived
    assert (kernel.doubt is None) is derived


def test_a_domain_without_negative_coordinates_is_checked_on_both_sides():
    kernel, good, bad = mk.HistogramIntersection() * mk.Linear(), [[1.0], [2.0]], [[1.0], [-2.0]]
    assert kernel(good).min() >= 0.0
    for X, Z in ((good, bad), (bad, good)):
        with pytest.raises(InvalidInput, match="non-negative"):
            kernel(X, Z)


@pytest.mark.parametrize(
    ("kernel", "part", "reason"),
    [
        (mk.RBF() + 2.0 * mk.Linear(), mk.Linear(), "inner-product"),
        ((mk.RBF() * mk.Cosine()) ** 3, mk.Cosine(), "inner-product"),
        (mk.Linear() * mk.Linear() * mk.Quadratic([[2.0]]), mk.Quadratic([[2.0]]), "quadratic-form"),
        (mk.RBF().scaled_by(len), mk.UserFunction(len), "change its sign"),
        (mk.RBF() * mk.Sigmoid(), mk.Sigmoid(), "claim"),
        (mk.Polynomial(3).on(0), mk.Polynomial(3), "inner-product"),
    ],
)
def test_the_smallest_part_in_doubt_is_named(kernel, part, reason):
    found, why = kernel.doubt
    assert found == part
    assert reason in why
