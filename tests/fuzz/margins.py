"""The support vector machines, problem by problem: objectives without the solver, and who may refuse what."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

import mercer
from mercer import MercerError, NotSeparable
from tests.fuzz import draw, peers
from tests.fuzz.case import Case, certificate
from tests.fuzz.judging import (
    CANCELLED,
    PATIENCE,
    ROUNDING,
    doubt,
    doubt_of_new,
    judged,
    posed,
    predicts,
    refused_at_all,
)
from tests.oracles import objectives
from tests.oracles.objectives import Objectives
from tests.oracles.quadratic import quadratic_minimum

Extended = np.longdouble
# The relative gap at which a machine may call itself solved.
PROMISE = 1e-3
# A margin is none where the classes come nearer than this, relative to the longest point.
NO_MARGIN = 1e-10
# Of αᵀKα, in units of (Σ|α|)² max k(x, x): some roundings of float64.
ZERO = 16 * float(np.finfo(float).eps)
# A step budget in place of a clock.
MOST_STEPS = 300_000


class Pair(NamedTuple):
    """A problem of two classes: its rows, signs and coefficients."""

    rows: Any
    y: Any
    a: Any
    b: Any


def svc(rng: np.random.Generator) -> Case:
    case = _classes(rng, mercer.SVC)
    case.parameters["C"] = draw.power(rng, (-2.0, 3.0), (-9.0, 9.0))
    if rng.random() < 0.1:
        case.parameters["C"] = float("inf")
    return case


def nu_svc(rng: np.random.Generator) -> Case:
    case = _classes(rng, mercer.NuSVC)
    case.parameters["nu"] = float(rng.uniform(0.02, 0.9) if rng.random() < 0.8 else rng.choice([0.5, 1.0, 1e-3]))
    return case


def svr(rng: np.random.Generator) -> Case:
    case = _targets(rng, mercer.SVR)
    spread = float(np.ptp(case.y)) or 1.0
    epsilon = float(rng.choice([0.0, 1e-3, 0.1, 2.0])) * spread
    case.parameters.update(C=draw.power(rng, (-2.0, 3.0), (-9.0, 9.0)), epsilon=epsilon)
    return case


def nu_svr(rng: np.random.Generator) -> Case:
    case = _targets(rng, mercer.NuSVR)
    nu = float(rng.uniform(0.02, 1.0) if rng.random() < 0.8 else rng.choice([0.5, 1.0, 1e-3]))
    case.parameters.update(C=draw.power(rng, (-2.0, 3.0), (-9.0, 9.0)), nu=nu)
    return case


def one_class(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    case = Case(mercer.OneClassSVM, weight=draw.weights(rng, len(X)), **posed(rng, X))
    case.parameters["nu"] = float(rng.uniform(0.02, 1.0) if rng.random() < 0.8 else rng.choice([0.5, 1.0, 1e-3]))
    return _with_tolerance(rng, case)


def _classes(rng: np.random.Generator, estimator: type) -> Case:
    X = draw.rows(rng)
    y, weight = draw.labels(rng, X, most=8), draw.weights(rng, len(X))
    case = Case(estimator, y=y, weight=weight, **posed(rng, X))
    case.parameters["decision_function_shape"] = "ovo"
    return _with_tolerance(rng, case)


def _targets(rng: np.random.Generator, estimator: type) -> Case:
    X = draw.rows(rng)
    y, weight = draw.targets(rng, X), draw.weights(rng, len(X))
    return _with_tolerance(rng, Case(estimator, y=y, weight=weight, **posed(rng, X)))


def _with_tolerance(rng: np.random.Generator, case: Case) -> Case:
    case.parameters["max_iter"] = MOST_STEPS
    if rng.random() < 0.4:
        case.parameters["tol"] = float(rng.choice([1e-1, 1e-5, 1e-8]))
    return case


def check_classes(case: Case, model: Any) -> list[str]:
    """Of SVC and NuSVC: every pair of classes is a problem of its own."""
    found = list(_pairs(case, model))
    decisions = np.stack([case.K_new[:, pair.rows] @ pair.a + pair.b for pair in found], axis=1)
    doubts = max(float(doubt_of_new(case.K, _spread_out(case, pair))) for pair in found)
    published = np.asarray(model.decision_function(case.new)).reshape(len(decisions), -1)
    complaints = _weights_are_finite(model) + predicts(published, decisions, doubts)
    parts = [_pair_objectives(case, pair) for pair in found]
    floors = [_pair_floor(case, pair) for pair in found]
    if certificate(model).is_certified:
        worst = max(zip(parts, floors, strict=True), key=lambda pair: _beyond(*pair))
        if _beyond(*worst) > PATIENCE * PROMISE:
            complaints.append(f"certified, but the gap of a pair is {worst[0].gap:.3g} of {worst[0].scale:.3g}")
    if np.isfinite(case.parameters.get("C", 1.0)):  # the certificate of a hard margin is that of two hulls
        complaints += judged(model, _sum(parts), sum(floors), PROMISE) + _peers(case, parts, _class_objectives)
    return complaints


def check_single(case: Case, model: Any) -> list[str]:
    """Of SVR, NuSVR and OneClassSVM."""
    a, b, kept, c = _single(case, model)
    seen, floor = _single_objectives(case, model), _floor(case, kept, a[kept], c, b)
    if case.y is None:
        # P and D are multiples of αᵀKα alone, and Σα is fixed. Where the least αᵀKα is 0, as with a row of k(x, x) = 0,
        # no gap is small relative to it: it is 0 up to rounding of what it would be if nothing cancelled.
        floor += ZERO * float(np.abs(a).sum()) ** 2 * float(np.diagonal(case.K).max(initial=0))
    found = model.decision_function(case.new) if case.y is None else model.predict(case.new)
    return (
        _predicts(case, model, found, a, b)
        + judged(model, seen, floor, PROMISE)
        + _peers(case, [seen], _single_objectives)
    )


def _single_objectives(case: Case, model: Any) -> Objectives:
    a, b, kept, c = _single(case, model)
    a, K = a[kept], case.K[np.ix_(kept, kept)]
    if case.y is None:
        return objectives.one_class(K, a, c, Extended(case.parameters["nu"]))
    y = case.y[kept].astype(Extended)
    if "nu" in case.parameters:
        return objectives.nu_tube(K, a, y, c, Extended(case.parameters["nu"]))
    return objectives.tube(K, a, b, y, c, Extended(case.parameters["epsilon"]))


def _peers(case: Case, ours: list[Objectives], made: Any) -> list[str]:
    """LIBSVM's answer must be worth about as much, by the oracle's objective, which is else not the one it solves."""
    part = peers.with_weight(case)
    theirs = peers.libsvm(part) if peers.is_usual(case) else None
    if theirs is None:
        return []
    mine, other = sum(part.primal for part in ours), made(part, theirs).primal
    scale = sum(part.scale for part in ours)
    slack = peers.WORSE * scale
    if other > mine:  # theirs may be worse by what their tolerance leaves, ours may not
        slack += len(ours) * peers.left_open(part, theirs)
    # Where the objective is all but zero, theirs is what their tolerance leaves.
    if scale < 1e-4 or abs(other - mine) <= slack:
        return []
    return [f"LIBSVM's objective is {other:.6g}, not {mine:.6g}"]


def _class_objectives(case: Case, model: Any) -> Objectives:
    return _sum([_pair_objectives(case, pair) for pair in _pairs(case, model)])


def refused_classes(case: Case, error: MercerError) -> list[str]:
    """A class without weight, a nu without room, and what no margin separates."""
    weight = _weight(case)
    kept = weight > 0
    classes = np.unique(case.y)
    if len(np.unique(case.y[kept])) < len(classes) or len(classes) < 2:
        return []
    if isinstance(error, NotSeparable):
        return _not_separable(case, error)
    if "nu" in case.parameters:
        nu = case.parameters["nu"]
        mass = [float(weight[case.y == label].sum()) for label in classes]
        if any(nu * sum(both) / 2.0 >= min(both) * (1.0 - 1e-12) for both in combinations(mass, 2)):
            return []
        if any(_has_no_margin(case, *both, nu) for both in combinations(classes, 2)):
            return []
    return refused_at_all(case, error)


def _has_no_margin(case: Case, first: Any, second: Any, nu: float) -> bool:
    """Whether the reduced hulls of two classes meet, as far as an interior-point method can tell."""
    weight = _weight(case)
    rows = np.flatnonzero(np.isin(case.y, [first, second]) & (weight > 0))
    y, w = np.where(case.y[rows] == first, 1.0, -1.0), weight[rows].astype(float)
    K = case.K[np.ix_(rows, rows)].astype(float)
    longest = float(np.diagonal(K).max())
    if longest <= 0.0:
        return True
    high, sums = w / w.sum(), np.array([nu / 2.0, nu / 2.0])
    sides = np.stack([y > 0.0, y < 0.0]).astype(float)
    least = quadratic_minimum(y[:, None] * y * K / longest, np.zeros(len(y)), high, sides, sums)
    return not least.lower >= NO_MARGIN * nu**2


def _not_separable(case: Case, error: NotSeparable) -> list[str]:
    up, down = (np.asarray(side, dtype=Extended) for side in error.weights)
    apart = up - down
    distance, size = apart @ case.K @ apart, (np.abs(apart) @ np.sqrt(np.diagonal(case.K))) ** 2
    is_convex = all(abs(side.sum() - 1) < 1e-9 and side.min() >= 0 for side in (up, down))
    if not is_convex or distance > 1e-6 * size:
        return [f"not separable, it says, but its two points are {float(distance):.3g} of {float(size):.3g} apart"]
    return []


def _weight(case: Case) -> Any:
    return np.ones(len(case.K), dtype=Extended) if case.weight is None else case.weight.astype(Extended)


def _dense(coefficients: Any) -> Any:
    return np.asarray(coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients, dtype=Extended)


def _single(case: Case, model: Any) -> tuple[Any, Any, Any, Any]:
    """Coefficients of all rows, the intercept, the rows that count, and their costs."""
    a, weight = np.zeros(len(case.K), dtype=Extended), _weight(case)
    a[model.support_] = _dense(model.dual_coef_)[0]
    kept = np.flatnonzero(weight > 0)
    return a, Extended(model.intercept_[0]), kept, weight[kept] * Extended(case.parameters.get("C", 1.0))


def _predicts(case: Case, model: Any, found: Any, a: Any, b: Any) -> list[str]:
    # A decision of a single class that is as near to the border as rounding brings it is published as 0.
    allowed = doubt_of_new(case.K, a) + CANCELLED * abs(b)
    return _weights_are_finite(model) + predicts(found, case.K_new @ a + b, allowed)


def _weights_are_finite(model: Any) -> list[str]:
    """Of the explicit features, where there are any."""
    return [] if np.isfinite(_dense(getattr(model, "coef_", 0.0))).all() else ["a weight is not a number"]


def _floor(case: Case, rows: Any, a: Any, c: Any, b: Any) -> float:
    error = doubt(case, a, rows) + 1e-15 * abs(b)
    return float((c * error).sum() + (np.abs(a) * error).sum())


def _pairs(case: Case, model: Any) -> Any:
    """As LIBSVM lays them out: a column has the coefficients of one row against each of the other classes."""
    dual, support, classes, weight = _dense(model.dual_coef_), model.support_, model.classes_, _weight(case)
    of_class = np.searchsorted(classes, case.y)
    for number, (i, j) in enumerate(combinations(range(len(classes)), 2)):
        rows = np.flatnonzero(np.isin(of_class, [i, j]) & (weight > 0))
        a = np.zeros(len(case.K), dtype=Extended)
        if len(classes) == 2:
            a[support] = dual[0]
        else:
            for mine, other in ((i, j - 1), (j, i)):
                column = of_class[support] == mine
                a[support[column]] = dual[other, column]
        positive = j if len(classes) == 2 else i
        y = np.where(of_class[rows] == positive, 1, -1).astype(Extended)
        yield Pair(rows, y, a[rows], Extended(model.intercept_[number]))


def _spread_out(case: Case, pair: Pair) -> Any:
    a = np.zeros(len(case.K), dtype=Extended)
    a[pair.rows] = pair.a
    return a


def _pair_objectives(case: Case, pair: Pair) -> Objectives:
    K, w = case.K[np.ix_(pair.rows, pair.rows)], _weight(case)[pair.rows]
    if "nu" in case.parameters:
        nu = Extended(case.parameters["nu"])
        return objectives.nu_margin(K, pair.a * _margin(case, pair, w), pair.y, w, nu)
    C = Extended(case.parameters["C"])
    return _hard(K, pair) if np.isinf(C) else objectives.hinge(K, pair.a, pair.b, pair.y, C * w)


def _margin(case: Case, pair: Pair, w: Any) -> Any:
    """ρ, in units of which a nu machine publishes its coefficients, of which it knows the sum."""
    size = np.abs(pair.a).sum()
    return Extended(case.parameters["nu"]) * w.sum() / size if size > 0 else Extended(1)


def _pair_floor(case: Case, pair: Pair) -> float:
    w = _weight(case)[pair.rows]
    if "nu" in case.parameters:
        return _floor(case, pair.rows, pair.a * _margin(case, pair, w), w, 0)
    C = Extended(case.parameters["C"])
    if np.isinf(C):
        return _floor(case, pair.rows, pair.a, 0 * w, pair.b) + float(ROUNDING * np.abs(pair.a).sum())
    return _floor(case, pair.rows, pair.a, C * w, pair.b)


def _beyond(part: Objectives, floor: float) -> float:
    """The relative gap that rounding does not explain."""
    excess = part.gap - floor
    return excess / part.scale if excess > 0.0 else 0.0


def _hard(K: Any, pair: Pair) -> Objectives:
    """½‖f‖² where y(f + b) ≥ 1: scaled until that holds, if it can be."""
    margin = (pair.y * (K @ pair.a + pair.b)).min()
    energy = (pair.a * (K @ pair.a)).sum() / 2
    dual = np.abs(pair.a).sum() - energy
    return Objectives(float(energy / margin**2) if margin > 0 else float("inf"), float(dual), float(energy), 0.0)


def _sum(parts: Any) -> Objectives:
    return Objectives(*(sum(getattr(part, name) for part in parts) for name in Objectives._fields[:3]), 0.0)
