"""What is too large for float64: said before LAPACK would say it, or nothing at all would."""

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, NotFinite

__all__ = ["refuse_infinite", "refuse_large_kernel", "refuse_large_targets"]

Array = npt.NDArray[np.float64]

# Squares of numbers below this, summed, are numbers.
LARGEST = 1e140


def refuse_large_kernel(diagonal: Array) -> None:
    """No number of a Gram matrix is larger than the largest k(x, x)."""
    largest = float(np.asarray(diagonal).max(initial=0.0))
    if not largest < LARGEST:
        raise NotFinite(
            "The values of the kernel are too large to compute with.",
            f"The largest k(x, x) is {largest:.3g}; it must be below {LARGEST:g}.",
            "Scale the data, or the kernel.",
        )


def refuse_large_targets(y: Array) -> None:
    """Of any loss."""
    largest = float(np.abs(y).max(initial=0.0))
    if not largest < LARGEST:
        raise InvalidInput(
            "The targets are too large to compute with.",
            f"The largest is {largest:.3g}; they must be below {LARGEST:g}.",
            "Scale the targets.",
        )


def refuse_infinite(coef: Array) -> None:
    """Coefficients overflow where targets are divided by a tiny penalty."""
    if not np.isfinite(coef).all():
        raise InvalidInput(
            "The coefficients are too large for float64.",
            f"{int((~np.isfinite(coef)).sum())} of {coef.size} are not finite.",
            "Raise alpha or lower C, or scale the targets, the weights or the data.",
        )
