"""The neighbours by any kernel, on any points, have the smallest k(x, x) − 2k(x, z) + k(z, z)."""

import numpy as np
from hypothesis import assume, given

from mercer.errors import MercerError
from mercer.estimators.neighbors import KernelNeighborsRegressor
from tests.laws.strategies import law, samples
from tests.oracles.kernels import gram
from tests.tolerances import TREE


@given(samples())
@law(80)
def test_neighbours_have_the_smallest_distances(sample):
    kernel, X = sample
    n = len(X)
    try:
        model = KernelNeighborsRegressor(n, kernel=kernel).fit(X, np.zeros(n))
        distances, index = model.kneighbors(X)
    except (ArithmeticError, MercerError):
        assume(False)  # values out of range
    K = gram(kernel, X)
    assume(np.isfinite(K).all())
    squared = np.diag(K)[:, None] - 2.0 * K + np.diag(K)
    tolerance = TREE * max(1.0, np.abs(K).max())
    assert (np.diff(distances, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(np.sort(index, axis=1), np.tile(np.arange(n), (n, 1)))
    np.testing.assert_allclose(distances**2, np.take_along_axis(squared, index, 1), rtol=TREE, atol=tolerance)


@given(samples())
@law(40)
def test_points_within_a_radius_are_those_of_the_sorted_neighbours(sample):
    kernel, X = sample
    n = len(X)
    try:
        model = KernelNeighborsRegressor(n, kernel=kernel).fit(X, np.zeros(n))
        distances, index = model.kneighbors(X)
    except (ArithmeticError, MercerError):
        assume(False)  # values out of range
    radius = float(np.median(distances))
    # A radius that is no distance: at one the two differ by rounding, and both are right.
    assume(np.abs(distances - radius * (1.0 + 1e-6)).min() > 1e-7 * max(radius, 1e-3))
    found, which = model.radius_neighbors(X, radius * (1.0 + 1e-6), sort_results=True)
    for row in range(n):
        count = int((distances[row] <= radius * (1.0 + 1e-6)).sum())
        assert sorted(which[row]) == sorted(index[row, :count])
        np.testing.assert_allclose(found[row], distances[row, :count], rtol=1e-7, atol=1e-6)
