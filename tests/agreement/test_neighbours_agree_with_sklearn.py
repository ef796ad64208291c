"""With the linear kernel, neighbours in feature space are those of scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid, NearestNeighbors

from mercer.estimators.centroid import KernelNearestCentroid
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.kernels import RBF, Laplacian, Linear, Matern, Quadratic

RNG = np.random.default_rng(11)
X, Q = RNG.normal(size=(400, 6)), RNG.normal(size=(90, 6))
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3])]
TARGETS = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])


def inverse(distances):
    return 1.0 / (0.1 + distances)


@pytest.mark.parametrize("kernel", [Linear(), 2.5 * Linear() + 3.0, Quadratic(4.0 * np.eye(6)), RBF(), Matern(2.5)])
def test_the_order_of_euclidean_kernels_is_the_euclidean_one(kernel):
    peer = NearestNeighbors(n_neighbors=9, algorithm="brute").fit(X)
    model = KernelNeighborsRegressor(9, kernel=kernel).fit(X, TARGETS)
    np.testing.assert_array_equal(model.kneighbors(Q)[1], peer.kneighbors(Q)[1])
    np.testing.assert_array_equal(model.kneighbors()[1], peer.kneighbors()[1])


def test_the_order_of_the_laplacian_kernel_is_that_of_the_city_block():
    peer = NearestNeighbors(n_neighbors=9, algorithm="brute", metric="manhattan").fit(X)
    model = KernelNeighborsRegressor(9, kernel=Laplacian(2.0)).fit(X, TARGETS)
    np.testing.assert_array_equal(model.kneighbors(Q)[1], peer.kneighbors(Q)[1])


@pytest.mark.parametrize("as_rows", [np.asarray, lambda A: A.astype(np.float32), sp.csr_array])
def test_distances_of_the_linear_kernel_are_euclidean(as_rows):
    rows, queries = as_rows(X), as_rows(Q)
    peer = NearestNeighbors(n_neighbors=9, algorithm="brute").fit(rows)
    model = KernelNeighborsRegressor(9).fit(rows, TARGETS)
    for points in (queries, None):
        (distances, index), (expected, which) = model.kneighbors(points), peer.kneighbors(points)
        np.testing.assert_array_equal(index, which)
        np.testing.assert_allclose(distances, expected, rtol=1e-6)
        for mode in ("connectivity", "distance"):
            graph, other = model.kneighbors_graph(points, mode=mode), peer.kneighbors_graph(points, mode=mode)
            np.testing.assert_allclose(graph.toarray(), other.toarray(), rtol=1e-6)


def test_radius_neighbours_of_the_linear_kernel_are_euclidean():
    peer = NearestNeighbors(radius=2.0, algorithm="brute").fit(X)
    model = KernelNeighborsRegressor().fit(X, TARGETS)
    for points in (Q, None):
        distances, index = model.radius_neighbors(points, 2.0, sort_results=True)
        expected, which = peer.radius_neighbors(points, 2.0, sort_results=True)
        for row in range(len(index)):
            np.testing.assert_array_equal(index[row], which[row])
            np.testing.assert_allclose(distances[row], expected[row])


@pytest.mark.parametrize("weights", ["uniform", "distance", inverse, None])
def test_predictions_are_those_of_scikit_learn(weights):
    both = np.vstack([Q, X[:5]])  # some at distance 0
    peer = KNeighborsClassifier(7, weights=weights, algorithm="kd_tree").fit(X, LABELS)
    model = KernelNeighborsClassifier(7, weights=weights).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(both), peer.predict(both))
    np.testing.assert_allclose(model.predict_proba(both), peer.predict_proba(both))
    for y in (TARGETS, TARGETS[:, 0]):
        other = KNeighborsRegressor(7, weights=weights, algorithm="kd_tree").fit(X, y)
        same = KernelNeighborsRegressor(7, weights=weights).fit(X, y)
        np.testing.assert_allclose(same.predict(both), other.predict(both))
        assert same.score(Q, y[: len(Q)]) == pytest.approx(other.score(Q, y[: len(Q)]))


def test_several_outputs_are_voted_on_one_by_one():
    y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    peer, model = KNeighborsClassifier(7).fit(X, y), KernelNeighborsClassifier(7).fit(X, y)
    assert model.outputs_2d_
    np.testing.assert_array_equal(model.predict(Q), peer.predict(Q))
    for mine, theirs in zip(model.predict_proba(Q), peer.predict_proba(Q), strict=True):
        np.testing.assert_allclose(mine, theirs)


@pytest.mark.parametrize(
    ("name", "function", "parameters"),
    [
        ("rbf", rbf_kernel, {"gamma": 0.3}),
        ("laplacian", laplacian_kernel, {"gamma": 0.2}),
        ("poly", polynomial_kernel, {"gamma": 0.5, "degree": 2, "coef0": 1.5}),
    ],
)
def test_named_precomputed_and_written_kernels_agree(name, function, parameters):
    K, cross, own = function(X, **parameters), function(Q, X, **parameters), np.diag(function(Q, **parameters))
    squared = own[:, None] - 2.0 * cross + np.diag(K)
    expected = np.sqrt(np.maximum(np.sort(squared, axis=1)[:, :5], 0.0))
    named = KernelNeighborsClassifier(5, kernel=name, **parameters).fit(X, LABELS)
    stored = KernelNeighborsClassifier(5, kernel="precomputed").fit(K, LABELS)
    written = KernelNeighborsClassifier(
        5, kernel=lambda x, z, **given: function(x[None], z[None], **given)[0, 0], kernel_params=parameters
    ).fit(X[:60], LABELS[:60])
    distances, index = named.kneighbors(Q)
    np.testing.assert_allclose(distances, expected, atol=1e-7)
    np.testing.assert_array_equal(stored.kneighbors(cross, return_distance=False), index)
    np.testing.assert_allclose(stored.kneighbors()[0], named.kneighbors()[0], atol=1e-7)
    again = KernelNeighborsClassifier(5, kernel=name, **parameters).fit(X[:60], LABELS[:60])
    np.testing.assert_array_equal(written.kneighbors(Q[:9])[1], again.kneighbors(Q[:9])[1])


def test_the_nearest_centroid_of_the_linear_kernel_is_that_of_scikit_learn():
    peer, model = NearestCentroid().fit(X, LABELS), KernelNearestCentroid().fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(Q), peer.predict(Q))
    expected = np.linalg.norm(Q[:, None] - peer.centroids_, axis=2)
    np.testing.assert_allclose(model.distances(Q), expected)
    np.testing.assert_allclose(
        2.0 * model.decision_function(Q), (Q**2).sum(axis=1, keepdims=True) - expected**2, atol=1e-12
    )
