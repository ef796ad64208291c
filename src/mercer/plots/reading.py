"""What pictures read: the machine inside an estimator, targets, and rows that are thinned where there are many."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.kernels.binding import bind
from mercer.kernels.called import given_values
from mercer.kernels.custom import Precomputed
from mercer.kernels.kernel import Kernel
from mercer.models.inside import inside
from mercer.models.model import Model
from mercer.plots.style import count
from mercer.points.adapt import as_points
from mercer.points.base import Points, is_missing
from mercer.points.given import Given
from mercer.points.stored import Stored

__all__ = [
    "SUBSCRIPTS", "Machine", "column_names", "column_of", "deviations_of", "gram_of", "is_classes", "is_whole",
    "joined", "kernel_of", "labels_of", "machine_if_any", "machine_of", "numbers_of", "plain", "predictions_of",
    "same_length", "thinned",
]  # fmt: skip

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

# Up to so many different numbers may be the names of classes.
MOST_CLASSES = 30


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """What is inside an estimator: the fitted machine, and the steps before it.

    Attributes
    ----------
    whole : estimator
        What was given, or the best estimator of a search: it predicts from X as the user has it.
    last : estimator
        The machine of mercer itself.
    before : estimator, optional
        The other steps of a pipeline.
    """

    whole: Any
    last: Any
    before: Any = None

    @property
    def model(self) -> Model:
        """The fitted model."""
        model: Model = self.last.model_
        return model

    def points(self, X: Any) -> Points:
        """X as the machine sees it."""
        seen = X if self.before is None else self.before.transform(X)
        return Given(seen) if isinstance(self.model.basis, Given) else as_points(seen)

    def gram(self, X: Any, rows: Rows) -> Array:
        """K between some rows of X, in float64."""
        model, points = self.model, self.points(X)
        if isinstance(points, Given):
            return given_values(model.kernel.fn, points, points)[np.ix_(rows, rows)]
        return gram_of(model.kernel, points, rows)


def machine_of(estimator: Any) -> Machine:
    """The fitted machine inside an estimator, a pipeline or a search.

    Raises
    ------
    InvalidInput
        If it is not fitted, or not one of mercer's.
    """
    return Machine(*inside(estimator, "The picture is drawn from what fit leaves: model_ and certificate_."))


def machine_if_any(estimator: Any) -> Machine | None:
    """The same; None if there is none, as of other packages' estimators."""
    try:
        return machine_of(estimator)
    except InvalidInput:
        return None


def kernel_of(given: Any) -> Kernel:
    """A kernel that the user wrote, checked."""
    if not isinstance(given, Kernel):
        raise InvalidParameter("kernel must be a Kernel.", f"Got {shown(given)}.", 'Try parse("RBF(1.0)").')
    return given


def gram_of(kernel: Any, points: Points, rows: Rows) -> Array:
    """K between some of the points, in float64."""
    if isinstance(points, Stored) or isinstance(kernel, Precomputed):
        matrix = points.matrix if isinstance(points, Stored) else Stored(points.raw()).matrix
        if matrix.shape[0] != matrix.shape[1]:
            raise InvalidInput(
                "The picture needs the square matrix of kernel values.",
                f"Got shape {matrix.shape}.",
                "Pass the matrix that the machine was fitted on.",
            )
        return np.asarray(matrix[np.ix_(rows, rows)], dtype=np.float64)
    chosen = points.take(rows)
    return np.asarray(bind(kernel.resolve(points), chosen, dtype=np.float64).self_cross().dense(), dtype=np.float64)


def labels_of(y: Any, n: int, name: str = "y") -> npt.NDArray[Any]:
    """One label or target for each row; nothing may be missing."""
    found = np.asarray(y)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise InvalidInput(
            f"{name} must be one-dimensional.", f"Got shape {found.shape}.", "Draw one column at a time."
        )
    same_length(found, n, name)
    missing = [i for i, value in enumerate(found.tolist()) if is_missing(value)]
    if missing:
        raise InvalidInput(f"{name} must not hold missing values.", f"{name}[{missing[0]}] is {found[missing[0]]}.")
    return found


def numbers_of(values: Any, name: str, n: int | None = None) -> Array:
    """Finite numbers, one for each row."""
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must hold numbers.", f"Got {type(values).__name__}.") from error
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1 or not found.size:
        raise InvalidInput(f"{name} must hold one number for each row.", f"Got shape {found.shape}.")
    if n is not None:
        same_length(found, n, name)
    if not np.isfinite(found).all():
        row = int(np.argmin(np.isfinite(found)))
        raise InvalidInput(f"{name} must be finite.", f"{name}[{row}] is {found[row]}.")
    return found


def same_length(found: npt.NDArray[Any], n: int, name: str) -> None:
    """Refuse a collection that is not as long as the others."""
    if len(found) != n:
        raise InvalidInput(f"{name} must have one entry for each of the {n} rows.", f"Got {len(found)}.")


def is_classes(y: npt.NDArray[Any]) -> bool:
    """Whether targets are names of classes: anything but numbers, or few whole numbers."""
    if y.dtype.kind not in "fiu":
        return True
    different = np.unique(y)
    return len(different) <= MOST_CLASSES and bool((different == np.round(different)).all())


def thinned(n: int, most: int) -> tuple[Rows, str]:
    """At most so many of n rows, drawn by chance (always the same), and a note that says so if some are left out.

    Examples
    --------
    >>> rows, note = thinned(100_000, 1_000)
    >>> len(rows), len(note) > 0, thinned(10, 1_000)[1]
    (1000, True, '')
    """
    if n <= most:
        return np.arange(n), ""
    rows = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return rows, f"{count(most)} of {count(n)} rows shown"


def joined(*parts: str) -> str:
    """The parts of a note that say something."""
    return "; ".join(part for part in parts if part)


def plain(value: Any) -> str:
    """A label as people write it."""
    text = str(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 18 else f"{text[:17]}…"


def column_names(X: Any, d: int) -> list[str]:
    """The names of the columns of a table; else x₁, x₂ and so on."""
    columns = getattr(X, "columns", X if isinstance(X, dict) else None)
    if columns is not None and len(list(columns)) == d:
        return [plain(name) for name in columns]
    return [f"x{str(j + 1).translate(SUBSCRIPTS)}" for j in range(d)]


SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def predictions_of(estimator: Any, X: Any) -> Any:
    """What an estimator of anybody predicts."""
    predict = getattr(estimator, "predict", None)
    if predict is None:
        raise InvalidInput(f"{type(estimator).__name__} does not predict.", "", "Pass a fitted estimator.")
    return predict(X)


def deviations_of(estimator: Any, X: Any, target: int = 0) -> Array | None:
    """The posterior standard deviations of a ridge machine of mercer, in the unit of its targets; None of any other."""
    machine = machine_if_any(estimator)
    if machine is None:
        return None
    known = machine.model.uncertainty
    points = machine.points(X) if known is not None else None
    if known is None or points is None or isinstance(points, Stored) or np.isinf(known.cost).any():
        return None
    phi = None if machine.model.weights is None else machine.model.features
    variance = known.prior_variance(machine.model.coef, machine.model.intercept)
    unit = np.sqrt(np.maximum(variance, 0.0))  # k(x, x) seldom knows it
    return column_of(unit * known.deviations(machine.model.binding, phi, points), target)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and not True or False."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def column_of(values: Any, target: int) -> npt.NDArray[Any]:
    """One column of targets or predictions."""
    found = np.asarray(values)
    if found.ndim < 2:
        return found
    if not 0 <= target < found.shape[1]:
        raise InvalidInput(f"target must be from 0 to {found.shape[1] - 1}.", f"Got {target!r}.")
    return np.asarray(found[:, target])
