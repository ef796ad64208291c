"""The works of the logistic rows: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.special

from benchmarks.against import direct
from benchmarks.against.ridge_builders import mercer_kernel
from benchmarks.harness import data, machine
from benchmarks.harness.rows import Task

Array = np.ndarray[Any, Any]
C = 1.0
LANDMARKS = 1_000


class Classes(NamedTuple):
    """Training rows and labels 0 and 1, and as many of each to judge by."""

    X: Array
    y: Array
    Z: Array
    label: Array


def classes(n: int, d: int, new: int = 200) -> Classes:
    """Return standard normal rows, labelled by a smooth function of one direction plus noise."""
    made = data.regression(n + new, d)
    y = (made.y > np.median(made.y)).astype(int)
    return Classes(made.X[:n], y[:n], made.X[n:], y[n:])


def probability_error(made: Classes, p: Array) -> float:
    """The largest error of a probability on the new rows."""
    return float(np.abs(p - direct.kept(direct.logistic, made.X, made.y, made.Z, C)).max())


def mercer_map(n: int, d: int) -> Task:
    import mercer

    made, kernel = classes(n, d), mercer_kernel(d)
    model = mercer.KernelLogisticRegression(C, kernel=kernel, fit_intercept=False)
    return Task(
        lambda: model.fit(made.X, made.y), lambda model: probability_error(made, model.predict_proba(made.Z)[:, 1])
    )


def sklearn_map(n: int, d: int) -> Task:
    """The same most probable f; predict_proba would average over what is left undecided."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF

    made = classes(n, d)
    model = GaussianProcessClassifier(RBF((d / 2.0) ** 0.5), optimizer=None)

    def error(model: Any) -> float:
        inner = model.base_estimator_
        f = direct.gaussian(made.Z, made.X) @ (inner.y_train_ - inner.pi_)
        return probability_error(made, scipy.special.expit(f))

    return Task(lambda: model.fit(made.X, made.y), error)


def gap(model: Any, X: Array, y: Array) -> dict[str, Any]:
    """The relative duality gap of the published coefficients, by plain float64."""
    coef, b = model.dual_coef_, model.intercept_
    if coef.ndim == 1:
        return {"gap": direct.logistic_gap(X, np.where(y == 1, 1.0, -1.0), coef, float(b[0]), C)}
    return {"gap": direct.softmax_gap(X, np.eye(coef.shape[1])[y], coef, b, C)}


def mercer_fit(n: int, d: int) -> Task:
    import mercer

    made = classes(n, d)
    model = mercer.KernelLogisticRegression(C, kernel=mercer_kernel(d))
    return Task(lambda: model.fit(made.X, made.y), facts=lambda model: gap(model, made.X, made.y))


def sklearn_fit(n: int, d: int) -> Task:
    """Five machines and their sigmoids, with a process for each core."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    made = classes(n, d)
    model = CalibratedClassifierCV(SVC(C=C, gamma=1.0 / d, cache_size=2_000), cv=5, n_jobs=machine.threads())
    return Task(lambda: model.fit(made.X, made.y))


def mercer_softmax(name: str, rows: int) -> Task:
    import mercer

    made = data.parts(name, rows)
    X, y = np.asarray(made.X), made.y.astype(int)
    model = mercer.KernelLogisticRegression(C, kernel=mercer_kernel(X.shape[1]))
    return Task(lambda: model.fit(X, y), source=made.source, facts=lambda model: gap(model, X, y))


def landmark_machine(d: int) -> Any:
    """A pipeline of scikit-learn: 1000 landmarks, then a linear model."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(
        Nystroem(gamma=1.0 / d, n_components=LANDMARKS, random_state=0), LogisticRegression(C=C, max_iter=1_000)
    )


def log_loss(model: Any, made: Classes) -> float:
    p = model.predict_proba(made.Z)
    return float(-np.log(p[np.arange(len(p)), made.label]).mean())


def mercer_held_out(n: int, d: int, new: int) -> Task:
    """The whole machine; the peer's log-loss is made again here, after all runs."""
    import mercer

    made = classes(n, d, new)
    model = mercer.KernelLogisticRegression(C, kernel=mercer_kernel(d))

    def facts(model: Any) -> dict[str, Any]:
        own, its = (log_loss(each, made) for each in (model, landmark_machine(d).fit(made.X, made.y)))
        return {"log-loss": own, "log-loss over its": own / its}

    return Task(lambda: model.fit(made.X, made.y), facts=facts)


def sklearn_held_out(n: int, d: int, new: int) -> Task:
    made, model = classes(n, d, new), landmark_machine(d)
    return Task(lambda: model.fit(made.X, made.y), facts=lambda model: {"log-loss": log_loss(model, made)})
