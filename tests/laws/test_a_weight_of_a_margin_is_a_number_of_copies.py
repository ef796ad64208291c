"""A row of weight k is k rows, for every support vector machine; a row of weight zero is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from tests.laws.strategies import law

DECISION = 1e-5
MACHINES = {
    "SVC": lambda **given: mercer.SVC(**given, decision_function_shape="ovo"),
    "SVR": mercer.SVR,
    "NuSVR": mercer.NuSVR,
    "OneClassSVM": lambda kernel, C: mercer.OneClassSVM(kernel=kernel, nu=0.3),
}


@st.composite
def weighted_rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, classes = draw(st.integers(9, 50)), draw(st.integers(2, 3))
    X = rng.standard_normal((n, draw(st.integers(1, 3))))
    copies = rng.integers(0, 4, size=n)
    copies[:classes] = 1
    return X, np.arange(n) % classes, rng.standard_normal(n), copies


@pytest.mark.parametrize("machine", MACHINES)
@law(50)
@given(
    rows=weighted_rows(),
    kernel=st.sampled_from([mercer.RBF(), mercer.Linear(), mercer.Matern(1.5), mercer.Laplacian(2.0)]),
    C=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_a_weight_is_a_number_of_copies(machine, rows, kernel, C):
    X, labels, targets, copies = rows
    y = labels if machine == "SVC" else targets
    repeated = np.repeat(np.arange(len(X)), copies)
    weighted = MACHINES[machine](kernel=kernel, C=C).fit(X, y, sample_weight=copies.astype(float))
    copied = MACHINES[machine](kernel=kernel, C=C).fit(X[repeated], y[repeated])
    one, other = (model.predict(X) if "SVR" in machine else model.decision_function(X) for model in (weighted, copied))
    np.testing.assert_allclose(one, other, atol=DECISION * max(1.0, np.abs(other).max()))
    assert set(weighted.support_.tolist()) <= set(np.flatnonzero(copies).tolist())
