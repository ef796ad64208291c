import numpy as np
import pytest

import mercer
from mercer.errors import InvalidInput, NotPositive, TooLarge
from mercer.grams.dense import DenseGram
from mercer.solvers.factor import Indefinite, Stopped, factorise, groups
from mercer.solvers.watch import Watch

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
COST = 10.0 * RNG.random(60)
COST[[3, 40]] = 0.0


class Derived:
    """A proof that rests on nothing."""

    assumptions = ()


def matrix(factor):
    """S K S + ridge·I, from the factor's own numbers."""
    part = K[np.ix_(factor.rows, factor.rows)]
    return factor.scale[:, None] * part * factor.scale + factor.ridge * np.eye(len(factor.rows))


def test_the_factor_is_that_of_the_scaled_system_over_the_rows_with_a_cost():
    factor = factorise(DenseGram(K), COST, Watch(""))
    np.testing.assert_array_equal(factor.rows, np.flatnonzero(COST))
    np.testing.assert_allclose(factor.scale, np.sqrt(COST[factor.rows] / COST.max()))
    assert factor.ridge == 1.0 / COST.max()
    L = np.tril(factor.L)
    np.testing.assert_allclose(L @ L.T, matrix(factor), atol=1e-14)
    assert factor.L.flags.f_contiguous


def test_it_solves_and_knows_its_determinant():
    factor = factorise(DenseGram(K), COST, Watch(""))
    M, R = matrix(factor), RNG.standard_normal((58, 3))
    before = R.copy()
    np.testing.assert_allclose(factor.solve(R), np.linalg.solve(M, R), rtol=1e-9, atol=1e-11)
    half = factor.forward(R)
    np.testing.assert_allclose(half.T @ half, R.T @ np.linalg.solve(M, R), rtol=1e-10)
    np.testing.assert_allclose(factor.log_determinant(), np.linalg.slogdet(M)[1], rtol=1e-12)
    np.testing.assert_array_equal(R, before)
    assert repr(factor).startswith("CholeskyFactor(58 rows, ridge=")


@pytest.mark.parametrize("ridge", [1e-10, 1e-3, 10.0])
def test_the_condition_number_is_estimated_within_a_factor_of_three(ridge):
    factor = factorise(DenseGram(K), np.full(60, 1.0 / ridge), Watch(""))
    exact = np.linalg.cond(K + ridge * np.eye(60), 1)
    assert exact / 3.0 <= factor.condition <= 1.01 * exact


def test_one_row_has_a_factor():
    factor = factorise(DenseGram(np.array([[3.0]])), np.array([1.0]), Watch(""))
    assert factor.solve(np.array([[8.0]])) == pytest.approx(2.0)
    assert factor.condition == pytest.approx(1.0)


def test_constraints_have_no_ridge_and_soft_rows_keep_theirs():
    spread = np.exp(-30.0 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    hard = factorise(DenseGram(spread), np.full(60, np.inf), Watch(""))
    assert hard.ridge == 0.0
    assert (hard.scale == 1.0).all()
    cost = np.where(np.arange(60) < 30, np.inf, 4.0)
    both = factorise(DenseGram(spread), cost, Watch(""))
    assert np.isnan(both.ridge)
    expected = np.linalg.solve(spread + np.diag(1.0 / cost), np.ones((60, 1)))
    np.testing.assert_allclose(both.solve(np.ones((60, 1))), expected, rtol=1e-10)


def test_constraints_that_are_singular_to_rounding_are_refused_with_what_to_do():
    smooth = np.exp(-1e-4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    with pytest.raises(NotPositive, match=r"Raise alpha|eigen"):
        factorise(DenseGram(smooth, Derived()), np.full(60, np.inf), Watch(""))
    nearly = np.diag(np.r_[np.ones(59), 1e-15])
    with pytest.raises(NotPositive, match=r"condition number is about 1e\+15.*\n.*eigen"):
        factorise(DenseGram(nearly, Derived()), np.full(60, np.inf), Watch(""))


def test_a_derived_kernel_that_breaks_down_is_a_message_about_conditioning():
    with pytest.raises(NotPositive, match="broke down at row 1 of 2") as caught:
        factorise(DenseGram(np.ones((2, 2)), Derived()), np.full(2, 1e30), Watch(""))
    assert not isinstance(caught.value, Indefinite)


def test_an_assumed_kernel_with_a_negative_eigenvalue_is_called_indefinite():
    with pytest.raises(Indefinite, match="from -1 to 3"):
        factorise(DenseGram(np.array([[1.0, 2.0], [2.0, 1.0]])), np.full(2, 10.0), Watch(""))


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_made():
    gram = mercer.gram(mercer.RBF(), np.zeros((10**6, 1)), budget=0)
    with pytest.raises(TooLarge, match=r"1000000 x 1000000 equations in float64 would take 7\.3 TB"):
        factorise(gram, np.ones(10**6), Watch(""))


def test_no_row_with_a_cost_is_refused():
    with pytest.raises(InvalidInput, match="weight"):
        factorise(DenseGram(K), np.zeros(60), Watch(""))


def test_a_watch_that_is_over_stops_it():
    n = 1100
    with pytest.raises(Stopped):
        factorise(DenseGram(np.eye(n)), np.ones(n), Watch("", max_time=0.0))


def test_different_columns_of_costs_come_in_the_order_of_numpy():
    cost = np.random.default_rng(2).choice([0.0, 1e-300, 0.5, 2.0, np.inf], size=(2, 40))
    cost[:, 3] = -0.0
    columns, which = np.unique(cost, axis=1, return_inverse=True)
    found = groups(cost)
    assert len(found) == columns.shape[1]
    for group, (column, targets) in enumerate(found):
        np.testing.assert_array_equal(column, columns[:, group])
        np.testing.assert_array_equal(targets, np.flatnonzero(which.reshape(-1) == group))
