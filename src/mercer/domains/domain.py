"""What a domain is, and what all of them are made with: reading values, comparing them, refusing them."""

from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidParameter, MercerError, shown

__all__ = [
    "ParameterDomain",
    "as_array",
    "comparable",
    "is_hashable",
    "is_number",
    "refusal",
]


class ParameterDomain(Protocol):
    """What a field may hold. ``text`` completes the sentence "must be …"."""

    @property
    def text(self) -> str:
        """Complete the sentence "must be …"."""

    def check(self, owner: str, name: str, value: Any) -> Any:
        """Return the canonical value, or raise naming the owner and the field."""


def is_number(value: object) -> bool:
    """True for a real scalar of Python or NumPy that is not a boolean and, if whole, not beyond every float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def refusal(
    error: type[MercerError], owner: str, name: str, value: object, text: str, attempt: str = ""
) -> MercerError:
    """The error of a value outside its domain."""
    return error(f"{name} of {owner} must be {text}.", f"Got {shown(value)}.", attempt)


def as_array(owner: str, name: str, value: object, text: str) -> npt.NDArray[np.float64]:
    """An array of numbers, read-only and in float64, or the error of the domain."""
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        raise refusal(InvalidParameter, owner, name, value, text) from None
    if found.dtype.kind not in "iuf" or np.ma.is_masked(value):  # NumPy would also read "1", True and None as numbers
        raise refusal(InvalidParameter, owner, name, value, text)
    array = np.array(found, dtype=np.float64)
    array += 0.0  # -0.0 becomes 0.0, so that equal parameters have equal bytes
    array.flags.writeable = False
    return array


def is_hashable(value: object) -> bool:
    """Whether a value has a hash; a method has none where its object has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def comparable(value: object) -> Any:
    """A value that is equal, with the same hash, if and only if the parameters are the same."""
    if isinstance(value, np.ndarray):
        return ("array", value.shape, value.tobytes())
    if isinstance(value, tuple):
        return tuple(map(comparable, value))
    if not is_hashable(value):
        return ("object", id(value))  # a callable; what holds the parameter keeps it alive
    return (type(value).__name__, value)  # 1 and 1.0 and True are different parameters
