"""Targets and weights: the only place where y and sample_weight are checked."""

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, column_or_1d

from mercer.errors import InvalidInput
from mercer.points.vectors import refuse_masked

__all__ = ["kept_rows", "real_targets", "single_target", "weights"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


def real_targets(y: Any, n: int) -> tuple[Array, bool]:
    """Regression targets as a float64 matrix of shape (n, t), and whether they were one-dimensional."""
    if y is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", "", "Pass one number per row of X."
        )
    refuse_masked(y, "y")
    values = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
    if values.dtype.kind not in "buif":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput("y must hold real numbers.", f"Its dtype is {values.dtype}.") from error
        except OverflowError as error:
            raise InvalidInput("y must hold finite numbers.", "An integer in it is beyond float64.") from error
    if values.ndim not in (1, 2):
        raise InvalidInput("y must have one or two axes.", f"Got shape {values.shape}.")
    _same_length("y", len(values), n)
    if values.ndim == 2 and values.shape[1] == 0:
        raise InvalidInput("y must have at least one column.", f"Got shape {values.shape}.")
    return values.astype(np.float64, copy=False).reshape(n, -1), values.ndim == 1


def single_target(y: Any, n: int) -> Array:
    """One regression target as n float64 numbers; a column is taken as such with scikit-learn's warning."""
    targets, is_flat = real_targets(y, n)
    return targets[:, 0] if is_flat else np.asarray(column_or_1d(targets, warn=True))


def weights(sample_weight: Any, n: int) -> Array:
    """Sample weights as n float64 numbers ≥ 0, not all zero; None means 1 for all rows, a number that number."""
    values = _numbers(sample_weight, n)
    if (values < 0.0).any():
        row = int(np.argmin(values))
        raise InvalidInput("Negative values in sample_weight.", f"sample_weight[{row}] is {values[row]:.6g}.")
    if not values.any():
        raise InvalidInput("All sample weights are zero.", "", "Give at least one row a weight above 0.")
    return values


def kept_rows(sample_weight: Any, n: int) -> tuple[Array, Index]:
    """Sample weights, and the rows whose weight is above 0: LIBSVM leaves out the others, negative ones too."""
    values = _numbers(sample_weight, n)
    kept = np.flatnonzero(values > 0.0)
    if not kept.size:
        raise InvalidInput(
            "Invalid input - all samples have zero or negative weights.", "", "Give some row a weight above 0."
        )
    return values, kept


def _numbers(sample_weight: Any, n: int) -> Array:
    if sample_weight is None:
        return np.ones(n)
    refuse_masked(sample_weight, "sample_weight")
    try:
        if isinstance(sample_weight, Real):
            sample_weight = np.full(n, float(sample_weight))
        values = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    except OverflowError as error:
        raise InvalidInput("sample_weight must hold finite numbers.", "An integer in it is beyond float64.") from error
    if values.ndim != 1:
        raise InvalidInput("Sample weights must be 1D array or scalar.", f"Got shape {values.shape}.")
    _same_length("sample_weight", len(values), n)
    return np.asarray(values)


def _same_length(name: str, length: int, n: int) -> None:
    if length != n:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, {name} has {length}."
        )
