import numpy as np
import pytest

from mercer import RBF, Linear
from mercer.errors import InvalidInput
from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.points import as_points
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.solvers import modes
from mercer.solvers import path as path_module
from mercer.solvers.cholesky import cholesky
from mercer.solvers.options import Options
from mercer.solvers.path import Path

RNG = np.random.default_rng(0)
N = 40
X = RNG.standard_normal((N, 3))
Y = RNG.standard_normal((N, 2)) + 10.0
W = np.where(np.arange(N) % 9 == 0, 0.0, RNG.random(N) + 0.1)
ONES = np.ones((N, 1))
ALPHAS = np.logspace(-3, 3, 7)

by_rows = pytest.mark.parametrize("thin", [False, True], ids=["rows", "features"])


def gram_of_points(thin):
    if thin:
        return FeatureGram(Linear().feature_map(X), as_points(X), Linear().proof()), X @ X.T
    K = RBF()(X)
    return DenseGram(K, RBF().proof()), K


def direct(gram, alpha, weight=W, B=ONES):
    cost = weight[:, None] / np.broadcast_to(alpha, 2)
    stored = DenseGram(np.array(gram.dense()))
    return cholesky(Problem(stored, Y, LOSSES["squared"], cost, B, np.zeros(B.shape[1])), Options())


@by_rows
def test_the_chosen_solution_is_that_of_a_direct_solve(thin):
    gram, _ = gram_of_points(thin)
    found = Path(gram, Y, W, ONES).choose(np.array([0.2, 5.0]))
    expected = direct(gram, [0.2, 5.0])
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-9)
    assert found.rank == (3 if thin else N - 5 - 1)
    assert not found.is_indefinite


@by_rows
def test_predictions_are_those_of_the_coefficients(thin):
    gram, K = gram_of_points(thin)
    path = Path(gram, Y, W, ONES)
    assert path.uses_features == thin
    for alpha, found in zip(ALPHAS, path.predictions(X if thin else K, ONES, ALPHAS), strict=True):
        chosen = path.choose(np.full(2, alpha))
        np.testing.assert_allclose(found, K @ chosen.coef + chosen.theta, rtol=1e-8)


@by_rows
@pytest.mark.parametrize("B", [np.empty((N, 0)), ONES], ids=["no border", "an intercept"])
@pytest.mark.parametrize("weight", [np.ones(N), W], ids=["no weights", "weights"])
def test_generalised_cross_validation_is_its_formula(thin, B, weight):
    gram, K = gram_of_points(thin)
    found = Path(gram, Y, weight, B).generalised(ALPHAS)
    rows = np.flatnonzero(weight)
    root = np.sqrt(weight[rows])
    q = B.shape[1]
    for alpha, criterion in zip(ALPHAS, found, strict=True):
        system = np.block([[K[np.ix_(rows, rows)] + np.diag(alpha / root**2), B[rows]], [B[rows].T, np.zeros((q, q))]])
        # I − H in the scaled coordinates, in which all rows weigh the same.
        left = alpha * np.linalg.inv(system)[: rows.size, : rows.size] / root[:, None] / root
        residual = left @ (root[:, None] * Y[rows])
        expected = (residual**2).sum(axis=0) / N / (np.trace(left) / rows.size) ** 2
        np.testing.assert_allclose(criterion, expected, rtol=1e-7)


@by_rows
def test_penalties_are_done_in_blocks_that_change_nothing(thin, monkeypatch):
    gram, _ = gram_of_points(thin)
    path = Path(gram, Y, W, ONES)
    whole, scores = list(path.leave_one_out(ALPHAS)), path.generalised(ALPHAS)
    monkeypatch.setattr(path_module, "BLOCK", 2 * Y.size)
    for one, other in zip(whole, path.leave_one_out(ALPHAS), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(path.generalised(ALPHAS), scores, rtol=1e-9)


@by_rows
def test_the_scale_of_weights_is_that_of_the_penalty(thin):
    gram, _ = gram_of_points(thin)
    one = list(Path(gram, Y, W, ONES).leave_one_out(ALPHAS))
    other = list(Path(gram, Y, 1e6 * W, ONES).leave_one_out(1e6 * ALPHAS))
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


def test_a_tiny_penalty_keeps_its_digits():
    """Without one row, an almost interpolating fit extrapolates; the formula must not divide rounding by rounding."""
    K = RBF(0.5)(X)
    (found,) = Path(DenseGram(K), Y, np.ones(N), ONES).leave_one_out(np.array([1e-9]))
    for row in range(0, N, 7):
        rest = np.delete(np.arange(N), row)
        system = np.block([[K[np.ix_(rest, rest)] + 1e-9 * np.eye(N - 1), np.ones((N - 1, 1))], [np.ones(N - 1), 0.0]])
        solved = np.linalg.solve(system, np.vstack([Y[rest], np.zeros((1, 2))]))
        np.testing.assert_allclose(found[row], Y[row] - K[row, rest] @ solved[:-1] - solved[-1], rtol=1e-6)


def test_a_row_that_alone_determines_the_border_cannot_be_left_out():
    B = np.column_stack([np.ones(N), np.arange(N) == 7]).astype(float)
    path = Path(DenseGram(RBF()(X)), Y, np.ones(N), B)
    with pytest.raises(InvalidInput, match="row 7"):
        next(path.leave_one_out(ALPHAS))
    with pytest.raises(InvalidInput, match="row 7"):
        path.leave_one_out_at(np.ones(2))


@pytest.mark.parametrize("B", [np.empty((N, 0)), ONES], ids=["no border", "an intercept"])
@pytest.mark.parametrize("weight", [np.ones(N), W], ids=["no weights", "weights"])
def test_the_tridiagonal_form_gives_what_eigenvectors_give(B, weight, monkeypatch):
    gram, K = gram_of_points(False)

    def everything():
        path = Path(gram, Y, weight, B)
        chosen = path.choose(np.array([0.02, 3.0]))
        found = [*path.leave_one_out(ALPHAS), path.leave_one_out_at(np.array([0.02, 3.0])), path.generalised(ALPHAS)]
        found += [*path.predictions(K, B, ALPHAS), chosen.coef, chosen.theta, np.array(chosen[2:])]
        return path.solver, found

    solver, found = everything()
    monkeypatch.setattr(modes, "tridiagonalise", lambda *_: None)
    other, expected = everything()
    assert (solver, other) == ("tridiagonal", "eigen")
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)


def test_eigenvectors_are_made_where_a_penalty_leaves_a_doubt():
    gram, _ = gram_of_points(False)
    path = Path(gram, Y, W, ONES)
    before = list(path.leave_one_out(ALPHAS))
    assert path.solver == "tridiagonal"
    list(path.leave_one_out(np.array([1e-15, 1.0])))
    assert path.solver == "eigen"
    np.testing.assert_allclose(list(path.leave_one_out(ALPHAS)), before, rtol=1e-8, atol=1e-10)


def test_an_indefinite_matrix_is_solved_by_its_eigenvectors():
    K = RBF()(X) - 0.5 * np.eye(N)
    path = Path(DenseGram(K), Y, np.ones(N), np.empty((N, 0)))
    (found,) = path.leave_one_out(np.array([0.1]))
    assert path.solver == "eigen"
    G = np.linalg.inv(K + 0.1 * np.eye(N))
    np.testing.assert_allclose(found, G @ Y / np.diag(G)[:, None], rtol=1e-8)
    assert path.choose(np.array([0.1, 0.1])).is_indefinite
