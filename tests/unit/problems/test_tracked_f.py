"""Certificates of large problems: f = K b is computed in float64 only where they depend on it."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.problems.margins import KINDS, all_rows, tracked
from mercer.problems.margins.gaps import findings
from mercer.problems.margins.groups import inactive_rows, segments

N = 2_400  # above SMALL_ROWS of solvers.smo
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, 3))
LABEL = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.standard_normal(N) > 1.0, 1.0, -1.0)
TARGET = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.standard_normal(N)
MACHINES = {
    "SVC": (mercer.SVC(gamma=0.5), LABEL),
    "SVC, three classes": (mercer.SVC(gamma=0.5, C=20.0), LABEL + (X[:, 2] > 0.5)),
    "SVC, C = 1e4": (mercer.SVC(gamma=0.5, C=1e4, tol=0.1), LABEL),
    "NuSVC": (mercer.NuSVC(gamma=0.5, nu=0.2), LABEL),
    "SVR": (mercer.SVR(gamma=0.5, epsilon=0.3), TARGET),
    "NuSVR": (mercer.NuSVR(gamma=0.5, nu=0.3), TARGET),
    "OneClassSVM": (mercer.OneClassSVM(gamma=0.5, nu=0.1), None),
    "stopped": (mercer.SVC(gamma=0.5, C=100.0, max_iter=300), LABEL),
}


def plain_f(solution, points):
    """K b on the rows of each problem, by plain float64."""
    batch = solution.batch
    rows = all_rows(batch.cuts, batch.uses)
    f = np.empty(len(rows))
    for p in range(len(batch)):
        mine = slice(batch.row_offsets[p], batch.row_offsets[p + 1])
        b = solution.coef[batch.offsets[p] : batch.offsets[p + 1]].reshape(batch.copies, -1).sum(axis=0)
        Z = points[rows[mine]]
        f[mine] = np.exp(-0.5 * ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)) @ b
    return f


def certificates(solution):
    return [solution.primals, solution.duals, solution.gaps, solution.violations, solution.intercepts, solution.spreads]


def fitted(name):
    machine, y = MACHINES[name]
    machine = clone(machine).set_params(warm_start=True)  # which keeps the solution
    order = np.arange(N) if machine.__class__ not in (mercer.SVC, mercer.NuSVC) else np.argsort(y, kind="stable")
    expected = pytest.warns(ConvergenceWarning) if name == "stopped" else nullcontext()
    with expected:
        machine.fit(X[order], None if y is None else y[order])
    return machine._last[0], X[order]


@pytest.mark.parametrize("name", MACHINES)
def test_a_certificate_is_that_of_float64_on_all_rows(name):
    solution, points = fitted(name)
    exact = findings(KINDS[solution.kind], solution.batch, solution.coef, plain_f(solution, points), np.ones(N))
    for got, wanted in zip(certificates(solution), certificates(exact), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10 * (1.0 + float(np.abs(exact.primals).max())))


@pytest.fixture
def asked(monkeypatch):
    """How many rows the referee computes, call by call."""
    counts, product = [], tracked.batched_product

    def counting(*arguments):
        counts.append(int(arguments[5].sum()))
        product(*arguments)

    monkeypatch.setattr(tracked, "batched_product", counting)
    return counts


def test_few_rows_are_computed_twice(asked):
    solution, _ = fitted("SVC")
    assert len(solution.coef.nonzero()[0]) <= sum(asked) < 0.7 * N


def test_an_error_larger_than_thought_is_found_out(monkeypatch, asked):
    monkeypatch.setattr(tracked, "SINGLE", 1e-16)
    solution, points = fitted("SVC")
    np.testing.assert_allclose(solution.f, plain_f(solution, points), rtol=0, atol=1e-9)
    assert len(asked) >= 2


def test_inactive_rows_have_no_coefficient_and_lie_beyond_the_ends():
    # f of three rows of the first class and three of the second; the last of each is far outside.
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    batch = KINDS["c-svc"].build(np.array([0, 3, 6]), np.array([[0, 1]]), y, np.ones(6), nu=0.5, epsilon=0.0)
    b = np.array([0.5, 1.0, 0.0, -0.5, -1.0, 0.0])
    f = np.array([1.0, 0.5, 3.0, -1.0, -0.5, -3.0])
    _, cells = segments(batch)
    small, large = np.full(6, 0.1), np.full(6, 2.5)
    np.testing.assert_array_equal(inactive_rows(batch, cells, b, f, small), [0, 0, 1, 0, 0, 1])
    assert not inactive_rows(batch, cells, b, f, large).any()
    # Where nothing is known, nothing is inactive.
    assert not inactive_rows(batch, cells, b, f, small, np.zeros(6, dtype=bool)).any()
