"""Machines with a single problem: regression, and the support of a distribution."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin

from mercer.errors import InvalidParameter
from mercer.estimators._svm import SupportVectorMachine, Training
from mercer.estimators._targets import kept_rows, single_target
from mercer.problems.margins import MarginSolution
from mercer.solvers.hard_margin import narrowest_tube

__all__ = ["RegressionMachine", "SingleMachine"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


class SingleMachine(SupportVectorMachine):
    """Base of the machines with one function f(x) + b."""

    n_iter_: int

    def _fit_single(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_parameters()
        points = self._read_rows(X)
        n = len(points)
        target = np.zeros(n) if self._kind == "one-class" else single_target(y, n)
        weight, rows = kept_rows(sample_weight, n)
        training = self._training(points, rows, weight[rows])
        solution = self._fitted(target[rows], training, n)
        coef = solution.net_of(0)
        used = np.flatnonzero(coef)
        self.n_iter_ = int(solution.steps[0])
        self._publish(training, used, coef[used, None], solution, np.ones(1), float(vars(self).get("C", 1.0)))
        return self

    def _fitted(self, target: Array, training: Training, n: int) -> MarginSolution:
        C = float(vars(self).get("C", 1.0))
        cuts, uses = np.array([0, len(target)]), np.zeros((1, 1), dtype=np.int64)

        def solve(start: Array | None, penalty: float) -> MarginSolution:
            batch = self._batch(self._kind, cuts, uses, target, penalty * training.weight)
            first = self._seed(batch, self._kind, penalty)[0] if start is None else start
            # A penalty that stands for a constraint has no part in a gap.
            return self._solved(self._kind, batch, training, first, gap=None if np.isfinite(C) else np.inf)

        if np.isfinite(C):
            return solve(None, C)
        if self._kind != "epsilon-svr":
            raise InvalidParameter(f"C of {type(self).__name__} must be finite.", f"Got {C!r}.", "SVR has C=inf.")
        diagonal = np.asarray(training.gram.diag(), dtype=np.float64)
        return narrowest_tube(solve, target, float(vars(self).get("epsilon", 0.0)), diagonal, training.rows, n)

    @property
    def n_support_(self) -> npt.NDArray[np.int32]:
        """The number of support vectors, in an array."""
        if "support_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has n_support_ after fit.")
        return np.array([len(self.support_)], dtype=np.int32)

    def _decisions(self, X: Any) -> Array:  # (m,)
        return self._scores(X)[:, 0]


class RegressionMachine(RegressorMixin, SingleMachine):
    """Base of SVR and NuSVR."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,)
            Targets.
        sample_weight : float or array-like of shape (n,), optional
            Factors of C by row; rows whose weight is not above 0 are left out.
        """
        return self._fit_single(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """f(x) + b.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed, of
            which only the columns of support vectors are read.

        Returns
        -------
        ndarray of shape (m,)
        """
        return self._decisions(X)
