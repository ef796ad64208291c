"""Leave-one-out residuals from one decomposition are those of fitting once more without each row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mercer.grams.dense import DenseGram
from mercer.grams.featured import FeatureGram
from mercer.kernels import Linear
from mercer.points import as_points
from mercer.solvers.path import Path

# Relative to the largest target, for condition numbers up to 1e6.
AGREEMENT = 1e-7
ALPHAS = np.array([1e-3, 0.1, 1.0, 30.0])


def refitted(K, y, weight, B, alpha, row):
    """The prediction for a row by a fit without it: the bordered system, solved as it stands."""
    rows = np.flatnonzero((weight > 0.0) & (np.arange(len(y)) != row))
    n, q = rows.size, B.shape[1]
    system = np.zeros((n + q, n + q))
    system[:n, :n] = K[np.ix_(rows, rows)] + np.diag(alpha / weight[rows])
    system[:n, n:], system[n:, :n] = B[rows], B[rows].T
    found = np.linalg.solve(system, np.vstack([y[rows], np.zeros((q, y.shape[1]))]))
    return K[row, rows] @ found[:n] + B[row] @ found[n:]


@st.composite
def data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, t = draw(st.integers(3, 18)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicates
    weight = 10.0 ** rng.uniform(-2, 1, n) if draw(st.booleans()) else np.ones(n)
    weight[2:][rng.random(n - 2) < draw(st.sampled_from([0.0, 0.4]))] = 0.0
    y = rng.standard_normal((n, t)) + draw(st.sampled_from([0.0, 100.0]))
    columns = [np.empty((n, 0)), np.ones((n, 1))]
    if n >= 8 and (weight > 0.0).sum() >= 5:
        columns.append(np.column_stack([np.ones(n), rng.standard_normal(n)]))
    return X, y, weight, draw(st.sampled_from(columns))


def agree(gram, K, y, weight, B):
    path = Path(gram, y, weight, B)
    for alpha, residuals in zip(ALPHAS, path.leave_one_out(ALPHAS), strict=True):
        expected = np.array([y[i] - refitted(K, y, weight, B, alpha, i) for i in range(len(y))])
        np.testing.assert_allclose(residuals, expected, rtol=AGREEMENT, atol=AGREEMENT * np.abs(y).max())
    return path


@given(data())
def test_for_a_kernel_whose_matrix_is_decomposed(case):
    X, y, weight, B = case
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    assert not agree(DenseGram(K), K, y, weight, B).uses_features


@given(data())
def test_for_a_kernel_whose_features_are_decomposed(case):
    X, y, weight, B = case
    X = X[:, : len(X) // 2]
    gram = FeatureGram(Linear().feature_map(X), as_points(X), Linear().proof())
    assert agree(gram, X @ X.T, y, weight, B).uses_features


@given(data(), st.permutations([0.01, 0.5, 3.0]))
def test_for_a_penalty_of_each_target(case, alphas):
    X, y, weight, B = case
    alpha = np.array(alphas[: y.shape[1]])
    path = Path(DenseGram(np.exp(-np.abs(X[:, None] - X[None]).sum(axis=2))), y, weight, B)
    together = path.leave_one_out_at(alpha)
    for target, own in enumerate(alpha):
        (alone,) = path.leave_one_out(np.array([own]))
        np.testing.assert_allclose(together[:, target], alone[:, target], rtol=1e-9, atol=1e-9 * np.abs(y).max())
