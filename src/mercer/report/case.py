"""What a report is about: a fitted machine, the rows that came with it, and what the machine is compared with."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, MercerError
from mercer.kernels.kernel import Kernel
from mercer.models.model import Model
from mercer.points.adapt import as_points
from mercer.points.base import Points
from mercer.points.given import Given
from mercer.points.stored import Places, Stored
from mercer.problems.certificate import Certificate
from mercer.report.matching import places_of

__all__ = ["Case", "case_of"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A machine with its data.

    Attributes
    ----------
    whole : estimator
        What was given: a machine, a pipeline that ends in one, or a search over either.
    machine : estimator
        The machine itself.
    before : estimator or None
        The steps of a pipeline before it.
    X, y
        Rows and their targets, as the user has them; the targets may be missing.
    test : tuple or None
        Other rows and their targets, which the machine has not seen.
    """

    whole: Any
    machine: Any
    before: Any
    X: Any
    y: Any
    test: tuple[Any, Any] | None

    @property
    def model(self) -> Model:
        """All that predictions read."""
        model: Model = self.machine.model_
        return model

    @property
    def certificate(self) -> Certificate:
        """How far the answer is from solved."""
        certificate: Certificate = self.machine.certificate_
        return certificate

    @property
    def name(self) -> str:
        """The class of the machine."""
        return type(self.machine).__name__

    @property
    def is_classifier(self) -> bool:
        """Whether it predicts labels."""
        return self.model.classes is not None

    @property
    def is_one_class(self) -> bool:
        """Whether it only tells rows that are like the others from those that are not."""
        return self.certificate.machine == "one-class"

    @property
    def kernel(self) -> Kernel | None:
        """The kernel; None where the weights are a window, which is none."""
        kernel = self.model.kernel
        return kernel if isinstance(kernel, Kernel) else None

    @cached_property
    def points(self) -> Points:
        """The rows, as the machine sees them."""
        return self.seen(self.X)

    @cached_property
    def shown(self) -> Points | None:
        """The rows as the user has them, before the steps of a pipeline; None where mercer cannot read these."""
        if self.before is None:
            return self.points
        try:
            return as_points(self.X)
        except MercerError:
            return None

    def seen(self, X: Any) -> Points:
        """Rows as the machine sees them."""
        inner = X if self.before is None else self.before.transform(X)
        return Given(inner) if isinstance(self.model.basis, Given) else as_points(inner)

    @cached_property
    def places(self) -> Rows | None:  # (m,)
        """Which row of X each point of the model is, −1 for none; None where rows cannot be compared."""
        basis = self.model.basis
        if isinstance(basis, Places):
            return basis.rows.astype(np.intp) if len(self.points) == basis.width else None
        if isinstance(basis, Stored):  # the square matrix that it was fitted on
            is_same = isinstance(self.points, Stored) and self.points.matrix.shape == basis.matrix.shape
            return np.arange(len(basis)) if is_same and np.array_equal(self.points.raw(), basis.matrix) else None
        return places_of(basis, self.points)

    @cached_property
    def is_training(self) -> bool:
        """Whether X holds the rows that the machine was fitted on."""
        if self.places is None:
            return len(self.points) == self.certificate.rows
        return len(self.points) >= self.certificate.rows and bool((self.places >= 0).all())

    @cached_property
    def shared(self) -> int:
        """How many points of the model occur among the rows."""
        return 0 if self.places is None else len(np.unique(self.places[self.places >= 0]))


def case_of(estimator: Any, X: Any, y: Any, test: tuple[Any, Any] | None) -> Case:
    """The machine inside an estimator, with data that fits it.

    Raises
    ------
    InvalidInput
        If there is no fitted machine of mercer in it, or rows and targets differ in number.
    """
    whole = vars(estimator).get("best_estimator_", estimator)
    steps = vars(whole).get("steps")
    machine = whole if steps is None else steps[-1][1]
    machine = vars(machine).get("best_estimator_", machine)
    if not isinstance(vars(machine).get("model_"), Model):
        name = type(machine).__name__
        is_ours = type(machine).__module__.startswith("mercer.")
        raise InvalidInput(
            f"This {name} is not fitted yet." if is_ours else f"{name} is not a kernel machine of mercer.",
            "A report reads what fit leaves: model_ and certificate_.",
            "Call fit first." if is_ours else "Pass an estimator of mercer, or a pipeline that ends in one.",
        )
    before = whole[:-1] if steps is not None and len(steps) > 1 else None
    found = Case(whole, machine, before, X, y, test)
    _check_lengths("y", len(found.points), y)
    if test is not None:
        if not isinstance(test, tuple | list) or len(test) != 2:
            raise InvalidInput("test must be a pair.", f"Got {type(test).__name__}.", "Pass test=(X_test, y_test).")
        _check_lengths("The y of test", len(found.seen(test[0])), test[1])
    return found


def _check_lengths(name: str, n: int, y: Any) -> None:
    if y is not None and len(np.asarray(y)) != n:
        raise InvalidInput(f"{name} must have one entry for each of the {n} rows.", f"Got {len(np.asarray(y))}.")
