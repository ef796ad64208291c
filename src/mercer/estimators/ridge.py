"""Kernel ridge regression."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidParameter, shown
from mercer.estimators._landmarks import LANDMARKS
from mercer.estimators._least_squares import LeastSquaresMachine, ridge_problem
from mercer.estimators._parameters import REGRESSION, check_parameters
from mercer.estimators._targets import real_targets, weights
from mercer.grams.base import Gram
from mercer.solvers.options import Options
from mercer.solvers.table import AUTO, explain

__all__ = ["KernelRidge"]

Array = npt.NDArray[np.float64]


class KernelRidge(LeastSquaresMachine):
    """Least squares with a kernel and a quadratic penalty, seen from the dual.

    Minimises Σᵢ wᵢ (yᵢ − f(xᵢ) − b)² + λ ‖f‖² over functions f of the kernel's space. The solution is
    f(x) = Σᵢ αᵢ k(xᵢ, x) with α = (K + λ W⁻¹)⁻¹ (y − b), so that every coefficient is a weighted residual,
    αᵢ = wᵢ (yᵢ − f(xᵢ) − b)/λ.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default 1.0
        The penalty λ ≥ 0; one per target where an array. 0 is kernel least squares: it interpolates where the kernel
        can, and is of least norm where K is singular. Noise of variance σ² under a prior of variance τ² is λ = σ²/τ².
    kernel : Kernel, str or callable, default "linear"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two points that returns a number.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with scikit-learn's defaults.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.
    fit_intercept : bool, default False
        Whether to fit b, which is not penalised.
    solver : str, default "auto"
        "auto", or a row of `mercer.solvers.table.SOLVERS`: "primal", "eigen", "cholesky", "cg", "mixed" or "landmarks".
        `explain()` says which was chosen and why. Choose "cholesky" if you will ask for standard deviations, which need
        its factor; "landmarks" for more rows than these can solve for, which "auto" does from about 140 000 rows on.
    tol : float, default 1e-8
        Relative residual at which iterative solvers stop, and relative duality gap that counts as solved.
    max_iter : int, optional
        The maximum number of iterations of an iterative solver.
    max_time : float, optional
        Seconds after which the best solution so far is returned, with a warning and a status that says so.
    keep_best : bool, default False
        Whether Ctrl-C leaves the best model so far, with its certificate, where the solver iterates; else it is raised.
    verbose : int, default 0
        1 shows a progress bar with the residual if a solve takes longer than a second.
    n_landmarks : int, optional
        With landmarks, how many: f is then a sum over these rows alone, and time and memory grow like n m and m².
        10 √n, at most 5 000, where not given.
    landmarks : {"uniform", "k-means++", "rpcholesky"} or array of int, default "uniform"
        How they are chosen: all rows alike, far from each other in feature space, by a randomly pivoted Cholesky
        factor; or which rows they are.
    random_state : int, RandomState or None, default None
        Chooses the landmarks.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, n_targets)
        The coefficients α; on landmarks those of the landmarks, which are no residuals.
    landmarks_ : ndarray of shape (m,)
        The numbers of the rows that are landmarks, as `dual_coef_` has them; only on landmarks. Rows that the others
        span up to rounding are left out.
    coef_ : ndarray of shape (M,) or (n_targets, M)
        The weights w = Φᵀα of the explicit features, where the kernel has a finite feature map.
    log_marginal_likelihood_ : float or ndarray of shape (n_targets,)
        Of the targets, with the kernel as prior covariance and noise of variance λ/wᵢ; the restricted likelihood with
        an intercept. Computed on first access.
    prior_variance_ : float or ndarray of shape (n_targets,)
        τ² that makes the targets likeliest, if the kernel and alpha are multiplied by it: predictions stay, standard
        deviations grow by τ.
    intercept_ : float or ndarray of shape (n_targets,)
        b; 0 without `fit_intercept`.
    model_ : Model
        The fitted machine: all that predictions read.
    certificate_ : Certificate
        primal, dual, gap and a sentence on how the solve ended. Its objective is the one above
        divided by 2λ.
    n_iter_ : int
        Iterations of an iterative solver; 1 for a direct one.
    binding_ : Binding
        The kernel, resolved on the training points, bound to them.
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
    >>> model.certificate_.status.value
    'solved to the tolerance, as its duality gap shows'

    References
    ----------
    .. [1] C. Saunders, A. Gammerman, V. Vovk. Ridge regression learning algorithm in dual variables. ICML 1998.
    """

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
        tol: float = 1e-8,
        max_iter: int | None = None,
        max_time: float | None = None,
        keep_best: bool = False,
        verbose: int = 0,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.keep_best = keep_best
        self.verbose = verbose
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

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
        check_parameters(type(self).__name__, vars(self), REGRESSION)
        points = self._read(X)
        n = len(points)
        targets, flat = real_targets(y, n)
        weight = weights(sample_weight, n)
        alpha = self._penalties(targets.shape[1])
        options = Options(self.tol, self.max_iter, self.max_time, self.verbose, keep_best=self.keep_best)
        binding = self._bind_to_solve(points, weight)
        restriction, why = self._restriction(binding, points, weight)
        gram: Gram = self._gram(binding) if restriction is None else restriction.gram
        problem = ridge_problem(gram, targets, weight, alpha, self.fit_intercept)
        solver = self.solver if restriction is None else LANDMARKS
        reasons = why + explain(problem, solver)
        solution = self._solve(problem, points, options, solver)
        if restriction is None:
            self._publish(binding, problem, solution, flat, reasons)
        else:
            self._publish_restricted(restriction, solution, flat, reasons)
        return self

    def _penalties(self, t: int) -> Array:  # (t,)
        wrong = f"alpha must be one number ≥ 0, or one for each of the {t} targets."
        try:
            alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(wrong, f"Got {shown(self.alpha)}.") from error
        if (
            np.ma.is_masked(self.alpha)
            or alpha.ndim != 1
            or alpha.size not in (1, t)
            or not (np.isfinite(alpha) & (alpha >= 0.0)).all()
        ):
            raise InvalidParameter(wrong, f"Got {shown(self.alpha)}.")
        return np.broadcast_to(alpha, (t,))
