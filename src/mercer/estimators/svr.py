"""Support vector regression, and the support of a distribution: SVR, NuSVR and OneClassSVM."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin

from mercer.estimators._svm_single import RegressionMachine, SingleMachine

__all__ = ["SVR", "NuSVR", "OneClassSVM"]

Array = npt.NDArray[np.float64]

# Decisions of `OneClassSVM` below this share of ρ count as zero.
BORDER = 1e-9


class SVR(RegressionMachine):
    """Regression whose errors up to ε cost nothing.

    Minimises ½ ‖f‖² + C Σᵢ wᵢ max(0, |yᵢ − f(xᵢ) − b| − ε) over functions f of the kernel's space. The dual maximises
    Σᵢ yᵢ αᵢ − ε Σᵢ |αᵢ| − ½ αᵀKα over |αᵢ| ≤ C wᵢ with Σᵢ αᵢ = 0, and f(x) = Σᵢ αᵢ k(xᵢ, x). C = inf asks for a
    function that comes within ε of all targets.

    Parameters
    ----------
    kernel : Kernel, str or callable, default "rbf"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two collections of points that returns the matrix of their kernel values.
    degree, gamma, coef0 : optional
        Parameters of a named kernel. gamma="scale" is 1/(d·var(X)), with every row counted as its weight says.
    tol : float, default 1e-3
        Violation of the conditions of optimality at which a solve ends, if its duality gap is closed too.
    C : float, default 1.0
        The price of an error, above 0; inf raises `NotSeparable` where no function comes within ε.
    epsilon : float, default 0.1
        ε ≥ 0.
    shrinking : bool, default True
        For compatibility with scikit-learn; has no effect, because the solver always works on the rows that matter.
    cache_size : float, default 200
        Megabytes for kernel values.
    verbose : int, default 0
        1 shows a progress bar with the gap if a solve takes longer than a second.
    max_iter : int, default -1
        The maximum number of two-coefficient steps per problem; -1 for no limit.
    max_time : float, optional
        Seconds after which the best solution so far is returned, with a warning and a status that says so.
    gap_tol : float, default 1e-3
        Relative duality gap up to which a solve goes on after `tol` is reached; inf leaves it to `tol` alone, as LIBSVM
        does.
    keep_best : bool, default False
        Whether Ctrl-C leaves the best model so far, at once, instead of an error; its certificate is computed when
        `certify()` is called.
    warm_start : bool, default False
        Whether `fit` starts from the coefficients of the previous fit, if they have the same shape.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        The rows of X that are support vectors.
    free_support_, bounded_support_ : ndarray
        Those with a coefficient inside its box, which determine `intercept_`, and the others.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, d)
        The support vectors; empty where the kernel is precomputed or a function.
    n_support_ : ndarray of shape (1,), int32
        Their number.
    dual_coef_ : ndarray or CSR matrix of shape (1, n_SV)
        The coefficients α, signed.
    intercept_, intercept_spread_ : ndarray of shape (1,)
        b, the mean of what the free support vectors ask for, and how far these disagree.
    coef_ : ndarray or CSR matrix of shape (1, M)
        The weights of the explicit features: of the kernel "linear", or of a Kernel object with a finite map.
    model_ : Model
        The fitted machine, on its support vectors: all that predictions read.
    certificate_ : Certificate
        Primal, dual, gap, violation, kernel evaluations and a sentence on how the solve ended.
    n_iter_ : int
        Two-coefficient steps.
    fit_status_ : int
        0 if solved, else 1.
    binding_ : Binding
        The kernel, resolved, on the support vectors.
    shape_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]]) - np.sin(1.5)) < 0.06)
    True

    References
    ----------
    .. [1] A. J. Smola, B. Schölkopf. A tutorial on support vector regression. Statistics and Computing 14 (2004).
    """

    _kind = "epsilon-svr"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int | bool = False,
        max_iter: int = -1,
        max_time: float | None = None,
        gap_tol: float = 1e-3,
        keep_best: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.gap_tol = gap_tol
        self.keep_best = keep_best
        self.warm_start = warm_start


class NuSVR(RegressionMachine):
    """Regression with a bounded share of errors.

    Minimises ½ ‖f‖² + C Σᵢ wᵢ (max(0, |yᵢ − f(xᵢ) − b| − ε) + ν ε) over functions f of the kernel's space, b and
    ε ≥ 0: at most a share ν of the rows (by weight) lies outside the tube of radius ε, and at least a share ν on its
    border or outside.

    Parameters
    ----------
    nu : float, default 0.5
        ν, above 0 and at most 1.
    C : float, default 1.0
        The price of an error, above 0 and finite.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_time, gap_tol, keep_best,
    warm_start
        As in `SVR`.

    Attributes
    ----------
    margin_ : ndarray of shape (1,)
        ε, the radius of the tube.
    support_, dual_coef_, intercept_, certificate_, …
        As in `SVR`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 40)[:, None]
    >>> model = NuSVR(C=10.0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.5]]) - np.sin(1.5)) < 0.06)
    True

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett. New support vector algorithms. Neural
       Computation 12 (2000).
    """

    _kind = "nu-svr"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: int | bool = False,
        max_iter: int = -1,
        max_time: float | None = None,
        gap_tol: float = 1e-3,
        keep_best: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.gap_tol = gap_tol
        self.keep_best = keep_best
        self.warm_start = warm_start


class OneClassSVM(OutlierMixin, SingleMachine):
    """The support of a distribution: where all but a share ν of the rows lie.

    Minimises ½ ‖f‖² + Σᵢ wᵢ max(0, ρ − f(xᵢ)) − ν ρ Σᵢ wᵢ over functions f of the kernel's space and ρ. A point is an
    inlier where f(x) ≥ ρ; at most a share ν of the rows (by weight) is not.

    Parameters
    ----------
    nu : float, default 0.5
        ν, above 0 and at most 1.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, max_time, gap_tol, keep_best,
    warm_start
        As in `SVR`.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        ρ; `intercept_` is −ρ.
    support_, dual_coef_, intercept_, certificate_, …
        As in `SVR`.

    Examples
    --------
    >>> from mercer import OneClassSVM
    >>> X = [[0.0], [0.44], [0.45], [0.46], [1.0]]
    >>> OneClassSVM(gamma="auto").fit(X).predict(X)
    array([-1,  1,  1,  1, -1])

    References
    ----------
    .. [1] B. Schölkopf, J. C. Platt, J. Shawe-Taylor, A. J. Smola, R. C. Williamson. Estimating the support of a
       high-dimensional distribution. Neural Computation 13 (2001).
    """

    _kind = "one-class"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int | bool = False,
        max_iter: int = -1,
        max_time: float | None = None,
        gap_tol: float = 1e-3,
        keep_best: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.gap_tol = gap_tol
        self.keep_best = keep_best
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : ignored
        sample_weight : float or array-like of shape (n,), optional
            Weights; rows whose weight is not above 0 are left out.
        """
        self._fit_single(X, y, sample_weight)
        self.offset_ = -self.intercept_
        return self

    def decision_function(self, X: Any) -> Array:
        """f(x) − ρ: below 0 for outliers, and 0 to rounding at the free support vectors.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m,)
        """
        found = self._decisions(X)
        # Otherwise rounding would decide the sign for points on the border.
        found[np.abs(found) <= BORDER * np.abs(self.intercept_[0])] = 0.0
        return found

    def score_samples(self, X: Any) -> Array:
        """f(x).

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m,)
        """
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> npt.NDArray[np.intp]:
        """+1 for inliers, −1 for outliers.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m,)
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1).astype(np.intp)
