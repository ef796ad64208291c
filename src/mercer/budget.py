"""The memory budget: what would not fit is refused, before anything is allocated where that can be known."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.errors import TooLarge

__all__ = [
    "CACHED",
    "allocate",
    "available_memory",
    "empty_on_a_line",
    "in_bytes",
    "memory_there",
    "or_too_large",
    "refuse_too_large",
    "row_blocks",
]

# Numbers that a dense tile may hold; and a smaller number for data that is used repeatedly and should stay in cache.
TILE = 1 << 22
CACHED = 1 << 16
# Bytes in a cache line.
LINE = 64
# The share of free memory that one result may take: computing it needs room too, and so does using it.
SHARE = 0.8


def available_memory() -> int:
    """Bytes that the machine, its control groups and the limits of this process still have."""
    return _core.available_memory()


def memory_there() -> int:
    """Bytes that one result may take."""
    return int(SHARE * available_memory())


def in_bytes(count: float) -> str:
    """A number of bytes in readable units.

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
        How many bytes are needed.
    what : str
        What they are for: "The Gram matrix of 200000 points".
    attempt : str
        What to do instead.
    """
    there = memory_there()
    if n_bytes > there:
        raise TooLarge(_asked(n_bytes, what), f"Only {in_bytes(there)} are available.", attempt)


@contextmanager
def or_too_large(wrong: str, attempt: str) -> Iterator[None]:
    """What is done within raises `TooLarge`, with this advice, in place of a bare MemoryError."""
    try:
        yield
    except TooLarge:
        raise
    except MemoryError:
        raise TooLarge(
            wrong,
            f"The system refused an allocation, although it says that {in_bytes(available_memory())} are there.",
            attempt,
        ) from None


def allocate(
    shape: tuple[int, ...], dtype: npt.DTypeLike, what: str, attempt: str, *, n_bytes: int | None = None
) -> npt.NDArray[Any]:
    """`empty_on_a_line`, or `TooLarge`: for all that may be large.

    Parameters
    ----------
    shape, dtype
        As `numpy.empty` takes them.
    what, attempt : str
        As `refuse_too_large` takes them.
    n_bytes : int, optional
        What is asked for, where the array is not all of it.

    Examples
    --------
    >>> allocate((2, 3), float, "A small array", "Nothing.").shape
    (2, 3)
    """
    asked = math.prod(shape) * np.dtype(dtype).itemsize if n_bytes is None else n_bytes
    refuse_too_large(asked, what, attempt)
    with or_too_large(_asked(asked, what), attempt):
        return empty_on_a_line(shape, dtype)


def _asked(n_bytes: int, what: str) -> str:
    return f"{what} would take {in_bytes(n_bytes)}."


def row_blocks(n: int, numbers: int, most: int = TILE) -> Iterator[slice]:
    """Split n rows of so many numbers each into blocks of bounded size."""
    step = max(1, most // max(numbers, 1))
    return (slice(first, min(first + step, n)) for first in range(0, n, step))


def empty_on_a_line(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array aligned to a cache line, so that the engine can write it past the caches."""
    kind = np.dtype(dtype)
    size = math.prod(shape)
    room = np.empty(size + LINE // kind.itemsize, dtype=kind)
    first = -room.ctypes.data % LINE // kind.itemsize
    return room[first : first + size].reshape(shape)
