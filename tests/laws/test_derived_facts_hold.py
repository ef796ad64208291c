"""What travels with a proof is true: non-negative values, bounds, and the order of steps."""

import numpy as np
from hypothesis import given

from tests.laws.strategies import law, samples
from tests.oracles.tape import evaluate_plan


@law(100)
@given(sample=samples())
def test_nonnegative_kernels_have_no_negative_value(sample):
    kernel, X = sample
    K = evaluate_plan(kernel, X)
    if kernel.nonnegative:
        assert K.min() >= -1e-12 * max(1.0, np.abs(K).max())
    assert np.abs(K).max() <= kernel.max_abs * (1.0 + 1e-9) + 1e-9


@law(50)
@given(sample=samples())
def test_every_step_rests_on_earlier_ones_and_no_formula_is_proved_twice(sample):
    kernel, _ = sample
    proof = kernel.proof()
    assert [step.number for step in proof.steps] == list(range(1, len(proof) + 1))
    assert all(premise < step.number for step in proof.steps for premise in step.premises)
    assert len({step.node for step in proof.steps}) == len(proof)
    assert proof.latex().count("{") == proof.latex().count("}")
    assert "{" not in kernel.formula()
