"""The derivative of ⟨W, K⟩ by a parameter, backwards through the program, is the difference of two matrices."""

import numpy as np
from hypothesis import assume, given

from mercer import InvalidParameter
from mercer.kernels.binding import evaluate
from mercer.kernels.gradient import slopes
from mercer.kernels.learnable import Learnable, per_column, weighted
from mercer.points import as_points
from tests.laws.strategies import law, samples, vector_samples

STEP = 1e-5


def differences(moves, points, weights):
    def sums(step):
        return np.array([np.vdot(weights, evaluate(move(np.exp(step)), points)) for move in moves])

    return (sums(STEP) - sums(-STEP)) / (2.0 * STEP)


def compare(kernel, X):
    points = as_points(X)
    try:
        found = Learnable(weighted(per_column(kernel.resolve(points), points)))
    except InvalidParameter:
        assume(False)
    rng = np.random.default_rng(len(points))
    weights = rng.standard_normal((len(points), len(points)))
    weights += weights.T
    # Apart from each other and from 1, as a search has them: there a program has all of its instructions.
    values = found.values * np.exp(rng.uniform(0.01, 0.1, len(found.values)))
    moves = [found.moved(values, number) for number in range(len(values))]
    K = evaluate(found.kernel_of(values), points)
    assume(np.abs(K).max() < 1e8)
    expected = differences(moves, points, weights)
    # A difference of matrices loses half the digits of their largest entry, or what the square of the step leaves.
    rounding = 1e-6 * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(slopes(moves, points, weights), expected, rtol=1e-5, atol=rounding)


@law(80)
@given(sample=vector_samples())
def test_slopes_on_vectors_are_differences(sample):
    compare(*sample)


@law(30)
@given(sample=samples())
def test_slopes_on_all_kinds_of_points_are_differences(sample):
    compare(*sample)
