"""Every Gram matrix of every derivable tree is positive semi-definite, to rounding."""

import numpy as np
from hypothesis import given

from tests.laws.strategies import law, samples
from tests.oracles.tape import evaluate_plan
from tests.tolerances import PSD, SAME_PROGRAM


@law(150)
@given(sample=samples())
def test_gram_is_positive_semidefinite(sample):
    kernel, X = sample
    assert kernel.proof().is_derived
    K = evaluate_plan(kernel, X)
    np.testing.assert_allclose(K, K.T, rtol=SAME_PROGRAM, atol=SAME_PROGRAM * np.abs(K).max())
    smallest = np.linalg.eigvalsh((K + K.T) / 2)[0]
    assert smallest >= -PSD * len(K) * np.abs(K).max()
