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

from mercer.errors import InvalidInput, InvalidParameter
from mercer.estimators._classes import class_factors, class_labels
from mercer.estimators._svm import SupportVectorMachine, Training, published
from mercer.estimators._targets import kept_rows
from mercer.models.pairs import Pairs, pairs
from mercer.points.keys import row_keys
from mercer.problems.margins import Margins, MarginSolution, all_rows, repaired
from mercer.solvers.calibration import cross_validated_slopes
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
        """The costs of the rows of all pairs; without class weights if `by_class` is False."""
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
        points = self._read_rows(X)
        chosen = self._class_rows(y, len(points), sample_weight)
        batch = self._pair_batch(chosen)
        self._learn(batch, chosen, self._training(points, chosen.rows, chosen.weight))
        return self

    def _fit_path(self, X: Any, y: Any, Cs: tuple[float, ...], sample_weight: Any) -> list[Self]:
        """Copies of this machine fitted with these C, each from the solution of the next smaller one."""
        self._check_parameters()
        self._warn_of_probability()
        points = self._read_rows(X)
        chosen = self._class_rows(y, len(points), sample_weight)
        training = self._training(points, chosen.rows, chosen.weight)
        found: dict[float, Self] = {}
        before: tuple[MarginSolution, float] | None = None
        for C in sorted(set(Cs)):
            self.C = C
            solution = self._learn(self._pair_batch(chosen), chosen, training, before)
            found[C] = copy.copy(self)
            before = before if np.isinf(C) else (solution, C)
        return [copy.copy(found[C]) for C in Cs]

    def _problem(self) -> tuple[str, float]:
        """The kind of problem, and the factor of the costs."""
        C = float(vars(self).get("C", 1.0))
        return ("hulls", 1.0) if np.isinf(C) else (self._kind, C)

    def _pair_batch(self, chosen: ClassRows) -> Margins:
        """The problems, checked before the kernel is touched, so that an infeasible nu costs nothing."""
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
        # With two classes a positive decision means the second; in a pair among more, it means the first.
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
            f"Class {gone[0]!r} has none.",
            "Leave out the label, or give it a row with a weight above 0.",
        )

    def _learn(
        self, batch: Margins, chosen: ClassRows, training: Training, before: tuple[MarginSolution, float] | None = None
    ) -> MarginSolution:
        """Solve and publish, starting from the solution for another penalty if there is one."""
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
        scale = published(solution)
        coef = _layout(solution, scale, len(self.classes_))
        used = np.flatnonzero(coef.any(axis=1))
        starts = np.searchsorted(used, chosen.cuts)
        self._n_support = np.diff(starts).astype(np.int32)
        self.n_iter_ = solution.steps.astype(np.int32)
        layout = Pairs(starts, self._slopes(training, solution) if self._has_asked else None)
        self._publish(training, used, coef[used], solution, scale, penalty, classes=self.classes_, pairs=layout)
        return solution

    def _slopes(self, training: Training, solution: MarginSolution) -> Array:  # (P,)
        """Calibrate the decisions of each pair by a cross-validation that starts from the solution."""

        def solve(batch: Margins, start: Array) -> MarginSolution:
            return self._solved(solution.kind, batch, training, start, gap=np.inf)  # no answer by themselves

        keys = row_keys(training.points, check_random_state(self.random_state))
        return cross_validated_slopes(solution, keys, training.weight, float(vars(self).get("nu", 1.0)), solve)

    def _reweighted(self, plain: MarginSolution, chosen: ClassRows, training: Training) -> MarginSolution:
        """SVC with the C = 1/ρ that gives the same decisions, times the class weights, which nu cannot accommodate."""
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

    def _scores(self, X: Any, *, signs_only: bool = False) -> Array:  # (m, P)
        self._check_fitted()
        if self._n_support.sum() != len(self.model_.basis):
            raise InvalidInput(f"The internal representation of {type(self).__name__} was altered.")
        return super()._scores(X, signs_only=signs_only)

    @property
    def _pairs(self) -> Pairs:
        found = self.model_.pairs
        assert found is not None  # of every classifier
        return found

    def decision_function(self, X: Any) -> Array:
        """f(x) + b: for two classes that of ``classes_[1]``.

        Parameters
        ----------
        X : like the X of `fit`
            New points; the (m, n) matrix of kernel values to the training points where the kernel is precomputed, of
            which only the columns of support vectors are read.

        Returns
        -------
        ndarray of shape (m,), (m, n_classes) or (m, n_classes·(n_classes − 1)/2)
            With more classes, votes plus a fraction from the decisions ("ovr"), or the decisions of all pairs ("ovo").
        """
        return self._shown(self._scores(X), self._pairs)

    def _shown(self, decisions: Array, layout: Pairs) -> Array:
        """What `decision_function` shows of the decisions of all pairs."""
        if len(self.classes_) == 2:
            return decisions[:, 0]
        return layout.confidences(decisions) if self.decision_function_shape == "ovr" else decisions

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the most votes among the pairs.

        Only the signs of the decisions matter. For a radial kernel they come from float32, and from float64 where they
        are in doubt.

        Parameters
        ----------
        X : like the X of `decision_function`

        Returns
        -------
        ndarray of shape (m,)
        """
        self._check_fitted()
        self._check_ties()
        decisions = self._scores(X, signs_only=not self.break_ties)
        return np.asarray(self.classes_[self._winners(decisions, self._pairs)])

    def _check_ties(self) -> None:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidParameter("break_ties must be False when decision_function_shape is 'ovo'.")

    def _winners(self, decisions: Array, layout: Pairs) -> Index:
        if self.break_ties and len(self.classes_) > 2:
            return np.asarray(layout.confidences(decisions).argmax(axis=1))
        return layout.winners(decisions)

    def _warn_of_probability(self) -> None:
        given = self.probability
        if not (isinstance(given, str) and given == UNSAID):
            if not isinstance(given, bool | np.bool_):
                raise InvalidParameter(
                    f"probability of {type(self).__name__} must be True or False.", f"Got {given!r}."
                )
            warnings.warn(
                "The `probability` parameter was deprecated in scikit-learn 1.9, in favour of "
                "CalibratedClassifierCV(SVC(), ensemble=False), which works with mercer's machines too. mercer keeps "
                "it: predict_proba needs the decisions for rows that were held out, and True computes them at fit.",
                FutureWarning,
                stacklevel=3,
            )

    @property
    def _has_asked(self) -> bool:
        return isinstance(self.probability, bool | np.bool_) and bool(self.probability)

    def _has_probabilities(self) -> bool:
        if not self._has_asked:
            raise AttributeError("predict_proba is not available when probability=False; fit with probability=True")
        return True

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn carries no types
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, which never contradict `predict` (ties excepted).

        Only with `probability=True`: calibration needs the training rows, which a fitted machine does not keep, and so
        is done by `fit`. Two classes: a monotone function of the decision that is ½ where it is 0, fitted on the
        decisions of a 5-fold cross-validation. More classes: these of all pairs, coupled.

        Parameters
        ----------
        X : like the X of `decision_function`

        Returns
        -------
        ndarray of shape (m, n_classes)
        """
        decisions = self._scores(X)
        return self._pairs.probabilities(decisions, self._fitted_slopes(), self._winners(decisions, self._pairs))

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
        self._check_fitted()
        if len(self.classes_) > 2:
            return np.asarray(np.log(self.predict_proba(X)))
        logits = self._pairs.logits(self._scores(X), self._fitted_slopes())
        return np.asarray(scipy.special.log_expit(logits * [-1.0, 1.0]))

    def _fitted_slopes(self) -> Array:  # (P,)
        self._check_fitted()
        slopes = self._pairs.slopes
        if slopes is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return slopes

    @property
    def probA_(self) -> Array:
        """−(slope) of each pair, as Platt's A; empty without `probability=True`."""
        return self._platt("probA_", -1.0)

    @property
    def probB_(self) -> Array:
        """Platt's B, which is 0: where the decision is 0, the probability is ½."""
        return self._platt("probB_", 0.0)

    def _platt(self, name: str, factor: float) -> Array:
        warnings.warn(
            f"Attribute `{name}` was deprecated in scikit-learn 1.9; predict_proba needs nothing of it.",
            FutureWarning,
            stacklevel=3,
        )
        return factor * self._fitted_slopes() if self._has_asked else np.empty(0)


def _layout(solution: MarginSolution, scale: Array, k: int) -> Array:  # (n, k − 1)
    """The coefficients of all rows, in the layout of `Pairs`."""
    batch = solution.batch
    coef = np.zeros((int(batch.cuts[-1]), k - 1))
    sizes = np.diff(batch.cuts)[batch.uses]
    columns = batch.uses[:, ::-1] - [1, 0]  # of the first class j − 1, of the second i
    rows = all_rows(batch.cuts, batch.uses)
    coef[rows, np.repeat(columns, sizes.ravel())] = solution.coef / np.repeat(scale, sizes.sum(axis=1))
    return coef
