"""What kernel ridge machines share after a solve: predictions, their uncertainty, and the solver's part in it."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer.errors import InvalidInput, InvalidParameter
from mercer.estimators._machine import KernelMachine
from mercer.grams.base import Gram
from mercer.grams.choose import gram_to_solve
from mercer.grams.factored import PhiBlocks, finite_map
from mercer.kernels.bound import bind
from mercer.kernels.featuremap import FeatureMap
from mercer.points.base import Points
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.solvers.factor import groups
from mercer.solvers.options import Options
from mercer.solvers.posterior import Fill, Posterior, posterior, primal_posterior

__all__ = ["LeastSquaresMachine", "ridge_problem"]

Array = npt.NDArray[np.float64]


def ridge_problem(gram: Gram, targets: Array, weight: Array, alpha: Array, fit_intercept: bool) -> Problem:
    """Σ wᵢ (yᵢ − f(xᵢ) − b)² + α‖f‖², over 2α, as the problem that solvers know."""
    B = np.ones((len(targets), int(fit_intercept)))
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = weight[:, None] / alpha[None, :]
    cost = np.where(weight[:, None] > 0.0, cost, 0.0)  # a row without weight has no cost, whatever α is
    return Problem(gram, targets, LOSSES["squared"], cost, B, np.zeros(B.shape[1]), weight / weight.max())


class LeastSquaresMachine(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Base of the machines that minimise Σᵢ wᵢ (yᵢ − f(xᵢ) − b)² + α ‖f‖²."""

    dual_coef_: Array
    intercept_: Any
    solution_: Solution
    fit_intercept: bool
    verbose: int
    max_time: float | None

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict f(x) + b, and on demand how uncertain it is.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed.
        return_std : bool
            Whether to give the posterior standard deviation of f(x) + b too, where the kernel is the prior covariance
            and alpha/wᵢ the variance of the noise. It is exact; after an iterative solve it takes one factorisation.
        return_cov : bool
            Whether to give the posterior covariance of the new points in its place.

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
        mean = self._decide(points)
        if not (return_std or return_cov):
            return mean
        self._refuse_precomputed("The posterior")
        B_new = np.ones((len(points), int(self.fit_intercept)))
        if return_std:
            prior = self.bound_.diag(points)
            columns = [np.sqrt(p.variance(self._fill(points), prior, B_new)) for p in self._posteriors()]
        else:
            prior = bind(self.bound_.kernel, points, dtype=np.float64).self_cross().dense()
            columns = [p.covariance(self._fill(points), prior, B_new) for p in self._posteriors()]
        if mean.ndim == 1:
            return mean, columns[0]
        found = np.empty((*columns[0].shape, mean.shape[1]))
        for (_, targets), column in zip(groups(self._cost), columns, strict=True):
            found[..., targets] = column[..., None]
        return mean, found

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
        found = self._decide(row[None])[0]
        return float(found) if found.ndim == 0 else found

    def error_bound(self, X: Any) -> Array:
        """How far `predict` can be from the exact minimiser at each point, proved from the residual of the solve.

        ½‖√W r‖/√α·√k(x, x), for the residual r = y − f − b − α a/w that the referee computed in float64. With an
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
        m, t = len(points), self.solution_.coef.shape[1]
        error = self.solution_.error
        if error is None:
            found = np.full((m, t), np.inf)
        else:
            diagonal = self.bound_.diag(points)
            found = error.at(diagonal, self._centred(points, diagonal) if self.fit_intercept else diagonal)
        return found[:, 0] if self.dual_coef_.ndim == 1 else found

    def explain(self) -> str:
        """How the problem was solved and why so: the table of solvers, then the certificate."""
        self._check_fitted()
        return f"{self._explanation}\n\n{self.solution_}"

    @property
    def coef_(self) -> Array:
        """w = Φᵀa, the weights of the explicit features: (M,) or (n_targets, M). Only for a finite feature map."""
        weights = self._weights()
        if weights is None:
            raise AttributeError(
                f"{type(self).__name__} has coef_ only where the kernel has a finite feature map; "
                f"{getattr(self, 'kernel', None)!r} has none. Use dual_coef_."
            )
        return weights[:, 0] if self.dual_coef_.ndim == 1 else weights.T

    @property
    def log_marginal_likelihood_(self) -> Any:
        """log p(y) with the kernel as prior covariance and noise of variance alpha/wᵢ; a float, or one per target.

        With an intercept it is the restricted likelihood, in which b is integrated out over a flat prior.
        """
        parts = [p.log_likelihood for p in self._posteriors()]
        if self.dual_coef_.ndim == 1:
            return float(parts[0][0])
        found = np.empty(self.solution_.coef.shape[1])
        for (_, targets), values in zip(groups(self._cost), parts, strict=True):
            found[targets] = values
        return found

    def _publish(self, problem: Problem, solution: Solution, flat: bool, explanation: str) -> None:
        """Set the attributes of a fit."""
        self.solution_ = solution
        self.dual_coef_ = solution.coef.ravel() if flat else solution.coef
        self.intercept_ = float(solution.intercept[0]) if flat else solution.intercept
        self.n_iter_ = max(1, solution.certificate.steps)  # a direct method goes through once
        self._targets, self._cost = problem.y, problem.cost
        self._explanation = explanation
        self._known: list[Posterior] = []
        phi = problem.gram.factor() if solution.certificate.solver == "primal" else None
        self._primal: tuple[FeatureMap, Array] | None = None
        if isinstance(phi, PhiBlocks):
            known = solution.weights
            self._primal = phi.phi, phi.transpose_times(solution.coef) if known is None else known

    def __getstate__(self) -> dict[str, Any]:
        # Factors of n² numbers are made again when they are asked for.
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_known": []} if "_known" in state else state

    def _decide(self, X: Any) -> Array:  # (m,) or (m, t)
        """f(x) + b: by the features where these were solved for, else by the kernel."""
        if self._primal is None:
            return np.asarray(self.bound_.cross(X) @ self.dual_coef_ + self.intercept_, dtype=np.float64)
        phi, weights = self._primal
        found = np.empty((len(X), weights.shape[1]))
        for rows, block in phi.blocks(X):
            found[rows] = block @ weights
        return np.asarray((found[:, 0] if self.dual_coef_.ndim == 1 else found) + self.intercept_)

    def _weights(self) -> Array | None:  # (M, t)
        if not hasattr(self, "_primal"):
            return None
        if self._primal is not None:
            return self._primal[1]
        phi = finite_map(self.bound_)
        return None if phi is None else PhiBlocks(phi, self.bound_.basis).transpose_times(self.solution_.coef)

    def _gram(self) -> Gram:
        return gram_to_solve(self.bound_, primal=self._primal is not None)

    def _posteriors(self) -> list[Posterior]:
        """One for each different column of costs, made when first asked for."""
        self._check_fitted()
        if not self._known:
            gram = self._gram()
            phi = gram.factor() if self._primal is not None else None
            B = np.ones((len(self._targets), int(self.fit_intercept)))
            watch = Options(verbose=self.verbose).watch("posterior")
            parts = groups(self._cost)
            factors = self.solution_.factors or (None,) * len(parts)
            found: list[Posterior] = []
            for (cost, targets), factor in zip(parts, factors, strict=True):
                y = self._targets[:, targets]
                found.append(
                    posterior(gram, y, cost, B, watch, factor) if phi is None else primal_posterior(phi, y, cost, B)
                )
            watch.close()
            self._known = found
        return self._known

    def _fill(self, points: Points) -> Fill:
        """Writes K(x, X), or φ(x), of some of the points."""
        if self._primal is None:
            return lambda part, out: self.bound_.cross(points.take(part)).dense(out)
        phi, _ = self._primal

        def features(part: slice, out: Array) -> None:
            out[...] = phi(points.take(part))

        return features

    def _centred(self, points: Points, diagonal: Array) -> Array:
        """‖φ(x) − mean of φ‖², the mean weighted as the fit was."""
        share = self._cost[:, 0] / self._cost[:, 0].sum()
        to_mean = np.asarray(self.bound_.cross(points) @ share)
        return diagonal - 2.0 * to_mean + float(share @ (self._gram() @ share[:, None])[:, 0])

    def _refuse_precomputed(self, what: str) -> None:
        if self._spec.is_precomputed:
            raise InvalidInput(
                f"{what} needs k(x, x) of the new points, which a precomputed kernel does not know.",
                "",
                "Use a Kernel object or a function.",
            )
