"""Class labels: the only place where the y of a classifier is checked."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.points.vectors import refuse_masked

__all__ = ["class_factors", "class_labels", "class_weights"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


def class_labels(y: Any, n: int) -> tuple[npt.NDArray[Any], Index]:
    """The distinct labels, sorted, and the index of each row's label."""
    if y is None:
        raise InvalidInput(
            "This estimator requires y to be passed, but the target y is None.", "", "Pass one label per row of X."
        )
    refuse_masked(y, "y")
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU":
        values = y  # labels may be anything: nothing to check
    else:
        values = check_array(y, ensure_2d=False, dtype=None, input_name="y", ensure_min_samples=0)
        values = column_or_1d(values, warn=True)
        check_classification_targets(values)
    if len(values) != n:
        raise InvalidInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, y has {len(values)}."
        )
    classes, index = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInput(
            "A classifier needs samples of at least 2 classes.",
            f"The data contains only one class: {shown(classes[0])}.",
        )
    return classes, index.reshape(-1)


def class_weights(class_weight: Any, classes: npt.NDArray[Any], index: Index, weight: Array) -> Array:  # (n,)
    """Sample weights times the weights of their classes."""
    found = weight * class_factors(class_weight, classes, index, weight)[index]
    empty = classes[np.bincount(index, weights=found, minlength=len(classes)) == 0.0].tolist()
    if empty:
        raise InvalidInput(
            "Every class needs a sample with a positive weight.",
            f"Class {shown(empty[0])} has none.",
            "Leave its rows out, or give them a weight.",
        )
    return np.asarray(found)


def class_factors(class_weight: Any, classes: npt.NDArray[Any], index: Index, weight: Array) -> Array:  # (classes,)
    """The weight of each class.

    "balanced" gives every class the same sum, n/(number of classes) with weights of 1, and counts a weight as copies.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(index, weights=weight, minlength=len(classes))
        balanced = np.divide(weight.sum(), len(classes) * sums, out=np.zeros(len(classes)), where=sums > 0.0)
        return np.asarray(balanced)
    if isinstance(class_weight, dict):
        known = classes.tolist()
        unknown = [label for label in class_weight if label not in known]
        if unknown:
            raise InvalidParameter(
                "class_weight names classes that are not in y.",
                f"They are {shown(unknown)}.",
                f"The classes are {known}.",
            )
        try:
            each = np.array([float(class_weight.get(label, 1.0)) for label in known])
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(
                "The weights of class_weight must be numbers.", f"Got {shown(class_weight)}."
            ) from error
        if not (np.isfinite(each) & (each >= 0.0)).all():
            raise InvalidParameter("The weights of class_weight must be numbers ≥ 0.", f"Got {shown(class_weight)}.")
        return each
    raise InvalidParameter(
        'class_weight must be a dict, "balanced" or None.', f"Got {class_weight!r}.", "Map labels to weights."
    )
