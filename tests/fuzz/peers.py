"""scikit-learn and LIBSVM on the same matrix: that the objectives of the oracles are those that they minimise too."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import sklearn.kernel_ridge
import sklearn.linear_model
import sklearn.svm

from tests.fuzz.case import Case

SAME_NAMES = {name: getattr(sklearn.svm, name) for name in ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")}
# What peers solve well: values, weights and penalties of usual sizes.
LARGEST_VALUE, LARGEST_C, LEAST_WEIGHT, LARGEST_NU = 1e4, 1e3, 1e-3, 0.99
# Of the objective, above that of mercer.
WORSE = 0.02
# The violation at which LIBSVM ends.
TOLERANCE = 1e-8


def is_usual(case: Case) -> bool:
    """Whether a peer can be expected to solve it."""
    least = 1.0 if case.weight is None or not case.weight.any() else float(case.weight[case.weight > 0.0].min())
    largest = 1.0 if case.weight is None else float(case.weight.max())
    C = case.parameters.get("C", 1.0)
    is_small = bool(np.abs(case.K).max() <= LARGEST_VALUE) and 1.0 / LARGEST_C <= C <= LARGEST_C
    is_scaled = case.y is None or case.y.dtype.kind != "f" or 1e-3 <= float(np.abs(case.y).max()) <= 1e3
    # At nu = 1 LIBSVM fills its first point beyond the last row, by rounding, and writes beyond its arrays.
    is_safe = case.parameters.get("nu", 0.5) <= LARGEST_NU
    return is_safe and is_small and is_scaled and least >= LEAST_WEIGHT and largest <= 1.0 / LEAST_WEIGHT


def with_weight(case: Case) -> Case:
    """The rows whose weight is above 0: LIBSVM writes beyond its arrays where a stored matrix has others."""
    if case.weight is None or case.weight.all():
        return case
    kept = np.flatnonzero(case.weight)
    y = None if case.y is None else case.y[kept]
    return dataclasses.replace(case, y=y, weight=case.weight[kept], K=case.K[np.ix_(kept, kept)])


def libsvm(case: Case) -> Any:
    """LIBSVM's machine on the stored matrix; None where it does not converge, or finds nothing."""
    taken = {name: case.parameters[name] for name in ("C", "nu", "epsilon") if name in case.parameters}
    machine = SAME_NAMES[case.estimator.__name__](kernel="precomputed", tol=TOLERANCE, max_iter=1_000_000, **taken)
    given = () if case.y is None else (case.y,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            machine.fit(case.K.astype(float), *given, sample_weight=case.weight)
        except (ValueError, UserWarning):
            return None
    return machine


def left_open(case: Case, machine: Any) -> float:
    """What LIBSVM's tolerance, and the float32 of its matrix, can leave of a duality gap: that of f, at every cost."""
    weight = np.ones(len(case.K)) if case.weight is None else case.weight
    size = float(np.abs(machine.dual_coef_).sum()) * float(np.abs(case.K).max())
    missed = TOLERANCE + float(np.finfo(np.float32).eps) * size
    return 2.0 * missed * float(case.parameters.get("C", 1.0)) * float(weight.sum())


def ridge(case: Case) -> Any:
    """Coefficients of scikit-learn's kernel ridge regression, where its system is well-conditioned; else None."""
    alpha, K = case.parameters["alpha"], case.K.astype(float)
    if case.parameters["fit_intercept"] or not np.linalg.norm(K, 2) < 1e6 * alpha:
        return None
    machine = sklearn.kernel_ridge.KernelRidge(kernel="precomputed", alpha=alpha)
    return machine.fit(K, case.y, sample_weight=case.weight).dual_coef_


def logistic(case: Case, rows: Any) -> float | None:
    """The objective that scikit-learn reaches on features of the kernel; None where it does not converge."""
    values, vectors = np.linalg.eigh(case.K[np.ix_(rows, rows)].astype(float))
    phi, y = vectors * np.sqrt(np.maximum(values, 0.0)), case.y[rows]
    w = np.ones(len(rows)) if case.weight is None else case.weight[rows]
    C, intercept = case.parameters["C"], case.parameters["fit_intercept"]
    machine = sklearn.linear_model.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-8, max_iter=2_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            machine.fit(phi, y, sample_weight=w)
        except (ValueError, UserWarning, FutureWarning):
            return None
    chances = machine.predict_log_proba(phi)[np.arange(len(y)), np.searchsorted(machine.classes_, y)]
    return float((machine.coef_**2).sum() / 2.0 - C * (w * chances).sum())
