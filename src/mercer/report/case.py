"""What a report is about: a fitted machine, the rows that came with it, and what the machine is compared with."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput, MercerError
from mercer.kernels.kernel import Kernel
from mercer.models.inside import inside
from mercer.models.model import Model
from mercer.points.adapt import as_points, require
from mercer.points.base import Domain, Points
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
        inner, basis = X if self.before is None else self.before.transform(X), self.model.basis
        if isinstance(basis, Given):
            return Given(inner)
        points = as_points(inner)
        return require(points, frozenset({Domain.GRAM}), self.name) if basis.domain is Domain.GRAM else points

    @cached_property
    def places(self) -> Rows | None:  # (m,)
        """Which row of X each point of the model is, −1 for none; None where rows cannot be compared."""
        basis = self.model.basis
        if isinstance(self.points, Stored):
            is_square = self.points.width == len(self.points) and np.array_equal(
                self.points.matrix, self.points.matrix.T
            )
            if not is_square:  # kernel values of other rows, to those of the fit
                return np.full(len(basis), -1, dtype=np.intp)
            return basis.rows.astype(np.intp) if isinstance(basis, Places) else np.arange(len(basis))
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


def case_of(estimator: Any, X: Any, y: Any, test: Any) -> Case:
    """The machine inside an estimator, with data that fits it.

    Raises
    ------
    InvalidInput
        If there is no fitted machine of mercer in it, or rows and targets differ in number.
    """
    found = Case(*inside(estimator, "A report reads what fit leaves: model_ and certificate_."), X, y, test)
    _check_lengths("y", len(found.points), y)
    if test is not None:
        if not isinstance(test, tuple | list) or len(test) != 2:
            raise InvalidInput("test must be a pair.", f"Got {type(test).__name__}.", "Pass test=(X_test, y_test).")
        _check_lengths("The y of test", len(found.seen(test[0])), test[1])
    return found


def _check_lengths(name: str, n: int, y: Any) -> None:
    if y is not None and len(np.asarray(y)) != n:
        raise InvalidInput(f"{name} must have one entry for each of the {n} rows.", f"Got {len(np.asarray(y))}.")
