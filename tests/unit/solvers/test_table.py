"""Which solver is taken, what it hands on, and that all agree."""

import dataclasses

import numpy as np
import pytest

import mercer
from mercer.errors import InvalidParameter, NotPositive
from mercer.grams.choose import gram_to_solve
from mercer.grams.dense import DenseGram
from mercer.kernels.binding import bind
from mercer.problems import LOSSES, Problem, Status
from mercer.solvers import SOLVERS, choose, explain, reasons, solve
from mercer.solvers import table as solver_table
from mercer.solvers.options import Options

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = RNG.standard_normal((60, 2))
WEIGHT = RNG.random(60)
WEIGHT[:3] = 0.0


def ridge(kernel, alpha=0.3, weight=WEIGHT, intercept=True, y=Y):
    gram = gram_to_solve(bind(kernel, X, dtype=np.float64))
    cost = np.repeat((weight / alpha)[:, None], y.shape[1], axis=1)
    B = np.ones((60, int(intercept)))
    return Problem(gram, y, LOSSES["squared"], cost, B, np.zeros(B.shape[1]))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "solver", [name for name, row in SOLVERS.items() if row.problems in (solver_table.QUADRATIC, solver_table.SMOOTH)]
)
def test_every_solver_finds_the_same_solution(solver, intercept):
    kernel = mercer.Polynomial(2)
    problem = ridge(kernel, intercept=intercept)
    K, rows = kernel(X), WEIGHT > 0.0
    system = np.block(
        [
            [K[np.ix_(rows, rows)] + np.diag(0.3 / WEIGHT[rows]), np.ones((57, int(intercept)))],
            [np.ones((int(intercept), 57)), np.zeros((int(intercept), int(intercept)))],
        ]
    )
    expected = np.linalg.solve(system, np.vstack([Y[rows], np.zeros((int(intercept), 2))]))
    solution = solve(problem, Options(tol=1e-12), solver)
    assert solution.certificate.solver == solver
    assert solution.status is Status.OPTIMAL
    np.testing.assert_allclose(solution.coef[rows], expected[:57], rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(solution.coef[~rows], 0.0)
    np.testing.assert_allclose(solution.theta, expected[57:], rtol=1e-6)


def test_few_features_are_solved_in_the_primal_and_few_rows_directly():
    assert choose(ridge(mercer.Linear())).name == "primal"
    assert choose(ridge(mercer.RBF())).name == "cholesky"


def test_many_rows_are_solved_iteratively(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_ROWS", 10)
    monkeypatch.setattr(reasons, "ROWS_PER_ITERATION", 1.0)
    assert choose(ridge(mercer.RBF())).name == "cg"
    assert "→ cg" in explain(ridge(mercer.RBF()))


def test_slow_iterations_are_a_reason_for_a_factorisation_in_float32(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_ROWS", 10)
    assert choose(ridge(mercer.RBF(), alpha=1e-6)).name == "mixed"
    assert "iterations, as long as a factorisation" in explain(ridge(mercer.RBF(), alpha=1e-6))


def test_many_penalties_are_served_by_one_eigendecomposition():
    y = RNG.standard_normal((60, 12))
    cost = np.tile(1.0 / np.geomspace(0.01, 100.0, 12), (60, 1))
    problem = Problem(DenseGram(mercer.RBF()(X)), y, LOSSES["squared"], cost, np.empty((60, 0)), np.empty(0))
    assert choose(problem).name == "eigen"
    np.testing.assert_allclose(solve(problem).coef, solve(problem, solver="cholesky").coef, rtol=1e-7, atol=1e-9)


def test_too_little_memory_is_a_reason_to_take_another(monkeypatch):
    monkeypatch.setattr(solver_table, "memory_there", lambda: 1_000)
    assert choose(ridge(mercer.RBF())).name == "cg"
    assert "are available" in explain(ridge(mercer.RBF()))


def test_a_solver_that_stalls_hands_on_to_the_next_and_says_so(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_ROWS", 10)
    monkeypatch.setattr(reasons, "ROWS_PER_ITERATION", 1.0)
    lazy = SOLVERS["cg"]

    def stall(problem, options):
        return lazy.run(problem, dataclasses.replace(options, tol=0.5))

    rows = {**SOLVERS, "cg": dataclasses.replace(lazy, run=stall)}
    monkeypatch.setattr(solver_table, "SOLVERS", rows)
    solution = solve(ridge(mercer.RBF(), alpha=1e-3))
    assert solution.certificate.solver != "cg"
    assert solution.status is Status.OPTIMAL
    assert "cg stalled at a residual of" in solution.certificate.note


def test_breaking_down_with_a_penalty_is_an_error_and_without_one_least_squares():
    K = DenseGram(np.ones((60, 60)), mercer.RBF().proof())
    y = RNG.standard_normal((60, 1))

    def problem(cost):
        return Problem(K, y, LOSSES["squared"], np.full((60, 1), cost), np.empty((60, 0)), np.empty(0))

    with pytest.raises(NotPositive, match="condition number"):
        solve(problem(1e30))
    solution = solve(problem(np.inf))
    assert solution.status is Status.LEAST_SQUARES
    assert solution.certificate.rank == 1
    np.testing.assert_allclose(K @ solution.coef, y.mean(), rtol=1e-9)


def test_an_indefinite_matrix_is_handed_on_to_the_solver_that_takes_it(monkeypatch):
    monkeypatch.setattr(reasons, "DIRECT_ROWS", 10)
    monkeypatch.setattr(reasons, "ROWS_PER_ITERATION", 1.0)
    K = np.tanh(X @ X.T - 1.0)
    problem = Problem(DenseGram(K), Y, LOSSES["squared"], np.full((60, 2), 1e3), np.empty((60, 0)), np.empty(0))
    solution = solve(problem)
    assert solution.status is Status.INDEFINITE
    np.testing.assert_allclose(K @ solution.coef + 1e-3 * solution.coef, Y, atol=1e-6)


def test_a_solver_that_does_not_exist_is_named():
    with pytest.raises(InvalidParameter, match="'auto' or one of 'primal'"):
        solve(ridge(mercer.RBF()), solver="magic")
