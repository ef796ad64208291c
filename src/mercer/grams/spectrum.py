"""Extreme eigenvalues of a Gram matrix, for messages about conditioning."""

import numpy as np
import scipy.linalg

from mercer.grams.base import Gram
from mercer.kernels.lanczos import lanczos

__all__ = ["extremes"]

# Up to this many rows all eigenvalues are computed; beyond, Lanczos.
SPECTRUM_ROWS = 1_000


def extremes(gram: Gram) -> tuple[float, float]:
    """The smallest and largest eigenvalue; beyond 1000 rows estimates from inside the spectrum."""
    n = gram.shape[0]
    if n <= SPECTRUM_ROWS:
        eigenvalues = scipy.linalg.eigvalsh(np.asarray(gram.dense(), dtype=np.float64))
        return float(eigenvalues[0]), float(eigenvalues[-1])
    ends = lanczos(lambda v: gram @ v, np.random.default_rng(0).standard_normal(n))
    return ends.smallest, ends.largest
