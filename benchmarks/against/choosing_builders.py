"""The works of the rows of searches: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.harness import data
from benchmarks.harness.rows import Task

FOLDS = 5
COSTS = np.logspace(-1, 3, 6)
WIDTHS = np.logspace(-1.5, 1, 6)
"""gamma, in units of 1/d for columns of variance 1."""
LENGTHS = np.logspace(-0.5, 1, 20)
"""Length scales, in units of √d."""
ALPHAS = np.logspace(-4, 3, 30)


def mercers(grid: dict[str, Any]) -> Any:
    from mercer import SVC, KernelSearchCV

    return KernelSearchCV(SVC(), grid, cv=FOLDS)


def one_by_one(grid: dict[str, Any]) -> Any:
    from mercer import SVC

    return GridSearchCV(SVC(), grid, cv=FOLDS)


def scikit_learns(grid: dict[str, Any]) -> Any:
    from sklearn.svm import SVC

    return GridSearchCV(SVC(), grid, cv=FOLDS, n_jobs=2)


def intels(grid: dict[str, Any]) -> Any:
    svm = importlib.import_module("sklearnex.svm")  # uses all threads by itself
    return GridSearchCV(svm.SVC(), grid, cv=FOLDS)


SEARCHES = {
    "mercer": mercers, "mercer one by one": one_by_one, "scikit-learn": scikit_learns, "scikit-learn-intelex": intels,
}  # fmt: skip


def classify(library: str, name: str, rows: int) -> Task:
    """A support vector classifier's C and gamma, by 5 folds, and the fit of the best."""
    parts = data.parts(name, rows)
    grid = {"C": COSTS.tolist(), "gamma": (WIDTHS / parts.X.shape[1]).tolist()}
    search = SEARCHES[library](grid)

    def facts(found: Any) -> dict[str, Any]:
        if library != "mercer":
            return {"score": float(found.best_score_)}
        plain = scikit_learns(grid).fit(parts.X, parts.y)
        means = found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
        return {
            "score": float(found.best_score_),
            "difference": float(np.abs(means[0] - means[1]).max()),
            "another winner": float(found.best_params_ != plain.best_params_),
        }

    return Task(lambda: search.fit(parts.X, parts.y), source=parts.source, facts=facts)


def ridge(library: str, n: int, d: int) -> Task:
    """A ridge machine's length scale and alpha, and the fit of the best."""
    made = data.regression(n, d)
    gammas = (0.5 / (LENGTHS**2 * d)).tolist()

    def mercers() -> Any:
        from mercer import KernelRidge, KernelSearchCV

        grid = {"alpha": ALPHAS.tolist(), "gamma": gammas}
        scoring = "neg_mean_squared_error"
        return KernelSearchCV(KernelRidge(kernel="rbf"), grid, cv="loo", scoring=scoring).fit(made.X, made.y)

    def himalayas() -> Any:
        from himalaya.kernel_ridge import KernelRidgeCV

        fits = [
            KernelRidgeCV(ALPHAS, kernel="rbf", kernel_params={"gamma": gamma}, cv=FOLDS).fit(made.X, made.y)
            for gamma in gammas
        ]
        return max(fits, key=lambda fit: float(np.max(fit.cv_scores_)))

    def scikit_learns() -> Any:
        from sklearn.kernel_ridge import KernelRidge

        grid = {"alpha": ALPHAS.tolist(), "gamma": gammas}
        return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=FOLDS, n_jobs=2).fit(made.X, made.y)

    return Task({"mercer": mercers, "himalaya": himalayas, "scikit-learn": scikit_learns}[library])
