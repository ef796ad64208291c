"""A batch of support vector machines' duals over one Gram matrix: Margins.

    minimise  ½ αᵀKα + qᵀα + ε Σᵢ|αᵢ|   over   low ≤ α ≤ high,   the sum of α in each group fixed.

The coefficients α are signed (there is no y in front of them), so that a decision is Σᵢ αᵢ k(xᵢ, x) + b for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Margins", "all_rows", "joined", "row_offsets", "variable_rows"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class Margins:
    """Problems that share one Gram matrix: the pairs of classes, the folds of a cross-validation, or just one.

    The rows of K fall into ranges, and a problem consists of some of them, one after the other. Its variables are these
    rows, or these rows twice (`copies`). All arrays over variables hold those of the first problem, then those of the
    second, and so on.

    Attributes
    ----------
    cuts : ndarray of shape (s + 1,)
        Where the s ranges of rows begin and end: range r is cuts[r]:cuts[r + 1].
    uses : ndarray of shape (P, r)
        The ranges of each problem.
    linear, low, high : ndarray of shape (N,)
        q and the box. A row with low = high = 0 takes no part; its decision is computed all the same.
    start : ndarray of shape (N,)
        A point inside the box. The sums over its groups are those that every point must have.
    group : ndarray of shape (N,), uint8
        0 or 1.
    width : float
        ε; above 0 for regression only.
    copies : int
        How often a problem has each row: 1, or 2 (the second copy after the first).
    """

    cuts: Index
    uses: Index
    linear: Array
    low: Array
    high: Array
    start: Array
    group: npt.NDArray[np.uint8]
    width: float = 0.0
    copies: int = 1

    def __len__(self) -> int:
        return len(self.uses)

    @cached_property
    def row_offsets(self) -> Index:
        """Where the rows of each problem begin, in arrays over rows: (P + 1,)."""
        return row_offsets(self.cuts, self.uses)

    @cached_property
    def offsets(self) -> Index:
        """Where the variables of each problem begin: (P + 1,)."""
        return self.copies * self.row_offsets

    @cached_property
    def entries(self) -> Index:
        """Of each variable, the place of its row in arrays over rows: (N,)."""
        return variable_rows(self.row_offsets, self.copies)

    @cached_property
    def rows(self) -> Index:
        """The rows of K that the problems consist of, those of the first, then those of the second: (M,)."""
        return all_rows(self.cuts, self.uses)

    @cached_property
    def geometry(self) -> tuple[Index, Index]:
        """The cuts and uses as the core takes them: one range where every problem uses all rows in order."""
        cuts, uses = np.ascontiguousarray(self.cuts), np.ascontiguousarray(self.uses)
        everything = np.arange(len(cuts) - 1)
        if uses.shape[1] == len(everything) and bool((uses == everything).all()):
            return cuts[[0, -1]], np.zeros((len(uses), 1), dtype=np.int64)
        return cuts, uses

    def rows_of(self, p: int) -> Index:
        """The rows of K that problem p consists of."""
        return np.concatenate([np.arange(self.cuts[r], self.cuts[r + 1]) for r in self.uses[p]])

    def variables_of(self, p: int) -> slice:
        """Where problem p stands in arrays over variables."""
        return slice(int(self.offsets[p]), int(self.offsets[p + 1]))

    def take(self, problems: Index) -> tuple["Margins", Index, Index]:
        """Some of the problems as a batch, and where their variables and their rows stand in this one's arrays."""
        variables = _ranges(self.offsets, problems)
        rows = _ranges(self.row_offsets, problems)
        arrays = {name: getattr(self, name)[variables] for name in ("linear", "low", "high", "start", "group")}
        part = Margins(cuts=self.cuts, uses=self.uses[problems], width=self.width, copies=self.copies, **arrays)
        return part, variables, rows


def all_rows(cuts: Index, uses: Index) -> Index:
    """The rows of K that the problems consist of, those of the first, then those of the second, and so on.

    >>> all_rows(np.array([0, 2, 3, 5]), np.array([[0, 1], [0, 2]]))
    array([0, 1, 2, 0, 1, 3, 4])
    """
    return _ranges(cuts, uses.ravel())


def row_offsets(cuts: Index, uses: Index) -> Index:
    """Where the rows of each problem begin: (P + 1,)."""
    sizes = np.diff(cuts)[uses].sum(axis=1)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def variable_rows(offsets: Index, copies: int) -> Index:
    """Of each variable, the place of its row in arrays over rows, where those of each problem begin at the offsets."""
    if copies == 1:
        return np.arange(offsets[-1])
    sizes = np.diff(offsets)
    problem = np.repeat(np.arange(len(sizes)), copies * sizes)
    local = np.arange(copies * offsets[-1]) - copies * offsets[problem]
    return np.asarray(offsets[problem] + local % sizes[problem], dtype=np.int64)


def joined(batches: Sequence[Margins]) -> Margins:
    """Problems over the same rows of K, without a second copy of them, as one batch."""

    def whole(name: str) -> Any:
        return np.concatenate([getattr(batch, name) for batch in batches])

    arrays = {name: whole(name) for name in ("uses", "linear", "low", "high", "start", "group")}
    return Margins(cuts=batches[0].cuts, **arrays)


def _ranges(ends: Index, chosen: Index) -> Index:
    """The numbers of ends[r]:ends[r + 1] for each chosen r, one after the other."""
    first, last = ends[:-1][chosen], ends[1:][chosen]
    if len(chosen) and bool((first[1:] == last[:-1]).all()):
        return np.arange(first[0], last[-1])
    sizes = last - first
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(np.repeat(first, sizes) + within, dtype=np.int64)
