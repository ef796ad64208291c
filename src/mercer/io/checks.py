"""What stored points are held to: a file is refused where a condition does not hold."""

from typing import Any

import numpy as np

from mercer.domains import is_hashable
from mercer.errors import BadModelFile
from mercer.points.base import is_missing

__all__ = ["check", "check_offsets", "is_item"]


def check(condition: object, what: str) -> None:
    """Refuse a file where a condition does not hold."""
    if not condition:
        raise BadModelFile(f"The model file holds {what}.")


def check_offsets(offsets: Any, count: int) -> None:
    """Whether offsets divide so many values."""
    good = isinstance(offsets, np.ndarray) and offsets.dtype == np.int64 and offsets.ndim == 1 and len(offsets) > 0
    check(good and offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == count, "offsets that are none")


def is_item(value: Any) -> bool:
    """Whether a value can be an item of a set, or a label: it has a hash, and equals itself."""
    return is_hashable(value) and (value is None or not is_missing(value))
