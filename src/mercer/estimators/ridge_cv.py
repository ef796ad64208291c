"""Kernel ridge regression that chooses its penalty."""

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from mercer.errors import InvalidInput, InvalidParameter, shown
from mercer.estimators._least_squares import LeastSquaresMachine, ridge_problem
from mercer.estimators._parameters import check_parameters
from mercer.estimators._targets import real_targets, weights
from mercer.grams.base import Gram
from mercer.grams.dense import DenseGram
from mercer.problems.certify import certify
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer, Solution
from mercer.solvers.options import Options
from mercer.solvers.path import Path, features_of, predicted
from mercer.solvers.table import AUTO

__all__ = ["KernelRidgeCV"]

Array = npt.NDArray[np.float64]
Score = Callable[[Array, Array, Array], Array]

GCV = "gcv"
# What was computed from the matrix, by solver.
FORMS = {
    "primal": "an eigendecomposition of features by features",
    "eigen": "an eigendecomposition of rows by rows",
    "tridiagonal": "a tridiagonal form of rows by rows",
}


class KernelRidgeCV(LeastSquaresMachine):
    """Kernel ridge regression with the penalty chosen by exact leave-one-out, GCV or cross-validation.

    One tridiagonal form P S K S P = V T Vᵀ serves every λ: with weights wᵢ, S = diag(√wᵢ), the intercept projected out
    by P, and G = V (T + λ)⁻¹ Vᵀ, the residual of row i for a fit without it is

        yᵢ − f₋ᵢ(xᵢ) − b₋ᵢ = (G S y)ᵢ / (√wᵢ Gᵢᵢ),

    exactly. Eigenvectors are used instead if a λ is so small that rounding may make T + λ indefinite. A kernel with M
    features, if at most half as many as rows, needs only an M × M decomposition.

    Parameters
    ----------
    alphas : float or array of shape (n_alphas,), default (0.1, 1.0, 10.0)
        The penalties to try, all above 0. In a tie, the first is taken.
    kernel, gamma, degree, coef0, kernel_params, fit_intercept
        As in `KernelRidge`.
    scoring : str or callable, optional
        What to maximise: a scikit-learn name, or ``scorer(estimator, X, y)``. It gets an estimator whose
        `predict` returns its argument, and the predictions in place of X. None is the negative mean of the
        (weighted) squared errors for leave-one-out, and R² for folds.
    cv : None, "gcv", int, splitter or iterable, default None
        None leaves each row out once, with its whole weight, by the formula above. "gcv" is generalised
        cross-validation: the mean of the Gᵢᵢ in the place of each, which depends less on single rows and costs next to
        nothing. Anything else is a splitter as in scikit-learn; each training part is decomposed once for all alphas.
    store_cv_results : bool, default False
        Whether to keep `cv_results_`; for leave-one-out only.
    alpha_per_target : bool, default False
        Whether to choose one penalty per target.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The penalty chosen; one for each column of y with `alpha_per_target`.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score; of GCV the negative criterion.
    cv_results_ : ndarray of shape (n, n_alphas) or (n, n_targets, n_alphas)
        wᵢ times the squared leave-one-out error, or where `scoring` is given the predictions for the rows left out.
        Only with `store_cv_results`.
    loo_residuals_ : ndarray of shape (n,) or (n, n_targets)
        yᵢ − f₋ᵢ(xᵢ) − b₋ᵢ for the chosen penalty, however it was chosen; the ordinary residual for rows of weight 0.
    model_, certificate_, dual_coef_, coef_, intercept_, binding_, log_marginal_likelihood_
        As in `KernelRidge`, for the penalty chosen and all rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    As in scikit-learn's RidgeCV, the mean squared error of leave-one-out is Σ wᵢ eᵢ² / n. Unlike there, weights count
    in the scores of folds too, so that a weight of 2 is two rows of the same fold, and a fold whose test rows have no
    weight is ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.estimators.ridge_cv import KernelRidgeCV
    >>> from mercer.kernels import RBF
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(50)
    >>> model = KernelRidgeCV(alphas=np.logspace(-4, 2, 50), kernel=RBF(1.0)).fit(X, y)
    >>> bool(0.01 < model.alpha_ < 1.0)
    True
    >>> bool(np.isclose(np.mean(model.loo_residuals_**2), -model.best_score_))
    True

    References
    ----------
    .. [1] G. Wahba. Spline models for observational data. SIAM 1990, section 4.
    .. [2] R. Rifkin, R. Lippert. Notes on regularized least squares. MIT-CSAIL-TR-2007-025.
    """

    alpha_: Any
    best_score_: Any
    cv_results_: Array
    loo_residuals_: Array

    # A direct method: no solver to choose, and no limits.
    solver = AUTO
    max_time = None
    verbose = 0

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        fit_intercept: bool = False,
        scoring: Any = None,
        cv: Any = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty, and fit the coefficients with it.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,) or (n, n_targets)
            Targets.
        sample_weight : float or array-like of shape (n,), optional
            Weights wᵢ ≥ 0, of the fit and of the score.
        """
        check_parameters(type(self).__name__, vars(self), ("fit_intercept",))
        alphas = self._penalties()
        self._refuse_combinations()
        points = self._read(X)
        n = len(points)
        targets, flat = real_targets(y, n)
        weight = weights(sample_weight, n)
        binding = self._bind(points)
        gram = self._gram(binding)
        is_positive = self._is_positive(gram, points)
        B = np.ones((n, int(self.fit_intercept)))
        score = self._score(flat, is_weighted=sample_weight is not None)
        if self.cv is None or isinstance(self.cv, str):
            path = Path(gram, targets, weight, B)
            scores = (
                -path.generalised(alphas)
                if self.cv == GCV
                else np.array(list(self._leave_one_out(path, alphas, targets, weight, score)))
            )
        else:
            splits = check_cv(self.cv, targets, classifier=False).split(X, targets)
            scores = _cross_validated(gram, targets, weight, B, alphas, score, splits)
            path = Path(gram, targets, weight, B)
        chosen = self._choose(alphas, scores, targets.shape[1], flat)
        problem = ridge_problem(gram, targets, weight, chosen, self.fit_intercept)
        solution = self._certified(problem, path, chosen, is_positive)
        self._publish(binding, problem, solution, flat, self._reasons(path, alphas))
        residuals = path.leave_one_out_at(chosen)
        self.loo_residuals_ = residuals[:, 0] if flat else residuals
        if self.store_cv_results and flat:
            self.cv_results_ = self.cv_results_[:, 0]
        return self

    def _leave_one_out(
        self, path: Path, alphas: Array, targets: Array, weight: Array, score: Score
    ) -> Iterator[Array]:  # each (t,) or (1,)
        """The scores, one alpha after the other."""
        if self.store_cv_results:
            self.cv_results_ = np.empty((*targets.shape, alphas.size))
        for index, residuals in enumerate(path.leave_one_out(alphas)):
            if self.scoring is None:
                if self.store_cv_results:
                    self.cv_results_[:, :, index] = weight[:, None] * np.square(residuals)
                yield -(weight @ np.square(residuals)) / len(weight)
            else:
                predictions = targets - residuals
                if self.store_cv_results:
                    self.cv_results_[:, :, index] = predictions
                yield score(targets, predictions, weight)

    def _choose(self, alphas: Array, scores: Array, t: int, flat: bool) -> Array:  # (n_alphas, 1 or t) -> (t,)
        """Set alpha_ and best_score_; returns the penalty of each target."""
        if not self.alpha_per_target:
            scores = scores.mean(axis=1, keepdims=True)
        if np.isnan(scores).all(axis=0).any():
            raise InvalidInput(
                "Every score is NaN.",
                f"scoring is {self.scoring!r}, cv is {self.cv!r}.",
                'R² needs two rows in each fold; try scoring="neg_mean_squared_error".',
            )
        best = np.nanargmax(scores, axis=0)
        found = scores[best, np.arange(scores.shape[1])]
        one = flat or not self.alpha_per_target
        self.alpha_ = float(alphas[best[0]]) if one else alphas[best]
        self.best_score_ = float(found[0]) if one else found
        return np.broadcast_to(alphas[best], (t,))

    def _certified(self, problem: Problem, path: Path, alpha: Array, is_positive: bool) -> Solution:
        """The solution with its certificate; what cannot be certified is said in a warning, once."""
        found = path.choose(alpha)
        answer = Answer(
            found.coef, found.theta, condition=found.condition, indefinite=found.is_indefinite, rank=found.rank
        )
        solution = certify(problem, answer, solver=path.solver, tol=Options().tol)
        return self._vouched(solution.certified(evaluations=problem.gram.evaluations), is_positive)

    def _reasons(self, path: Path, alphas: Array) -> str:
        how = {None: "exact leave-one-out", GCV: "generalised cross-validation"}
        by = how[self.cv] if self.cv is None or isinstance(self.cv, str) else "cross-validation"
        return f"{alphas.size} alphas by {by}, from {FORMS[path.solver]}; alpha is {self.alpha_}"

    def _penalties(self) -> Array:
        wrong = "alphas must be a number above 0, or a list of at least one."
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(wrong, f"Got {shown(self.alphas)}.") from error
        if np.ma.is_masked(self.alphas) or alphas.ndim != 1 or alphas.size == 0:
            raise InvalidParameter(wrong, f"Got {shown(self.alphas)}.", "Try np.logspace(-4, 4, 50).")
        good = np.isfinite(alphas) & (alphas > 0.0)
        if not good.all():
            index = int(np.argmin(good))
            raise InvalidParameter(wrong, f"alphas[{index}] is {alphas[index]}.", "KernelRidge(alpha=0) interpolates.")
        return alphas

    def _refuse_combinations(self) -> None:
        if isinstance(self.cv, str) and self.cv != GCV:
            raise InvalidParameter(
                "cv must be None, 'gcv', a number of folds, or a splitter.",
                f"Got {self.cv!r}.",
                "None is leave-one-out.",
            )
        if self.store_cv_results and self.cv is not None:
            raise InvalidParameter(
                "store_cv_results=True needs leave-one-out.", f"cv is {self.cv!r}.", "Leave cv=None, or do not store."
            )
        if self.scoring is not None and isinstance(self.cv, str):
            raise InvalidParameter(
                "Generalised cross-validation is a score of its own.",
                f"scoring is {self.scoring!r}.",
                "Leave out one of the two.",
            )

    def _score(self, flat: bool, *, is_weighted: bool) -> Score:
        """From targets, predictions (m, t) and weights to the score, (1,); with `alpha_per_target` of each, (t,)."""
        scorer = check_scoring(self, scoring="r2" if self.scoring is None else self.scoring)
        given = _Given()

        def one(y: Array, predictions: Array, weight: Array) -> float:
            if not np.isfinite(predictions).all():  # an alpha too small for these targets
                return float("nan")
            extra = {"sample_weight": weight} if is_weighted else {}
            return float(scorer(given, predictions, y, **extra))

        def score(y: Array, predictions: Array, weight: Array) -> Array:
            if flat:
                return np.array([one(y[:, 0], predictions[:, 0], weight)])
            if not self.alpha_per_target:
                return np.array([one(y, predictions, weight)])
            pairs = zip(y.T, predictions.T, strict=True)
            return np.array([one(target, prediction, weight) for target, prediction in pairs])

        return score


class _Given(RegressorMixin, BaseEstimator):
    """Predicts its own input, so that a scorer can be given existing predictions."""

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002  # so that scikit-learn takes it for an estimator
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Array) -> Array:
        return X


def _cross_validated(
    gram: Gram, y: Array, weight: Array, B: Array, alphas: Array, score: Score, splits: Any
) -> Array:  # (n_alphas, 1 or t)
    """Scores averaged over folds. K or Φ is made once, and each training part decomposed once for all alphas."""
    stored: Gram = gram if features_of(gram) is not None else DenseGram(gram.dense(), gram.proof)
    folds = []
    for number, split in enumerate(splits):
        train, test = (np.asarray(part, dtype=np.intp) for part in split)
        if not weight[test].any():
            continue
        if not weight[train].any():
            raise InvalidInput(f"Fold {number} has no training row with a weight above 0.", "", "Use other folds.")
        found = predicted(stored, y, weight, B, alphas, train, test)
        folds.append([score(y[test], predictions, weight[test]) for predictions in found])
    if not folds:
        raise InvalidInput("There are no folds.", "The splitter gave none with a test row of positive weight.")
    return np.asarray(np.mean(folds, axis=0))
