"""The works of the rows of searches: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from benchmarks.harness import data
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]

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


def relevance(library: str, n: int, d: int) -> Task:
    """A length scale for each column, the noise and the variance of a Gaussian process; half of the columns matter.

    Both begin at lengths of √d and a noise of a hundredth; what they find is judged by the same −log p(y)/n.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    weights = np.where(np.arange(d) < d // 2, 1.0 / (1.0 + np.arange(d)), 0.0)
    y = np.sin(X @ weights * 2.0) + (X * weights) @ np.ones(d) * 0.3 + 0.1 * rng.standard_normal(n)
    y -= y.mean()

    def mercers() -> tuple[Array, float]:
        from mercer import RBF, learn

        found = learn(
            100.0 * RBF(np.full(d, np.sqrt(d))), X, y, by="likelihood", fit_intercept=False, starts=1, max_iter=200
        ).get_params()
        return np.asarray(found["length_scale"]), 1.0 / found["scale"]

    def scikit_learns() -> tuple[Array, float]:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process import kernels as gp

        bounds = (1e-4, 1e5)
        kernel = gp.ConstantKernel(1.0, bounds) * gp.RBF(np.full(d, np.sqrt(d)), bounds) + gp.WhiteKernel(0.01, bounds)
        found = GaussianProcessRegressor(kernel, alpha=0.0).fit(X, y).kernel_
        return np.asarray(found.k1.k2.length_scale), found.k2.noise_level / found.k1.k1.constant_value

    def score(found: tuple[Array, float]) -> float:
        lengths, noise = found
        scaled = X / lengths
        squares = np.einsum("ij,ij->i", scaled, scaled)
        K = np.exp(-0.5 * np.maximum(squares[:, None] + squares - 2.0 * scaled @ scaled.T, 0.0))
        factor = np.linalg.cholesky(K + noise * np.eye(n))
        variance = np.sum(np.linalg.solve(factor, y) ** 2) / n
        logs = 2.0 * np.log(np.diag(factor)).sum()
        return float(0.5 * (np.log(2.0 * np.pi * variance) + 1.0 + logs / n))

    def facts(found: tuple[Array, float]) -> dict[str, Any]:
        own = score(found)
        return {"score": own} | ({"shortfall": own - score(scikit_learns())} if library == "mercer" else {})

    return Task({"mercer": mercers, "scikit-learn": scikit_learns}[library], facts=facts)
