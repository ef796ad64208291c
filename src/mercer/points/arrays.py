"""Arrays: one array of numbers per point, for kernels of images and of bags."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points.base import Domain, Selection, as_selection, found_none, read_only
from mercer.points.vectors import Vectors, refuse_masked

__all__ = ["Arrays"]

Numbers = NDArray[np.floating[Any]]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Arrays:
    """Points that are arrays of real numbers, of two or more dimensions: images, or bags of vectors.

    The numbers become float32 where all of them are, else float64. What the dimensions mean is for kernels to say.

    Parameters
    ----------
    X : array-like of three or more dimensions, or list of arrays
        One array per point, at least one; in a list, their shapes may differ.
    name : str
        The argument's name in messages.

    Attributes
    ----------
    values : tuple of ndarray
        One for each point, read-only.

    Examples
    --------
    >>> X = Arrays([[[1, 2], [3, 4]], [[5, 6]]])
    >>> X
    Arrays(2, of shapes 2 x 2 to 1 x 2)
    >>> X.take([1]).raw()
    [array([[5., 6.]])]
    """

    domain: ClassVar[Domain] = Domain.ARRAYS
    values: tuple[Numbers, ...]

    def __init__(self, X: Any, name: str = "X") -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(
                f"Input {name} is not a list of arrays.", f"Got a {type(X).__name__}.", "Pass a list, one per point."
            )
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        object.__setattr__(self, "values", _whole(X, name) if isinstance(X, np.ndarray) else _each(X, name))

    @classmethod
    def _trusted(cls, values: tuple[Numbers, ...]) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "values", tuple(map(read_only, values)))
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[tuple[Numbers, ...]]]:
        return (self._trusted, (self.values,))

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self.values[0].dtype if self.values else np.dtype(np.float64)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        shapes = [" x ".join(map(str, shape)) for shape in dict.fromkeys(value.shape for value in self.values)]
        if len(shapes) < 2:
            return f"Arrays({len(self)}, of shape {''.join(shapes)})"
        return f"Arrays({len(self)}, of shapes {shapes[0]} to {shapes[-1]})"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        index = as_selection(rows, len(self))
        places = range(*index.indices(len(self))) if isinstance(index, slice) else index.tolist()
        return self._trusted(tuple(self.values[place] for place in places))

    def raw(self) -> list[Numbers]:
        """The arrays in a list."""
        return list(self.values)


def _whole(X: NDArray[Any], name: str) -> tuple[Numbers, ...]:
    """An array of arrays, checked at once."""
    if X.dtype == np.object_ and X.ndim == 1:
        return _each(list(X), name)
    if X.ndim < 3:
        raise DomainMismatch(
            f"Input {name} is not a list of arrays.", f"Got an array of shape {X.shape}.",
            "Pass an array of at least three dimensions, or a list of arrays of at least two.",
        )  # fmt: skip
    if X[0].size == 0:
        raise found_none(name, "feature", X.shape)
    refuse_masked(X, name)
    if not _is_finite(X):
        return _each(list(X), name)
    numbers = _numbers(X.reshape(len(X), -1), name).reshape(X.shape)
    return tuple(map(read_only, numbers))


def _each(X: Sequence[Any], name: str) -> tuple[Numbers, ...]:
    found = [_one(value, f"{name}[{row}]") for row, value in enumerate(X)]
    kinds = {value.dtype for value in found if value.size}
    dtype = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
    return tuple(read_only(value.astype(dtype, copy=False)) for value in found)


def _one(value: Any, name: str) -> Numbers:
    """One array; that of an empty bag may be written []."""
    refuse_masked(value, name)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInput(
            f"{name} is ragged: its rows differ in length.", "", "Pass an array of two or more dimensions."
        ) from error
    if array.size == 0:
        return np.empty(array.shape if array.ndim >= 2 else (0, 0))
    if array.ndim < 2:
        raise InvalidInput(
            f"{name} is not an array of two or more dimensions.",
            f"Its shape is {array.shape}.",
            "Of a bag with one part, pass a list of one row: [[1.0, 2.0]].",
        )
    return _numbers(array.reshape(len(array), -1), name).reshape(array.shape)


def _is_finite(X: NDArray[Any]) -> bool:
    return X.dtype.kind in "iub" or (X.dtype.kind == "f" and bool(np.isfinite(X).all()))


def _numbers(rows: NDArray[Any], name: str) -> Numbers:
    """The rows, real and finite, or an error that names the first that is not."""
    checked = Vectors(rows, name).dense
    assert checked is not None  # an array is dense
    return checked
