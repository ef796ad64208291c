"""Support vector classification: SVC and NuSVC."""

from typing import Any

from mercer.estimators._svm_classifier import PairwiseMachine

__all__ = ["SVC", "NuSVC"]


class SVC(PairwiseMachine):
    """Classification with the largest margin, where errors are allowed at a price.

    Minimises ½ ‖f‖² + C Σᵢ wᵢ max(0, 1 − yᵢ (f(xᵢ) + b)) over functions f of the kernel's space, for classes y = ±1.
    The dual maximises Σᵢ yᵢ αᵢ − ½ αᵀKα over 0 ≤ yᵢ αᵢ ≤ C wᵢ with Σᵢ αᵢ = 0, and f(x) = Σᵢ αᵢ k(xᵢ, x). More classes
    are decided by the votes of all pairs. C = inf is the hard margin: no errors at all.

    Parameters
    ----------
    C : float, default 1.0
        The price of an error, above 0; inf raises `NotSeparable` where the classes are not separable.
    kernel : Kernel, str or callable, default "rbf"
        A kernel of mercer, "auto" for what `mercer.auto` proposes for X, a name that scikit-learn has, "precomputed",
        or a function of two collections of points that returns the matrix of their kernel values.
    degree, gamma, coef0 : optional
        Parameters of a named kernel. gamma="scale" is 1/(d·var(X)), with every row counted as its weight says.
    shrinking : bool, default True
        For compatibility with scikit-learn; has no effect, because the solver always works on the rows that matter.
    probability : bool, optional
        True calibrates probabilities at fit, which takes a 5-fold cross-validation, for `predict_proba`: it needs the
        training rows, and a fitted machine does not keep them. scikit-learn deprecates the parameter, so mercer warns.
    tol : float, default 1e-3
        Violation of the conditions of optimality at which a solve ends, if its duality gap is closed too.
    cache_size : float, default 200
        Megabytes for kernel values.
    class_weight : dict, "balanced" or None
        Factors of C by class; "balanced" gives every class the same sum.
    verbose : int, default 0
        1 shows a progress bar with the gap if a solve takes longer than a second.
    max_iter : int, default -1
        The maximum number of two-coefficient steps per problem; -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes: votes plus a fraction from the decisions, one column per class; or one per pair.
    break_ties : bool, default False
        With "ovr": whether a tie of votes is decided by the decisions, and not by the order of the classes.
    random_state : int, RandomState or None
        Deals the rows into folds for the probabilities.
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
    classes_ : ndarray of shape (n_classes,)
        The labels.
    class_weight_ : ndarray of shape (n_classes,)
        Their factors.
    support_ : ndarray of shape (n_SV,)
        The rows of X that are support vectors, class by class.
    free_support_, bounded_support_ : ndarray
        Those with a coefficient inside its box, which determine `intercept_`, and the others.
    support_vectors_ : ndarray or CSR matrix of shape (n_SV, d)
        The support vectors; empty where the kernel is precomputed or a function.
    n_support_ : ndarray of shape (n_classes,), int32
        Their number in each class.
    dual_coef_ : ndarray or CSR matrix of shape (n_classes − 1, n_SV)
        The coefficients α, signed. With two classes α > 0 for ``classes_[1]``. With more a column has the coefficients
        of one support vector against each of the other classes in their order, α > 0 for the first class of a pair.
    intercept_ : ndarray of shape (n_classes·(n_classes − 1)/2,)
        b of each pair, the mean of what its free support vectors ask for.
    intercept_spread_ : ndarray, like intercept_
        How far apart these are.
    coef_ : ndarray or CSR matrix of shape (n_pairs, M)
        The weights of the explicit features: of the kernel "linear", or of a Kernel object with a finite map.
    model_ : Model
        The fitted machine, on its support vectors: all that predictions read.
    certificate_ : Certificate
        Primal, dual, gap, violation, kernel evaluations and a sentence on how the solve ended; sums and the worst of
        all pairs of classes.
    n_iter_ : ndarray of shape (n_pairs,), int32
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
    >>> from mercer import SVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = SVC(kernel="linear").fit(X, ["left", "left", "right", "right"])
    >>> model.predict([[-0.8, -1.0], [3.0, 0.5]])
    array(['left', 'right'], dtype='<U5')
    >>> model.support_, model.coef_, model.intercept_.round(6) + 0.0
    (array([0, 2], dtype=int32), array([[0.5, 0.5]]), array([0.]))

    References
    ----------
    .. [1] C. Cortes, V. Vapnik. Support-vector networks. Machine Learning 20 (1995).
    """

    _kind = "c-svc"

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        max_time: float | None = None,
        gap_tol: float = 1e-3,
        keep_best: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_time = max_time
        self.gap_tol = gap_tol
        self.keep_best = keep_best
        self.warm_start = warm_start


class NuSVC(PairwiseMachine):
    """Classification with the largest margin and a bounded share of errors.

    Minimises ½ ‖f‖² + Σᵢ wᵢ max(0, ρ − yᵢ (f(xᵢ) + b)) − ν ρ Σᵢ wᵢ over functions f of the kernel's space, b and
    the margin ρ: at most a share ν of the rows (by weight) has a margin below ρ, and at least a share ν is a
    support vector. Coefficients and intercepts are published in units of ρ, as LIBSVM does, so that margins are at ±1.

    Parameters
    ----------
    nu : float, default 0.5
        ν, above 0 and at most 1; for a pair of classes at most twice the share of the smaller one.
    class_weight : dict, "balanced" or None
        Factors of the weights by class. Where these leave no feasible nu, they multiply C = 1/ρ of the `SVC` that has
        the same decisions without them.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter
        As in `SVC`.
    decision_function_shape, break_ties, random_state, max_time, gap_tol, keep_best, warm_start
        As in `SVC`.

    Attributes
    ----------
    margin_ : ndarray of shape (n_pairs,)
        ρ of each pair.
    classes_, support_, dual_coef_, intercept_, certificate_, …
        As in `SVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = NuSVC(kernel="linear").fit(X, [1, 1, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])

    References
    ----------
    .. [1] B. Schölkopf, A. J. Smola, R. C. Williamson, P. L. Bartlett. New support vector algorithms. Neural
       Computation 12 (2000).
    """

    _kind = "nu-svc"

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: int | bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        max_time: float | None = None,
        gap_tol: float = 1e-3,
        keep_best: bool = False,
        warm_start: bool = False,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_time = max_time
        self.gap_tol = gap_tol
        self.keep_best = keep_best
        self.warm_start = warm_start
