"""The works of the rows about scale: each builder makes its data and returns the run that is measured."""

import math
import time
from typing import Any

import numpy as np

from benchmarks.harness import data
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]
LENGTHS = {"flights3m": 2.5, "covtype": 4.0, "kddcup99": 6.0, "skin": 0.5, "a9a": 5.0}
"""Of a Gaussian kernel on columns of variance 1, the same for all contestants."""
PRECISION = np.float32


def regression_facts(made: data.Parts) -> Any:
    def facts(model: Any) -> dict[str, Any]:
        found = np.asarray(model.predict(made.Z)).ravel()
        error = float(np.sqrt(np.mean((found - made.target) ** 2)) / np.std(made.target))
        return {"test RMSE / σ": error}

    return facts


def labels_facts(made: data.Parts) -> Any:
    return lambda model: {"test error": float(np.mean(model.predict(made.Z) != made.target))}


def kernel_of(name: str) -> Any:
    import mercer

    return mercer.RBF(LENGTHS[name])


def single(made: data.Parts) -> data.Parts:
    return made._replace(X=made.X.astype(PRECISION), Z=made.Z.astype(PRECISION))


# Regression.


def mercer_regression(name: str, rows: int | None, m: int, alpha: float, tol: float) -> Task:
    import mercer

    made = single(data.parts(name, rows))
    model = mercer.KernelRidge(
        alpha, kernel=kernel_of(name), solver="landmarks", n_landmarks=m, fit_intercept=True, tol=tol, random_state=0
    )

    def run() -> Any:
        start = time.perf_counter()
        model.fit(made.X, made.y)
        model.took = time.perf_counter() - start
        return model

    def facts(fitted: Any) -> dict[str, Any]:
        certificate = fitted.certificate_
        return {
            **regression_facts(made)(fitted), "fit seconds": fitted.took, "passes": certificate.steps,
            "relative gap": certificate.relative_gap,
        }  # fmt: skip

    return Task(run, source=made.source, facts=facts)


def trees_regression(name: str, rows: int | None) -> Task:
    from sklearn.ensemble import HistGradientBoostingRegressor

    made = single(data.parts(name, rows))
    return Task(
        lambda: HistGradientBoostingRegressor(random_state=0).fit(made.X, made.y),
        source=made.source, facts=regression_facts(made),
    )  # fmt: skip


def linear_regression(name: str, rows: int | None) -> Task:
    from sklearn.linear_model import Ridge

    made = single(data.parts(name, rows))
    return Task(lambda: Ridge(1.0).fit(made.X, made.y), source=made.source, facts=regression_facts(made))


def made_regression(n: int, d: int) -> data.Parts:
    """Rows in float32 whose target is a smooth function of a few directions, with noise; made in blocks."""
    rng = np.random.default_rng(0)
    X = np.empty((n + 20_000, d), dtype=PRECISION)
    y = np.empty(len(X))
    W = rng.standard_normal((d, 3)) / math.sqrt(d)
    for first in range(0, len(X), 100_000):
        block = rng.standard_normal((len(X[first : first + 100_000]), d)).astype(PRECISION)
        U = block @ W
        X[first : first + len(block)] = block
        y[first : first + len(block)] = (
            np.sin(2.0 * U[:, 0]) + U[:, 1] * U[:, 2] + 0.3 * rng.standard_normal(len(block))
        )
    return data.Parts(X[:n], y[:n], X[n:], y[n:], "made")


def mercer_made(n: int, d: int, m: int, alpha: float, tol: float) -> Task:
    import mercer

    made = made_regression(n, d)
    model = mercer.KernelRidge(
        alpha, kernel=mercer.RBF(math.sqrt(d)), solver="landmarks", n_landmarks=m, tol=tol, random_state=0
    )

    def run() -> Any:
        start = time.perf_counter()
        model.fit(made.X, made.y)
        model.took = time.perf_counter() - start
        return model

    def facts(fitted: Any) -> dict[str, Any]:
        return {**regression_facts(made)(fitted), "fit seconds": fitted.took, "passes": fitted.certificate_.steps}

    return Task(run, source="made", facts=facts)


def mercer_growth(fewest: int, most: int, d: int, m: int) -> Task:
    """The exponent of time in the number of rows, for so many landmarks and as many passes."""
    import mercer

    made = made_regression(most, d)

    def timed(n: int) -> float:
        model = mercer.KernelRidge(
            1e-3, kernel=mercer.RBF(math.sqrt(d)), solver="landmarks", landmarks=np.arange(m), max_iter=8, tol=1e-12
        )
        start = time.perf_counter()
        model.fit(made.X[:n], made.y[:n])
        return time.perf_counter() - start

    def run() -> tuple[float, float]:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mercer.UncertifiedWarning)  # eight passes, solved or not
            return timed(fewest), timed(most)

    def facts(seconds: tuple[float, float]) -> dict[str, Any]:
        return {"exponent": math.log(seconds[1] / seconds[0]) / math.log(most / fewest)}

    return Task(run, source="made", facts=facts)


# Classification.


def mercer_classes(name: str, rows: int | None, m: int, C: float, tol: float) -> Task:
    import mercer

    made = single(data.parts(name, rows))
    model = mercer.KernelLogisticRegression(
        C, kernel=kernel_of(name), solver="landmarks", n_landmarks=m, tol=tol, random_state=0
    )
    return Task(lambda: model.fit(made.X, made.y), source=made.source, facts=labels_facts(made))


def features_of(name: str, m: int) -> Any:
    from sklearn.kernel_approximation import Nystroem

    return Nystroem(gamma=0.5 / LENGTHS[name] ** 2, n_components=m, random_state=0)


def nystroem_logistic(name: str, rows: int | None, m: int, C: float) -> Task:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    made = single(data.parts(name, rows))
    model = make_pipeline(features_of(name, m), LogisticRegression(C=C, max_iter=1_000))
    return Task(lambda: model.fit(made.X, made.y), source=made.source, facts=labels_facts(made))


def nystroem_sgd(name: str, rows: int | None, m: int) -> Task:
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    made = single(data.parts(name, rows))
    model = make_pipeline(features_of(name, m), SGDClassifier(loss="log_loss", alpha=1e-7, random_state=0))
    return Task(lambda: model.fit(made.X, made.y), source=made.source, facts=labels_facts(made))
