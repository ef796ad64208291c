"""Rows of a sparse format whose entries are mostly there: as a table of numbers, like the same data in a CSV file."""

import re
from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from mercer.cli.reading import LABEL, Piece

__all__ = ["is_mostly_full", "tabled", "width_of"]

# From this share of entries on, rows are numbers of which some are 0, and not lists of what is there.
MOST = 0.5
NAME = re.compile(r"x([1-9][0-9]*)")


def is_mostly_full(matrix: Any) -> bool:
    """Whether more than half of the entries are written in the file.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> is_mostly_full(sp.csr_matrix([[1.0, 2.0], [3.0, 0.0]])), is_mostly_full(sp.csr_matrix([[1.0, 0.0], [0.0, 2.0]]))
    (True, False)
    """
    n, d = matrix.shape
    return bool(matrix.nnz > MOST * n * d)


def tabled(piece: Piece, width: int = 0) -> pd.DataFrame:
    """The rows as a table with columns x1, x2, … of numbers, at least `width`, and their labels as a further column."""
    values = piece.matrix.toarray().astype(np.float64, copy=False)
    values = np.pad(values, ((0, 0), (0, max(width - values.shape[1], 0))))
    frame = pd.DataFrame(values, columns=[f"x{j + 1}" for j in range(values.shape[1])])
    return frame if piece.labels is None else frame.assign(**{LABEL: piece.labels})


def width_of(names: Collection[str]) -> int:
    """The largest number of a column among x1, x2, …; 0 if there are other names.

    Examples
    --------
    >>> width_of(["x1", "x10"]), width_of(["x1", "age"])
    (10, 0)
    """
    found = [NAME.fullmatch(name) for name in names]
    return max((int(match[1]) for match in found if match), default=0) if all(found) else 0
