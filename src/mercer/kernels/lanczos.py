"""Both ends of a spectrum from products with the matrix alone."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg

__all__ = ["Ends", "lanczos"]

Array = npt.NDArray[np.float64]

# Without restarts: the cost is known in advance, and there is always an answer.
STEPS = 60


class Ends(NamedTuple):
    """The extreme Ritz pairs: Rayleigh quotients of unit vectors, so never outside the spectrum."""

    smallest: float
    lowest: Array  # (n,)
    largest: float
    highest: Array  # (n,)


def lanczos(multiply: Callable[[Array], Array], start: Array, steps: int = STEPS) -> Ends:
    """Extreme eigenvalues of a symmetric matrix, estimated from inside the spectrum by at most `steps` products.

    The Lanczos process with full reorthogonalisation, without restarts.

    Parameters
    ----------
    multiply : callable (v) -> K v
        The matrix.
    start : ndarray of shape (n,)
        The first vector, not zero.
    steps : int
        The most products to make.

    Examples
    --------
    >>> import numpy as np
    >>> ends = lanczos(lambda v: np.array([1.0, 2.0, 5.0]) * v, np.ones(3))
    >>> round(ends.smallest, 6), round(ends.largest, 6)
    (1.0, 5.0)
    """
    n = len(start)
    basis = np.zeros((min(steps, n), n))
    diagonal: list[float] = []
    beside: list[float] = []
    q = start / np.linalg.norm(start)
    for step in range(len(basis)):
        basis[step] = q
        w = multiply(q)
        diagonal.append(float(q @ w))
        known = basis[: step + 1]
        for _ in range(2):  # once leaves rounding that grows into copies of eigenvalues already found
            w = w - known.T @ (known @ w)
        norm = float(np.linalg.norm(w))
        if norm <= np.finfo(np.float64).eps * max(abs(value) for value in (*diagonal, *beside, 0.0)):
            break  # the Krylov space is exhausted
        beside.append(norm)
        q = w / norm
    size = len(diagonal)
    values, vectors = scipy.linalg.eigh_tridiagonal(np.array(diagonal), np.array(beside[: size - 1]))
    lowest, highest = (basis[:size].T @ vectors[:, end] for end in (0, -1))
    return Ends(float(values[0]), lowest / np.linalg.norm(lowest), float(values[-1]), highest / np.linalg.norm(highest))
