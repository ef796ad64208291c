"""Machines with nothing to solve: neighbours, smoothers, the nearest centroid; and kernels by themselves."""

from typing import Any, NamedTuple

import numpy as np

import mercer
from mercer import MercerError
from tests.fuzz import draw
from tests.fuzz.case import Case
from tests.fuzz.formulas import Extended, any_formula, city_block, squares
from tests.fuzz.judging import CANCELLED, posed, refused_at_all

# Squared distances in feature space, relative to k(x, x) + k(z, z).
APART = 1e-12
MEAN = 1e-9
# Below this the weights of a mean are taken for underflow, and the nearest row decides.
LEAST_MASS = 1e-250


def classifier(rng: np.random.Generator) -> Case:
    return _neighbours(rng, mercer.KernelNeighborsClassifier, draw.labels(rng, X := draw.rows(rng), most=5), X)


def regressor(rng: np.random.Generator) -> Case:
    return _neighbours(rng, mercer.KernelNeighborsRegressor, draw.targets(rng, X := draw.rows(rng)), X)


def _neighbours(rng: np.random.Generator, estimator: type, y: Any, X: Any) -> Case:
    given = posed(rng, X, may_store=False)
    own = np.array([given["K"][i, i] for i in range(len(X))])
    case = Case(estimator, y=y, **given)
    case.parameters["n_neighbors"] = int(rng.integers(1, len(X) + 1)) if rng.random() < 0.5 else 1
    case.facts["own"] = own
    return case


def check_neighbours(case: Case, model: Any) -> list[str]:
    """By the distances between training rows, of which every k(x, x) is known."""
    k, own = case.parameters["n_neighbors"], case.facts["own"]
    true = np.maximum(own[:, None] - 2 * case.K + own, 0)
    distances, index = model.kneighbors(case.X)
    if distances.shape != (len(own), k) or index.shape != (len(own), k):
        return [f"{k} neighbours of {len(own)} rows have the shape {distances.shape}"]
    scale = own[:, None] + np.sort(own)[-1]
    wanted, chosen = np.sort(true, axis=1)[:, :k], np.take_along_axis(true, index, axis=1)
    complaints = []
    if np.any(np.abs(chosen - wanted) > APART * scale):
        complaints.append(f"a neighbour is not among the nearest, by {np.abs(chosen - wanted).max():.3g} in d²")
    if np.any(np.abs(distances.astype(Extended) ** 2 - wanted) > APART * scale):
        complaints.append(f"a distance is off: d² by {np.abs(distances**2 - wanted).max():.3g}")
    if any(len(set(row)) < k for row in index.tolist()):
        complaints.append("a neighbour comes twice")
    return complaints + _votes(case, model, index)


def _votes(case: Case, model: Any, index: Any) -> list[str]:
    if isinstance(model, mercer.KernelNeighborsRegressor):
        expected = case.y[index].mean(axis=1)
        missed = np.abs(model.predict(case.X) - expected).max()
        return [f"a mean of neighbours is off by {missed:.3g}"] if missed > MEAN * np.abs(case.y).max() else []
    votes = (case.y[index][:, :, None] == model.classes_).sum(axis=1)
    wrong = model.predict(case.X) != model.classes_[votes.argmax(axis=1)]
    return ["a vote of neighbours is miscounted"] if wrong.any() else []


class Weighting(NamedTuple):
    """A smoother's weights as a function of the distance over h."""

    metric: Any
    weight: Any
    is_window: bool


WEIGHTINGS = {
    "rbf": Weighting(lambda X, Z: np.sqrt(squares(X, Z)), lambda t: np.exp(-(t**2) / 2), False),
    "laplacian": Weighting(city_block, lambda t: np.exp(-t), False),
    "uniform": Weighting(lambda X, Z: np.sqrt(squares(X, Z)), lambda t: (t < 1) * Extended(1), True),
    "epanechnikov": Weighting(lambda X, Z: np.sqrt(squares(X, Z)), lambda t: np.maximum(0, 1 - t**2), True),
    "tricube": Weighting(lambda X, Z: np.sqrt(squares(X, Z)), lambda t: np.maximum(0, 1 - t**3) ** 3, True),
}


def smoother(rng: np.random.Generator) -> Case:
    return _smoother(rng, mercer.NadarayaWatson, draw.targets(rng, X := draw.rows(rng)), X)


def smoothing_classifier(rng: np.random.Generator) -> Case:
    return _smoother(rng, mercer.NadarayaWatsonClassifier, draw.labels(rng, X := draw.rows(rng), most=5), X)


def _smoother(rng: np.random.Generator, estimator: type, y: Any, X: Any) -> Case:
    name, Z = str(rng.choice(list(WEIGHTINGS))), draw.new_rows(rng, X)
    width: Any = draw.typical_distance(X) * draw.power(rng, (-0.7, 0.7), (-6.0, 6.0))
    if rng.random() < 0.2:
        width = "loo"
    given, new = draw.as_given(rng, X, Z)
    facts = {"t": WEIGHTINGS[name].metric(Z.astype(Extended), X.astype(Extended))}
    parameters = {"bandwidth": width, "kernel": name}
    return Case(estimator, parameters, given, y, draw.weights(rng, len(X)), new, K=facts["t"] * 0, facts=facts)


def refused_smoother(case: Case, error: MercerError) -> list[str]:
    """One class is none to choose between; a width that is to be left to leave-one-out wants rows to leave out."""
    n = len(case.y) if case.weight is None else int(np.count_nonzero(case.weight))
    if case.parameters["bandwidth"] == "loo" and n < 2:
        return []
    return refused_at_all(case, error)


def check_smoother(case: Case, model: Any) -> list[str]:
    weighting = WEIGHTINGS[case.parameters["kernel"]]
    t = case.facts["t"] / Extended(model.bandwidth_)
    w = weighting.weight(t) * (1 if case.weight is None else case.weight.astype(Extended))
    mass = w.sum(axis=1, keepdims=True)
    sure = (mass[:, 0] > LEAST_MASS) & ~(weighting.is_window & (np.abs(t - 1) < 1e-9).any(axis=1))
    is_regression = isinstance(model, mercer.NadarayaWatson)
    values = case.y[:, None] if is_regression else case.y[:, None] == model.classes_
    expected = (w @ values.astype(Extended))[sure] / mass[sure]
    found = model.predict(case.new)[:, None] if is_regression else model.predict_proba(case.new)
    if not np.isfinite(found).all():
        return ["a mean is not a number"]
    spread = float(np.ptp(case.y)) if is_regression else 1.0
    missed = np.abs(found[sure] - expected).max(initial=0)
    allowed = MEAN * spread * 10 + 1e-12 * float(np.abs(case.y).max())
    return [f"a mean is off by {missed:.3g} of {spread:.3g}"] if missed > allowed else []


def centroid(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    return Case(
        mercer.KernelNearestCentroid,
        y=draw.labels(rng, X, most=5), weight=draw.weights(rng, len(X)), **posed(rng, X, may_store=False),
    )  # fmt: skip


def refused_centroid(case: Case, error: MercerError) -> list[str]:
    kept = np.ones(len(case.y), dtype=bool) if case.weight is None else case.weight > 0.0
    classes = len(np.unique(case.y))
    return [] if len(np.unique(case.y[kept])) < classes or classes < 2 else refused_at_all(case, error)


def check_centroid(case: Case, model: Any) -> list[str]:
    weight = np.ones(len(case.K), dtype=Extended) if case.weight is None else case.weight.astype(Extended)
    a = np.where(case.y[:, None] == model.classes_, weight[:, None], 0)
    a = a / a.sum(axis=0)
    own = np.diagonal(case.K)
    true = np.maximum(own[:, None] - 2 * case.K @ a + np.einsum("it,ij,jt->t", a, case.K, a), 0)
    found = model.distances(case.X)
    scale = own[:, None] + own.max()
    missed = np.abs(found.astype(Extended) ** 2 - true)
    return [f"the distance of a centroid is off: d² by {missed.max():.3g}"] if np.any(missed > APART * scale) else []


class Matrices:
    """A kernel as a machine: `fit` makes its matrices."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, X: Any) -> "Matrices":
        self.K, self.diagonal = self.kernel(X), self.kernel.diag(X)
        return self


def kernel(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    formula = any_formula(rng, draw.typical_distance(X))
    Z = draw.new_rows(rng, X)
    given, new = draw.as_given(rng, X, Z)
    K, K_new = (formula.matrix(left.astype(Extended), X.astype(Extended)) for left in (X, Z))
    return Case(Matrices, {"kernel": formula.node}, given, None, None, new, K, K_new)


def check_kernel(case: Case, model: Matrices) -> list[str]:
    size = np.sqrt(np.diagonal(case.K))
    complaints = []
    if np.any(np.abs(model.K - case.K) > CANCELLED / 100 * size[:, None] * size):
        complaints.append(f"a value is off by {np.max(np.abs(model.K - case.K) / (size[:, None] * size + 1e-300)):.3g}")
    if np.any(np.abs(model.diagonal - np.diagonal(case.K)) > CANCELLED / 100 * size**2):
        complaints.append("the diagonal is not that of the matrix")
    if not np.array_equal(model.K, model.K.T):
        complaints.append("the matrix is not symmetric")
    across = model.kernel(case.new, case.X)
    if np.any(np.abs(across - case.K_new) > CANCELLED / 100 * np.maximum(size.max() ** 2, np.abs(case.K_new))):
        complaints.append("a value at a new row is off")
    if np.isfinite(model.K).all():
        unit = np.where(size > 0, 1 / np.where(size > 0, size, 1), 0).astype(float)
        least = float(np.linalg.eigvalsh(unit[:, None] * model.K * unit)[0])
        if least < -1e-11 * len(size):
            complaints.append(f"the matrix has the eigenvalue {least:.3g}")
    return complaints
