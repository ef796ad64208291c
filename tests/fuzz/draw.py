"""Random small data: of all sizes and scales, with ties, constants and weights that users bring."""

from typing import Any

import numpy as np
import scipy.sparse as sp

MOST_ROWS = 60


def rows(rng: np.random.Generator, most: int = MOST_ROWS) -> Any:
    """A matrix of 1 to 60 rows and 1 to 6 columns."""
    n, d = 1 + int((most - 1) * rng.random() ** 1.5), int(rng.integers(1, 7))
    X = rng.standard_normal((n, d))
    for change, chance in (
        (_rounded, 0.2),
        (_repeated, 0.2),
        (_with_constant, 0.15),
        (_unscaled, 0.15),
        (_moved, 0.1),
        (_rescaled, 0.1),
        (np.zeros_like, 0.02),
    ):
        if rng.random() < chance:
            X = change(X) if change is np.zeros_like else change(X, rng)
    return X


def _rounded(X: Any, rng: np.random.Generator) -> Any:
    return np.round(X * float(rng.choice([1.0, 2.0])))


def _repeated(X: Any, rng: np.random.Generator) -> Any:
    return X[rng.integers(0, max(1, len(X) // 3), len(X))]


def _with_constant(X: Any, rng: np.random.Generator) -> Any:
    return np.column_stack([X, np.full(len(X), rng.choice([0.0, 1.0, -7.3, 1e6]))])


def _unscaled(X: Any, rng: np.random.Generator) -> Any:
    return X * 10.0 ** rng.uniform(-4.0, 4.0, X.shape[1])


def _moved(X: Any, rng: np.random.Generator) -> Any:
    return X + 10.0 ** rng.uniform(0.0, 5.0, X.shape[1])


def _rescaled(X: Any, rng: np.random.Generator) -> Any:
    return X * 10.0 ** rng.uniform(-8.0, 8.0)


def new_rows(rng: np.random.Generator, X: Any, m: int = 5) -> Any:
    """Rows near those of X, and one that is among them."""
    near = X[rng.integers(0, len(X), m)] + rng.standard_normal((m, X.shape[1])) * X.std(axis=0)
    return np.vstack([near, X[:1]])


def typical_distance(X: Any) -> float:
    """Between two different rows; 1 where all are the same."""
    found = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    return float(np.median(found[found > 0.0])) if (found > 0.0).any() else 1.0


def targets(rng: np.random.Generator, X: Any) -> Any:
    """Noise, a function, steps or a constant; now and then of another scale."""
    n = len(X)
    kinds = (
        lambda: rng.standard_normal(n),
        lambda: np.sin(X[:, 0] / typical_distance(X)) + 0.1 * rng.standard_normal(n),
        lambda: rng.integers(0, 3, n).astype(float),
        lambda: np.full(n, rng.choice([0.0, 1.0, -3.3])),
    )
    y = kinds[rng.choice(4, p=[0.3, 0.45, 0.2, 0.05])]()
    return y * 10.0 ** rng.uniform(-8.0, 8.0) if rng.random() < 0.1 else y


def labels(rng: np.random.Generator, X: Any, most: int = 2) -> Any:
    """Classes 0, 1, …: noise, or halves with some errors."""
    n, k = len(X), 2 if rng.random() < 0.6 else int(rng.integers(2, most + 1))
    if rng.random() < 0.3:
        return rng.integers(0, k, n)
    order = np.argsort(np.argsort(X[:, 0] + 1e-9 * np.arange(n)))
    y = order * k // n
    wrong = rng.random(n) < rng.choice([0.0, 0.1])
    return np.where(wrong, rng.integers(0, k, n), y)


def weights(rng: np.random.Generator, n: int) -> Any:
    """None, or numbers ≥ 0 with a sum above 0: even, with zeros, or of many powers of ten."""
    form = rng.random()
    if form < 0.6:
        return None
    w = rng.uniform(0.5, 2.0, n)
    if form < 0.75:
        w[rng.random(n) < 0.3] = 0.0
    elif form < 0.85:
        w *= 10.0 ** rng.uniform(-6.0, 6.0, n)
    if not w.any():
        w[:] = 1.0
    return w


def power(rng: np.random.Generator, usual: tuple[float, float], far: tuple[float, float]) -> float:
    """Ten to a power between the usual ends, and now and then between those that are far."""
    low, high = usual if rng.random() < 0.8 else far
    return float(10.0 ** rng.uniform(low, high))


def as_given(rng: np.random.Generator, X: Any, Z: Any) -> tuple[Any, Any]:
    """The same rows as a user may have them: an array (of either order), lists, or sparse."""
    form = rng.random()
    if form < 0.15:
        return sp.csr_matrix(X), sp.csr_matrix(Z)
    if form < 0.2:
        return sp.csc_array(X), sp.coo_array(Z)
    if form < 0.25:
        return X.tolist(), Z.tolist()
    if form < 0.35:
        return np.asfortranarray(X), Z
    return X, Z
