"""What a machine answers, as operators: predictions, labels, decisions and probabilities, from its model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg

from mercer.errors import NotStorable
from mercer.io.onnx.graph import Graph, rows_of
from mercer.io.onnx.kernels import cross, diagonal, projected
from mercer.io.onnx.pairs import confidences, probabilities, winners
from mercer.io.onnx.points import Seen, refusal
from mercer.kernels.distances import Polarised
from mercer.models.model import Model
from mercer.models.smoothing import LEAST_SUM, Mean
from mercer.points.base import Points

__all__ = ["MACHINES", "Settings", "write_machine"]

Array = npt.NDArray[np.float64]
Settings = dict[str, Any]

# Decisions of a one-class machine nearer to 0 than this share of ρ are 0, as in its estimator.
BORDER = 1e-9
EPSILON = float(np.finfo(np.float64).eps)


def write_machine(g: Graph, model: Model, machine: str, settings: Settings, seen: Seen) -> None:
    """All outputs of a fitted machine."""
    if machine not in MACHINES:
        raise NotStorable(
            f"A machine of the kind {machine!r} cannot be written as ONNX.", f"Known are {', '.join(MACHINES)}."
        )
    MACHINES[machine](g, model, settings, seen)


def _scores(g: Graph, model: Model, seen: Seen) -> str:
    """f(x) + b of all columns, (n, t)."""
    basis, coef = _expansion(model)
    b = np.ascontiguousarray(np.broadcast_to(model.intercept, coef.shape[1:]))
    if len(basis) == 0:
        return g.op("Expand", b[None, :], rows_of(g, seen.name, coef.shape[1]))
    found = projected(g, model.kernel, seen, basis, coef)
    if found is None:
        found = g.op("MatMul", cross(g, model.kernel, seen, basis), np.ascontiguousarray(coef))
    return g.op("Add", found, b)


def _expansion(model: Model) -> tuple[Points, Array]:
    """Points and coefficients of f = Σ α k(z, ·).

    Where f is computed from weights w of finitely many features, so many points are enough, and coefficients are chosen
    that give w itself: those of a fit may be as large as 1/alpha, and lose its digits.
    """
    coef = model.coef if model.pairs is None else model.pairs.by_pair(model.coef)
    if model.weights is None or model.features is None:
        return model.basis, coef
    phi = np.vstack([block for _, block in model.features.blocks(model.basis)])  # (m, M)
    R, order = scipy.linalg.qr(phi.T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = max(1, int(np.count_nonzero(sizes > len(R) * EPSILON * sizes.max())))
    rows = np.sort(order[:rank])
    found: Array = scipy.linalg.lstsq(phi[rows].T, model.weights)[0]
    return model.basis.take(rows), found


def _regression(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    _predictions(g, _scores(g, model, seen), len(model.intercept))


def _predictions(g: Graph, found: str, t: int) -> None:
    if t == 1:
        g.output("prediction", g.squeezed(found), np.float64, ["n"])
    else:
        g.output("prediction", found, np.float64, ["n", t])


def _one_class(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    f = g.squeezed(_scores(g, model, seen))
    is_border = g.op("LessOrEqual", g.op("Abs", f), BORDER * abs(float(model.intercept[0])))
    decision = g.where(is_border, 0.0, f)
    inside = g.op("GreaterOrEqual", decision, 0.0)
    g.output("label", g.where(inside, np.int64(1), np.int64(-1)), np.int64, ["n"])
    g.output("decision", decision, np.float64, ["n"])


def _labels(g: Graph, classes: Any, index: str) -> None:
    """The labels at some indices."""
    values = np.asarray(classes)
    if values.dtype == object and all(isinstance(label, str) for label in values):
        values = values.astype(np.str_)
    if values.dtype.kind not in "biufU":
        raise refusal(f"Labels of the type {values.dtype}", "ONNX has numbers and texts.")
    if values.dtype.kind in "iu":
        values = values.astype(np.int64)
    elif values.dtype.kind == "f":
        values = values.astype(np.float64)
    g.output("label", g.op("Gather", values, index, axis=0), values.dtype, ["n"])


def _pairs(g: Graph, model: Model, settings: Settings, seen: Seen) -> None:
    pairs = model.pairs
    assert pairs is not None
    k, f = pairs.k, _scores(g, model, seen)
    is_ovr = settings.get("decision_function_shape", "ovr") == "ovr"
    ranked = confidences(g, f, k) if k > 2 else f
    index = g.op("ArgMax", ranked, axis=1, keepdims=0) if settings.get("break_ties") and k > 2 else winners(g, f, k)
    _labels(g, model.classes, index)
    if k == 2:
        g.output("decision", g.squeezed(f), np.float64, ["n"])
    else:
        g.output("decision", ranked if is_ovr else f, np.float64, ["n", k if is_ovr else k * (k - 1) // 2])
    if pairs.slopes is not None:
        g.output("probabilities", probabilities(g, f, pairs, index), np.float64, ["n", k])


def _logistic(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    f = _scores(g, model, seen)
    _labels(g, model.classes, winners(g, f, 2))
    g.output("decision", g.squeezed(f), np.float64, ["n"])
    g.output("probabilities", g.op("Sigmoid", g.op("Mul", f, np.array([-1.0, 1.0]))), np.float64, ["n", 2])


def _softmax(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    f, k = _scores(g, model, seen), len(model.classes)
    _labels(g, model.classes, g.op("ArgMax", f, axis=1, keepdims=0))
    g.output("decision", f, np.float64, ["n", k])
    g.output("probabilities", g.op("Softmax", f, axis=1), np.float64, ["n", k])


def _centroids(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    f, k = _scores(g, model, seen), len(model.classes)
    _labels(g, model.classes, g.op("ArgMax", f, axis=1, keepdims=0))
    if k == 2:
        g.output("decision", g.squeezed(g.op("MatMul", f, np.array([[-1.0], [1.0]]))), np.float64, ["n"])
    else:
        g.output("decision", f, np.float64, ["n", k])


def _smoothed(g: Graph, model: Model, seen: Seen) -> str:
    """Means, or shares, of what the training points say; where none has weight, the nearest one's."""
    smoothing = model.smoothing
    assert smoothing is not None
    if smoothing.distance is None:
        raise refusal(repr(model.kernel), "It reads the entries of a precomputed matrix.")
    sums = g.op("MatMul", cross(g, model.kernel, seen, model.basis), model.coef)
    ratio, p = smoothing.ratio, smoothing.values.shape[1]
    if isinstance(ratio, Mean):
        total = g.op("Gather", sums, np.array([p]), axis=1)
        parts = g.op("Gather", sums, np.arange(p), axis=1)
    else:
        parts = g.op("Max", sums, 0.0)
        total = g.sum(parts, 1)
    supported = g.op("GreaterOrEqual", total, LEAST_SUM)
    found = g.op("Div", parts, g.where(supported, total, 1.0))
    if isinstance(ratio, Mean):
        found = g.op("Min", g.op("Max", found, ratio.lowest), ratio.highest)
    rows = np.flatnonzero(smoothing.weight)
    away = cross(g, smoothing.distance, seen, model.basis.take(rows))
    nearest = g.op("Gather", smoothing.values[rows], g.op("ArgMin", away, axis=1, keepdims=0), axis=0)
    return g.where(supported, found, nearest)


def _weighted_mean(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    assert model.smoothing is not None
    assert isinstance(model.smoothing.ratio, Mean)
    mean = model.smoothing.ratio
    values = g.op("Add", g.op("Mul", _smoothed(g, model, seen), mean.scale), mean.offset)
    _predictions(g, values, len(mean.scale))


def _weighted_vote(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    _shares(g, model, _smoothed(g, model, seen))


def _shares(g: Graph, model: Model, shares: str) -> None:
    _labels(g, model.classes, g.op("ArgMax", shares, axis=1, keepdims=0))
    g.output("probabilities", shares, np.float64, ["n", len(model.classes)])


def _neighbours(g: Graph, model: Model, seen: Seen) -> tuple[str, str]:
    """The votes of the nearest training points, (n, k), and which these are."""
    votes = model.votes
    assert votes is not None
    if votes.weights not in VOTES:
        raise refusal("The function weights", "It is a Python function.")
    squared = cross(g, Polarised(model.kernel), seen, model.basis)
    key, index = g.ops(2, "TopK", squared, np.array([votes.n_neighbors]), axis=1, largest=0, sorted=1)
    return VOTES[str(votes.weights)](g, model, seen, key, index), index


def _uniform(g: Graph, _model: Model, _seen: Seen, key: str, _index: str) -> str:
    return g.op("Add", g.op("Mul", key, 0.0), 1.0)


def _inverse_distances(g: Graph, _model: Model, _seen: Seen, key: str, _index: str) -> str:
    exact = g.op("Equal", key, 0.0)
    some = g.op("ReduceMax", g.cast(exact, np.float64), np.array([1]), keepdims=1)
    inverse = g.op("Div", 1.0, g.op("Sqrt", g.where(exact, 1.0, key)))
    return g.where(g.op("Greater", some, 0.0), g.cast(exact, np.float64), inverse)


def _kernel_values(g: Graph, model: Model, seen: Seen, key: str, index: str) -> str:
    theirs = g.op("Gather", model.binding.diag(), index, axis=0)
    values = g.op("Mul", 0.5, g.op("Sub", g.op("Add", diagonal(g, model.kernel, seen), theirs), key))
    assert model.votes is not None
    first = np.eye(1, model.votes.n_neighbors)
    # If all values have underflowed to 0, the nearest decides.
    silent = g.op("Equal", g.op("ReduceMax", values, np.array([1]), keepdims=1), 0.0)
    return g.where(silent, first, values)


VOTES: dict[Any, Callable[[Graph, Model, Seen, str, str], str]] = {
    "uniform": _uniform,
    "distance": _inverse_distances,
    "kernel": _kernel_values,
}


def _share_of(g: Graph, votes: str, index: str, table: Array) -> str:
    """Σ vⱼ table[j]/Σ vⱼ over the neighbours, (n, columns of the table)."""
    theirs = g.op("Gather", table, index, axis=0)  # (n, k, columns)
    total = g.op("Squeeze", g.op("MatMul", g.op("Unsqueeze", votes, np.array([1])), theirs), np.array([1]))
    return g.op("Div", total, g.sum(votes, 1))


def _neighbours_mean(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    votes, index = _neighbours(g, model, seen)
    _predictions(g, _share_of(g, votes, index, model.coef), model.coef.shape[1])


def _neighbours_vote(g: Graph, model: Model, _settings: Settings, seen: Seen) -> None:
    if model.coef.shape[1] > 1:
        raise refusal("A vote on several outputs", f"The labels have {model.coef.shape[1]} columns.")
    votes, index = _neighbours(g, model, seen)
    codes = model.coef[:, 0].astype(np.intp)
    _shares(g, model, _share_of(g, votes, index, np.eye(len(model.classes))[codes]))


# By what a certificate calls the machine.
MACHINES: dict[str, Callable[[Graph, Model, Settings, Seen], None]] = {
    "squared loss": _regression,
    "epsilon-svr": _regression,
    "nu-svr": _regression,
    "one-class": _one_class,
    "c-svc": _pairs,
    "nu-svc": _pairs,
    "hulls": _pairs,
    "logistic loss": _logistic,
    "softmax loss": _softmax,
    "nearest centroid": _centroids,
    "weighted mean": _weighted_mean,
    "weighted vote": _weighted_vote,
    "mean of the nearest neighbours": _neighbours_mean,
    "vote of the nearest neighbours": _neighbours_vote,
}
