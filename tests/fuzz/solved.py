"""Ridge and logistic regression: problems that the referee judges with a target for every column."""

from typing import Any

import numpy as np

import mercer
from mercer import MercerError, NotPositive
from tests.fuzz import draw, peers
from tests.fuzz.case import Case, certificate
from tests.fuzz.judging import ROUNDING, doubt, doubt_of_new, judged, posed, predicts, refused_at_all
from tests.oracles import objectives

Extended = np.longdouble
SOLVERS = {"ridge": ("auto", "eigen", "cholesky", "cg", "mixed"), "logistic": ("newton-cholesky", "newton-cg")}
# Rows up to which leaving one out is done by refitting.
FEW = 25


def ridge(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    y, weight = draw.targets(rng, X), draw.weights(rng, len(X))
    case = Case(mercer.KernelRidge, y=y, weight=weight, **posed(rng, X))
    case.parameters.update(alpha=draw.power(rng, (-3.0, 2.0), (-12.0, 12.0)), fit_intercept=bool(rng.random() < 0.4))
    if rng.random() < 0.1:
        case.parameters["alpha"] = 0.0
    elif rng.random() < 0.3:
        case.parameters["solver"] = str(rng.choice(SOLVERS["ridge"]))
    return case


def check_ridge(case: Case, model: Any) -> list[str]:
    alpha, y = float(case.parameters["alpha"]), case.y.astype(Extended)
    a, b = model.dual_coef_.astype(Extended), Extended(np.max(model.intercept_))
    complaints = predicts(model.predict(case.new), case.K_new @ a + b, doubt_of_new(case.K, a))
    if alpha == 0.0:
        return complaints + _interpolates(case, model, a, b)
    complaints += _judged_as_ridge(case, model, a, b, y, alpha)
    theirs = peers.ridge(case) if certificate(model).is_certified and peers.is_usual(case) else None
    if theirs is not None and np.abs(theirs - a).max() > 1e-5 * np.abs(theirs).max():
        complaints.append(f"scikit-learn's coefficients are {float(np.abs(theirs - a).max()):.3g} away")
    return complaints


def _weight(case: Case) -> Any:
    return np.ones(len(case.K), dtype=Extended) if case.weight is None else case.weight.astype(Extended)


def _judged_as_ridge(case: Case, model: Any, a: Any, b: Any, y: Any, alpha: float) -> list[str]:
    weight = _weight(case)
    kept = weight > 0
    if a[~kept].any():
        return ["a row without a weight has a coefficient"]
    K, a, y, c = case.K[np.ix_(kept, kept)], a[kept], y[kept], weight[kept] / Extended(alpha)
    seen = objectives.squared(K, a, b, y, c, intercept=case.parameters["fit_intercept"])
    error = doubt(case, a, np.flatnonzero(kept)) + ROUNDING * np.abs(a / c) + 100 * ROUNDING * np.abs(y)
    floor = float(3 * (c * error**2).sum() + (np.abs(a) * error).sum())
    return judged(model, seen, floor, 1e-8)


def _interpolates(case: Case, model: Any, a: Any, b: Any) -> list[str]:
    """A certified answer without a penalty goes through the targets, or is a least-squares solution."""
    if not certificate(model).is_certified:
        return []
    weight = _weight(case)
    K, y, r = case.K, case.y.astype(Extended), case.y - case.K @ a - b
    error = doubt(case, a)
    misses = np.abs(r)[weight > 0] - error[weight > 0] > 1e-3 * np.abs(y).max(initial=0)
    if not misses.any():
        return []
    size = np.abs(K) @ (weight * np.abs(y))
    if (np.abs(K @ (weight * r)) <= 1e-4 * size + np.abs(K) @ (weight * error)).all():
        return []
    return [f"certified as interpolating, but misses a target by {np.abs(r).max():.3g}"]


def refused_ridge(case: Case, error: MercerError) -> list[str]:
    """What cannot be factorised, if it was to be; and a row that nothing is left without."""
    if (
        isinstance(error, NotPositive)
        and np.linalg.eigvalsh(case.K.astype(float))[-1] > 1e12 * case.parameters["alpha"]
    ):
        return []
    if "alphas" in case.parameters and np.count_nonzero(_weight(case)) < 2:
        return []
    return refused_at_all(case, error)


def ridge_cv(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    case = Case(mercer.KernelRidgeCV, y=draw.targets(rng, X), weight=draw.weights(rng, len(X)), **posed(rng, X))
    low = rng.uniform(-6.0, 1.0)
    case.parameters.update(
        alphas=(10.0 ** np.linspace(low, low + 4.0, 5)).tolist(), fit_intercept=bool(rng.random() < 0.4)
    )
    if rng.random() < 0.2:
        case.parameters["cv"] = "gcv"
    return case


def check_ridge_cv(case: Case, model: Any) -> list[str]:
    a, b = model.dual_coef_.astype(Extended), Extended(np.max(model.intercept_))
    complaints = predicts(model.predict(case.new), case.K_new @ a + b, doubt_of_new(case.K, a))
    complaints += _judged_as_ridge(case, model, a, b, case.y.astype(Extended), float(model.alpha_))
    if case.weight is None and 1 < len(case.K) <= FEW:
        complaints += _leaves_one_out(case, model)
    return complaints


def _leaves_one_out(case: Case, model: Any) -> list[str]:
    K, y, alpha, n = case.K.astype(float), case.y, float(model.alpha_), len(case.K)
    intercept = case.parameters["fit_intercept"]
    if not float(np.linalg.norm(K, 2)) / alpha < 1e6:  # where refitting is as inexact as what it is to judge
        return []
    border = np.ones((n, 1)) if intercept else np.zeros((n, 0))
    expected = np.empty(n)
    for i in range(n):
        rest = np.arange(n) != i
        B = border[rest]
        M = np.block([[K[np.ix_(rest, rest)] + alpha * np.eye(n - 1), B], [B.T, np.zeros((B.shape[1], B.shape[1]))]])
        found = np.linalg.solve(M, np.append(y[rest], np.zeros(B.shape[1])))
        expected[i] = y[i] - np.append(K[i, rest], border[i]) @ found
    missed = np.abs(model.loo_residuals_ - expected).max()
    allowed = 1e-8 * np.abs(y).max() * max(1.0, float(np.abs(K).max()) / alpha * 1e-6)
    return [f"a leave-one-out residual is off by {missed:.3g}"] if missed > allowed + 1e-300 else []


def logistic(rng: np.random.Generator) -> Case:
    X = draw.rows(rng)
    y, weight = draw.labels(rng, X, most=8), draw.weights(rng, len(X))
    case = Case(mercer.KernelLogisticRegression, y=y, weight=weight, **posed(rng, X))
    case.parameters.update(C=draw.power(rng, (-2.0, 2.0), (-12.0, 10.0)), fit_intercept=bool(rng.random() < 0.7))
    if rng.random() < 0.4:
        case.parameters["tol"] = float(rng.choice([1e-2, 1e-8]))
    if rng.random() < 0.3:
        case.parameters["solver"] = str(rng.choice(SOLVERS["logistic"]))
    return case


def refused_logistic(case: Case, error: MercerError) -> list[str]:
    kept = _weight(case) > 0
    classes = len(np.unique(case.y))
    return [] if len(np.unique(case.y[kept])) < classes or classes < 2 else refused_at_all(case, error)


def check_logistic(case: Case, model: Any) -> list[str]:
    a, b = model.dual_coef_.astype(Extended), model.intercept_.astype(Extended)
    b = b[0] if a.ndim == 1 else b
    complaints = predicts(model.decision_function(case.new), case.K_new @ a + b, doubt_of_new(case.K, a))
    weight = _weight(case)
    kept = weight > 0
    c, y = Extended(case.parameters["C"]) * weight[kept], case.y[kept]
    K, a = case.K[np.ix_(kept, kept)], a[kept]
    intercept = case.parameters["fit_intercept"]
    if a.ndim == 1:
        signs = np.where(y == model.classes_[1], 1.0, -1.0).astype(Extended)
        seen = objectives.logistic(K, a, b, signs, c, intercept=intercept)
    else:
        hot = (y[:, None] == model.classes_).astype(Extended)
        seen = objectives.softmax(K, a, b, hot, c, intercept=intercept)
    error = doubt(case, a, np.flatnonzero(kept)).reshape(len(K), -1)
    floor = float((c[:, None] * error).sum() + (np.abs(a).reshape(len(K), -1) * error).sum())
    complaints += judged(model, seen, floor, float(case.parameters.get("tol", 1e-4)), np.inf)
    if peers.is_usual(case) and certificate(model).is_certified:
        theirs = peers.logistic(case, np.flatnonzero(kept))
        if theirs is not None and abs(theirs - seen.primal) > peers.WORSE * seen.scale:
            complaints.append(f"scikit-learn's objective is {theirs:.6g}, not {seen.primal:.6g}")
    chances = model.predict_proba(case.new)
    if not (np.isfinite(chances).all() and np.allclose(chances.sum(axis=1), 1.0)):
        complaints.append("probabilities do not add up to 1")
    return complaints
