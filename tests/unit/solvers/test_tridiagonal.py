import numpy as np
import pytest
import scipy.linalg

from mercer import RBF, KernelRidge, KernelRidgeCV, budget
from mercer.budget import memory_there
from mercer.errors import TooLarge
from mercer.grams.dense import DenseGram
from mercer.problems import Status
from mercer.solvers.eigen import border, decompose
from mercer.solvers.tridiagonal import _bisected, tridiagonalise

RNG = np.random.default_rng(0)
N = 50
X = RNG.standard_normal((N, 3))
K = RBF(2.0)(X)
SCALE = np.sqrt(RNG.uniform(0.1, 1.0, N))
RIDGES = np.array([1e-4, 0.3, 20.0])

with_borders = pytest.mark.parametrize(
    "B", [np.empty((N, 0)), np.ones((N, 1)), np.column_stack([np.ones(N), X])], ids=["none", "one", "four"]
)


def made(B, matrix=K):
    columns = border(SCALE[:, None] * B)
    gram = DenseGram(matrix, RBF().proof())
    A = columns.project(columns.project(SCALE[:, None] * matrix * SCALE).T)
    return gram, columns, A


@with_borders
def test_the_form_is_that_of_the_matrix_with_its_border_moved(B):
    gram, columns, A = made(B)
    found = tridiagonalise(gram, SCALE, columns)
    T = np.diag(found.diagonal) + np.diag(found.beside, 1) + np.diag(found.beside, -1)
    moved = A + found.beyond * columns.Q @ columns.Q.T
    np.testing.assert_allclose(found.vectors @ T @ found.vectors.T, moved, atol=1e-13 * np.abs(moved).max() * N)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(N), atol=1e-13)


@with_borders
def test_the_diagonal_is_that_of_the_inverse_beside_the_border(B):
    gram, columns, A = made(B)
    found = tridiagonalise(gram, SCALE, columns).inverse_diagonal(RIDGES)
    P = np.eye(N) - columns.Q @ columns.Q.T
    for column, ridge in zip(found.T, RIDGES, strict=True):
        expected = np.diag(P @ np.linalg.inv(A + ridge * np.eye(N)) @ P)
        np.testing.assert_allclose(column, expected, rtol=1e-10)


def test_coordinates_are_divided_by_every_penalty():
    gram, columns, _ = made(np.ones((N, 1)))
    found = tridiagonalise(gram, SCALE, columns)
    C = RNG.standard_normal((N, 4))
    T = np.diag(found.diagonal) + np.diag(found.beside, 1) + np.diag(found.beside, -1)
    for i, ridge in enumerate(RIDGES):
        np.testing.assert_allclose(
            found.divide(RIDGES, C)[:, i], np.linalg.solve(T + ridge * np.eye(N), C), rtol=1e-9, atol=1e-12
        )


@with_borders
@pytest.mark.parametrize("few", [False, True], ids=["every rank", "rank 7"])
def test_extremes_and_rank_are_those_of_the_eigenvalues(B, few):
    F = RNG.standard_normal((N, 7))
    gram, columns, _ = made(B, F @ F.T if few else K)
    found, spectrum = tridiagonalise(gram, SCALE, columns), decompose(gram, SCALE, columns)
    assert found.largest == pytest.approx(spectrum.values[-1], rel=1e-12)
    assert found.smallest == pytest.approx(spectrum.values[0], abs=1e-13 * found.largest)
    assert found.rank == spectrum.rank
    assert found.rounding == pytest.approx(spectrum.rounding)


def test_a_penalty_that_leaves_a_doubt_is_not_allowed():
    gram, columns, _ = made(np.empty((N, 0)))
    found = tridiagonalise(gram, SCALE, columns)
    assert found.allows(1e-6)
    assert not found.allows(found.rounding)
    indefinite = DenseGram(K - 0.5 * np.eye(N))
    found = tridiagonalise(indefinite, np.ones(N), columns)
    assert found.smallest < -0.4
    assert not found.allows(0.1)
    assert found.allows(0.6)


def test_few_rows_are_left_to_the_eigenvectors():
    assert tridiagonalise(DenseGram(np.eye(3)), np.ones(3), border(np.empty((3, 0)))) is None
    assert tridiagonalise(DenseGram(K), SCALE, border(RNG.standard_normal((N, N)))) is None


def test_a_matrix_that_does_not_fit_is_refused_with_its_bytes(monkeypatch):
    monkeypatch.setattr(budget, "refuse_too_large", _refuse)
    with pytest.raises(TooLarge, match="tridiagonal form of 50 x 50"):
        tridiagonalise(DenseGram(K), SCALE, border(np.empty((N, 0))))


def _refuse(asked, what, otherwise):
    assert asked == 8 * N * N < memory_there()
    raise TooLarge(what, "", otherwise)


@pytest.mark.parametrize("seed", [26, 54, 64])
def test_a_matrix_next_to_the_identity_has_its_eigenvalues(seed):
    """LAPACK's bisection loses count among eigenvalues that are nearly the same."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 5)), rng.standard_normal(20)
    model = KernelRidgeCV(kernel=RBF(0.1), fit_intercept=True).fit(X, y)
    assert model.certificate_.status is Status.OPTIMAL
    rest = [KernelRidge(model.alpha_, kernel=RBF(0.1), fit_intercept=True).fit(*without(i, X, y)) for i in range(20)]
    left = [y[i] - machine.predict(X[i : i + 1])[0] for i, machine in enumerate(rest)]
    np.testing.assert_allclose(model.loo_residuals_, left, atol=1e-10)


def without(row, *arrays):
    return [np.delete(array, row, axis=0) for array in arrays]


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e100])
def test_bisection_by_counts_finds_any_eigenvalue(scale):
    rng = np.random.default_rng(0)
    diagonal, beside = rng.standard_normal(30), rng.standard_normal(29)
    values = scipy.linalg.eigvalsh_tridiagonal(diagonal, beside)
    found = [_bisected(scale * diagonal, scale * beside, at) / scale for at in range(30)]
    np.testing.assert_allclose(found, values, atol=1e-13)
    assert _bisected(np.zeros(3), np.zeros(2), 1) == 0.0
    assert _bisected(np.ones(3), np.zeros(2), 0) == pytest.approx(1.0)
