"""One data set under examination: what the checks share, each part made when it is first asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.doctor.source import Flaws, Source
from mercer.doctor.target import Target
from mercer.errors import MercerError
from mercer.kernels.binding import Binding, bind
from mercer.kernels.custom import Precomputed
from mercer.kernels.kernel import Kernel
from mercer.kernels.radial import RBF
from mercer.points.base import Domain, Points
from mercer.points.stored import Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.search.featurespace import FeatureSpace

__all__ = ["Case"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Rows that are looked at one by one, and rows that K is computed on: drawn once, by a fixed seed.
SAMPLE_ROWS, KERNEL_ROWS = 4_000, 1_000
# Neighbours that vote on a label.
VOTERS = 5


@final
@dataclass(frozen=True, eq=False)
class Case:
    """The data, the targets, and what they are to be fitted with.

    Parameters
    ----------
    source : Source
        X.
    target : Target, optional
        y.
    given : Kernel, optional
        The kernel to be used.
    fitted : object, optional
        A fitted estimator.
    X, y : object
        As the user gave them, for the estimator.
    """

    source: Source
    target: Target | None
    given: Kernel | None = None
    fitted: Any = None
    X: Any = None
    y: Any = None

    @cached_property
    def rows(self) -> Index:
        """The sample, in order."""
        return drawn(np.arange(len(self.source)), SAMPLE_ROWS)

    @cached_property
    def is_square(self) -> bool:
        """Whether X holds kernel values and not points."""
        return self.given is not None and any(isinstance(part, Precomputed) for part in self.given.walk())

    @cached_property
    def flaws(self) -> Flaws:
        """Missing and infinite entries."""
        return self.source.flaws()

    @cached_property
    def constant(self) -> list[str]:
        """Columns with one value."""
        return self.source.constant() if len(self.source) > 1 else []

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The numeric columns that are looked at one by one: not constant, nowhere infinite."""
        left_out = {*self.constant, *self.flaws.infinite}
        return tuple(name for name in self.source.numeric if name not in left_out)

    @cached_property
    def numbers(self) -> Array:  # (s, len(names)), missing ones NaN
        """Their entries in the sample."""
        if self.is_square:
            return np.empty((len(self.rows), 0))
        kept = np.isin(self.source.numeric, self.names) if self.names else np.zeros(len(self.source.numeric), bool)
        return self.source.numbers(self.rows)[:, kept]

    @cached_property
    def others(self) -> Mapping[str, npt.NDArray[Any]]:
        """The columns that are not numbers, in the sample."""
        return self.source.others(self.rows)

    @cached_property
    def standard(self) -> Array:  # (s, len(names))
        """The numeric columns with mean 0 and variance 1, and 0 where they are missing."""
        if not self.numbers.size:
            return self.numbers
        known = np.isfinite(self.numbers)
        count = np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, self.numbers, 0.0)
        centred = np.where(known, centred - centred.sum(axis=0) / count, 0.0)
        largest = np.abs(centred).max(axis=0)
        centred /= np.where(largest > 0.0, largest, 1.0)  # so that squares do not overflow
        spread = np.sqrt(np.square(centred).sum(axis=0) / count)
        return np.asarray(centred / np.where(spread > 0.0, spread, 1.0))

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:  # (n,)
        """The same number for equal rows."""
        return self.source.keys()

    @cached_property
    def groups(self) -> Index:  # (n,)
        """Which of the different rows each row is."""
        return np.asarray(np.unique(self.keys, return_inverse=True)[1].reshape(-1), dtype=np.intp)

    @cached_property
    def is_coarse(self) -> bool:
        """Whether the columns have so few values that equal rows are to be expected."""
        values = [len(np.unique(column[np.isfinite(column)])) for column in self.numbers.T]
        values += [len({str(value) for value in column}) for column in self.others.values()]
        return bool(values) and float(np.log(np.maximum(values, 1)).sum()) < np.log(10.0 * len(self.source))

    @cached_property
    def kernel_rows(self) -> Index:
        """The rows that K is computed on: without flaws."""
        flawed = np.zeros(len(self.source), dtype=bool)
        flawed[list(self.flaws.rows)] = True
        return drawn(np.flatnonzero(~flawed), KERNEL_ROWS)

    @cached_property
    def points(self) -> Points | None:
        """Those rows, as points that the kernel can read; None where there are none."""
        if not len(self.kernel_rows) or (self.is_square and len(self.kernel_rows) < len(self.source)):
            return None
        found = self.source.points(self.kernel_rows)
        if self.is_square and isinstance(found, Vectors):
            return Stored(found)
        if isinstance(found, Table) and self.given is None:
            numeric = [name for name in self.source.numeric if name not in self.constant]
            return found.select(numeric) if numeric else None
        return found

    @cached_property
    def kernel(self) -> Kernel | None:
        """The kernel that is looked at: the one given, else RBF by scikit-learn's rule on what is vectors."""
        if self.points is None or self.given is not None:
            return self.given
        return RBF("scale") if self.points.domain is Domain.VECTORS else None

    @cached_property
    def computed(self) -> tuple[Binding, Array] | MercerError | None:
        """The kernel on those rows and its Gram matrix, or why it cannot be computed."""
        if self.kernel is None or self.points is None:
            return None
        try:
            binding = bind(self.kernel, self.points, dtype=np.float64)
            return binding, np.asarray(binding.self_cross().dense(), dtype=np.float64)
        except MercerError as error:
            return error

    @cached_property
    def K(self) -> Array | None:
        """The Gram matrix of those rows."""
        return self.computed[1] if isinstance(self.computed, tuple) else None

    @cached_property
    def cosines(self) -> Array | None:
        """k(x, z)/√(k(x, x)·k(z, z)) of all pairs x ≠ z with a diagonal above 0; None where there is none."""
        if self.K is None:
            return None
        diagonal = self.K.diagonal()
        kept = np.flatnonzero(diagonal > 0.0)
        if len(kept) < 2:
            return None
        root = np.sqrt(diagonal[kept])
        return np.asarray(self.K[np.ix_(kept, kept)] / np.outer(root, root))

    @cached_property
    def spectrum(self) -> Array | None:
        """The eigenvalues of K, the largest first; below zero only by rounding, and then zero."""
        return None if self.K is None else np.maximum(np.linalg.eigvalsh(self.K)[::-1], 0.0)

    @cached_property
    def neighbours(self) -> Index | None:
        """The nearest other rows of `kernel_rows`, in the kernel's space if one was given, else of scaled columns."""
        if len(self.kernel_rows) <= VOTERS + 1 or self.points is None:
            return None
        bound = self.computed[0] if isinstance(self.computed, tuple) else None
        binding = self._scaled if self.given is None else bound
        return None if binding is None else FeatureSpace(binding).nearest(None, VOTERS).index

    @cached_property
    def _scaled(self) -> Binding | None:
        found = self.points
        if not isinstance(found, Vectors):
            return None
        if found.dense is None:
            return bind(RBF(1.0), found, dtype=np.float64)
        spread = found.dense.std(axis=0, dtype=np.float64)
        scaled = found.dense[:, spread > 0.0] / spread[spread > 0.0]
        return bind(RBF(1.0), Vectors(scaled), dtype=np.float64) if scaled.shape[1] else None


def drawn(rows: Index, most: int) -> Index:
    """At most so many of the rows, in order: always the same ones."""
    if len(rows) <= most:
        return np.asarray(rows, dtype=np.intp)
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False)).astype(np.intp)
