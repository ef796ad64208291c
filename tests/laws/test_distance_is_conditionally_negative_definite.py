"""Every distance is zero on the diagonal, ≥ 0, and negative on vectors that sum to zero."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.strategies import distances, law, vectors
from tests.oracles.tape import evaluate_plan
from tests.tolerances import DISTANCE


@st.composite
def distance_samples(draw):
    d = draw(st.integers(1, 6))
    return draw(distances(d)), draw(vectors(d, False, 6))


@law(100)
@given(sample=distance_samples())
def test_distance_is_conditionally_negative_definite(sample):
    distance, X = sample
    psi = evaluate_plan(distance, X)
    largest = max(1.0, psi.max())
    assert psi.min() >= 0.0
    assert np.abs(np.diag(psi)).max() <= DISTANCE * largest
    centre = np.eye(len(X)) - 1.0 / len(X)
    assert np.linalg.eigvalsh(centre @ psi @ centre)[-1] <= DISTANCE * largest
