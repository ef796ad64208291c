"""Points whose squares overflow are refused by every way to fit, never answered with zeros."""

import numpy as np
import pytest

import mercer

X = np.random.default_rng(0).normal(size=(20, 3))
TARGETS = X[:, 0]
LABELS = TARGETS > 0.0


@pytest.mark.parametrize("scale", [1e160, 1e300])
@pytest.mark.parametrize(
    ("machine", "y"),
    [
        (mercer.KernelRidge(kernel="linear"), TARGETS),
        (mercer.KernelRidge(kernel="linear", solver="primal"), TARGETS),
        (mercer.KernelRidge(kernel="linear", solver="cholesky"), TARGETS),
        (mercer.KernelRidge(kernel=mercer.Quadratic(np.eye(3))), TARGETS),
        (mercer.KernelRidge(kernel=mercer.Polynomial(2)), TARGETS),
        (mercer.KernelRidgeCV(kernel=mercer.Linear()), TARGETS),
        (mercer.SVR(kernel="linear"), TARGETS),
        (mercer.SVC(kernel="linear"), LABELS),
        (mercer.KernelLogisticRegression(kernel="linear"), LABELS),
        (mercer.KernelNearestCentroid(kernel=mercer.Linear()), LABELS),
    ],
    ids=lambda value: repr(value)[:50] if hasattr(value, "fit") else "",
)
def test_an_inner_product_that_overflows_is_refused(machine, y, scale):
    with pytest.raises(mercer.NotFinite, match=r"is not finite at row 0|too large"):
        machine.fit(scale * X, y)


def test_sums_that_overflow_are_refused_too():
    with pytest.raises(mercer.NotFinite):
        mercer.KernelRidge(kernel="linear").fit(5e153 * np.ones((40, 2)), np.arange(40.0))


def test_a_kernel_that_stays_finite_is_right_at_any_scale():
    K = mercer.RBF()(1e300 * X)
    np.testing.assert_array_equal(K, np.eye(20))
    fitted = mercer.KernelRidge(kernel=mercer.RBF(), alpha=1.0).fit(1e300 * X, TARGETS)
    np.testing.assert_allclose(fitted.predict(1e300 * X), TARGETS / 2.0)
