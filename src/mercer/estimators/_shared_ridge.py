"""KernelRidge with many alphas on many splits of the same rows, or by exact leave-one-out, over one K."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from mercer.domains import is_number
from mercer.errors import MercerError
from mercer.estimators._parameters import check_parameters
from mercer.estimators._seats import Rows
from mercer.estimators._sharing import Failed, Outcome, Shared
from mercer.estimators._targets import real_targets, weights
from mercer.estimators.ridge import KernelRidge
from mercer.grams.base import Gram
from mercer.grams.choose import gram_to_solve
from mercer.grams.dense import DenseGram
from mercer.kernels.binding import bind
from mercer.solvers.path import Path, features_of, predicted
from mercer.solvers.table import AUTO

__all__ = ["SharedRidge"]

Array = npt.NDArray[np.float64]

# So many penalties are worth a tridiagonal form, which takes as long as eight factorisations.
PENALTIES = 8


@final
@dataclass(frozen=True, eq=False)
class FittedRidge:
    """A ridge machine as its predictions: of new rows, or of every row left out.

    Attributes
    ----------
    predictions : ndarray of shape (n,) or (n, t)
        Of all rows.
    """

    predictions: Array

    def predict(self, rows: Rows) -> Array:
        """The predictions of these rows."""
        return np.asarray(self.predictions[rows])


@final
class SharedRidge(Shared):
    """KernelRidge for many alphas."""

    penalty: ClassVar[str] = "alpha"

    has_leave_one_out: ClassVar[bool] = True
    least: ClassVar[int] = PENALTIES

    def can_share(self, machine: Any) -> bool:
        """One penalty above 0 for all targets, and a solver that is free to be another."""
        return (
            type(machine) is KernelRidge
            and is_number(machine.alpha)
            and 0.0 < machine.alpha < np.inf
            and machine.solver == AUTO
            and self._is_shared_kernel(machine, single=False)
        )

    def _fitted(self, machine: Any, penalties: Sequence[float]) -> Iterator[tuple[float, Mapping[int, Outcome]]]:
        check_parameters(type(machine).__name__, vars(machine), ("fit_intercept", "verbose"))
        points = machine._read(self._X)  # noqa: SLF001 (what a machine shares, here and below)
        n = len(points)
        targets, is_flat = real_targets(self._y, n)
        weight = weights(self._weight, n)
        B = np.ones((n, int(machine.fit_intercept)))
        found: dict[int, list[Array] | Failed] = {}
        for kernel, mine in self._kernels(machine, points, None).items():
            gram = gram_to_solve(bind(kernel, points, dtype=np.float64))
            stored = gram if features_of(gram) is not None else DenseGram(gram.dense(), gram.proof)
            for split in mine:
                try:
                    found[split] = list(self._predictions(stored, targets, weight, B, np.array(penalties), split))
                except MercerError as error:
                    found[split] = Failed(error)
        for number, penalty in enumerate(penalties):
            yield (
                penalty,
                {
                    split: ones if isinstance(ones, Failed) else self._seen(ones[number], split, is_flat)
                    for split, ones in found.items()
                },
            )

    def _predictions(
        self, gram: Gram, y: Array, weight: Array, B: Array, alphas: Array, split: int
    ) -> Iterator[Array]:  # each (m, t)
        """Of the rows that will be asked for, one alpha after the other; without each row itself by leave-one-out."""
        if self._leaves_one_out:
            return (y - residuals for residuals in Path(gram, y, weight, B).leave_one_out(alphas))
        rows = self._splits[split]
        weights(weight[rows], len(rows))
        return predicted(gram, y, weight, B, alphas, rows, self._asked[split])

    def _seen(self, predictions: Array, split: int, is_flat: bool) -> FittedRidge:
        whole = np.full((_num_samples(self._X), predictions.shape[1]), np.nan)
        whole[self._asked[split]] = predictions
        return FittedRidge(whole[:, 0] if is_flat else whole)
