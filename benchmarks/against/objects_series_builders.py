"""The works of the rows of series: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness.rows import Task

SAMPLE = 4
Array = np.ndarray[Any, Any]


def walks(n: int, length: int, channels: int) -> Array:
    """Random walks that end about 1 away from where they begin."""
    steps = np.random.default_rng(0).normal(size=(n, length, channels))
    return np.asarray(steps.cumsum(axis=1) / np.sqrt(length * channels))


def judged(run: Callable[[], Any], X: Array, pair: Callable[[Array, Array], float]) -> Task:
    """A run that returns a Gram matrix; its error is against the definition, on a few rows."""

    def error(K: Any) -> float:
        chosen = np.linspace(0, len(X) - 1, SAMPLE).astype(int)
        exact = np.array([[pair(X[i], X[j]) for j in chosen] for i in chosen])
        return float(np.abs(np.asarray(K)[np.ix_(chosen, chosen)] - exact).max() / np.abs(exact).max())

    return Task(run, error, source="made")


SIGMA = 1.0


def alignments(x: Array, z: Array) -> Any:
    """The sum over all alignments, in long double."""
    square = ((x[:, None, :] - z[None, :, :]) ** 2).sum(axis=2).astype(np.longdouble)
    r = np.exp(-square / (2.0 * SIGMA**2))
    above = [np.longdouble(1.0)] + [np.longdouble(0.0)] * len(z)
    for row in r / (2.0 - r):
        here = [np.longdouble(0.0)]
        for b, c in enumerate(row):
            here.append(c * (above[b] + above[b + 1] + here[b]))
        above = here
    return above[-1]


def cosine(x: Array, z: Array) -> float:
    return float(alignments(x, z) / np.sqrt(alignments(x, x) * alignments(z, z)))


def mercer_alignment(n: int, length: int) -> Task:
    import mercer

    X = walks(n, length, 1)
    kernel = mercer.GlobalAlignment(SIGMA).normalised()
    return judged(lambda: kernel(X), X, cosine)


def tslearn_alignment(n: int, length: int) -> Task:
    metrics = importlib.import_module("tslearn.metrics")
    X = walks(n, length, 1)
    return judged(lambda: metrics.cdist_gak(X, sigma=SIGMA, n_jobs=-1), X, cosine)


def recursion(x: Array, Z: Array, order: int) -> Array:
    """The signature kernel of one series and many of one length, one pair of steps after the other."""
    g = np.einsum("ac,nbc->abn", np.diff(x, axis=0), np.diff(Z, axis=1))
    n = len(Z)
    K = np.ones((g.shape[1] + 1, n))
    Q = np.zeros((g.shape[1], order, n))
    for steps in g:
        P, along, above = np.zeros((order, n)), np.zeros(n), K.copy()
        for b, step in enumerate(steps):
            R = np.empty((order, order, n))
            R[0, 0] = step * above[b]
            for r in range(1, order):
                R[r, 0] = step / (r + 1) * P[r - 1]
                R[0, r] = step / (r + 1) * Q[b, r - 1]
                for s in range(1, r + 1):
                    R[r, s] = step / ((r + 1) * (s + 1)) * R[r - 1, s - 1]
                    R[s, r] = step / ((r + 1) * (s + 1)) * R[s - 1, r - 1]
            P += R.sum(axis=1)
            Q[b] += R.sum(axis=0)
            along += R.sum(axis=(0, 1))
            K[b + 1] = above[b + 1] + along
    return np.asarray(K[-1])


LEVEL = 12


def tensors(x: Array, order: int) -> list[Array]:
    """The levels of the signature, up to one beyond which they are too small to be seen."""
    width = x.shape[1]
    S = [np.ones(1)] + [np.zeros(width**m) for m in range(1, LEVEL + 1)]
    for step in np.diff(x, axis=0):
        powers = [np.ones(1)]
        for p in range(1, order + 1):
            powers.append(np.outer(powers[-1], step).ravel() / p)
        for m in range(LEVEL, 0, -1):
            for p in range(1, min(order, m) + 1):
                S[m] = S[m] + np.outer(S[m - p], powers[p]).ravel()
    return S


def tensor_pair(order: int) -> Callable[[Array, Array], float]:
    known: dict[bytes, list[Array]] = {}

    def of(x: Array) -> list[Array]:
        if x.tobytes() not in known:
            known[x.tobytes()] = tensors(x, order)
        return known[x.tobytes()]

    return lambda x, z: float(sum(a @ b for a, b in zip(of(x), of(z), strict=True)))


def mercer_signature(n: int, length: int, channels: int, order: int) -> Task:
    import mercer

    X = walks(n, length, channels)
    kernel = mercer.Signature(order=order)
    return judged(lambda: kernel(X), X, tensor_pair(order))


def numpy_signature(n: int, length: int, channels: int, order: int) -> Task:
    X = walks(n, length, channels)
    return judged(lambda: np.array([recursion(x, X, order) for x in X]), X, tensor_pair(order))
