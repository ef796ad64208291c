"""Numbers beyond every float, and masked arrays, are refused wherever they are given."""

import numpy as np
import pytest

import mercer
from mercer.errors import InvalidInput, InvalidParameter

HUGE = 10**400
X = np.random.default_rng(0).normal(size=(12, 3))
LABELS = np.arange(12) % 2
TARGETS = X[:, 0]


@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (mercer.SVC(C=HUGE), LABELS),
        (mercer.NuSVC(nu=HUGE), LABELS),
        (mercer.SVC(gamma=HUGE), LABELS),
        (mercer.SVC(tol=HUGE), LABELS),
        (mercer.SVC(class_weight={1: HUGE}), LABELS),
        (mercer.SVR(epsilon=HUGE), TARGETS),
        (mercer.KernelRidge(alpha=HUGE), TARGETS),
        (mercer.KernelRidge(alpha=[HUGE]), TARGETS),
        (mercer.KernelRidgeCV(alphas=[1.0, HUGE]), TARGETS),
        (mercer.KernelLogisticRegression(C=HUGE), LABELS),
        (mercer.KernelRidge(kernel="poly", coef0=HUGE), TARGETS),
        (mercer.NadarayaWatson(bandwidth=HUGE), TARGETS),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, mercer.SVC) else "",
)
def test_an_integer_beyond_every_float_is_an_invalid_parameter(machine, y):
    with pytest.raises(InvalidParameter, match="about 401 digits"):
        machine.fit(X, y)


def test_targets_and_weights_beyond_every_float_are_refused():
    with pytest.raises(InvalidInput, match="y must hold finite numbers"):
        mercer.SVR().fit(X, [HUGE] * 12)
    with pytest.raises(InvalidInput, match="sample_weight must hold finite numbers"):
        mercer.SVC().fit(X, LABELS, sample_weight=[HUGE] * 12)


@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (mercer.SVC(), np.ma.masked_equal(LABELS, 1)),
        (mercer.KernelRidge(), np.ma.masked_less(TARGETS, 0.0)),
        (mercer.SVR(), np.ma.masked_less(TARGETS, 0.0)),
        (mercer.KernelLogisticRegression(), np.ma.masked_equal(LABELS, 1)),
    ],
    ids=["SVC", "ridge", "SVR", "logistic"],
)
def test_masked_targets_and_weights_are_refused(machine, y):
    with pytest.raises(InvalidInput, match="masked"):
        machine.fit(X, y)
    weight = np.ma.masked_less(np.arange(12.0) + 1.0, 3.0)
    with pytest.raises(InvalidInput, match="masked"):
        machine.fit(X, y.data, sample_weight=weight)
