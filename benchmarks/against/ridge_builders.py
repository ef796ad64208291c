"""The works of the ridge rows: each builder makes its data and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.against import direct
from benchmarks.harness import data, machine
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Task

if TYPE_CHECKING:
    import mercer

Array = np.ndarray[Any, Any]
Error = Callable[[Any], float]
SAMPLE = 200
BEYOND = 50e-6
"""Seconds that one row may take beyond scikit-learn's validation."""
ALPHAS = np.logspace(-3, 3, 50)
FOLDS = 5
REFITTED = 3
"""Rows and targets whose leave-one-out residuals are checked by refitting."""


def mercer_kernel(d: int) -> "mercer.Kernel":
    import mercer

    return mercer.RBF((d / 2.0) ** 0.5)  # gamma = 1/d


def fitted_error(made: data.Regression, alpha: float) -> Error:
    """Error of a fitted model's predictions for new rows."""
    return lambda model: relative(direct.kept(direct.ridge, *made, alpha), model.predict(made.Z))


def mercer_fit(n: int, d: int, alpha: float) -> Task:
    import mercer

    made, kernel = data.regression(n, d), mercer_kernel(d)
    return Task(lambda: mercer.KernelRidge(alpha, kernel=kernel).fit(made.X, made.y), fitted_error(made, alpha))


def sklearn_fit(n: int, d: int, alpha: float) -> Task:
    from sklearn.kernel_ridge import KernelRidge

    made = data.regression(n, d)
    model = KernelRidge(alpha=alpha, kernel="rbf", gamma=1.0 / d)
    return Task(lambda: model.fit(made.X, made.y), fitted_error(made, alpha))


def mercer_large_fit(n: int, d: int, alpha: float) -> Task:
    """A fit beyond the reach of a direct solve, whose error is bounded instead.

    With r = y − M a in plain float64, predictions are off by k(z)ᵀ M⁻¹ r. Mercer itself is asked for e ≈ M⁻¹ r, and
    what e misses moves no prediction by more than ‖r − M e‖ √k(z, z) / (2 √alpha), whatever mercer's answer was.
    """
    import mercer

    made, kernel = data.regression(n, d), mercer_kernel(d)

    def run() -> Any:
        return mercer.KernelRidge(alpha, kernel=kernel).fit(made.X, made.y)

    def error(model: Any) -> float:
        r = direct.residual(made.X, made.y, model.dual_coef_, alpha)
        e = mercer.KernelRidge(alpha, kernel=kernel).fit(made.X, r).dual_coef_
        rest = direct.residual(made.X, r, e, alpha)
        off = np.abs(direct.gaussian(made.Z, made.X) @ e) + np.linalg.norm(rest) / (2.0 * np.sqrt(alpha))
        return float(off.max() / np.abs(model.predict(made.Z)).max())

    return Task(run, error)


def _predicting(model: Any, made: data.Regression, alpha: float) -> Task:
    model.fit(made.X, made.y)
    some = made._replace(Z=made.Z[:SAMPLE])
    return Task(
        lambda: model.predict(made.Z), lambda found: relative(direct.kept(direct.ridge, *some, alpha), found[:SAMPLE])
    )


def mercer_predict(n: int, d: int, alpha: float, new: int) -> Task:
    import mercer

    return _predicting(mercer.KernelRidge(alpha, kernel=mercer_kernel(d)), data.regression(n, d, new=new), alpha)


def sklearn_predict(n: int, d: int, alpha: float, new: int) -> Task:
    from sklearn.kernel_ridge import KernelRidge

    model = KernelRidge(alpha=alpha, kernel="rbf", gamma=1.0 / d)
    return _predicting(model, data.regression(n, d, new=new), alpha)


def mercer_one_row(n: int, d: int, alpha: float, calls: int) -> Task:
    """Predictions of one row each, as a server makes them."""
    import mercer

    made = data.regression(n, d, new=calls)
    model = mercer.KernelRidge(alpha, kernel=mercer_kernel(d)).fit(made.X, made.y)
    rows = [row[None] for row in made.Z]
    return Task(
        lambda: np.concatenate([model.predict(row) for row in rows]),
        lambda found: relative(direct.kept(direct.ridge, *made, alpha), found),
    )


def sklearn_one_row(n: int, d: int, alpha: float, calls: int) -> Task:
    """What scikit-learn does before it predicts, its own validation of the row, and then 50 µs of waiting."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.utils.validation import validate_data

    made = data.regression(n, d, new=calls)
    model = KernelRidge(alpha=alpha, kernel="rbf", gamma=1.0 / d).fit(made.X[:10], made.y[:10])
    rows = [row[None] for row in made.Z]

    def run() -> Array:
        seen = []
        for row in rows:
            seen.append(validate_data(model, row, accept_sparse=("csr", "csc"), reset=False))
            end = time.perf_counter() + BEYOND
            while time.perf_counter() < end:
                pass
        return np.concatenate(seen)

    return Task(run, lambda found: relative(made.Z, found))


def chosen_error(made: data.Regression, model: Any, alphas: Any) -> float:
    """Error of a model's predictions, for the penalties that it chose itself: one, or one for each target."""
    y, found = (A.reshape(len(A), -1) for A in (made.y, model.predict(made.Z)))
    alphas = np.broadcast_to(alphas, y.shape[1])
    expected = np.empty_like(found)
    for alpha in np.unique(alphas):
        targets = np.flatnonzero(alphas == alpha)
        expected[:, targets] = direct.ridge(made.X, y[:, targets], made.Z, alpha)
    return relative(expected, found)


def left_out_error(made: data.Regression, model: Any) -> float:
    """Error of some leave-one-out residuals, against refitting."""
    y, found = (A.reshape(len(A), -1) for A in (made.y, model.loo_residuals_))
    targets = np.arange(min(REFITTED, y.shape[1]))
    alphas = np.broadcast_to(model.alpha_, y.shape[1])
    rows = np.linspace(0, len(y) - 1, REFITTED).astype(int)
    expected = [[direct.left_out(made.X, y[:, j], row, alphas[j]) for j in targets] for row in rows]
    return relative(np.array(expected), found[np.ix_(rows, targets)])


def mercer_path(n: int, d: int, targets: int) -> Task:
    """Exact leave-one-out along the path; each target has a penalty of its own, as himalaya's have."""
    import mercer

    made, kernel = data.regression(n, d, targets), mercer_kernel(d)

    def run() -> Any:
        return mercer.KernelRidgeCV(ALPHAS, kernel=kernel, alpha_per_target=targets > 1).fit(made.X, made.y)

    return Task(run, lambda model: max(chosen_error(made, model, model.alpha_), left_out_error(made, model)))


def himalaya_path(n: int, d: int, targets: int) -> Task:
    from himalaya.backend import set_backend
    from himalaya.kernel_ridge import KernelRidgeCV

    set_backend("numpy")
    made = data.regression(n, d, targets)
    # One alpha at a time is its fastest on a CPU: the default makes n × n × 50 numbers at once.
    model = KernelRidgeCV(
        ALPHAS, kernel="rbf", kernel_params={"gamma": 1.0 / d}, cv=FOLDS, solver_params={"n_alphas_batch": 1}
    )
    return Task(lambda: model.fit(made.X, made.y), lambda model: chosen_error(made, model, model.best_alphas_))


def sklearn_path(n: int, d: int, targets: int) -> Task:
    """A grid search with a process for each core, which is faster than a BLAS with as many threads."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV

    made = data.regression(n, d, targets)
    model = GridSearchCV(
        KernelRidge(kernel="rbf", gamma=1.0 / d), {"alpha": ALPHAS},
        cv=FOLDS, scoring="neg_mean_squared_error", n_jobs=machine.threads(),
    )  # fmt: skip
    return Task(lambda: model.fit(made.X, made.y), lambda model: chosen_error(made, model, model.best_params_["alpha"]))


def posterior_error(made: data.Regression, alpha: float) -> Error:
    """The larger error of the mean and of the standard deviation, on some of the new rows."""
    some = made._replace(Z=made.Z[:SAMPLE])

    def error(found: Any) -> float:
        expected = direct.kept(direct.posterior, *some, alpha)
        return max(relative(expected[:, j], found[j][:SAMPLE]) for j in range(2))

    return error


def mercer_posterior(n: int, d: int, alpha: float, new: int) -> Task:
    import mercer

    made, kernel = data.regression(n, d, new=new), mercer_kernel(d)

    def run() -> Any:
        model = mercer.KernelRidge(alpha, kernel=kernel, solver="cholesky").fit(made.X, made.y)
        return model.predict(made.Z, return_std=True)

    return Task(run, posterior_error(made, alpha))


def sklearn_posterior(n: int, d: int, alpha: float, new: int) -> Task:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    made = data.regression(n, d, new=new)
    model = GaussianProcessRegressor(RBF((d / 2.0) ** 0.5), alpha=alpha, optimizer=None)
    return Task(lambda: model.fit(made.X, made.y).predict(made.Z, return_std=True), posterior_error(made, alpha))


def linear_error(made: data.Regression, alpha: float) -> Error:
    return lambda model: relative(direct.linear(*made, alpha), model.predict(made.Z))


def mercer_linear(n: int, d: int, alpha: float) -> Task:
    import mercer

    made = data.regression(n, d)
    return Task(
        lambda: mercer.KernelRidge(alpha, kernel=mercer.Linear()).fit(made.X, made.y), linear_error(made, alpha)
    )


def sklearn_linear(n: int, d: int, alpha: float) -> Task:
    from sklearn.linear_model import Ridge

    made = data.regression(n, d)
    model = Ridge(alpha, fit_intercept=False, solver="cholesky")
    return Task(lambda: model.fit(made.X, made.y), linear_error(made, alpha))
