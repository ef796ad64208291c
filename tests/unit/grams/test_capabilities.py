"""What a solver asks of any Gram matrix, and that what does not change is made once."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import RBF, Custom, KernelLogisticRegression, KernelRidge, KernelRidgeCV, Linear
from mercer.grams.choose import gram, gram_for_steps, gram_to_solve
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.grams.landmarks import LandmarkGram, restrict
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import bind
from mercer.points import as_points
from mercer.problems import LOSSES, Problem
from mercer.solvers import Options, explain, solve

RNG = np.random.default_rng(0)
N = 60
X = RNG.standard_normal((N, 3))
HALF = N * (N + 1) // 2
MADE = Counter()


class CountedLinear(Linear):
    """Counts how often it is proved, and its feature map tried."""

    def proof(self):
        MADE["proof"] += 1
        return super().proof()

    def feature_map(self, X, order=None):
        MADE["feature map"] += 1
        return super().feature_map(X, order)


def problem(K, loss="squared"):
    y = RNG.standard_normal((N, 1)) if loss == "squared" else RNG.choice([-1.0, 1.0], (N, 1))
    return Problem(K, y, LOSSES[loss], np.ones((N, 1)), np.empty((N, 0)), np.empty(0))


GRAMS = {
    DenseGram: lambda: gram(RBF(), X),
    TiledGram: lambda: gram(RBF(), X, budget=0),
    FeatureGram: lambda: gram_to_solve(bind(Linear(), X)),
    LandmarkGram: lambda: restrict(RBF(), as_points(X), as_points(X[:4])),
}


@pytest.mark.parametrize("cls", GRAMS)
def test_every_gram_says_what_a_solver_can_do_with_it(cls):
    K = GRAMS[cls]()
    assert type(K) is cls
    assert K.is_stored == (cls is DenseGram)
    assert (K.coded() is not None) == (cls is TiledGram)
    assert (K.features() is not None) == (cls in {FeatureGram, LandmarkGram})
    assert (K.restricted() is not None) == (cls is LandmarkGram)


def test_codes_are_the_entries_above_the_diagonal():
    found = gram(RBF(), X, budget=0).coded()
    low, step = found.code
    above = np.triu_indices(N)
    np.testing.assert_allclose((low + step * found.upper())[above], RBF()(X)[above], atol=step)


@pytest.mark.parametrize("cls", [TiledGram, FeatureGram])
def test_the_diagonal_and_the_proof_are_made_once(cls):
    K = GRAMS[cls]()
    assert K.diag() is K.diag()
    assert not K.diag().flags.writeable
    assert K.proof is K.proof
    made = K.evaluations
    np.testing.assert_allclose(K.take(np.array([4, 2])).diag(), K.diag()[[4, 2]], rtol=1e-14)
    assert K.evaluations == made
    assert K.take(np.array([4, 2])).proof is K.proof


@pytest.mark.parametrize("solver", ["cholesky", "cg", "mixed"])
def test_a_solve_of_least_squares_makes_the_diagonal_and_the_proof_once(solver):
    MADE.clear()
    K = TiledGram(bind(CountedLinear(), X))
    given = problem(K)
    explain(given)
    solution = solve(given, solver=solver)
    walks, rest = divmod(K.evaluations, HALF)
    assert solution.certificate.evaluations == K.evaluations - N  # explain asked for the diagonal
    assert MADE == {"proof": 1, "feature map": 1}
    if solver != "cg":  # which takes columns too
        assert walks >= 2
        assert rest == N


@pytest.mark.parametrize(
    "machine", [KernelRidge(), KernelRidge(solver="cg"), KernelLogisticRegression(), KernelRidgeCV()]
)
def test_a_fit_proves_its_kernel_once_and_tries_its_feature_map_once(machine):
    MADE.clear()
    machine.set_params(kernel=CountedLinear() + RBF()).fit(X, np.arange(N) % 2)
    assert MADE["proof"] <= 1
    assert MADE["feature map"] <= 1
    MADE.clear()
    machine.set_params(kernel=CountedLinear()).fit(X, np.arange(N) % 2)
    assert MADE == {"proof": 1, "feature map": 1}


def test_a_small_fit_computes_every_entry_once():
    calls = []

    def value(x, z):
        calls.append(None)
        return float(x @ z)

    kernel = Custom(value, because="an inner product")
    gram(kernel, X)
    once = len(calls)
    calls.clear()
    model = KernelRidge(kernel=kernel, solver="cholesky").fit(X, X[:, 0])
    assert len(calls) == once
    assert model.certificate_.evaluations == HALF


def test_evaluations_are_those_of_the_solve_and_those_that_stored_K():
    tiled, stored, few = (GRAMS[cls]() for cls in (TiledGram, DenseGram, FeatureGram))
    assert tiled.evaluations == few.evaluations == 0
    assert stored.evaluations == HALF
    tiled @ np.ones(N)
    assert tiled.evaluations == HALF
    solution = solve(problem(tiled), solver="cholesky")
    assert solution.certificate.evaluations == tiled.evaluations - HALF
    assert solution.certificate.evaluations >= 2 * HALF  # to factorise, and to certify
    assert solve(problem(stored), solver="cholesky").certificate.evaluations == HALF
    assert solve(problem(few), solver="primal").certificate.evaluations == 0
    assert DenseGram(np.eye(3)).evaluations == 0


def test_new_points_and_searches_are_counted_in_full():
    binding = bind(RBF(), X)
    binding.cross(X[:7]) @ np.ones(N)
    assert binding.tally.entries == 7 * N
    binding.self_cross().best(2)
    assert binding.tally.entries == 7 * N + N * N
    binding.take(np.arange(5)).cross(X).dense()
    assert binding.tally.entries == 7 * N + N * N + 5 * N


def test_logistic_regression_counts_too():
    K = GRAMS[TiledGram]()
    solution = solve(problem(K, "logistic"), Options(tol=1e-6), "newton-cg")
    assert solution.certificate.evaluations == K.evaluations > HALF


@pytest.mark.parametrize(("density", "is_filled"), [(0.5, True), (0.01, False)])
def test_rows_for_a_solver_of_steps_are_dense_unless_they_are_thin(density, is_filled):
    rows = sp.random(40, 100, density=density, format="csr", random_state=0)
    K = gram_for_steps(bind(RBF(), rows))
    assert type(K) is TiledGram
    assert K.binding.basis.is_sparse != is_filled
    np.testing.assert_allclose(K.dense(), RBF()(rows.toarray()), atol=1e-12)


def test_what_cannot_be_gathered_is_stored_for_a_solver_of_steps():
    assert type(gram_for_steps(bind(RBF(), X))) is TiledGram
    assert type(gram_for_steps(bind(Custom(lambda x, z: float(x @ z), because="an inner product"), X))) is DenseGram
