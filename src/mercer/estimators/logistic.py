"""Kernel logistic regression."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.special
from sklearn.base import ClassifierMixin

from mercer.domains import is_number
from mercer.errors import InvalidParameter, shown
from mercer.estimators._classes import class_labels, class_weights
from mercer.estimators._landmarks import LANDMARKS, Restriction
from mercer.estimators._machine import KernelMachine
from mercer.estimators._parameters import REGRESSION, check_parameters
from mercer.estimators._targets import weights
from mercer.grams.base import Gram
from mercer.kernels.binding import Binding
from mercer.models.model import Model, solved_weights
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Solution
from mercer.solvers.options import Options
from mercer.solvers.table import AUTO, explain

__all__ = ["KernelLogisticRegression"]

Array = npt.NDArray[np.float64]


class KernelLogisticRegression(ClassifierMixin, KernelMachine):
    """Logistic regression with a kernel, two classes or many, seen from the dual.

    Minimises ½ ‖f‖² + C Σᵢ wᵢ log(1 + exp(−yᵢ (f(xᵢ) + b))) over functions f of the kernel's space, for classes y = ±1:
    the most probable f where its prior is a Gaussian process with the kernel as covariance, times C. The solution is
    f(x) = Σᵢ αᵢ k(xᵢ, x) with αᵢ = C wᵢ yᵢ (1 − P(yᵢ | xᵢ)), so that every coefficient is what the model leaves to the
    wrong class. With more classes there is an f for each, P(j | x) = exp(fⱼ(x) + bⱼ)/Σₖ exp(fₖ(x) + bₖ) (softmax, not
    one against the rest), the loss is −log P(yᵢ | xᵢ), and αᵢⱼ = C wᵢ ([yᵢ = j] − P(j | xᵢ)).

    Parameters
    ----------
    C : float, default 1.0
        The weight of the losses against the penalty, above 0; as in scikit-learn's LogisticRegression. Where classes
        are clear, 10 or 100 gives better probabilities: see Notes.
    kernel : Kernel, str or callable, default "rbf"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two points that returns a number.
    gamma, degree, coef0 : optional
        Parameters of a named kernel, with the defaults of scikit-learn's SVC.
    kernel_params : dict, optional
        Keyword arguments of a function given as `kernel`.
    fit_intercept : bool, default True
        Whether to fit b, which is not penalised.
    class_weight : dict, "balanced" or None
        Factors of the weights wᵢ by class; "balanced" gives every class the same sum.
    solver : {"auto", "primal", "newton-cholesky", "newton-cg", "landmarks"}
        "auto", or a row of `mercer.solvers.table.SOLVERS` for this loss: "primal" works in the explicit features of a
        finite map; "newton-cholesky" factorises a system of n × (columns) unknowns in each step; "newton-cg" needs
        products with K only; "landmarks" restricts f to few rows, for more rows than the others can solve for, and is
        what "auto" takes from about 140 000 rows on. `explain()` says which was chosen, and why.
    tol : float, default 1e-4
        Relative duality gap at which the iteration stops.
    max_iter : int, default 100
        The maximum number of Newton steps.
    max_time : float, optional
        Seconds after which the best solution so far is returned, with a warning and a status that says so.
    keep_best : bool, default False
        Whether Ctrl-C leaves the best model so far, with its certificate, where the solver iterates; else it is raised.
    verbose : int, default 0
        1 shows a progress bar with the gap if a solve takes longer than a second.
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
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_coef_ : ndarray of shape (n,) or (n, n_classes)
        The coefficients α; one column for two classes, whose decision is that of ``classes_[1]``.
    landmarks_ : ndarray of shape (m,)
        The numbers of the rows that are landmarks, as `dual_coef_` has them; only on landmarks.
    coef_ : ndarray of shape (1, M) or (n_classes, M)
        The weights Φᵀα of the explicit features, where the kernel has a finite feature map.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b; of sum zero for more than two classes.
    model_ : Model
        The fitted machine: all that predictions read.
    certificate_ : Certificate
        primal, dual, gap and a sentence on how the solve ended.
    n_iter_ : int
        Newton steps.
    binding_ : Binding
        The kernel, resolved on the training points, bound to them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The prior variance of f(x) is C k(x, x). With k(x, x) = 1, C = 1 expects probabilities between 27 % and 73 %, C = 10
    between 4 % and 96 %. The default is that of scikit-learn, of whose LogisticRegression this is the same problem
    where the kernel is linear; for clear classes its probabilities are too cautious, though its labels are as good. On
    standardised breast cancer data, five folds, the log-loss is 0.16 at C = 1, 0.09 at 10 and 0.08 at 100; for iris 10
    is best, for wine 1000. Choose C by cross-validation with ``scoring="neg_log_loss"``;
    ``python -m benchmarks.logistic_default`` prints such a table.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.logistic import KernelLogisticRegression
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.where(np.sin(X[:, 0]) > 0, "up", "down")
    >>> model = KernelLogisticRegression(C=10.0, kernel=RBF(1.0)).fit(X, y)
    >>> model.predict([[1.5], [4.5]])
    array(['up', 'down'], dtype='<U4')
    >>> model.predict_proba([[1.5], [3.0]]).round(1)
    array([[0. , 1. ],
           [0.4, 0.6]])
    >>> model.certificate_.status.value
    'solved to the tolerance, as its duality gap shows'

    References
    ----------
    .. [1] S. S. Keerthi, K. B. Duan, S. K. Shevade, A. N. Poo. A fast dual algorithm for kernel logistic regression.
       Machine Learning 61 (2005).
    .. [2] J. Zhu, T. Hastie. Kernel logistic regression and the import vector machine. Journal of Computational and
       Graphical Statistics 14 (2005).
    """

    _default_gamma = "scale"
    classes_: npt.NDArray[Any]

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "rbf",
        gamma: float | str | None = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str = AUTO,
        tol: float = 1e-4,
        max_iter: int | None = 100,
        max_time: float | None = None,
        keep_best: bool = False,
        verbose: int = 0,
        n_landmarks: int | None = None,
        landmarks: Any = "uniform",
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
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
        y : array-like of shape (n,)
            Labels.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0; a row of weight 2 counts as two copies.
        """
        check_parameters(type(self).__name__, vars(self), REGRESSION)
        points = self._read(X)
        n = len(points)
        classes, index = class_labels(y, n)
        copies = weights(sample_weight, n)
        weight = class_weights(self.class_weight, classes, index, copies)
        options = Options(self.tol, self.max_iter, self.max_time, self.verbose, keep_best=self.keep_best)
        cost = self._penalty() * weight[:, None]
        if len(classes) == 2:
            loss, targets = LOSSES["logistic"], np.where(index == 1, 1.0, -1.0)[:, None]
        else:
            loss, targets = LOSSES["softmax"], np.eye(len(classes))[index]
        B = np.ones((n, int(self.fit_intercept)))
        binding = self._bind_to_solve(points, copies, is_weighted=True)
        restriction, why = self._restriction(binding, points, copies)
        gram: Gram = self._gram(binding) if restriction is None else restriction.gram
        problem = Problem(gram, targets, loss, cost, B, np.zeros(B.shape[1]))
        solver = self.solver if restriction is None else LANDMARKS
        solution = self._solve(problem, points, options, solver)
        self._publish(binding, problem, solution, classes, why + explain(problem, solver), restriction)
        return self

    def decision_function(self, X: Any) -> Array:
        """f(x) + b.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed.

        Returns
        -------
        ndarray of shape (m,) or (m, n_classes)
            For two classes the logarithm of P(classes_[1] | x)/P(classes_[0] | x).
        """
        self._check_fitted()
        points = self._read_new(X)
        found = self.model_.scores(points)
        return found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class; in a tie, the first.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m,)
        """
        g = self.decision_function(X)
        best = (g > 0.0).astype(np.intp) if g.ndim == 1 else g.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """P(class | x), each row of sum one, in the order of `classes_`.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        g = self.decision_function(X)
        if g.ndim == 1:
            return np.column_stack([scipy.special.expit(-g), scipy.special.expit(g)])
        return np.asarray(scipy.special.softmax(g, axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """log P(class | x), exact where the probability would round to 0.

        Parameters
        ----------
        X : like the X of `fit`

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        g = self.decision_function(X)
        if g.ndim == 1:
            return np.column_stack([scipy.special.log_expit(-g), scipy.special.log_expit(g)])
        return np.asarray(scipy.special.log_softmax(g, axis=1))

    @property
    def coef_(self) -> Array:
        """Φᵀα, the weights of the explicit features: (1, M) or (n_classes, M). Only for a finite feature map."""
        found = self.model_.linear_weights() if "model_" in vars(self) else None
        if found is None:
            raise AttributeError(
                f"{type(self).__name__} has coef_ only where the kernel has a finite feature map; "
                f"{getattr(self, 'kernel', None)!r} has none. Use dual_coef_."
            )
        return found.T

    def _penalty(self) -> float:
        given: Any = self.C
        if not is_number(given) or not 0.0 < float(given) < np.inf:
            raise InvalidParameter("C must be a number above 0.", f"Got {shown(given)}.")
        return float(given)

    @property
    def dual_coef_(self) -> Array:
        """α, the coefficients of the training rows: (n,), or (n, n_classes) for more than two classes."""
        coef = self.model_.coef
        return coef[:, 0] if len(self.classes_) == 2 else coef

    @property
    def intercept_(self) -> Array:
        """b: (1,), or (n_classes,) of sum zero."""
        return self.model_.intercept

    def _publish(
        self,
        binding: Binding,
        problem: Problem,
        solution: Solution,
        classes: npt.NDArray[Any],
        explanation: str,
        restriction: Restriction | None,
    ) -> None:
        self.classes_ = classes
        self._explanation = explanation
        self.certificate_ = solution.certificate
        self.n_iter_ = max(1, solution.certificate.steps)
        self.__dict__.pop("landmarks_", None)  # of an earlier fit
        if restriction is not None:
            binding, self.landmarks_ = restriction.gram.features().binding, restriction.rows
        weights = solved_weights(problem, solution)
        self.model_ = Model.on(binding, solution.coef, solution.intercept, classes=classes, weights=weights)
