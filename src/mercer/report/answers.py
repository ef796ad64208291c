"""What a machine answers for rows whose targets are known, and in what sense it has not seen them."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.models.model import Model
from mercer.models.smoothing import Mean, Others
from mercer.points.stored import Places, Stored
from mercer.report.case import Case

__all__ = ["Answers", "Seen", "answers_of"]

Array = npt.NDArray[np.float64]

# Exact leave-one-out needs n² numbers of a factor, and n³/3 operations where the solver left none.
MOST_ROWS = 5_000
# Below this share of its residual a row has decided its own prediction: nothing is left to divide by.
LEAST_LEFT = 1e-9


class Seen(Enum):
    """How the rows stand to the fit; the value is the sentence that a reader needs first."""

    HELD_OUT = "The rows were held out: none of them is among the points that the machine is made of."
    LEFT_OUT = (
        "Exact leave-one-out: each row is predicted by the machine fitted on all other rows, by a formula and without "
        "fitting again."
    )
    SHARED = "Some of these rows are among the points that the machine is made of, so the scores are too good."
    TRAINING = (
        "These are the rows that the machine was fitted on. The scores say how well it fits them, and not how well it "
        "will do on others: pass test=(X_test, y_test) for that."
    )

    @property
    def is_honest(self) -> bool:
        """Whether scores estimate what happens on new rows."""
        return self in (Seen.HELD_OUT, Seen.LEFT_OUT)


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions beside the truth.

    Attributes
    ----------
    seen : Seen
        How the rows stand to the fit.
    truth, predicted : ndarray of shape (n,) or (n, t)
    shares : ndarray of shape (n, k), optional
        Probabilities of the classes.
    decisions : ndarray of shape (n,), optional
        Of two classes: the larger, the more likely is the second.
    spread : ndarray of shape (n, t), optional
        The standard deviation of a new target around its prediction, where the machine states one.
    X : object, optional
        The rows, as the user has them; None for leave-one-out.
    """

    seen: Seen
    truth: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    shares: Array | None = None
    decisions: Array | None = None
    spread: Array | None = None
    X: Any = None

    def __len__(self) -> int:
        return len(self.truth)


def answers_of(case: Case) -> Answers | None:
    """The most honest answers that there are targets for; None without targets."""
    if case.test is not None:
        X, y = case.test
        return None if y is None else _asked(case, X, y, _seen_in(case, X))
    if case.y is None:
        return None
    if not case.is_training:
        return _asked(case, case.X, case.y, Seen.SHARED if case.shared else Seen.HELD_OUT)
    return _left_out(case) or _asked(case, case.X, case.y, Seen.TRAINING)


def _seen_in(case: Case, X: Any) -> Seen:
    other = Case(case.whole, case.machine, case.before, X, None, None)
    if isinstance(other.points, Stored):  # rows of another matrix: nothing more is known of them
        return Seen.TRAINING if isinstance(case.model.basis, Stored) and other.places is not None else Seen.HELD_OUT
    return Seen.SHARED if other.shared else Seen.HELD_OUT


def _asked(case: Case, X: Any, y: Any, seen: Seen) -> Answers:
    """Predictions for rows, by the estimator that was given."""
    truth, predicted = np.asarray(y), np.asarray(case.whole.predict(X))
    if not case.is_classifier:
        spread = None if case.is_one_class else _spread(case, X)
        if truth.dtype.kind not in "OUS":
            truth = truth.astype(np.float64).reshape(predicted.shape) if truth.size == predicted.size else truth
        return Answers(seen, truth, predicted, spread=spread, X=X)
    if truth.ndim == 2 and truth.shape[1] == 1:
        truth = truth[:, 0]
    return Answers(seen, truth, predicted, _shares(case, X), _decisions(case, X), X=X)


def _shares(case: Case, X: Any) -> Array | None:
    """Probabilities, where the machine was made to give them."""
    try:
        found = case.whole.predict_proba(X)
    except (AttributeError, TypeError):
        return None
    return None if isinstance(found, list) else np.asarray(found)


def _decisions(case: Case, X: Any) -> Array | None:
    try:
        found = np.asarray(case.whole.decision_function(X))
    except (AttributeError, TypeError):
        return None
    return found if found.ndim == 1 else None


def _spread(case: Case, X: Any) -> Array | None:  # (n, t)
    """√(posterior variance + noise) of a ridge machine whose rows all have one penalty."""
    model, known = case.model, case.model.uncertainty
    points = case.seen(X)
    if known is None or isinstance(points, Stored | Places) or not _is_small(model):
        return None
    cost = known.cost
    if not (np.isfinite(cost).all() and (cost == cost[:1]).all() and (cost > 0.0).all()):
        return None
    deviations = known.deviations(model.binding, None if model.weights is None else model.features, points)
    return np.asarray(np.sqrt(np.square(deviations) + 1.0 / cost[0]))


def _is_small(model: Model) -> bool:
    return len(model.basis) <= MOST_ROWS or model.weights is not None


def _left_out(case: Case) -> Answers | None:
    """Leave-one-out where the machine has a formula for it; the targets are those of the fit."""
    model = case.model
    y = np.asarray(case.y)
    if model.uncertainty is not None:
        return _ridge_left_out(case, y)
    if model.votes is not None and len(model.basis) > model.votes.n_neighbors:
        return _votes_left_out(model, y)
    if model.smoothing is not None and np.count_nonzero(model.smoothing.weight) > 1:
        return _smoothing_left_out(model, y)
    return None


def _ridge_left_out(case: Case, y: npt.NDArray[Any]) -> Answers | None:
    """y₋ᵢ = yᵢ − eᵢ/(1 − hᵢ): hᵢ is the posterior variance at the row over that of its noise, the leverage."""
    model, known = case.model, case.model.uncertainty
    assert known is not None
    if isinstance(model.basis, Stored | Places) or not _is_small(model) or not np.isfinite(known.cost).all():
        return None
    deviations = known.deviations(model.binding, None if model.weights is None else model.features, model.basis)
    left = 1.0 - np.square(deviations) * known.cost
    if not (left > LEAST_LEFT).all():
        return None
    predicted = known.targets - (known.targets - model.scores(model.basis)) / left
    with np.errstate(divide="ignore"):
        noise = np.where(known.cost > 0.0, 1.0 / known.cost, np.nan)
    spread = np.sqrt(noise / left)
    flat = y.ndim == 1
    return Answers(
        Seen.LEFT_OUT, known.targets[:, 0] if flat else known.targets, predicted[:, 0] if flat else predicted,
        spread=spread if np.isfinite(spread).all() else None,
    )  # fmt: skip


def _votes_left_out(model: Model, y: npt.NDArray[Any]) -> Answers | None:
    votes = model.votes
    assert votes is not None
    found = model.space.nearest(None, votes.n_neighbors)
    if not votes.n_classes:
        predicted = votes.mean(model.space, found, model.coef)
        truth = model.coef
        return Answers(Seen.LEFT_OUT, *((truth[:, 0], predicted[:, 0]) if y.ndim == 1 else (truth, predicted)))
    if len(votes.n_classes) > 1:
        return None
    return _of_shares(model, votes.shares(model.space, found, model.coef)[0], model.coef[:, 0].astype(np.intp))


def _smoothing_left_out(model: Model, y: npt.NDArray[Any]) -> Answers:
    smoothing = model.smoothing
    assert smoothing is not None
    sums = model.binding.self_cross().without_diagonal(model.coef)
    values = smoothing.left_out(sums, Others(smoothing, model.binding))
    if model.classes is not None:
        return _of_shares(model, values, smoothing.values.argmax(axis=1))
    assert isinstance(smoothing.ratio, Mean)
    truth, predicted = smoothing.ratio.targets(smoothing.values), smoothing.ratio.targets(values)
    return Answers(Seen.LEFT_OUT, *((truth[:, 0], predicted[:, 0]) if y.ndim == 1 else (truth, predicted)))


def _of_shares(model: Model, shares: Array, codes: npt.NDArray[np.intp]) -> Answers:
    classes = np.asarray(model.classes)
    decisions = shares[:, 1] if len(classes) == 2 else None
    return Answers(Seen.LEFT_OUT, classes[codes], classes[shares.argmax(axis=1)], shares, decisions)
