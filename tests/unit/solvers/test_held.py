"""K in float32 for the steps of an iteration, and float64 for what judges it."""

import numpy as np
import pytest

from mercer import RBF, gram
from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers import cg as module
from mercer.solvers import held
from mercer.solvers.cg import cg
from mercer.solvers.held import held_bytes, hold
from mercer.solvers.options import Options

RNG = np.random.default_rng(0)
N = 300
X = RNG.standard_normal((N, 4))
Y = RNG.standard_normal((N, 2))
KERNEL = RBF(0.7)


def tiled():
    return gram(KERNEL, X, budget=0)


def ridge(K, alpha):
    return Problem(K, Y, LOSSES["squared"], np.full(Y.shape, 1.0 / alpha), np.ones((N, 0)), np.zeros(0))


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_products_are_those_of_K_in_float32(columns):
    times = hold(tiled(), 1.0, columns)
    V = RNG.standard_normal((N, columns))
    assert times is not None
    found = times(V)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, KERNEL(X) @ V, atol=1e-4)
    assert (found != KERNEL(X) @ V).any()


def test_K_is_not_held_where_it_is_stored_is_too_large_or_too_coarse(monkeypatch):
    assert held_bytes(tiled(), 1.0) == 4 * N * N
    assert hold(DenseGram(KERNEL(X)), 1.0, 1) is None
    assert hold(tiled(), 0.9 * N * held.UNIT, 1) is None
    assert hold(tiled(), 1.1 * N * held.UNIT, 1) is not None
    monkeypatch.setattr(held, "HELD_BYTES", 4 * N * N - 1)
    assert hold(tiled(), 1.0, 1) is None


@pytest.mark.parametrize("alpha", [1.0, 1e-3])
@pytest.mark.parametrize("tol", [1e-5, 1e-8, 1e-12])
def test_residuals_are_true_whatever_the_steps_are_made_of(alpha, tol):
    answer = cg(ridge(tiled(), alpha), Options(tol=tol))
    M = KERNEL(X) + alpha * np.eye(N)
    residual = np.linalg.norm(Y - M @ answer.coef, axis=0) / np.linalg.norm(Y, axis=0)
    assert not answer.stopped
    assert residual.max() <= 1.01 * tol


@pytest.mark.parametrize("noise", [1e-6, 1e-4, 1e-3])
def test_coarse_products_cost_iterations_and_no_digits(monkeypatch, noise):
    rough = KERNEL(X)
    rough = rough + noise * np.abs(rough) * (E := RNG.standard_normal((N, N))) + noise * np.abs(rough) * E.T
    monkeypatch.setattr(module, "hold", lambda gram, least, columns: lambda V: rough @ V)
    answer = cg(ridge(tiled(), 0.1), Options(tol=1e-10))
    expected = np.linalg.solve(KERNEL(X) + 0.1 * np.eye(N), Y)
    np.testing.assert_allclose(answer.coef, expected, atol=1e-8)
    assert answer.trace[-1] <= 1e-10
