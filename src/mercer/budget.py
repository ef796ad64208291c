"""The memory budget: what would not fit is refused before anything is allocated."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.errors import TooLarge

__all__ = ["CACHED", "empty_on_a_line", "in_bytes", "memory_there", "refuse_too_large", "row_blocks"]

# Numbers that a dense tile may hold; and what is worked on several times over, which should stay in the cache.
TILE = 1 << 22
CACHED = 1 << 16
# Bytes of a line of the cache.
LINE = 64
# Of the memory that is free, what one result may take: its maker needs room to work in, and so does its user.
SHARE = 0.8


def memory_there() -> int:
    """Bytes that one result may take."""
    return int(SHARE * _core.available_memory())


def in_bytes(count: float) -> str:
    """A number of bytes as people read it.

    Examples
    --------
    >>> in_bytes(1536), in_bytes(80e9)
    ('1.5 KB', '74.5 GB')
    """
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.4g} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TB"


def refuse_too_large(n_bytes: int, what: str, attempt: str) -> None:
    """Raise `TooLarge` when `n_bytes` is more than there is.

    Parameters
    ----------
    n_bytes : int
        The bytes asked for.
    what : str
        What they are for: "The Gram matrix of 200000 points".
    attempt : str
        What to do instead.
    """
    there = memory_there()
    if n_bytes > there:
        raise TooLarge(f"{what} would take {in_bytes(n_bytes)}.", f"There are {in_bytes(there)} for it.", attempt)


def row_blocks(n: int, numbers: int, most: int = TILE) -> Iterator[slice]:
    """Blocks of n rows, each row of so many numbers, that hold a bounded number of them."""
    step = max(1, most // max(numbers, 1))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))


def empty_on_a_line(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array whose first number begins a line of the cache, which lets the engine write past the caches."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    room = np.empty(size + LINE // kind.itemsize, dtype=kind)
    first = -room.ctypes.data % LINE // kind.itemsize
    return room[first : first + size].reshape(shape)
