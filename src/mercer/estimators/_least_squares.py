"""What kernel ridge machines share after a solve: predictions, their uncertainty, and the solver's part in it."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer.errors import InvalidInput, InvalidParameter
from mercer.estimators._landmarks import Restriction
from mercer.estimators._machine import KernelMachine
from mercer.grams.base import Gram
from mercer.kernels.binding import Binding
from mercer.kernels.featuremap import FeatureMap
from mercer.models.model import Model, solved_weights
from mercer.models.uncertainty import Uncertainty
from mercer.points.adapt import as_points
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution

__all__ = ["LeastSquaresMachine", "ridge_problem"]

Array = npt.NDArray[np.float64]


def ridge_problem(gram: Gram, targets: Array, weight: Array, alpha: Array, fit_intercept: bool) -> Problem:
    """Σ wᵢ (yᵢ − f(xᵢ) − b)² + λ‖f‖², over 2λ, as the problem that solvers know."""
    B = np.ones((len(targets), int(fit_intercept)))
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = weight[:, None] / alpha[None, :]
    cost = np.where(weight[:, None] > 0.0, cost, 0.0)  # a row without weight has no cost, whatever the penalty
    return Problem(gram, targets, LOSSES["squared"], cost, B, np.zeros(B.shape[1]), weight / weight.max())


class LeastSquaresMachine(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Base of the machines that minimise Σᵢ wᵢ (yᵢ − f(xᵢ) − b)² + λ ‖f‖²."""

    fit_intercept: bool
    verbose: int
    max_time: float | None
    _is_flat: bool  # whether y had one axis

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict f(x) + b, and optionally how uncertain it is.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed.
        return_std : bool
            Whether to return the posterior standard deviation of f(x) + b too; the kernel is the prior covariance
            and alpha/wᵢ the variance of the noise. It is exact; after an iterative solve it takes one factorisation.
        return_cov : bool
            Whether to return the posterior covariance of the new points instead.

        Returns
        -------
        mean : ndarray of shape (m,) or (m, n_targets)
        std : ndarray of the same shape
            Only with `return_std`.
        cov : ndarray of shape (m, m) or (m, m, n_targets)
            Only with `return_cov`.
        """
        self._check_fitted()
        if return_std and return_cov:
            raise InvalidParameter("At most one of return_std and return_cov can be requested.")
        points = self._read_new(X)
        mean = self._shaped(self.model_.scores(points))
        if not (return_std or return_cov):
            return mean
        self._refuse_precomputed("The posterior")
        known, binding, phi = self._posterior_parts()
        if return_std:
            return mean, self._shaped(known.deviations(binding, phi, points, self.verbose))
        cov = known.covariances(binding, phi, points, self.verbose)
        return mean, cov[:, :, 0] if self._is_flat else cov

    def predict_one(self, x: Any) -> Any:
        """Predict at a single vector: the fast path, without scikit-learn's checks of names and shapes.

        Parameters
        ----------
        x : array-like of shape (d,)
            Finite numbers.

        Returns
        -------
        float, or ndarray of shape (n_targets,)
        """
        row = np.asarray(x, dtype=np.float64)
        if row.shape != (self.n_features_in_,) or not np.isfinite(row).all():
            raise InvalidInput(
                "predict_one takes one vector of finite numbers.",
                f"Got shape {row.shape}, and the machine was fitted on {self.n_features_in_} features.",
                "Use predict for several rows.",
            )
        found = self.model_.scores(as_points(row[None]))[0]
        return float(found[0]) if self._is_flat else found

    def error_bound(self, X: Any) -> Array:
        """How far `predict` can be from the exact minimiser at each point, proved from the residual of the solve.

        ½‖√W r‖/√λ·√k(x, x), for the residual r = y − f − b − λ α/w that the referee computed in float64. With an
        intercept the kernel is centred, and the mean of r is added. Rounding of `predict` itself is not counted.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m,) or (m, n_targets)
            Infinite for alpha = 0, for which there is no bound.
        """
        self._check_fitted()
        points = self._read_new(X)
        self._refuse_precomputed("The error bound")
        known, binding, phi = self._posterior_parts()
        return self._shaped(known.error_bound(binding, phi, points))

    @property
    def coef_(self) -> Array:
        """w = Φᵀα, the weights of the explicit features: (M,) or (n_targets, M). Only for a finite feature map."""
        weights = self.model_.linear_weights() if "model_" in vars(self) else None
        if weights is None:
            raise AttributeError(
                f"{type(self).__name__} has coef_ only where the kernel has a finite feature map; "
                f"{getattr(self, 'kernel', None)!r} has none. Use dual_coef_."
            )
        return weights[:, 0] if self._is_flat else weights.T

    @property
    def dual_coef_(self) -> Array:
        """α, the coefficients of the training rows: (n,) or (n, n_targets)."""
        return self._shaped(self.model_.coef)

    @property
    def intercept_(self) -> Any:
        """b: a float, or one number per target; 0 without `fit_intercept`."""
        b = self.model_.intercept
        return float(b[0]) if self._is_flat else b

    @property
    def log_marginal_likelihood_(self) -> Any:
        """log p(y) with the kernel as prior covariance and noise of variance alpha/wᵢ; a float, or one per target.

        With an intercept it is the restricted likelihood, in which b is integrated out over a flat prior.
        """
        self._check_fitted()
        known, binding, phi = self._posterior_parts()
        found = known.log_likelihood(binding, phi, self.verbose)
        return float(found[0]) if self._is_flat else found

    def _publish(self, binding: Binding, problem: Problem, solution: Solution, flat: bool, explanation: str) -> None:
        """Set the attributes of a fit."""
        self._is_flat, self._explanation = flat, explanation
        self.certificate_ = solution.certificate
        self.n_iter_ = max(1, solution.certificate.steps)  # a direct method counts as one iteration
        self.__dict__.pop("landmarks_", None)  # of an earlier fit
        self.model_ = Model.on(
            binding,
            solution.coef,
            solution.intercept,
            weights=solved_weights(problem, solution),
            uncertainty=Uncertainty(
                problem.y, problem.cost, bool(self.fit_intercept), solution.error, solution.factors
            ),
        )

    def _publish_restricted(self, found: Restriction, solution: Solution, flat: bool, explanation: str) -> None:
        """Set the attributes of a fit on landmarks."""
        self._is_flat, self._explanation = flat, explanation
        self.certificate_ = solution.certificate
        self.n_iter_ = max(1, solution.certificate.steps)
        self.landmarks_ = found.rows
        self.model_ = Model.on(found.gram.features().binding, solution.coef, solution.intercept)

    def _shaped(self, found: Array) -> Array:  # (m, t) -> (m,) or (m, t)
        return found[:, 0] if self._is_flat else found

    def _posterior_parts(self) -> tuple[Uncertainty, Binding, FeatureMap | None]:
        model = self.model_
        if model.uncertainty is None:
            raise InvalidInput(
                "Error bars and likelihoods need all rows of the fit.",
                f"This machine keeps {len(model.basis)} landmarks.",
                'Fit with solver="cholesky" or "cg", as far as the rows can be solved for.',
            )
        return model.uncertainty, model.binding, None if model.weights is None else model.features

    def _refuse_precomputed(self, what: str) -> None:
        if self._spec.is_precomputed:
            raise InvalidInput(
                f"{what} needs k(x, x) of the new points, which a precomputed kernel does not know.",
                "",
                "Use a Kernel object or a function.",
            )
