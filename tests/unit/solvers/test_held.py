"""K in a few bits for the steps of an iteration, and float64 for what judges it."""

import numpy as np
import pytest

from mercer import RBF, Linear, gram
from mercer.grams.dense import DenseGram
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers import cg_system as module
from mercer.solvers import held
from mercer.solvers.cg import cg
from mercer.solvers.held import Held, held_bytes, hold
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


@pytest.mark.parametrize(("columns", "off"), [(1, 2e-3), (2, 2e-3), (3, 1e-4)])
def test_products_are_those_of_K_in_16_bits_or_in_float32(columns, off):
    found = hold(tiled(), 1.0, columns)
    V = RNG.standard_normal((N, columns))
    assert found is not None
    product = found.times(V)
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, KERNEL(X) @ V, atol=off)
    assert (product != KERNEL(X) @ V).any()


@pytest.mark.parametrize("kernel", [KERNEL, 3.0 * KERNEL, Linear() + 0.1 * KERNEL, Linear() ** 2])
def test_the_errors_of_a_code_are_as_large_as_is_said(kernel):
    K = gram(kernel, X, budget=0)
    found = hold(K, 1e9, 1)
    assert found is not None
    held_K = np.column_stack([found.times(e[:, None])[:, 0] for e in np.eye(N)])
    norm = np.linalg.norm(held_K - K.dense(), ord=2)
    assert 0.5 * found.error <= norm <= 2.0 * found.error


def test_values_that_are_never_negative_have_a_code_twice_as_fine():
    assert tiled().coded().code == (0.0, 1.0 / 65535.0)
    low, step = gram(Linear(), X, budget=0).coded().code
    assert low == -step * 65535.0 / 2.0
    assert gram(Linear(), np.zeros((3, 1)), budget=0).coded().code == (0.0, 1.0)


@pytest.mark.parametrize(("columns", "width"), [(1, 2), (3, 4)])
def test_K_is_not_held_where_it_is_stored_is_too_large_or_too_coarse(monkeypatch, columns, width):
    assert held_bytes(tiled(), 1.0, columns) == width * N * N
    assert hold(DenseGram(KERNEL(X)), 1.0, columns) is None
    error = hold(tiled(), 1.0, columns).error
    assert hold(tiled(), 0.9 * error / held.NUISANCE, columns) is None
    assert hold(tiled(), 1.1 * error / held.NUISANCE, columns) is not None
    monkeypatch.setattr(held, "HELD_BYTES", width * N * N - 1)
    assert hold(tiled(), 1.0, columns) is None


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
    monkeypatch.setattr(module, "hold", lambda gram, least, columns: Held(lambda V: rough @ V, noise))
    answer = cg(ridge(tiled(), 0.1), Options(tol=1e-10))
    expected = np.linalg.solve(KERNEL(X) + 0.1 * np.eye(N), Y)
    np.testing.assert_allclose(answer.coef, expected, atol=1e-8)
    assert answer.trace[-1] <= 1e-10


def test_an_iteration_goes_on_without_what_is_held_where_that_is_not_positive(monkeypatch):
    K = KERNEL(X)
    values, vectors = np.linalg.eigh(K)
    wrong = K - (values[N // 2] + 0.5) * np.outer(vectors[:, N // 2], vectors[:, N // 2])
    monkeypatch.setattr(module, "hold", lambda gram, least, columns: Held(lambda V: wrong @ V, 0.1))
    answer = cg(ridge(tiled(), 0.1), Options(tol=1e-10))
    np.testing.assert_allclose(answer.coef, np.linalg.solve(K + 0.1 * np.eye(N), Y), atol=1e-8)
    assert not answer.stopped
