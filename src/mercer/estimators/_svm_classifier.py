"""Classification by pairs of classes: what SVC and NuSVC share."""

import copy
import warnings
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt
import scipy.special
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.errors import InvalidInput, InvalidParameter
from mercer.estimators._classes import class_factors, class_labels
from mercer.estimators._pairs import by_pair, by_pair_sums, confidences, layout, pair_decisions, pairs, winners
from mercer.estimators._svm import SupportVectorMachine, Training, published
from mercer.estimators._svm_proba import Calibration, agreeing, coupled
from mercer.estimators._svm_support import Support, signed
from mercer.estimators._targets import kept_rows
from mercer.kernels.bound import Cross
from mercer.problems.margins import Margins, MarginSolution, all_rows, repaired
from mercer.solvers.hard_margin import nearest_points

__all__ = ["PairwiseMachine"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

UNSAID = "deprecated"


@final
@dataclass(frozen=True, eq=False)
class ClassRows:
    """The rows that take part, class by class.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Where they stand in X.
    cuts : ndarray of shape (k + 1,)
        Where each class begins and ends.
    uses : ndarray of shape (P, 2)
        The pairs.
    signs : ndarray of shape (M,)
        ±1 for the rows of all pairs.
    weight, cost : ndarray of shape (n,)
        Sample weights; and these times the weight of the class.
    """

    rows: Index
    cuts: Index
    uses: Index
    signs: Array
    weight: Array
    cost: Array

    def costs(self, factor: float = 1.0, *, by_class: bool = True) -> Array:  # (M,)
        """The costs of the rows of all pairs; without the weights of classes where `by_class` is False."""
        own = self.cost if by_class else self.weight
        return factor * (own if len(self.uses) == 1 else own[all_rows(self.cuts, self.uses)])


class PairwiseMachine(ClassifierMixin, SupportVectorMachine):
    """Base of SVC and NuSVC: a machine for each pair of classes, over one Gram matrix."""

    classes_: npt.NDArray[Any]
    class_weight_: Array
    n_iter_: npt.NDArray[np.int32]
    class_weight: Any
    probability: Any
    decision_function_shape: str
    break_ties: bool
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients of all pairs of classes.

        Parameters
        ----------
        X : array-like, sparse, table, or any points the kernel can read; shape (n, d)
            Training points; the (n, n) Gram matrix where the kernel is precomputed.
        y : array-like of shape (n,)
            Labels.
        sample_weight : float or array-like of shape (n,), optional
            Factors of C by row; rows whose weight is not above 0 are left out.
        """
        self._check_parameters()
        self._warn_of_probability()
        points, n = self._rows_of(X)
        chosen = self._class_rows(y, n, sample_weight)
        batch = self._pair_batch(chosen)
        training = self._training(X, points, chosen.rows, chosen.weight)
        self._learn(batch, chosen, training)
        return self

    def _fit_path(self, X: Any, y: Any, Cs: tuple[float, ...], sample_weight: Any) -> list[Self]:
        """Copies of this machine fitted with these C, each from the solution of the next smaller one."""
        self._check_parameters()
        self._warn_of_probability()
        points, n = self._rows_of(X)
        chosen = self._class_rows(y, n, sample_weight)
        training = self._training(X, points, chosen.rows, chosen.weight)
        found: dict[float, Self] = {}
        before: tuple[MarginSolution, float] | None = None
        for C in sorted(set(Cs)):
            self.C = C
            self._learn(self._pair_batch(chosen), chosen, training, before)
            found[C] = copy.copy(self)
            before = before if np.isinf(C) else (self.solution_, C)
        return [copy.copy(found[C]) for C in Cs]

    def _problem(self) -> tuple[str, float]:
        """The kind of problem, and the factor of the costs."""
        C = float(vars(self).get("C", 1.0))
        return ("hulls", 1.0) if np.isinf(C) else (self._kind, C)

    def _pair_batch(self, chosen: ClassRows) -> Margins:
        """The problems; looked at before the kernel is, so that an infeasible nu costs nothing."""
        kind, penalty = self._problem()
        geometry = chosen.cuts, chosen.uses, chosen.signs
        try:
            return self._batch(kind, *geometry, chosen.costs(penalty))
        except InvalidParameter:
            if self.class_weight is None:
                raise
            return self._batch(kind, *geometry, chosen.costs(penalty, by_class=False))

    def _class_rows(self, y: Any, n: int, sample_weight: Any) -> ClassRows:
        classes, index = class_labels(y, n)
        weight, kept = kept_rows(sample_weight, n)
        k = len(classes)
        factors = class_factors(self.class_weight, classes, index[kept], weight[kept])
        counts = np.bincount(index[kept], minlength=k)
        if not (counts.all() and factors.all()):
            raise self._one_class_left(classes, counts * factors)
        rows = kept[np.argsort(index[kept], kind="stable")]
        cuts = np.concatenate([[0], np.cumsum(counts)])
        uses = pairs(k)
        # The decision of two classes is that of the second; that of a pair among more, of its first.
        both = [-1.0, 1.0] if k == 2 else [1.0, -1.0]
        signs = np.repeat(np.tile(both, len(uses)), counts[uses].ravel())
        self.classes_, self.class_weight_ = classes, factors
        return ClassRows(rows, cuts, uses, signs, weight[rows], weight[rows] * factors[index[rows]])

    def _one_class_left(self, classes: npt.NDArray[Any], mass: Array) -> InvalidInput:
        gone = classes[mass == 0.0].tolist()
        wrong = "Every class needs a sample with a positive weight."
        if len(gone) == len(classes) - 1:
            wrong = "Invalid input - all samples with positive weights belong to the same class."
        return InvalidInput(
            f"specified nu is infeasible: {wrong}" if self._kind == "nu-svc" else wrong,
            f"There is none of class {gone[0]!r}.",
            "Leave out the label, or give it a row with a weight above 0.",
        )

    def _learn(
        self, batch: Margins, chosen: ClassRows, training: Training, before: tuple[MarginSolution, float] | None = None
    ) -> None:
        """Solve and publish, from the solution of another penalty where there is one."""
        kind, penalty = self._problem()

        def solve(start: Array | None, tol: float) -> MarginSolution:
            return self._solved(kind, batch, training, start, tol)

        if kind == "hulls":
            diagonal = np.asarray(training.gram.diag(), dtype=np.float64)
            solution = nearest_points(solve, self.tol, diagonal, chosen.rows, self.shape_fit_[0], self.classes_)
        else:
            start, f = self._seed(batch, kind, penalty, before)
            solution = self._solved(kind, batch, training, start, f=f)
            if kind == "nu-svc" and not np.array_equal(np.abs(batch.low + batch.high), chosen.costs()):
                solution = self._reweighted(solution, chosen, training)
        k = len(self.classes_)
        dual = layout(solution, published(solution), k)
        used = np.flatnonzero(dual.any(axis=0))
        starts = np.searchsorted(used, chosen.cuts)
        self._n_support = np.diff(starts).astype(np.int32)
        self.n_iter_ = solution.steps.astype(np.int32)
        self._penalty = penalty
        self._publish(training, used, starts, np.ascontiguousarray(dual[:, used]), solution)
        self._calibration = None
        if not self._is_denied:
            self._calibration = Calibration(training, self.solution_, float(vars(self).get("nu", 1.0)))

    def _reweighted(self, plain: MarginSolution, chosen: ClassRows, training: Training) -> MarginSolution:
        """SVC with the C = 1/ρ of the same decisions, times the weights of classes, for which nu has no room."""
        rho = published(plain)
        sizes = np.diff(plain.batch.offsets)
        cost = chosen.costs() / np.repeat(rho, sizes)
        batch = self._batch("c-svc", chosen.cuts, chosen.uses, chosen.signs, cost)
        found = self._solved("c-svc", batch, training, repaired(batch, plain.coef / np.repeat(rho, sizes)))
        return replace(found, steps=found.steps + plain.steps)

    @property
    def n_support_(self) -> npt.NDArray[np.int32]:
        """The number of support vectors of each class."""
        return self._n_support

    def _by_problem(self) -> Array:
        return by_pair(self._dual, self._starts()) if len(self.classes_) > 2 else self._dual

    def _starts(self) -> Index:
        return np.concatenate([[0], np.cumsum(self._n_support)])

    def _pair_decisions(self, X: Any) -> Array:  # (m, P)
        return self._decided(self._against_support(X), self._support)

    def _decided(self, K: Cross | Array, support: Support | None) -> Array:  # (m, P)
        starts = self._starts()
        if starts[-1] != self._dual.shape[1]:
            raise InvalidInput(f"The internal representation of {type(self).__name__} was altered.")
        if len(self.classes_) > 2:
            blocks = {} if support is None else support.classes
            return pair_decisions(K, blocks, self._dual, starts, self.intercept_)
        return np.asarray(K @ self._dual.T, dtype=np.float64) + self.intercept_

    def _signed_decisions(self, X: Any) -> Array:  # (m, P)
        """Decisions of which only the signs are for use."""
        K = self._against_support(X)
        if self._support is None or not isinstance(K, Cross):
            return self._decided(K, self._support)
        return signed(K, self._support, self._decided, np.sqrt(by_pair_sums(self._dual**2, self._starts())))

    def decision_function(self, X: Any) -> Array:
        """f(x) + b₀: for two classes that of ``classes_[1]``.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed, of
            which only the columns of support vectors are read.

        Returns
        -------
        ndarray of shape (m,), (m, n_classes) or (m, n_classes·(n_classes − 1)/2)
            With more classes the votes and a part of the decisions ("ovr"), or the decisions of all pairs ("ovo").
        """
        check_is_fitted(self)
        found = self._pair_decisions(X)
        k = len(self.classes_)
        if k == 2:
            return found[:, 0]
        return confidences(found, k) if self.decision_function_shape == "ovr" else found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the most votes among the pairs.

        Only the signs of the decisions matter. Of a radial kernel they are found in float32, and in float64 where they
        are in doubt.

        Parameters
        ----------
        X : like the X of `decision_function`

        Returns
        -------
        ndarray of shape (m,)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter("break_ties must be False when decision_function_shape is 'ovo'.")
        decisions = self._pair_decisions(X) if self.break_ties else self._signed_decisions(X)
        return np.asarray(self.classes_[self._winners(decisions)])

    def _winners(self, decisions: Array) -> Index:
        k = len(self.classes_)
        if k == 2:
            return (decisions[:, 0] > 0.0).astype(np.intp)
        if self.break_ties:
            return np.asarray(confidences(decisions, k).argmax(axis=1))
        return winners(decisions, k)

    def _warn_of_probability(self) -> None:
        given = self.probability
        if given is not UNSAID and given != UNSAID:
            if not isinstance(given, bool | np.bool_):
                raise InvalidParameter(
                    f"probability of {type(self).__name__} must be True or False.", f"Got {given!r}."
                )
            warnings.warn(
                "The `probability` parameter was deprecated in scikit-learn 1.9. Leave it out: predict_proba is there "
                "without it, and is fitted when it is first called.",
                FutureWarning,
                stacklevel=3,
            )

    @property
    def _is_denied(self) -> bool:
        return isinstance(self.probability, bool | np.bool_) and not self.probability

    def _has_probabilities(self) -> bool:
        if self._is_denied:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, which never contradict `predict` (ties excepted).

        Two classes: a monotone function of the decision that is ½ where it is 0, fitted on the decisions of a 5-fold
        cross-validation when it is first asked for. More classes: these of all pairs, coupled.

        Parameters
        ----------
        X : like the X of `decision_function`

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        decisions = self._pair_decisions(X)
        z = decisions * self._slopes()
        if z.shape[1] == 1:
            return np.asarray(scipy.special.expit(z * [-1.0, 1.0]))
        return agreeing(coupled(scipy.special.expit(z), len(self.classes_)), self._winners(decisions))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of `predict_proba`, exact for two classes where the probability would round to 0.

        Parameters
        ----------
        X : like the X of `decision_function`

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        check_is_fitted(self)
        if len(self.classes_) > 2:
            return np.asarray(np.log(self.predict_proba(X)))
        return np.asarray(scipy.special.log_expit(self._pair_decisions(X) * self._slopes() * [-1.0, 1.0]))

    def _slopes(self) -> Array:  # (P,)
        check_is_fitted(self)
        if self._calibration is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        kind = self.solution_.kind

        def solve(batch: Margins, training: Training, start: Array) -> MarginSolution:
            return self._solved(kind, batch, training, start, gap=np.inf)  # no answer by themselves

        return self._calibration.slopes(solve, check_random_state(self.random_state))

    @property
    def probA_(self) -> Array:
        """−(slope) of each pair, as Platt's A; empty before `predict_proba` is first called."""
        return self._platt("probA_", -1.0)

    @property
    def probB_(self) -> Array:
        """Platt's B, which is 0: the probability of a decision of 0 is ½."""
        return self._platt("probB_", 0.0)

    def _platt(self, name: str, factor: float) -> Array:
        warnings.warn(
            f"Attribute `{name}` was deprecated in scikit-learn 1.9. predict_proba is there without it.",
            FutureWarning,
            stacklevel=3,
        )
        return np.empty(0) if self._is_denied or self.probability == UNSAID else factor * self._slopes()
