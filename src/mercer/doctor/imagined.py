"""A Gram matrix of n points of which only a sample is there: enough to choose a solver, before n points are read."""

from typing import Any, final

import numpy as np

from mercer.errors import InvalidInput
from mercer.grams.base import Array, Coded, Positions, Proof
from mercer.grams.choose import BUDGET
from mercer.grams.featured import finite_map
from mercer.grams.tiled import TiledGram
from mercer.kernels.binding import Binding

__all__ = ["ImaginedGram"]


@final
class _Shaped:
    """Features that have a shape, and are never asked for more."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def __iter__(self) -> Any:
        raise _only_imagined()

    def __matmul__(self, W: Array) -> Array:
        raise _only_imagined()

    def transpose_times(self, V: Array) -> Array:  # noqa: ARG002 (of the protocol)
        raise _only_imagined()

    def dense(self) -> Array:
        raise _only_imagined()


@final
class ImaginedGram:
    """K of n points like those of a sample, as the table of solvers looks at it.

    Parameters
    ----------
    binding : Binding
        The kernel on the sample.
    n : int
        How many points there are to be.
    is_gathered : bool
        Whether the solver gathers rows as it needs them, so that K is not stored.
    """

    def __init__(self, binding: Binding, n: int, *, is_gathered: bool = False) -> None:
        self._sample = TiledGram(binding)
        self._binding = binding
        self.shape = (n, n)
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        phi = None if is_gathered else finite_map(binding)
        self.n_features = None if phi is None or phi.n_features >= n else phi.n_features
        is_by_features = self.n_features is not None and 2 * self.n_features <= n
        self.is_stored = not is_gathered and not is_by_features and n * n * self.dtype.itemsize <= BUDGET
        self.evaluations = 0

    @property
    def proof(self) -> Proof:
        """Why K is positive semi-definite."""
        return self._sample.proof

    def __matmul__(self, V: Array) -> Array:
        raise _only_imagined()

    def columns(self, j: Positions) -> Array:  # noqa: ARG002 (of the protocol)
        """Refused."""
        raise _only_imagined()

    def dense(self, out: Array | None = None) -> Array:  # noqa: ARG002 (of the protocol)
        """Refused."""
        raise _only_imagined()

    def native(self) -> object:
        """Refused."""
        raise _only_imagined()

    def diag(self) -> Array:
        """The diagonal, as that of the sample goes on."""
        return np.resize(self._sample.diag(), self.shape[0])

    def take(self, rows: Positions) -> Any:
        """K of as many rows of the sample, as far as it goes: any rows are as good as any others."""
        count = len(np.arange(self.shape[0])[rows])
        return TiledGram(self._binding.take(np.arange(min(count, len(self._binding)))))

    def features(self) -> Any:
        """The shape of Φ, where the feature map is finite and smaller than the data."""
        return None if self.n_features is None else _Shaped((self.shape[0], self.n_features))

    def restricted(self) -> None:
        """None: all rows are planned for."""
        return

    def coded(self) -> Coded | None:
        """The code of entries in 16 bits; None where K would be stored or come from features."""
        return None if self.is_stored or self.n_features is not None else self._sample.coded()


def _only_imagined() -> InvalidInput:
    return InvalidInput("There are no points yet: this Gram matrix is only planned.", "", "Fit the machine.")
