import numpy as np
import pytest
from sklearn.metrics import pairwise

from mercer.errors import InvalidParameter, NotPositive
from mercer.kernels import named
from tests.oracles.tape import evaluate_plan

X = np.abs(np.random.default_rng(3).normal(size=(6, 4)))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "polynomial", "sigmoid", "chi2", "linear", "cosine"])
@pytest.mark.parametrize("gamma", [None, 0.3])
def test_named_kernel_is_that_of_scikit_learn(name, gamma):
    takes_gamma = name not in ("linear", "cosine")
    options = {"gamma": 1.0 if name == "chi2" and gamma is None else gamma} if takes_gamma else {}
    expected = pairwise.pairwise_kernels(X, metric=name, **options)
    got = evaluate_plan(named(name, gamma), X)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13)


def test_degree_and_coef0_are_passed_on():
    expected = pairwise.polynomial_kernel(X, gamma=0.5, degree=2, coef0=0.25)
    np.testing.assert_allclose(evaluate_plan(named("poly", 0.5, 2, 0.25), X), expected)


def test_rules_for_gamma_are_kept():
    assert named("rbf", "scale").length_scale == "scale"
    assert named("poly", "auto").gamma == "auto"


def test_bad_names_and_gammas_are_refused():
    with pytest.raises(InvalidParameter, match="not the name of a kernel"):
        named("gaussian")
    with pytest.raises(InvalidParameter, match="gamma"):
        named("rbf", gamma=-1.0)
    with pytest.raises(InvalidParameter, match="gamma"):
        named("chi2", gamma="scale")
    with pytest.raises(NotPositive, match="is not a kernel"):
        named("additive_chi2")
