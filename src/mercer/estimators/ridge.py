"""Kernel ridge regression."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InvalidParameter
from mercer.estimators._machine import KernelMachine
from mercer.estimators._targets import real_targets, weights
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.solvers.table import AUTO

__all__ = ["KernelRidge"]

Array = npt.NDArray[np.float64]


class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Least squares with a kernel and a quadratic penalty, seen from the dual.

    Minimises Σᵢ wᵢ (yᵢ − f(xᵢ) − b)² + α ‖f‖² over functions f of the kernel's space. The solution is
    f(x) = Σᵢ aᵢ k(xᵢ, x) with a = (K + α W⁻¹)⁻¹ (y − b), so that every coefficient is a weighted residual,
    aᵢ = wᵢ (yᵢ − f(xᵢ) − b)/α.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default 1.0
        The penalty α ≥ 0; one per target where an array. 0 interpolates.
    kernel : Kernel, str or callable, default "linear"
        A kernel of mercer, a name that scikit-learn has, "precomputed", or a function of two points that returns a
        number.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.
    fit_intercept : bool, default False
        Whether to fit b, which is not penalised.
    solver : str, default "auto"
        "auto", or a row of `mercer.solvers.table.SOLVERS`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients a.
    intercept_ : float or ndarray of shape (n_targets,)
        b; 0 without `fit_intercept`.
    solution_ : Solution
        The certificate: primal, dual, gap and a sentence on how the solve ended. Its objective is the one above
        divided by 2α.
    bound_ : Bound
        The kernel, resolved on the training points, together with them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.ridge import KernelRidge
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRidge(alpha=1e-3, kernel=RBF(1.0)).fit(X, np.sin(X[:, 0]))
    >>> np.round(model.predict([[1.5], [3.0]]), 2)
    array([1.  , 0.14])
    >>> model.solution_.status.value
    'solved to the tolerance, as its duality gap shows'

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk. Ridge regression learning algorithm in dual variables. ICML 1998.
    """

    dual_coef_: Array
    intercept_: Any
    solution_: Solution

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = False,
        solver: str = AUTO,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0.
        """
        points = self._read(X)
        n = len(points)
        targets, flat = real_targets(y, n)
        cost = _costs(weights(sample_weight, n), self._penalties(targets.shape[1]))
        gram = self._bind(points)
        B = np.ones((n, int(self.fit_intercept)))
        problem = Problem(gram, targets, LOSSES["squared"], cost, B, np.zeros(B.shape[1]))
        solution = self._solve(problem, points)
        self.solution_ = solution
        self.dual_coef_ = solution.coef.ravel() if flat else solution.coef
        self.intercept_ = float(solution.intercept[0]) if flat else solution.intercept
        return self

    def predict(self, X: Any) -> Array:
        """Predict f(x) + b.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed.

        Returns
        -------
        ndarray of shape (m,) or (m, n_targets)
        """
        check_is_fitted(self)
        return self._decide(X, self.dual_coef_, self.intercept_)

    def _penalties(self, t: int) -> Array:  # (t,)
        wrong = f"alpha must be one number ≥ 0, or one for each of the {t} targets."
        try:
            alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise InvalidParameter(wrong, f"Got {self.alpha!r}.") from error
        if alpha.ndim != 1 or alpha.size not in (1, t) or not (np.isfinite(alpha) & (alpha >= 0.0)).all():
            raise InvalidParameter(wrong, f"Got {self.alpha!r}.")
        return np.broadcast_to(alpha, (t,))


def _costs(weight: Array, alpha: Array) -> Array:  # (n, t)
    """cᵢ = wᵢ/α; a row without weight has no cost, whatever α is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = weight[:, None] / alpha[None, :]
    return np.where(weight[:, None] > 0.0, cost, 0.0)
