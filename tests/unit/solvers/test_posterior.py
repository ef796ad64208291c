"""The posterior against the formulas written out with inverses."""

import numpy as np
import pytest
import scipy.stats

from mercer import Linear, budget, gram
from mercer.errors import InvalidInput, NotPositive, TooLarge
from mercer.grams.dense import DenseGram
from mercer.solvers import posterior as module
from mercer.solvers.options import Options
from mercer.solvers.posterior import posterior, primal_posterior

RNG = np.random.default_rng(0)
N, M_NEW, WIDTH = 60, 25, 7
X, NEW = RNG.standard_normal((N, 3)), RNG.standard_normal((M_NEW, 3))
Y = RNG.standard_normal((N, 2))
FEATURES, NEW_FEATURES = RNG.standard_normal((N, WIDTH)), RNG.standard_normal((M_NEW, WIDTH))
WEIGHT = RNG.random(N) + 0.1
DROPPED = np.where(np.arange(N) % 4, WEIGHT, 0.0)
ALPHA = 0.3

WEIGHTS = {"equal weights": np.ones(N), "weights": WEIGHT, "zero weights": DROPPED}
TRENDS = {
    "no intercept": (np.empty((N, 0)), np.empty((M_NEW, 0))),
    "intercept": (np.ones((N, 1)), np.ones((M_NEW, 1))),
    "two columns": (np.column_stack([np.ones(N), X[:, 0]]), np.column_stack([np.ones(M_NEW), NEW[:, 0]])),
}
each_weight = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
each_trend = pytest.mark.parametrize("trend", TRENDS.values(), ids=TRENDS)


def rbf(X, Z, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


K, CROSS, PRIOR = rbf(X, X), rbf(NEW, X), rbf(NEW, NEW)
K_LINEAR, CROSS_LINEAR = FEATURES @ FEATURES.T, NEW_FEATURES @ FEATURES.T
PRIOR_LINEAR = NEW_FEATURES @ NEW_FEATURES.T


def copy_of(rows):
    def fill(part, out):
        out[...] = rows[part]

    return fill


def blocks_of(features):
    return gram(Linear(), features, budget=0).features()


def dual(K, weight, B, alpha=ALPHA, y=Y):
    with np.errstate(divide="ignore"):
        cost = np.where(weight > 0.0, weight / np.float64(alpha), 0.0)
    return posterior(DenseGram(K), y, cost, B, Options().watch("factor"))


def primal(weight, B, features=FEATURES):
    return primal_posterior(blocks_of(features), Y, weight / ALPHA, B)


def by_inverse(K, cross, prior, weight, B, B_new):
    """Covariance and restricted log likelihood, by explicit inverses over the rows that have a weight."""
    used = weight > 0.0
    n, q = used.sum(), B.shape[1]
    covariance_y = K[np.ix_(used, used)] + np.diag(ALPHA / weight[used])
    inverse = np.linalg.inv(covariance_y)
    B, k, y = B[used], cross[:, used], Y[used]
    G = B.T @ inverse @ B
    u = B_new - k @ inverse @ B
    covariance = prior - k @ inverse @ k.T + u @ np.linalg.inv(G) @ u.T
    P = inverse - inverse @ B @ np.linalg.inv(G) @ B.T @ inverse
    misfit = np.einsum("it,ij,jt->t", y, P, y)
    determinants = np.linalg.slogdet(covariance_y)[1] + np.linalg.slogdet(G)[1]
    return covariance, -0.5 * (misfit + determinants + (n - q) * np.log(2.0 * np.pi))


@each_weight
@each_trend
def test_the_dual_agrees_with_explicit_inverses(weight, trend):
    B, B_new = trend
    covariance, likelihood = by_inverse(K, CROSS, PRIOR, weight, B, B_new)
    found = dual(K, weight, B)
    np.testing.assert_allclose(found.covariance(copy_of(CROSS), PRIOR, B_new), covariance, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.log_likelihood, likelihood, rtol=1e-11)


@each_weight
@each_trend
def test_the_primal_agrees_with_the_dual(weight, trend):
    B, B_new = trend
    inverse, likelihood = by_inverse(K_LINEAR, CROSS_LINEAR, PRIOR_LINEAR, weight, B, B_new)
    in_dual, in_primal = dual(K_LINEAR, weight, B), primal(weight, B)
    found = in_primal.covariance(copy_of(NEW_FEATURES), PRIOR_LINEAR, B_new)
    np.testing.assert_allclose(found, inverse, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        found, in_dual.covariance(copy_of(CROSS_LINEAR), PRIOR_LINEAR, B_new), rtol=1e-9, atol=1e-11
    )
    np.testing.assert_allclose(in_primal.log_likelihood, likelihood, rtol=1e-11)
    np.testing.assert_allclose(in_primal.log_likelihood, in_dual.log_likelihood, rtol=1e-11)


@each_weight
@each_trend
def test_the_variance_is_the_diagonal_of_the_covariance(weight, trend):
    B, B_new = trend
    for found, fill, prior in (
        (dual(K, weight, B), copy_of(CROSS), PRIOR),
        (primal(weight, B), copy_of(NEW_FEATURES), PRIOR_LINEAR),
    ):
        variance = found.variance(fill, prior.diagonal(), B_new)
        covariance = found.covariance(fill, prior, B_new)
        np.testing.assert_allclose(variance, covariance.diagonal(), rtol=1e-10, atol=1e-14)
        np.testing.assert_array_equal(covariance, covariance.T)


@pytest.mark.parametrize("block", [1, 7, M_NEW, 10 * M_NEW])
def test_the_size_of_the_blocks_does_not_matter(block, monkeypatch):
    B, B_new = TRENDS["two columns"]
    cases = [
        (dual(K, DROPPED, B), copy_of(CROSS), PRIOR),
        (primal(DROPPED, B), copy_of(NEW_FEATURES), PRIOR_LINEAR),
    ]
    expected = [
        (found.variance(fill, prior.diagonal(), B_new), found.covariance(fill, prior, B_new))
        for found, fill, prior in cases
    ]
    monkeypatch.setattr(module, "BLOCK", block)
    for (found, fill, prior), (variance, covariance) in zip(cases, expected, strict=True):
        np.testing.assert_allclose(found.variance(fill, prior.diagonal(), B_new), variance, rtol=1e-11)
        np.testing.assert_allclose(found.covariance(fill, prior, B_new), covariance, rtol=1e-11, atol=1e-14)


def test_the_likelihood_without_b_is_the_density_of_the_targets():
    expected = scipy.stats.multivariate_normal(np.zeros(N), K + np.diag(ALPHA / WEIGHT)).logpdf(Y.T)
    np.testing.assert_allclose(dual(K, WEIGHT, TRENDS["no intercept"][0]).log_likelihood, expected, rtol=1e-10)


def test_an_intercept_is_the_limit_of_a_wide_prior_on_it():
    wide = 1e7
    none, none_new = TRENDS["no intercept"]
    proper = dual(K + wide, WEIGHT, none)
    flat = dual(K, WEIGHT, *TRENDS["intercept"][:1])
    np.testing.assert_allclose(
        flat.variance(copy_of(CROSS), np.ones(M_NEW), np.ones((M_NEW, 1))),
        proper.variance(copy_of(CROSS + wide), np.full(M_NEW, 1.0 + wide), none_new),
        rtol=1e-5,
    )
    # The density of the wide prior at 0 is what a flat prior takes as 1.
    density = -0.5 * np.log(2.0 * np.pi * wide)
    np.testing.assert_allclose(flat.log_likelihood, proper.log_likelihood - density, rtol=1e-6)


def test_a_row_of_weight_zero_is_as_good_as_absent():
    B, B_new = TRENDS["two columns"]
    used = DROPPED > 0.0
    part = dual(K[np.ix_(used, used)], DROPPED[used], B[used], y=Y[used])
    whole = dual(K, DROPPED, B)
    np.testing.assert_allclose(
        whole.variance(copy_of(CROSS), PRIOR.diagonal(), B_new),
        part.variance(copy_of(CROSS[:, used]), PRIOR.diagonal(), B_new),
    )
    np.testing.assert_allclose(whole.log_likelihood, part.log_likelihood)


def test_a_new_point_far_away_has_its_prior_variance():
    found = dual(K, np.ones(N), TRENDS["no intercept"][0])
    far = rbf(np.full((1, 3), 100.0), X)
    assert found.variance(copy_of(far), np.ones(1), np.empty((1, 0)))[0] == 1.0


def test_without_noise_the_training_values_are_known():
    narrow = rbf(X, X, gamma=5.0)
    found = dual(narrow, np.ones(N), TRENDS["no intercept"][0], alpha=0.0)
    variance = found.variance(copy_of(narrow), np.ones(N), np.empty((N, 0)))
    assert (variance >= 0.0).all()
    np.testing.assert_allclose(variance, 0.0, atol=1e-10)
    expected = scipy.stats.multivariate_normal(np.zeros(N), narrow).logpdf(Y.T)
    np.testing.assert_allclose(found.log_likelihood, expected, rtol=1e-8)


def test_a_singular_matrix_without_noise_is_a_message_about_conditioning():
    with pytest.raises(NotPositive, match="condition"):
        dual(np.ones((N, N)), np.ones(N), TRENDS["no intercept"][0], alpha=0.0)


def test_without_noise_there_is_no_primal_posterior():
    with pytest.raises(NotPositive, match=r"no more than rank 7.*\n.*alpha above 0"):
        primal_posterior(blocks_of(FEATURES), Y, np.full(N, np.inf), np.empty((N, 0)))


def test_weights_that_are_all_zero_are_refused():
    for make in (dual, lambda K, weight, B: primal(weight, B)):
        with pytest.raises(InvalidInput, match="weight"):
            make(K, np.zeros(N), np.empty((N, 0)))


def test_features_that_cannot_be_factorised_are_a_message_and_never_jitter():
    twice = np.hstack([FEATURES, FEATURES])
    with pytest.raises(NotPositive, match="broke down at feature"):
        primal_posterior(blocks_of(twice), Y, np.full(N, 1e20), np.empty((N, 0)))


def test_the_primal_variance_is_accurate_where_the_dual_would_subtract():
    scaled, new = 1e6 * FEATURES, 1e6 * NEW_FEATURES
    found = primal(np.ones(N), np.empty((N, 0)), features=scaled)
    expected = ALPHA * np.einsum("ij,jk,ik->i", new, np.linalg.inv(scaled.T @ scaled), new)
    prior = (new**2).sum(axis=1)
    np.testing.assert_allclose(found.variance(copy_of(new), prior, np.empty((M_NEW, 0))), expected, rtol=1e-8)


def test_what_features_do_not_see_of_a_new_point_keeps_its_prior_variance():
    own = np.arange(float(M_NEW))  # each new point has something that no training point has, and shares it with none
    prior = PRIOR_LINEAR + np.diag(own)
    found = primal(WEIGHT, np.empty((N, 0)))
    in_dual = dual(K_LINEAR, WEIGHT, np.empty((N, 0)))
    nothing = np.empty((M_NEW, 0))
    np.testing.assert_allclose(
        found.covariance(copy_of(NEW_FEATURES), prior, nothing),
        in_dual.covariance(copy_of(CROSS_LINEAR), prior, nothing),
        rtol=1e-9,
        atol=1e-11,
    )
    np.testing.assert_allclose(
        found.variance(copy_of(NEW_FEATURES), prior.diagonal(), nothing),
        in_dual.variance(copy_of(CROSS_LINEAR), prior.diagonal(), nothing),
        rtol=1e-9,
    )


def test_a_negative_variance_is_an_error_and_not_a_certainty():
    found = dual(K, np.ones(N), np.empty((N, 0)))
    with pytest.raises(
        NotPositive, match=r"row 0 is negative.*\n.*not positive semi-definite.*condition(.|\n)*The mean"
    ):
        found.variance(copy_of(3.0 * CROSS[:1] / CROSS[:1].max()), np.ones(1), np.empty((1, 0)))
    with pytest.raises(NotPositive, match="row 0 is negative"):
        found.covariance(copy_of(3.0 * CROSS[:1] / CROSS[:1].max()), np.ones((1, 1)), np.empty((1, 0)))


def test_dependent_columns_are_refused():
    B = np.column_stack([np.ones(N), X[:, 0], 2.0 - 3.0 * X[:, 0]])
    for make in (lambda: dual(K, WEIGHT, B), lambda: primal(WEIGHT, B)):
        with pytest.raises(InvalidInput, match=r"linearly dependent.*\n.*Column 2"):
            make()


def test_columns_of_very_different_size_are_not_taken_for_dependent_ones():
    scaled = TRENDS["two columns"][0] * [1.0, 1e-20]
    plain = dual(K, WEIGHT, TRENDS["two columns"][0])
    found = dual(K, WEIGHT, scaled)
    np.testing.assert_allclose(found.log_likelihood, plain.log_likelihood + np.log(1e20), rtol=1e-10)


def test_fewer_rows_than_columns_of_b_are_refused():
    weight = np.zeros(N)
    weight[3] = 1.0
    with pytest.raises(InvalidInput, match="1 rows do not determine 2 columns"):
        dual(K, weight, TRENDS["two columns"][0])


def test_no_targets_give_no_likelihood_and_the_same_variance():
    B, B_new = TRENDS["intercept"]
    found = dual(K, WEIGHT, B, y=np.empty((N, 0)))
    assert found.log_likelihood.shape == (0,)
    np.testing.assert_allclose(
        found.variance(copy_of(CROSS), np.ones(M_NEW), B_new),
        dual(K, WEIGHT, B).variance(copy_of(CROSS), np.ones(M_NEW), B_new),
    )


def test_no_new_points_have_no_variance():
    for found in (dual(K, WEIGHT, np.empty((N, 0))), primal(WEIGHT, np.empty((N, 0)))):
        assert found.variance(copy_of(CROSS[:0]), np.empty(0), np.empty((0, 0))).shape == (0,)


def test_one_new_point_has_the_same_variance_as_among_others():
    B, B_new = TRENDS["intercept"]
    for found, rows, prior in (
        (dual(K, DROPPED, B), CROSS, PRIOR),
        (primal(DROPPED, B), NEW_FEATURES, PRIOR_LINEAR),
    ):
        together = found.variance(copy_of(rows), prior.diagonal(), B_new)
        alone = found.variance(copy_of(rows[3:4]), prior.diagonal()[3:4], B_new[3:4])
        np.testing.assert_allclose(alone, together[3:4], rtol=1e-11)
        np.testing.assert_allclose(
            found.covariance(copy_of(rows[3:4]), prior[3:4, 3:4], B_new[3:4]), together[3:4, None], rtol=1e-11
        )


def test_nothing_of_the_caller_is_overwritten():
    B, B_new = TRENDS["intercept"]
    arrays = (K, CROSS, PRIOR, Y, B, B_new, FEATURES, NEW_FEATURES, PRIOR_LINEAR)
    before = [array.copy() for array in arrays]
    dual(K, WEIGHT, B).covariance(copy_of(CROSS), PRIOR, B_new)
    primal(WEIGHT, B).covariance(copy_of(NEW_FEATURES), PRIOR_LINEAR, B_new)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_a_factor_that_is_there_is_used():
    B, B_new = TRENDS["intercept"]
    first = dual(K, WEIGHT, B)
    again = posterior(DenseGram(np.zeros((N, N))), Y, WEIGHT / ALPHA, B, Options().watch(""), factor=first.factor)
    np.testing.assert_array_equal(again.log_likelihood, first.log_likelihood)
    np.testing.assert_array_equal(
        again.variance(copy_of(CROSS), np.ones(M_NEW), B_new), first.variance(copy_of(CROSS), np.ones(M_NEW), B_new)
    )


def test_what_would_not_fit_is_refused_with_its_cost(monkeypatch):
    found, in_primal = dual(K, WEIGHT, np.empty((N, 0))), primal(WEIGHT, np.empty((N, 0)))
    monkeypatch.setattr(budget, "memory_there", lambda: 1000)
    with pytest.raises(
        TooLarge, match=r"n³/3 = 7.2e\+04 operations, and 8 n² bytes which would take 28.1 KB(.|\n)*chol"
    ):
        dual(K, WEIGHT, np.empty((N, 0)))
    for refused in (found, in_primal):
        with pytest.raises(TooLarge, match=r"covariance of 25 new points(.|\n)*return_std"):
            refused.covariance(copy_of(CROSS), PRIOR, np.empty((M_NEW, 0)))
