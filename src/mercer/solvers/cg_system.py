"""The matrix of the equations that conjugate gradients solve: M = S K S + ridge·I, with K in a few bits or as it is."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.grams.base import Gram
from mercer.problems.reach import refuse_large_kernel
from mercer.solvers.held import FEW_COLUMNS, hold, one_blas_thread
from mercer.solvers.preconditioner import SMALL_RANK

__all__ = ["System", "few_blas_threads"]

Array = npt.NDArray[np.float64]

# Products with what is held are believed until the residual has shrunk to a share of the last true one: these, or in
# between the first times its errors over the ridge.
LEAST_BELIEVED, MOST_BELIEVED = 0.1, 1e-4
# Pivots where a product only reads K, for a ridge as large as the mean of the diagonal; more for a smaller one. With
# an RBF in 20 dimensions and 5 000 rows 500 took half as long again, and 50 a quarter.
HELD_PIVOTS = 200
# BLAS is kept to one thread during the iterations from so many rows, and up to so many columns: products with F are
# then no longer negligible.
LIMITED_ROWS, LIMITED_COLUMNS = 2_000, 8


@final
class System:
    """M; k right-hand sides decide how K is held."""

    def __init__(self, gram: Gram, scale: Array, ridge: float, k: int) -> None:
        self.gram = gram
        self.scale = scale
        self.ridge = ridge
        refuse_large_kernel(gram.diag())
        diagonal = scale * scale * np.asarray(gram.diag(), dtype=np.float64)
        self.trace = float(np.maximum(diagonal, 0.0).sum())
        self._held = hold(gram, ridge, k)

    @property
    def pivots(self) -> int | None:
        """The maximum for the preconditioner; None if products are expensive enough to justify as many as possible."""
        if not self.is_held:
            return None
        return max(SMALL_RANK, int(HELD_PIVOTS * math.sqrt(self.trace / (len(self.scale) * self.ridge))))

    @property
    def is_held(self) -> bool:
        """Whether `quick` is less accurate than @."""
        return self._held is not None

    @property
    def rounding(self) -> float:
        """The norm of what `quick` leaves out of M, or of the rounding of a product by ‖M‖ ≤ trace + ridge."""
        if self._held is not None:
            return self._held.error
        return float(np.finfo(self.gram.dtype).eps) * (self.trace + self.ridge)

    @property
    def believed(self) -> float:
        """The share of the last true residual down to which the recurrence is trusted."""
        return max(MOST_BELIEVED, LEAST_BELIEVED * min(self.rounding / self.ridge, 1.0)) if self.is_held else 0.0

    def let_go(self) -> None:
        """Use K itself from now on."""
        self._held = None

    def quick(self, V: Array) -> Array:  # (r, k) -> (r, k)
        """M V, with the stored approximation of K."""
        return self._completed(V, self.gram.__matmul__ if self._held is None else self._held.times)

    def __matmul__(self, V: Array) -> Array:  # (r, k) -> (r, k)
        return self._completed(V, self.gram.__matmul__)

    def _completed(self, V: Array, times: Callable[[Array], Array]) -> Array:
        product = np.asarray(times(self.scale[:, None] * V), dtype=np.float64)
        product *= self.scale[:, None]
        product += self.ridge * V
        return product


def few_blas_threads(system: System, k: int) -> AbstractContextManager[object]:
    """One thread for the vectors of an iteration, where the product is the engine's."""
    most = FEW_COLUMNS if system.is_held else LIMITED_COLUMNS  # beyond, the product itself uses BLAS
    return nullcontext() if len(system.scale) < LIMITED_ROWS or k > most else one_blas_thread()
