"""Targets and weights: the only place where y and sample_weight are looked at."""

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from mercer.errors import InvalidInput

__all__ = ["real_targets", "weights"]

Array = npt.NDArray[np.float64]


def real_targets(y: Any, n: int) -> tuple[Array, bool]:
    """Regression targets as a float64 matrix of shape (n, t), and whether they came without a second axis."""
    if y is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", "", "Pass one number per row of X."
        )
    values = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if values.dtype.kind not in "buif":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput("y must hold real numbers.", f"Its dtype is {values.dtype}.") from error
    if values.ndim > 2:
        raise InvalidInput("y must have one or two axes.", f"Got shape {values.shape}.")
    _same_length("y", len(values), n)
    if values.ndim == 2 and values.shape[1] == 0:
        raise InvalidInput("y must have at least one column.", f"Got shape {values.shape}.")
    return values.astype(np.float64, copy=False).reshape(n, -1), values.ndim == 1


def weights(sample_weight: Any, n: int) -> Array:
    """Sample weights as n float64 numbers ≥ 0, not all zero; None is a weight of 1, a number the weight of all."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    values = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if values.ndim != 1:
        raise InvalidInput("Sample weights must be 1D array or scalar.", f"Got shape {values.shape}.")
    _same_length("sample_weight", len(values), n)
    if (values < 0.0).any():
        row = int(np.argmin(values))
        raise InvalidInput("Negative values in sample_weight.", f"sample_weight[{row}] is {values[row]:.6g}.")
    if not values.any():
        raise InvalidInput("All sample weights are zero.", "", "Give some row a weight above 0.")
    return np.asarray(values)


def _same_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, {name} has {length}."
        )
