"""ν is at least the share of margin errors and at most the share of support vectors, rows counted by their weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from tests.laws.strategies import law

# Decisions this near to the border are on it.
BORDER = 1e-6
MACHINES = {"NuSVC": mercer.NuSVC, "NuSVR": mercer.NuSVR, "OneClassSVM": mercer.OneClassSVM}


@st.composite
def data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(10, 80))
    X = rng.standard_normal((n, draw(st.integers(1, 4))))
    weight = rng.uniform(0.2, 2.0, n) if draw(st.booleans()) else np.ones(n)
    signs = np.where(rng.permutation(n) < n // 2, 1, -1)
    X[:, 0] += signs  # so that there is a margin
    return X, signs, rng.standard_normal(n), weight


def beyond(model, X, y):
    """How far rows lie on the wrong side of the margin, the tube or the border."""
    if isinstance(model, mercer.NuSVC):
        return 1.0 - y * model.decision_function(X)
    if isinstance(model, mercer.NuSVR):
        return np.abs(y - model.predict(X)) - model.margin_[0]
    return -model.decision_function(X)


@pytest.mark.parametrize("machine", MACHINES)
@law(60)
@given(
    data=data(),
    nu=st.sampled_from([0.4, 0.6, 0.9]),
    kernel=st.sampled_from([mercer.RBF(), mercer.RBF(0.3), mercer.Laplacian(2.0), mercer.Matern(1.5) + 1.0]),
)
def test_nu_lies_between_the_share_of_errors_and_that_of_support_vectors(machine, data, nu, kernel):
    X, signs, targets, weight = data
    y = targets if machine == "NuSVR" else signs
    if machine == "NuSVC":
        weight = weight / np.where(y > 0, weight[y > 0].sum(), weight[y < 0].sum())  # no nu below 1 is too large then
    model = MACHINES[machine](kernel=kernel, nu=nu).fit(X, y, sample_weight=weight)
    share = weight / weight.sum()
    scale = max(1.0, np.abs(targets).max())
    # What the certificate leaves open; decisions of NuSVC are in units of ρ, which may be next to nothing.
    unit = model.margin_[0] if machine == "NuSVC" else 1.0
    border = max(BORDER * scale, 2.0 * model.certificate_.violation / unit)
    assert share[beyond(model, X, y) > border].sum() <= nu + 1e-9
    assert share[model.support_].sum() >= nu - 1e-9
