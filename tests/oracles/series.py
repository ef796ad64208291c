"""Kernels of series from their definitions: alignments cell by cell, signatures as tensors."""

from typing import Any

import numpy as np


def alignments(x: Any, z: Any, length_scale: float, triangular: int | None) -> Any:
    """Σ Π over all alignments, in long double, which reaches further than float64."""
    if not len(x) or not len(z):
        return np.longdouble(len(x) == len(z))
    places = np.abs(np.arange(len(x))[:, None] - np.arange(len(z))[None, :])
    weight = np.maximum(0.0, 1.0 - places / triangular) if triangular else 1.0
    square = ((np.asarray(x)[:, None, :] - np.asarray(z)[None, :, :]) ** 2).sum(axis=2)
    rho = 0.5 * weight * np.exp(-square.astype(np.longdouble) / (2.0 * length_scale**2))
    above = [np.longdouble(1.0)] + [np.longdouble(0.0)] * len(z)
    for row in rho / (1.0 - rho):
        here = [np.longdouble(0.0)]
        for b, c in enumerate(row):
            here.append(c * (above[b] + above[b + 1] + here[b]))
        above = here
    return above[-1]


def signature(x: Any, level: int, order: int) -> np.ndarray:
    """The levels 0, …, `level` of the product of e(δ), one after the other."""
    width = np.shape(x)[1]
    S = [np.ones(())] + [np.zeros((width,) * m) for m in range(1, level + 1)]
    for step in np.diff(x, axis=0):
        E = [np.ones(())]
        for power in range(1, level + 1):
            E.append(np.multiply.outer(E[-1], step) / power if power <= order else np.zeros((width,) * power))
        S = [sum(np.multiply.outer(S[m - p], E[p]) for p in range(m + 1)) for m in range(level + 1)]
    return np.concatenate([np.ravel(tensor) for tensor in S])


def signatures(x: Any, z: Any, level: int | None, order: int, length_scale: float | None) -> float:
    """The inner product of two signatures, of all levels that they have where none is given."""
    if min(len(x), len(z)) < 2:
        return 1.0
    if length_scale is not None:
        # Points with the inner products that the features have.
        points = np.concatenate([x, z])
        square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        values, vectors = np.linalg.eigh(np.exp(-square / (2.0 * length_scale**2)))
        features = vectors * np.sqrt(np.maximum(values, 0.0))
        x, z = features[: len(x)], features[len(x) :]
    most = (max(len(x), len(z)) - 1) * order if level is None else level
    return float(signature(x, most, order) @ signature(z, most, order))
