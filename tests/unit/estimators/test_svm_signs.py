"""`predict` in float32 where the sign of a decision is beyond doubt, in float64 elsewhere."""

import numpy as np
import pytest

import mercer
from mercer.estimators import _svm_support

RNG = np.random.default_rng(8)
X, Z = RNG.standard_normal((600, 4)), RNG.standard_normal((6_000, 4))
LABEL = (X[:, 0] + X[:, 1] * X[:, 2] > 0.0).astype(int)
MANY = LABEL + 2 * (X[:, 3] > 0.3) + 4 * (X[:, 1] > 0.5)  # eight classes
KERNELS = (mercer.RBF(1.5), mercer.Matern(1.5), mercer.Polynomial(3, 1.0), mercer.Laplacian(3.0))


def by_decisions(machine, points):
    """The class by the decisions in float64."""
    return machine.classes_[machine._winners(machine._pair_decisions(points))]


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("y", [LABEL, MANY], ids=["two classes", "eight classes"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_a_prediction_has_the_signs_of_float64(kernel, y, C):
    machine = mercer.SVC(C=C, kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(machine.predict(Z), by_decisions(machine, Z))


def counted(monkeypatch):
    """The rows that were asked of each precision."""
    asked = {"float32": 0, "float64": 0}
    cross = mercer.kernels.bound.Bound.cross

    def counting(self, points):
        asked[str(self.dtype)] += len(points)
        return cross(self, points)

    monkeypatch.setattr(mercer.kernels.bound.Bound, "cross", counting)
    return asked


def test_few_rows_are_computed_twice(monkeypatch):
    machine = mercer.SVC(kernel=mercer.RBF(1.5)).fit(X, LABEL)
    asked = counted(monkeypatch)
    machine.predict(Z)
    assert asked["float32"] == len(Z)
    assert _svm_support.LEAST_SEEN <= asked["float64"] - len(Z) < 0.05 * len(Z)  # one Cross of all rows is not used


def test_an_error_larger_than_thought_is_found_out(monkeypatch):
    machine = mercer.SVC(kernel=mercer.RBF(1.5)).fit(X, LABEL)
    monkeypatch.setattr(_svm_support, "ROUNDING", 1e-12)
    calls = []
    product = mercer.kernels.bound.Cross.__matmul__
    monkeypatch.setattr(
        mercer.kernels.bound.Cross, "__matmul__", lambda self, V: (calls.append(self.shape[0]), product(self, V))[1]
    )
    np.testing.assert_array_equal(machine.predict(Z), by_decisions(machine, Z))
    assert calls[0] == len(Z)
    assert calls[2] == len(Z)  # in float32, some again, and then all of them
