"""How far a result is from what it should be: one measure for all contestants."""

from typing import Any

import numpy as np


def relative(expected: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> float:
    """Return the largest difference, over the largest value expected."""
    if expected.shape != got.shape:
        raise ValueError(f"a result of shape {got.shape} cannot be compared with {expected.shape}")
    return float(np.abs(got - expected).max() / np.abs(expected).max())
