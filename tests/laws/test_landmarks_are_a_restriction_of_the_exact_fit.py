"""All rows as landmarks give the exact fit; more of them never raise the objective; their order changes nothing."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer

SOLVED = {"solver": "landmarks", "tol": 1e-10}
MACHINES = {
    "ridge": lambda **own: mercer.KernelRidge(0.1, kernel=mercer.RBF(1.0), fit_intercept=True, **own),
    "laplacian": lambda **own: mercer.KernelRidge(0.5, kernel=mercer.Laplacian(2.0), **own),
    "two classes": lambda **own: mercer.KernelLogisticRegression(2.0, kernel=mercer.RBF(1.0), **own),
    "three classes": lambda **own: mercer.KernelLogisticRegression(2.0, kernel=mercer.RBF(1.0), **own),
}


def data(seed, name, n=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)
    if name == "two classes":
        y = y > 0.0
    elif name == "three classes":
        y = np.digitize(y, [-0.7, 0.7])
    return rng, X, y


def value(machine):
    """What was minimised, as one number for all machines."""
    return machine.certificate_.primal


def decisions(machine, X):
    return machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_all_rows_as_landmarks_give_the_exact_fit(name, seed):
    _, X, y = data(seed, name)
    exact = MACHINES[name](tol=1e-10).fit(X, y)
    ours = MACHINES[name](landmarks=np.arange(60), **SOLVED).fit(X, y)
    assert ours.certificate_.is_certified
    assert ours.certificate_.left_out < 1e-9
    assert value(ours) == pytest.approx(value(exact), rel=1e-6)
    np.testing.assert_allclose(decisions(ours, X), decisions(exact, X), atol=1e-3)


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_more_landmarks_never_raise_the_objective(name, seed):
    rng, X, y = data(seed, name)
    order = rng.permutation(60)
    values = [value(MACHINES[name](landmarks=order[:m], **SOLVED).fit(X, y)) for m in (5, 15, 30, 60)]
    assert all(later <= earlier * (1.0 + 1e-8) for earlier, later in pairwise(values))
    lost = [MACHINES[name](landmarks=order[:m], **SOLVED).fit(X, y).certificate_.left_out for m in (5, 30)]
    assert lost[1] <= lost[0] + 1e-12


@pytest.mark.parametrize("name", MACHINES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_the_order_of_rows_changes_nothing_beyond_rounding(name, seed):
    rng, X, y = data(seed, name)
    order, chosen = rng.permutation(60), np.arange(20)
    ours = MACHINES[name](landmarks=chosen, **SOLVED).fit(X, y)
    back = np.argsort(order)
    theirs = MACHINES[name](landmarks=back[chosen], **SOLVED).fit(X[order], y[order])
    assert value(theirs) == pytest.approx(value(ours), rel=1e-8)
    np.testing.assert_allclose(decisions(theirs, X), decisions(ours, X), atol=1e-3)
