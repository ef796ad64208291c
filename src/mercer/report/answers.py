"""What a machine answers for rows whose targets are known, and in what sense it has not seen them."""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidInput
from mercer.models.model import Model
from mercer.models.smoothing import Mean, Others
from mercer.points.base import is_missing
from mercer.points.stored import Places, Stored
from mercer.report.case import Case

__all__ = ["Answers", "Seen", "answers_of", "as_labels"]

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
        The standard deviation of a new target around its prediction, where the machine states one; for the likeliest
        multiple of the kernel.
    unknown : int
        How many rows more there were, whose targets are missing.
    """

    seen: Seen
    truth: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    shares: Array | None = None
    decisions: Array | None = None
    spread: Array | None = None
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.truth)


def as_labels(values: Any) -> npt.NDArray[Any]:
    """Labels as text, so that 1 and 1.0 of different arrays compare as the user means it."""
    found = np.asarray(values)
    if found.dtype.kind == "f" and (found == np.round(found)).all():
        found = found.astype(np.int64)
    return np.asarray(found.astype(str))


def answers_of(case: Case) -> Answers | None:
    """The most honest answers that there are targets for; None without targets."""
    if case.test is not None:
        X, y = case.test
        return None if y is None else _asked(case, X, y, _seen_in(case, X))
    if case.y is None:
        return None
    if not case.is_training:
        return _asked(case, case.X, case.y, Seen.SHARED if case.shared else Seen.HELD_OUT)
    left = _left_out(case)
    return left if left is not None and _is_of(left, case) else _asked(case, case.X, case.y, Seen.TRAINING)


def _is_of(left: Answers, case: Case) -> bool:
    """Whether the targets of the fit are those that were given, row by row."""
    given = np.asarray(case.y)
    ordered = given if case.places is None else given[case.places]
    if left.truth.dtype.kind == "f":
        try:
            return bool(np.allclose(left.truth, ordered.astype(np.float64).reshape(left.truth.shape), rtol=1e-9))
        except ValueError:
            return False
    return bool((as_labels(left.truth) == as_labels(ordered).reshape(left.truth.shape)).all())


def _seen_in(case: Case, X: Any) -> Seen:
    other = Case(case.whole, case.machine, case.before, X, None, None)
    return Seen.SHARED if other.shared else Seen.HELD_OUT


def _asked(case: Case, X: Any, y: Any, seen: Seen) -> Answers | None:
    """Predictions for rows, by the estimator that was given."""
    truth, predicted = np.asarray(y), np.asarray(case.whole.predict(X))
    if truth.ndim == 2 and truth.shape[1] == 1 and predicted.ndim == 1:
        truth = truth[:, 0]
    if truth.shape != predicted.shape:
        raise InvalidInput(
            "The targets do not have the shape of the predictions.",
            f"Got {truth.shape}, and predicted {predicted.shape}.",
            "Pass one column for each target of the fit.",
        )
    if case.is_classifier:
        found = Answers(seen, truth, predicted, _shares(case, X), _decisions(case, X))
    elif case.is_one_class:
        found = Answers(seen, truth, predicted)
    else:
        found = Answers(seen, _numbers(truth), predicted, spread=_spread(case, X))
    return _known(found)


def _numbers(truth: npt.NDArray[Any]) -> Array:
    try:
        return truth.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "The targets of a regression must be numbers.", f"Their dtype is {truth.dtype}.", "Pass the y of its fit."
        ) from error


def _known(found: Answers) -> Answers | None:
    """The rows whose targets are known."""
    columns = found.truth.reshape(len(found), -1).tolist()
    kept = np.array([not any(map(is_missing, row)) for row in columns], dtype=bool)
    if kept.all():
        return found
    if not kept.any():
        return None
    parts = {name: vars(found)[name] for name in ("truth", "predicted", "shares", "decisions", "spread")}
    chosen: dict[str, Any] = {name: None if part is None else part[kept] for name, part in parts.items()}
    return replace(found, **chosen, unknown=int((~kept).sum()))


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
    return np.asarray(_unit(model) * np.sqrt(np.square(deviations) + 1.0 / cost[0]))


def _unit(model: Model) -> Array:  # (t,)
    """τ of the likeliest prior: a kernel seldom knows the unit of the targets."""
    assert model.uncertainty is not None
    return np.asarray(np.sqrt(np.maximum(model.uncertainty.prior_variance(model.coef, model.intercept), 0.0)))


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
    spread = _unit(model) * np.sqrt(noise / left)
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
