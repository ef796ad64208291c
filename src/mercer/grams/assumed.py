"""The check before a solve: a kernel that is only assumed to be positive is tested on the data."""

import warnings
from typing import Any

import numpy as np

from mercer.errors import NotPositive, UncertifiedWarning, lay_out
from mercer.grams.base import Array, Gram
from mercer.kernels.check import check_gram, refuse_large

__all__ = ["check_assumed", "check_stored"]

# The eigenvalues of m rows cost 4m³/3, a factorisation of n rows n³/3: a third of the rows, and never more than this.
LARGEST_SAMPLE = 2_000
# Up to this many rows, all are tested.
SMALLEST_SAMPLE = 256
# Relative to the largest entry or eigenvalue. Above the rounding of any float64 kernel, below what disturbs a solver.
TOLERANCE = 1e-10


def check_stored(matrix: Array) -> None:
    """Refuse a precomputed Gram matrix that is not symmetric: no kernel machine makes sense for it.

    Raises
    ------
    NotPositive
        Naming the pair that differs most.
    """
    n, m = matrix.shape
    worst, at = 0.0, (0, 0)
    for start in range(0, n, SMALLEST_SAMPLE):  # in strips, so that the difference needs no second matrix
        strip = slice(start, start + SMALLEST_SAMPLE)
        difference = np.abs(matrix[strip] - matrix[:, strip].T)
        place = int(np.argmax(difference))
        if difference.flat[place] > worst:
            worst, at = float(difference.flat[place]), (start + place // m, place % m)
    if worst > _tolerance(n, matrix.dtype) * float(np.abs(matrix).max()):
        i, j = at
        raise NotPositive(
            "The precomputed matrix is not symmetric, so it is not the Gram matrix of a kernel.",
            f"K[{i}, {j}] is {matrix[i, j]:.6g}, but K[{j}, {i}] is {matrix[j, i]:.6g}.",
            "If the halves should agree, pass (K + K.T) / 2.",
        )


def check_assumed(gram: Gram, precision: np.dtype[Any]) -> bool:
    """Check a Gram matrix whose kernel was not derived, on a principal sample of at most 2000 rows.

    Nothing is done for a kernel whose proof rests on no assumption.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        The matrix about to be passed to a solver.
    precision : dtype
        Of the data: float32 entries are rounded ones, in whatever type they are used.

    Returns
    -------
    bool
        Whether the kernel is positive as far as was checked.

    Warns
    -----
    UncertifiedWarning
        If the sample has a negative eigenvalue. The fit continues, as in scikit-learn, but without a certificate.
    """
    if gram.proof is not None and not gram.proof.assumptions:
        return True
    n = gram.shape[0]
    size = min(n, LARGEST_SAMPLE, max(SMALLEST_SAMPLE, n // 3))
    rows = np.sort(np.random.default_rng(0).choice(n, size=size, replace=False))
    sample = gram.take(rows).dense()
    refuse_large(sample, "the kernel", "Scale the data, or the kernel.")
    report = check_gram(sample, tol=_tolerance(size, precision))
    if report.is_psd:
        return True
    warnings.warn(
        lay_out(
            "The kernel is not positive semi-definite on this data: nothing certifies the result.",
            f"On {size} of {n} rows the eigenvalues go from {report.smallest:.3g} to {report.largest:.3g}.",
            "check_gram(K) shows a witness and repairs K; a kernel that mercer derives needs no such check.",
        ),
        UncertifiedWarning,
        stacklevel=4,
    )
    return False


def _tolerance(n: int, precision: np.dtype[Any]) -> float:
    return max(TOLERANCE, n * float(np.finfo(precision).eps))
