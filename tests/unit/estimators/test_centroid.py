import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.estimators.centroid import KernelNearestCentroid
from mercer.kernels import RBF, Linear, SetIntersection

RNG = np.random.default_rng(3)
X, Q = RNG.normal(size=(60, 3)), RNG.normal(size=(20, 3))
Y = np.digitize(X[:, 0], [-0.5, 0.5])


def centroid_distances(kernel, weight):
    """By explicit blocks of the Gram matrix."""
    found = np.empty((len(Q), 3))
    for c in range(3):
        a = np.where(c == Y, weight, 0.0)
        a /= a.sum()
        found[:, c] = kernel.diag(Q) - 2.0 * kernel(Q, X) @ a + a @ kernel(X) @ a
    return np.sqrt(found)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.7), (Linear() + 1.0) ** 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_distances_are_those_of_the_formula(kernel, weighted):
    weight = RNG.uniform(size=60) if weighted else np.ones(60)
    model = KernelNearestCentroid(kernel=kernel).fit(X, Y, weight if weighted else None)
    expected = centroid_distances(kernel, weight)
    np.testing.assert_allclose(model.distances(Q), expected)
    np.testing.assert_array_equal(model.predict(Q), np.argmin(expected, axis=1))
    np.testing.assert_allclose(model.decision_function(Q), 0.5 * (kernel.diag(Q)[:, None] - expected**2), atol=1e-10)


def test_a_weight_is_a_repetition():
    weight = RNG.integers(1, 4, size=60)
    once = KernelNearestCentroid(kernel="rbf", gamma=0.5).fit(X, Y, weight)
    often = KernelNearestCentroid(kernel="rbf", gamma=0.5).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    np.testing.assert_allclose(once.decision_function(Q), often.decision_function(Q))


def test_two_classes_have_one_score():
    model = KernelNearestCentroid(kernel=RBF()).fit(X, Y > 0)
    score = model.decision_function(Q)
    assert score.shape == (20,)
    np.testing.assert_array_equal(model.predict(Q), score > 0)
    distances = model.distances(Q)
    np.testing.assert_allclose(score, 0.5 * (distances[:, 0] ** 2 - distances[:, 1] ** 2), atol=1e-12)


def test_sets_and_precomputed_matrices_have_centroids():
    baskets = [{1, 2}, {2, 3}, {7, 8}, {8, 9}]
    model = KernelNearestCentroid(kernel=SetIntersection()).fit(baskets, ["a", "a", "b", "b"])
    np.testing.assert_array_equal(model.predict([{2}, {8}]), ["a", "b"])
    kernel = RBF(0.7)
    stored = KernelNearestCentroid(kernel="precomputed").fit(kernel(X), Y)
    plain = KernelNearestCentroid(kernel=kernel).fit(X, Y)
    np.testing.assert_allclose(stored.decision_function(kernel(Q, X)), plain.decision_function(Q), atol=1e-12)
    with pytest.raises(InvalidInput, match="k\\(x, x\\)"):
        stored.distances(kernel(Q, X))


def test_one_class_a_class_without_weight_and_several_outputs_are_refused():
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        KernelNearestCentroid().fit(X, np.zeros(60))
    with pytest.raises(InvalidInput, match="Every class needs"):
        KernelNearestCentroid().fit(X, Y, Y > 0)
    with pytest.raises(ValueError, match="1d array"):
        KernelNearestCentroid().fit(X, np.column_stack([Y, Y]))
