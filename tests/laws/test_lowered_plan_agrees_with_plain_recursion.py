"""The program of a tree computes what the tree's formulas say."""

import numpy as np
from hypothesis import given

from tests.laws.strategies import law, samples
from tests.oracles.kernels import gram
from tests.oracles.tape import evaluate_plan
from tests.tolerances import SAME_PROGRAM, TREE


@law(150)
@given(sample=samples())
def test_lowered_plan_agrees_with_plain_recursion(sample):
    kernel, X = sample
    expected = gram(kernel, X)
    np.testing.assert_allclose(
        evaluate_plan(kernel, X), expected, rtol=TREE, atol=TREE * max(1.0, np.abs(expected).max())
    )


@law(50)
@given(sample=samples())
def test_swapping_the_points_transposes_the_matrix(sample):
    kernel, X = sample
    first, second = X[: len(X) // 2 + 1], X[len(X) // 2 :]
    K, transposed = evaluate_plan(kernel, first, second), evaluate_plan(kernel, second, first)
    np.testing.assert_allclose(K, transposed.T, rtol=SAME_PROGRAM, atol=SAME_PROGRAM * max(1.0, np.abs(K).max()))
