"""`predict` in float32 where the sign of a decision is beyond doubt, in float64 elsewhere."""

import numpy as np
import pytest

import mercer
from mercer.models import model as models

RNG = np.random.default_rng(8)
X, Z = RNG.standard_normal((600, 4)), RNG.standard_normal((6_000, 4))
LABEL = (X[:, 0] + X[:, 1] * X[:, 2] > 0.0).astype(int)
MANY = LABEL + 2 * (X[:, 3] > 0.3) + 4 * (X[:, 1] > 0.5)  # eight classes
KERNELS = (mercer.RBF(1.5), mercer.Matern(1.5), mercer.Polynomial(3, 1.0), mercer.Laplacian(3.0))


def by_decisions(machine, points):
    """The class by the decisions in float64."""
    return machine.classes_[machine._winners(machine._scores(points))]


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("y", [LABEL, MANY], ids=["two classes", "eight classes"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_a_prediction_has_the_signs_of_float64(kernel, y, C):
    machine = mercer.SVC(C=C, kernel=kernel).fit(X, y)
    np.testing.assert_array_equal(machine.predict(Z), by_decisions(machine, Z))


def counted(monkeypatch):
    """The rows that were asked of each precision."""
    asked = {"float32": 0, "float64": 0}
    cross = mercer.kernels.binding.Binding.cross

    def counting(self, points):
        asked[str(self.dtype)] += len(points)
        return cross(self, points)

    monkeypatch.setattr(mercer.kernels.binding.Binding, "cross", counting)
    return asked


def test_few_rows_are_computed_twice(monkeypatch):
    machine = mercer.SVC(kernel=mercer.RBF(1.5)).fit(X, LABEL)
    asked = counted(monkeypatch)
    machine.predict(Z)
    assert asked["float32"] == len(Z)
    assert models.LEAST_SEEN <= asked["float64"] - len(Z) < 0.05 * len(Z)  # one Cross of all rows is not used


@pytest.mark.parametrize("y", [LABEL, MANY], ids=["two classes", "eight classes"])
@pytest.mark.parametrize("noise", [1e-3, 1e-1, np.nan])
def test_errors_larger_than_thought_are_allowed_for(monkeypatch, noise, y):
    machine = mercer.SVC(kernel=mercer.RBF(1.5)).fit(X, y)
    exact = by_decisions(machine, Z)
    product = mercer.kernels.binding.Cross.__matmul__
    noisy = []

    def disturbed(self, V):
        found = product(self, V)
        if self.dtype == np.float64:
            return found
        noisy.append(len(found))
        return found + noise * RNG.standard_normal(found.shape)

    monkeypatch.setattr(mercer.kernels.binding.Cross, "__matmul__", disturbed)
    np.testing.assert_array_equal(machine.predict(Z), exact)
    assert len(Z) in noisy


def test_rows_beyond_float32_are_predicted_in_float64():
    far = X.copy()
    far[:200] *= 1e25
    machine = mercer.SVC(kernel=mercer.RBF(1.5)).fit(far, LABEL)
    points = np.vstack([Z, far])
    np.testing.assert_array_equal(machine.predict(points), by_decisions(machine, points))
