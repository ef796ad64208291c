"""Leave-one-out: of a fitted ridge machine by the exact formula; of an SVC by fitting without each support vector."""

import warnings
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, UncertifiedWarning
from mercer.grams.choose import gram_to_solve
from mercer.kernels.custom import Precomputed
from mercer.models.uncertainty import Uncertainty
from mercer.plots.reading import Machine
from mercer.points.given import Given
from mercer.points.stored import Stored
from mercer.solvers.path import Path

__all__ = ["left_out_of_svc", "path_of", "penalties_of"]

Array = npt.NDArray[np.float64]

# An n × n matrix is decomposed.
MOST_ROWS = 5_000
MOST_FITS = 5_000


def path_of(machine: Machine) -> Path:
    """The path of penalties of the problem that a ridge machine has solved, weights relative to the largest."""
    known = _known(machine)
    rows = len(known.targets)
    is_small = machine.model.weights is not None  # as many features as there are decide, not rows
    if rows > MOST_ROWS and not is_small:
        raise InvalidInput(
            f"Leave-one-out of {rows} rows decomposes an n × n matrix.",
            f"More than {MOST_ROWS} rows take minutes.",
            "Fit the machine on a sample of the rows.",
        )
    model = machine.model
    gram = gram_to_solve(model.binding, primal=model.weights is not None)
    weight = known.cost[:, 0] / known.cost[:, 0].max()
    return Path(gram, known.targets, weight, np.ones((rows, int(known.has_intercept))))


def penalties_of(machine: Machine) -> Array:
    """λ of each target, for weights relative to the largest."""
    known = _known(machine)
    return np.asarray(1.0 / known.cost.max(axis=0), dtype=np.float64)


def _known(machine: Machine) -> Uncertainty:
    known = machine.model.uncertainty
    if known is None:
        raise InvalidInput(
            f"{type(machine.last).__name__} has no formula for leave-one-out.",
            "",
            "KernelRidge and KernelRidgeCV have.",
        )
    if np.isinf(known.cost).any():
        raise InvalidInput("Leave-one-out needs a penalty above 0.", "The machine was fitted with alpha = 0.")
    return known


def left_out_of_svc(
    machine: Machine, X: Any, y: npt.NDArray[Any], Cs: Array
) -> tuple[npt.NDArray[np.bool_], Array, int]:
    """Whether each row is wrong when it is left out, for each C: (m, n); the training errors; how many fits it took.

    Leaving out a row whose coefficients are 0 changes nothing, so that only support vectors are fitted without.
    """
    fits = _Fits(machine, X, y)
    wrong, training, every = np.zeros((len(Cs), len(y)), dtype=bool), np.zeros(len(Cs)), np.arange(len(y))
    for i, C in enumerate(Cs):
        support = fits.support(C, every, wrong[i])
        training[i] = wrong[i].mean()
        if fits.count + len(support) > MOST_FITS:
            raise InvalidInput(
                f"Leave-one-out would fit the machine more than {MOST_FITS} times.",
                f"At C = {C:.3g} it has {len(support)} support vectors, each left out once.",
                "Pass fewer rows, or fewer Cs.",
            )
        for row in support:
            wrong[i, row] = fits.is_wrong_without(C, int(row))
    return wrong, training, fits.count


@final
class _Fits:
    """Fits of an SVC on some of its rows, with the kernel as it was resolved on all."""

    def __init__(self, machine: Machine, X: Any, y: npt.NDArray[Any]) -> None:
        model, points = machine.model, machine.points(X)
        own = machine.last.get_params(deep=False)
        self.count = 0
        self._y, self._kind, self._is_reweighted = y, type(machine.last), own.get("class_weight") == "balanced"
        self._points, self._K = points, None
        self._params = {**own, "warm_start": False, "kernel": model.kernel}
        if isinstance(points, Stored | Given) or isinstance(model.kernel, Precomputed):
            self._K = machine.gram(X, np.arange(len(y)))
            self._params["kernel"] = "precomputed"

    def support(self, C: float, rows: npt.NDArray[np.intp], wrong: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """Fit all rows; says which are wrong, and which must be left out to know what then happens to them."""
        whole = self._fitted(C, rows)
        wrong[:] = whole.predict(self._at(rows, rows)) != self._y
        return rows if self._is_reweighted else np.asarray(whole.support_, dtype=np.intp)

    def is_wrong_without(self, C: float, row: int) -> bool:
        """Whether the machine fitted on all other rows errs at this one."""
        kept = np.delete(np.arange(len(self._y)), row)
        if self._y[row] not in self._y[kept] or len(set(self._y[kept].tolist())) < 2:
            return True  # its class is gone, or it was all that made two
        found = self._fitted(C, kept).predict(self._at(np.array([row]), kept))
        return bool(found[0] != self._y[row])

    def _fitted(self, C: float, rows: npt.NDArray[np.intp]) -> Any:
        self.count += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertifiedWarning)  # said when the machine itself was fitted
            return self._kind(**{**self._params, "C": float(C)}).fit(self._at(rows, rows), self._y[rows])

    def _at(self, rows: npt.NDArray[np.intp], kept: npt.NDArray[np.intp]) -> Any:
        """These rows, as a machine fitted on those sees them."""
        return self._points.take(rows) if self._K is None else self._K[np.ix_(rows, kept)]
