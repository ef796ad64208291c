"""The values of Python functions given as kernels, checked: real numbers, one for each pair."""

from collections.abc import Callable
from typing import Any, SupportsFloat

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import InvalidInput, NotFinite
from mercer.notation import function_name
from mercer.points.base import Points
from mercer.points.given import Given

__all__ = ["FORMS", "given_values", "real_values"]

Array = npt.NDArray[np.float64]

_AS_MATRIX = (
    'For a function of two collections of points that gives a matrix, use Custom(fn, because="…", form="matrix").'
)
_AS_PAIR = 'For a function of two points that gives a number, use Custom(fn, because="…", form="pair").'


def _pairs(fn: Callable[..., Any], left: Any, right: Any, shape: tuple[int, int]) -> Array:
    out = np.empty(shape)
    points = _each(right)
    for i, x in enumerate(_each(left)):
        for j, z in enumerate(points):
            value = fn(x, z)
            # Python's floats, which NumPy's are as well, need no second look.
            out[i, j] = value if isinstance(value, float) else _number(fn, value)
    return out


def _each(collection: Any) -> Any:
    """The points of a collection, one by one; of a table dicts from the names of its columns to values."""
    if not isinstance(collection, dict):
        return collection
    names = tuple(collection)
    return [dict(zip(names, row, strict=True)) for row in zip(*collection.values(), strict=True)]


def _number(fn: Callable[..., Any], value: object) -> float:
    is_real = isinstance(value, SupportsFloat) and not isinstance(value, np.complexfloating)
    if isinstance(value, np.ndarray):
        is_real = value.ndim == 0 and value.dtype.kind in "biuf" and value is not np.ma.masked
    try:
        if is_real:
            return float(value)  # type: ignore[arg-type]  # what supports it
    except (TypeError, ValueError):
        pass
    except OverflowError:
        return float("inf")  # which is named by its row and column
    raise InvalidInput(
        f"The function {function_name(fn)} must return one number for two points.",
        f"It gave {value!r}.",
        "A kernel is real." if isinstance(value, complex | np.complexfloating) else _AS_MATRIX,
    )


def _matrix(fn: Callable[..., Any], left: Any, right: Any, shape: tuple[int, int]) -> Array:
    values = real_values(fn(left, right), f"The function {function_name(fn)}")
    if values.shape != shape:
        raise InvalidInput(
            f"The function {function_name(fn)} must return a matrix of shape {shape} for these points.",
            f"It gave shape {values.shape}.",
            _AS_PAIR,
        )
    return np.ascontiguousarray(values)


def real_values(found: object, owner: str) -> Array:
    """What a function gave, as an array of real numbers, or an error that says what it is instead."""
    if sp.issparse(found):
        found = found.toarray()  # type: ignore[attr-defined]  # scipy.sparse carries no types
    if isinstance(found, np.ma.MaskedArray) and np.ma.getmaskarray(found).any():
        raise InvalidInput(f"{owner} must give numbers.", "It gave masked (missing) values.", "Fill them.")
    try:
        array = np.asarray(found)
    except ValueError:
        raise InvalidInput(f"{owner} must give numbers.", "It gave rows that differ in length.") from None
    if array.dtype.kind == "c":
        raise InvalidInput(f"{owner} must give real numbers.", f"It gave {array.dtype}.", "A kernel is real.")
    is_text = array.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in array.flat)
    try:
        if array.dtype.kind in "biufO" and not is_text:
            return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise InvalidInput(f"{owner} must give numbers.", "It gave an integer beyond float64.") from None
    raise InvalidInput(f"{owner} must give numbers.", f"It gave an array of {array.dtype}.")


def given_values(fn: Callable[..., Any], points: Points, basis: Given) -> Array:  # (len(points), len(basis))
    """The values of a function given as kernel, called once with whole collections as scikit-learn does, checked."""
    values = real_values(fn(points.raw(), basis.collection), "The function given as kernel")
    shape = (len(points), basis.count)
    if values.shape != shape:
        raise InvalidInput(
            f"The function given as kernel must return a matrix of shape {shape} here.",
            f"It returned shape {values.shape}.",
            "Take two collections of points and return all their kernel values; a function of two points is "
            'Custom(fn, because="…").',
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise NotFinite(
            "The function given as kernel must return finite numbers.",
            f"Its value for the points {i} and {j} is {values[i, j]}.",
        )
    return values if basis.rows is None else values[:, basis.rows]


FORMS: dict[str, Callable[[Callable[..., Any], Any, Any, tuple[int, int]], Array]] = {
    "pair": _pairs,
    "matrix": _matrix,
}
