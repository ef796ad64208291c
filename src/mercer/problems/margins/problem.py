"""What a solver of support vector machines is asked: a batch, its Gram matrix, and where it may begin."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.grams.base import Gram
from mercer.problems.margins.batch import Margins
from mercer.problems.margins.kinds import Kind

__all__ = ["MarginProblem"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class MarginProblem:
    """A batch of support vector machines over one Gram matrix.

    Parameters
    ----------
    gram : Gram of shape (n, n)
        K; its entries are made as they are needed, unless it is stored.
    kind : Kind
        The machine: a row of `mercer.problems.margins.KINDS`.
    batch : Margins
        The problems.
    start : ndarray of shape (N,), optional
        Where to begin instead of at `batch.start`: in the box, and with the same sums.
    f : ndarray of shape (M,), optional
        Kα at `start`, on the rows of each problem, where it is known.
    """

    gram: Gram
    kind: Kind
    batch: Margins
    start: Array | None = None
    f: Array | None = None

    usual_tol: ClassVar[float] = 1e-3

    @property
    def machine(self) -> str:
        """What is minimised, as the table of solvers and certificates call it."""
        return self.kind.name

    def __post_init__(self) -> None:
        n, batch = int(self.batch.cuts[-1]), self.batch
        expected = {"gram": (n, n), "start": batch.start.shape, "f": (int(batch.row_offsets[-1]),)}
        for name, shape in expected.items():
            given = getattr(self, name)
            if given is not None and given.shape != shape:
                raise InvalidInput(f"{name} must have shape {shape} to go with the batch.", f"Got {given.shape}.")
