"""All five machines against a general solver of quadratic programs, on few rows."""

import numpy as np
import pytest

import mercer
from mercer.kernels.binding import Binding
from mercer.points import as_points
from mercer.problems.margins import KINDS
from tests.oracles.qp import margin_dual

# SLSQP finds the optimum to about the root of rounding.
DECISION, VALUE = 2e-5, 1e-7
KERNELS = [mercer.RBF(), mercer.Laplacian(2.0) + mercer.Linear(), mercer.Matern(1.5), mercer.Polynomial(2)]
MACHINES = {
    "c-svc": lambda kernel: mercer.SVC(kernel=kernel, C=2.0),
    "nu-svc": lambda kernel: mercer.NuSVC(kernel=kernel, nu=0.4),
    "epsilon-svr": lambda kernel: mercer.SVR(kernel=kernel, C=2.0, epsilon=0.2),
    "nu-svr": lambda kernel: mercer.NuSVR(kernel=kernel, C=2.0, nu=0.4),
    "one-class": lambda kernel: mercer.OneClassSVM(kernel=kernel, nu=0.4),
}
COSTS = {"c-svc": 2.0, "epsilon-svr": 2.0, "nu-svr": 2.0}


@pytest.mark.parametrize("n", [8, 30])
@pytest.mark.parametrize("kernel", KERNELS, ids=["gaussian", "sum", "matern", "quadratic"])
@pytest.mark.parametrize("kind", MACHINES)
def test_the_machine_is_at_the_optimum_of_its_program(kind, kernel, n):
    rng = np.random.default_rng(n)
    X, weight = rng.standard_normal((n, 3)), rng.uniform(0.8, 1.2, n)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X[:, 0] += signs  # so that a nu machine has a margin
    y = rng.standard_normal(n) if "svr" in kind else signs
    model = MACHINES[kind](kernel).fit(X, y, sample_weight=weight)

    K = Binding(kernel, as_points(X), np.dtype(np.float64)).self_cross().dense()
    cost = COSTS.get(kind, 1.0) * weight
    batch = KINDS[kind].build(np.array([0, n]), np.array([[0]]), y, cost, 0.4, 0.2)
    sums = [batch.start[batch.group == k].sum() for k in (0, 1)]
    whole = np.tile(K, (batch.copies, batch.copies))
    b, value = margin_dual(whole, batch.linear, batch.low, batch.high, batch.group, sums, batch.width)
    f = K @ b.reshape(batch.copies, -1).sum(axis=0)

    scale = max(1.0, abs(value))
    assert model.certificate_.dual == pytest.approx(-value, abs=VALUE * scale)
    assert model.certificate_.primal == pytest.approx(-value, abs=VALUE * scale)
    # The published function without its intercept; of nu-svc it is in units of the margin.
    unit = model.margin_[0] if kind == "nu-svc" else 1.0
    decisions = model.predict(X) if "svr" in kind else model.decision_function(X)
    ours = unit * (decisions - model.intercept_[0])
    np.testing.assert_allclose(ours, f, atol=DECISION * max(1.0, np.abs(f).max()))
