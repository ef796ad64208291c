"""What scikit-learn's scorers are shown of a machine that was fitted together with many others."""

from collections.abc import Callable
from typing import Any, Protocol, Self, final

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

__all__ = ["Fitted", "Rows", "Seat"]

Rows = npt.NDArray[np.intp]


class Fitted(Protocol):
    """A machine fitted on some rows of the data, as far as predictions for rows of the data go."""

    def predict(self, rows: Rows) -> Any:
        """What the machine's `predict` gives for these rows."""


@final
class Seat(BaseEstimator):
    """A machine on the numbers of rows in place of the rows: where it is fitted, the rows are known.

    Parameters
    ----------
    machine : estimator
        With all its parameters, not fitted.
    fitting : callable (machine) -> Fitted
        On the rows of one split.
    """

    def __init__(self, machine: Any, fitting: Callable[[Any], Fitted]) -> None:
        self.machine = machine
        self.fitting = fitting

    def __sklearn_tags__(self) -> Any:
        tags = self.machine.__sklearn_tags__()
        tags.input_tags.pairwise = False  # the numbers of rows are no matrix, whatever the machine reads
        return tags

    def __getattr__(self, name: str) -> Any:
        # classes_ and decision_function, where the machine has them.
        if name.startswith("__") or "fitted_" not in vars(self):
            raise AttributeError(f"{type(self.machine).__name__!r} object has no attribute {name!r}")
        return getattr(self.fitted_, name)

    def set_params(self, **params: Any) -> Self:  # noqa: ARG002 (the machine has its parameters already)
        """Nothing to set."""
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:  # noqa: ARG002 (all of them are known already)
        """Fit the machine."""
        self.fitted_ = self.fitting(self.machine)
        return self

    def predict(self, X: Rows) -> Any:
        """The predictions for these rows."""
        return self.fitted_.predict(X)

    def score(self, X: Rows, y: Any, sample_weight: Any = None) -> float:
        """The machine's own score of these rows."""
        return float(type(self.machine).score(self, X, y, sample_weight=sample_weight))
