"""The works of the engine's rows: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import data
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Task

if TYPE_CHECKING:
    import mercer

Array = np.ndarray[Any, Any]
SAMPLE = 50
BLOCK = 2000


def squared_distances(X: Any, Z: Any) -> Array:
    """In float64 and by differences where the rows are dense, so that nothing cancels."""
    if sp.issparse(X):
        norms = [np.asarray(A.multiply(A).sum(axis=1)).ravel() for A in (X, Z)]
        return np.asarray(norms[0][:, None] + norms[1] - 2.0 * (X @ Z.T).toarray())
    X, Z = X.astype("float64"), Z.astype("float64")
    return np.stack([((x - Z) ** 2).sum(axis=1) for x in X])


def rbf(X: Any, Z: Any) -> Array:
    return np.asarray(np.exp(-squared_distances(X, Z) / X.shape[1]))


def mixture(X: Array, Z: Array) -> Array:
    D = squared_distances(X, Z)
    r = np.sqrt(3.0 * D)
    return np.asarray(0.7 * np.exp(-D / 2.0) + (X.astype("float64") @ Z.T.astype("float64")) * (1.0 + r) * np.exp(-r))


# Formulas in mercer's words and in plain NumPy. The Gaussian has gamma = 1/d, that is a length scale of sqrt(d / 2).
FORMULAS: dict[str, tuple[Callable[[int], str], Callable[[Any, Any], Array]]] = {
    "rbf": (lambda d: f"RBF({(d / 2.0) ** 0.5!r})", rbf),
    "mixture": (lambda _: "0.7 * RBF() + Linear() * Matern(1.5)", mixture),
}


def mercer_kernel(formula: str, d: int) -> "mercer.Kernel":
    import mercer

    kernel = mercer.parse(FORMULAS[formula][0](d))
    assert isinstance(kernel, mercer.Kernel)
    return kernel


def product_error(plain: Callable[[Any, Any], Array], X: Any, Z: Any, v: Array) -> Callable[[Any], float]:
    """Error of a product K @ v on some rows, against plain float64."""
    rows = np.linspace(0, X.shape[0] - 1, SAMPLE).astype(int)

    def error(result: Any) -> float:
        return relative(plain(X[rows], Z) @ v.astype("float64"), np.asarray(result).reshape(-1)[rows])

    return error


def gemm(n: int, dtype: str) -> Task:
    """NumPy's matrix product: what this machine can do."""
    A, B = (data.normal(n, n, dtype, seed) for seed in (1, 2))
    return Task(lambda: A @ B)


def _dense(n: int, d: int, dtype: str, symmetric: bool) -> tuple[Array, Array, Array]:
    X = data.normal(n, d, dtype, 1)
    Z = X if symmetric else data.normal(n, d, dtype, 2)
    return X, Z, data.normal(n, 1, dtype, 3)[:, 0]


def mercer_product(formula: str, n: int, d: int, dtype: str, symmetric: bool) -> Task:
    import mercer

    X, Z, v = _dense(n, d, dtype, symmetric)
    kernel, plain = mercer_kernel(formula, d), FORMULAS[formula][1]

    def run() -> Any:
        return (mercer.gram(kernel, X) if symmetric else mercer.gram(kernel, X, Z)) @ v

    return Task(run, product_error(plain, X, Z, v), allowance=X.nbytes if symmetric else X.nbytes + Z.nbytes)


def sklearn_product(n: int, d: int, dtype: str) -> Task:
    from sklearn.metrics.pairwise import rbf_kernel

    X, _, v = _dense(n, d, dtype, symmetric=True)
    return Task(lambda: rbf_kernel(X, gamma=1.0 / d) @ v, product_error(rbf, X, X, v))


def keops_product(n: int, d: int, dtype: str) -> Task:
    from pykeops.numpy import LazyTensor

    X, _, v = _dense(n, d, dtype, symmetric=True)

    def product(X: Array, v: Array) -> Any:
        x, z = LazyTensor(X[:, None, :]), LazyTensor(X[None, :, :])
        return (-((x - z) ** 2).sum(-1) * (1.0 / d)).exp() @ v[:, None]

    product(X[:10], v[:10])  # compiles
    return Task(lambda: product(X, v), product_error(rbf, X, X, v))


def _stored_error(X: Array) -> Callable[[Any], float]:
    rows = np.linspace(0, len(X) - 1, SAMPLE).astype(int)
    return lambda K: relative(rbf(X[rows], X), K[rows])


def mercer_stored(n: int, d: int, dtype: str) -> Task:
    X, kernel = data.normal(n, d, dtype, 1), mercer_kernel("rbf", d)
    return Task(lambda: kernel(X), _stored_error(X))


def sklearn_stored(n: int, d: int, dtype: str) -> Task:
    from sklearn.metrics.pairwise import rbf_kernel

    X = data.normal(n, d, dtype, 1)
    return Task(lambda: rbf_kernel(X, gamma=1.0 / d), _stored_error(X))


def _sparse(name: str, rows: int) -> tuple[Any, Array, str]:
    loaded = data.load(name)
    X = sp.csr_matrix(loaded.X)[:rows]
    return X, data.normal(X.shape[0], 1, "float64", 3)[:, 0], loaded.source


def mercer_sparse(name: str, rows: int) -> Task:
    import mercer

    X, v, source = _sparse(name, rows)
    kernel = mercer_kernel("rbf", X.shape[1])
    # Beyond what is measured here, up to three times the rows' own bytes may be used.
    allowance = 3 * (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return Task(lambda: mercer.gram(kernel, X) @ v, product_error(rbf, X, X, v), allowance, source)


def sklearn_sparse(name: str, rows: int) -> Task:
    """In blocks of rows: at once, the product of the sparse matrices alone would not fit into memory."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, v, source = _sparse(name, rows)
    starts = range(0, X.shape[0], BLOCK)

    def run() -> Array:
        return np.concatenate([rbf_kernel(X[i : i + BLOCK], X, gamma=1.0 / X.shape[1]) @ v for i in starts])

    return Task(run, product_error(rbf, X, X, v), source=source)
