"""A node and its expansion are the same function: no proof is a pasted text."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.strategies import distances, law, set_samples, table_samples, vector_leaves, vector_samples, vectors
from tests.oracles.tape import evaluate_plan
from tests.tolerances import EXPANSION


def assert_agrees(node, X):
    expansion = node.expand()
    if expansion is not None:
        values, expanded = evaluate_plan(node, X), evaluate_plan(expansion, X)
        np.testing.assert_allclose(expanded, values, rtol=EXPANSION, atol=EXPANSION * max(1.0, np.abs(values).max()))


@st.composite
def leaf_samples(draw):
    d, nonnegative = draw(st.integers(1, 6)), draw(st.booleans())
    node = draw(vector_leaves(d, nonnegative) | distances(d))
    return node, draw(vectors(d, nonnegative, 5))


@law(150)
@given(sample=leaf_samples())
def test_leaf_agrees_with_its_expansion(sample):
    assert_agrees(*sample)


@law(50)
@given(sample=st.one_of(vector_samples(), set_samples(), table_samples()))
def test_nested_node_agrees_with_its_expansion(sample):
    assert_agrees(*sample)
