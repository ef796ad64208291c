"""Vectors that come in blocks, again and again: a file larger than memory, a database, a generator of rows."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.errors import InvalidInput
from mercer.points.base import Domain, Selection, as_selection, found_none
from mercer.points.vectors import Vectors

__all__ = ["Blocks"]


@final
class Blocks:
    """Rows of vectors that are read in blocks, as often as they are needed, and never all at once.

    Machines on landmarks fit and predict them in constant memory beside a few numbers a row.

    Parameters
    ----------
    read : callable () -> iterable
        Begins a new pass: gives the same blocks every time, each an array or sparse matrix of shape (b, d).
    name : str
        What messages call it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((1_000, 2))
    >>> blocks = Blocks(lambda: (X[i : i + 300] for i in range(0, 1_000, 300)))
    >>> blocks
    Blocks(1000 x 2 in 4 blocks)
    >>> bool((blocks.take([999, 3]).dense == X[[999, 3]]).all())
    True
    """

    domain: ClassVar[Domain] = Domain.VECTORS
    __slots__ = ("_ends", "_name", "_read", "_width")

    def __init__(self, read: Callable[[], Iterable[Any]], name: str = "X") -> None:
        if not callable(read):
            raise InvalidInput(
                "Blocks needs a function that begins a new pass over the blocks.",
                f"Got {type(read).__name__}, which can be read once at most.",
                "Pass a function without arguments: Blocks(lambda: read_the_file()).",
            )
        self._read = read
        self._name = name
        self._width = 0
        ends = [0]
        for block in self._pass():
            self._width = self._width or block.width
            ends.append(ends[-1] + len(block))
        if len(ends) == 1:
            raise found_none(name, "sample", (0,))
        self._ends = np.array(ends)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __repr__(self) -> str:
        return f"Blocks({len(self)} x {self.width} in {len(self._ends) - 1} blocks)"

    def __reduce__(self) -> tuple[type["Blocks"], tuple[Any, ...]]:
        return Blocks, (self._read, self._name)

    @property
    def width(self) -> int:
        """Number of columns."""
        return self._width

    def blocks(self) -> Iterator[tuple[slice, Vectors]]:
        """The rows of each block, and the block.

        Raises
        ------
        InvalidInput
            Where this pass gives other blocks than the first.
        """
        count = 0
        for i, block in enumerate(self._pass()):
            if i + 1 == len(self._ends) or len(block) != self._ends[i + 1] - self._ends[i]:
                first = 0 if i + 1 == len(self._ends) else int(self._ends[i + 1] - self._ends[i])
                raise self._changed(f"Block {i} has {len(block)} rows, and had {first} in the first pass.")
            yield slice(int(self._ends[i]), int(self._ends[i + 1])), block
            count += 1
        if count + 1 < len(self._ends):
            raise self._changed(f"There were {len(self._ends) - 1} blocks in the first pass, and {count} in this one.")

    def take(self, rows: Selection) -> Any:  # Vectors: what is taken is in memory
        """The chosen rows, in the chosen order, in memory; reads all blocks once."""
        index = as_selection(rows, len(self))
        chosen = np.arange(len(self))[index]
        order = np.argsort(chosen, kind="stable")
        found: list[Any] = []
        for span, block in self.blocks():
            first, last = np.searchsorted(chosen[order], [span.start, span.stop])
            if last > first:
                found.append(block.take(chosen[order[first:last]] - span.start).raw())
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order))
        return Vectors(_stacked(found)[back], self._name)

    def raw(self) -> Any:
        """Refused: the rows are not in memory."""
        raise InvalidInput(
            f"{self!r} is not in memory.",
            "",
            'Use solver="landmarks", or take(rows) for some of them.',
        )

    def _pass(self) -> Iterator[Vectors]:
        for i, block in enumerate(self._read()):
            found = Vectors(block, f"block {i} of {self._name}")
            if self._width and found.width != self._width:
                raise self._changed(f"Block {i} has {found.width} columns, and the first had {self._width}.")
            yield found

    def _changed(self, how: str) -> InvalidInput:
        return InvalidInput(
            f"The blocks of {self._name} are not the same in every pass.", how, "Read from what does not change."
        )


def _stacked(parts: list[NDArray[Any]]) -> Any:
    if not parts:
        raise InvalidInput("At least one row must be taken.", "Got none.")
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
