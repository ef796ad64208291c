"""The Gram matrix by landmarks: its products, what it leaves out, and what it refuses."""

import numpy as np
import pytest
import scipy.linalg

import mercer
from mercer.errors import NotPositive
from mercer.grams.landmarks import restrict
from mercer.points import as_points

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
KERNEL = mercer.RBF(1.5)
CHOSEN = np.arange(0, 90, 5)


def restricted(rows=X, chosen=CHOSEN, kernel=KERNEL):
    return restrict(kernel, as_points(rows), as_points(rows[chosen]))


def dense():
    K_nm, K_mm = KERNEL(X, X[CHOSEN]), KERNEL(X[CHOSEN])
    return K_nm @ scipy.linalg.solve(K_mm, K_nm.T, assume_a="pos")


def test_it_is_the_projection_on_the_landmarks():
    K = restricted()
    np.testing.assert_allclose(K.dense(), dense(), atol=1e-9)
    np.testing.assert_allclose(K @ np.eye(90)[:, :4], dense()[:, :4], atol=1e-9)
    np.testing.assert_allclose(K.columns(np.array([7, 3])), dense()[:, [7, 3]], atol=1e-9)
    np.testing.assert_allclose(K.diag(), dense().diagonal(), atol=1e-9)
    np.testing.assert_allclose(K.take(slice(10, 20)).dense(), dense()[10:20, 10:20], atol=1e-9)


def test_its_features_have_the_products_of_the_dense_ones():
    phi = restricted().features()
    whole, Z, W = phi.dense(), RNG.standard_normal((18, 6)), RNG.standard_normal((90, 6))
    D = RNG.random((90, 6))
    np.testing.assert_allclose(phi @ Z, whole @ Z, atol=1e-9)
    np.testing.assert_allclose(phi.transpose_times(W), whole.T @ W, atol=1e-9)
    np.testing.assert_allclose(phi.normal(Z, D, W), whole.T @ (D * (whole @ Z + W)), atol=1e-9)
    np.testing.assert_allclose(phi.normal(Z, D[:, :1]), whole.T @ (D[:, :1] * (whole @ Z)), atol=1e-9)
    np.testing.assert_allclose(phi.weights(phi.coefficients(Z)), Z, atol=1e-9)


def test_a_landmark_that_the_others_span_is_left_out():
    twice = np.concatenate([CHOSEN, CHOSEN[:4]])
    K = restricted(chosen=twice)
    assert K.features().shape == (90, 18)
    np.testing.assert_allclose(K.dense(), dense(), atol=1e-9)


def test_what_is_left_out_is_the_trace_of_the_difference():
    found = restricted().features().left_out()
    assert found.share == pytest.approx((90 - np.trace(dense())) / 90)
    assert found.bound == found.share


def test_of_many_rows_the_bound_holds_for_all_of_them():
    rows = RNG.standard_normal((5_000, 2))
    K = restricted(rows, np.arange(20))
    share = 1.0 - K.diag().mean()
    assert share < K.features().left_out().bound < share + 0.1


def test_all_rows_as_landmarks_leave_nothing_out():
    K = restricted(chosen=np.arange(90))
    assert K.features().left_out().share < 1e-12
    np.testing.assert_allclose(K.dense(), KERNEL(X), atol=1e-9)


def test_landmarks_that_span_nothing_are_refused():
    zeros = np.zeros((5, 2))
    with pytest.raises(NotPositive, match="span nothing"):
        restrict(mercer.Linear(), as_points(zeros), as_points(zeros[:2]))


def test_it_works_on_sets():
    baskets = [{1, 2}, {2, 3}, {3}, {1, 4}]
    K = restrict(mercer.SetIntersection(), as_points(baskets), as_points(baskets[:3]))
    whole = mercer.SetIntersection()(baskets)
    np.testing.assert_allclose(K.dense()[:3, :3], whole[:3, :3], atol=1e-12)
