"""The works of the neighbours rows: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.against import direct
from benchmarks.against.ridge_builders import mercer_kernel
from benchmarks.harness import data, machine
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]
SAMPLE = 50


def rows(n: int, d: int, queries: int) -> tuple[Array, Array]:
    """Return standard normal rows, and others to ask for."""
    return data.normal(n, d, "float32", 1), data.normal(queries, d, "float32", 2)


def searching(X: Array, Z: Array, k: int, run: Callable[[], Any]) -> Task:
    """A run that returns indices; its error is the share that a sort of all distances in float64 has otherwise."""

    def error(found: Any) -> float:
        return float((direct.kept(direct.nearest, X, Z[:SAMPLE], k) != np.asarray(found)[:SAMPLE]).mean())

    return Task(run, error)


def mercer_search(n: int, d: int, queries: int, k: int) -> Task:
    import mercer

    X, Z = rows(n, d, queries)
    y = np.zeros(n)

    def run() -> Any:
        return mercer.KernelNeighborsRegressor(k, kernel=mercer_kernel(d)).fit(X, y).kneighbors(Z)[1]

    return searching(X, Z, k, run)


def sklearn_search(n: int, d: int, queries: int, k: int) -> Task:
    from sklearn.neighbors import NearestNeighbors

    X, Z = rows(n, d, queries)
    model = NearestNeighbors(n_neighbors=k, algorithm="brute")
    return searching(X, Z, k, lambda: model.fit(X).kneighbors(Z)[1])


def faiss_search(n: int, d: int, queries: int, k: int) -> Task:
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(machine.threads())
    X, Z = rows(n, d, queries)

    def run() -> Any:
        index = faiss.IndexFlatL2(d)
        index.add(X)
        return index.search(Z, k)[1]

    return searching(X, Z, k, run)


def mercer_kernel_search(n: int, d: int, k: int) -> Task:
    import mercer

    X, Z = (A.astype(float) for A in rows(n, d, n))
    y = np.zeros(n)

    def run() -> Any:
        return mercer.KernelNeighborsRegressor(k, kernel=mercer_kernel(d)).fit(X, y).kneighbors(Z)[1]

    return searching(X, Z, k, run)


def sklearn_kernel_search(n: int, d: int, k: int) -> Task:
    """All pairs, one call for each: a function has no other way."""
    from sklearn.neighbors import NearestNeighbors

    X, Z = (A.astype(float) for A in rows(n, d, n))

    def distance(x: Array, z: Array) -> float:
        gaps = x - z
        return float(np.sqrt(2.0 - 2.0 * np.exp(-(gaps @ gaps) / d)))

    model = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=distance)
    return searching(X, Z, k, lambda: model.fit(X).kneighbors(Z)[1])
