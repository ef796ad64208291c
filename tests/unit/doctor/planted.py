"""For each check a data set with the defect it is for, and its healthy twin."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mercer

Arguments = dict[str, Any]
N = 120


class Planted(NamedTuple):
    """The arguments of `mercer.diagnose` with the defect, and without."""

    ill: Callable[[np.random.Generator], Arguments]
    healthy: Callable[[np.random.Generator], Arguments]


def vectors(rng: np.random.Generator, d: int = 4) -> np.ndarray:
    return rng.standard_normal((N, d))


def classes(rng: np.random.Generator, noise: float = 0.0) -> Arguments:
    """Two classes, along a direction that is no column."""
    X = vectors(rng)
    X += np.repeat([[-1.5], [1.5]], N // 2, axis=0)
    y = np.repeat([0, 1], N // 2)
    flipped = rng.random(N) < noise
    return dict(X=X, y=np.where(flipped, 1 - y, y))


def numbers(rng: np.random.Generator) -> Arguments:
    X = vectors(rng)
    return dict(X=X, y=X[:, 0] + X[:, 1] + 0.1 * rng.standard_normal(N))


def with_entry(value: float) -> Callable[[np.random.Generator], Arguments]:
    def made(rng: np.random.Generator) -> Arguments:
        X = vectors(rng)
        X[7, 2] = value
        return dict(X=X)

    return made


def with_column(column: Callable[[np.random.Generator, np.ndarray], Any]) -> Callable[[np.random.Generator], Arguments]:
    """A table of three normal columns and this one."""

    def made(rng: np.random.Generator) -> Arguments:
        X = vectors(rng, 3)
        return dict(X={"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "odd": column(rng, X)})

    return made


plain_column = with_column(lambda rng, X: rng.standard_normal(N))


def repeated(share: float) -> Callable[[np.random.Generator], Arguments]:
    def made(rng: np.random.Generator) -> Arguments:
        X = vectors(rng)
        count = int(share * N)
        X[N - count :] = X[:count]
        return dict(X=X)

    return made


def twins(rng: np.random.Generator, *, contradict: bool) -> Arguments:
    X = np.repeat(rng.standard_normal((N // 2, 4)), 2, axis=0)
    y = np.repeat(rng.integers(0, 2, N // 2), 2)
    if contradict:
        y[::6] = 1 - y[::6]
    return dict(X=X, y=y)


def by_kernel(kernel: str, shift: float = 0.0) -> Callable[[np.random.Generator], Arguments]:
    return lambda rng: dict(X=vectors(rng) + shift, kernel=kernel)


def with_target(target: Callable[[np.ndarray, np.random.Generator], Any]) -> Callable[[np.random.Generator], Arguments]:
    def made(rng: np.random.Generator) -> Arguments:
        X = vectors(rng)
        return dict(X=X, y=target(X, rng))

    return made


def rare(count: int) -> Callable[[np.random.Generator], Arguments]:
    return with_target(lambda X, rng: np.r_[np.ones(count), np.zeros(N - count)])


def leaking(amount: float) -> Callable[[np.random.Generator], Arguments]:
    def made(rng: np.random.Generator) -> Arguments:
        X = vectors(rng)
        y = np.exp(X[:, 0] + X[:, 1])
        X[:, 3] = np.log(y) + amount * rng.standard_normal(N)
        return dict(X=X, y=y)

    return made


def fitted(estimator: Any, *, data: Callable[[np.random.Generator], Arguments] = numbers) -> Any:
    def made(rng: np.random.Generator) -> Arguments:
        given = data(rng)
        return dict(given, estimator=estimator().fit(given["X"], given["y"]))

    return made


def far_from_zero(rng: np.random.Generator) -> Arguments:
    given = numbers(rng)
    return dict(given, y=given["y"] + 100.0)


def ridge(alpha: float) -> Callable[[], Any]:
    return lambda: mercer.KernelRidge(alpha=alpha, kernel=mercer.RBF("median"), fit_intercept=False)


def cut_short(max_iter: int) -> Callable[[], Any]:
    return lambda: mercer.KernelLogisticRegression(C=1e4, max_iter=max_iter)


def over(*alphas: float) -> Callable[[], Any]:
    return lambda: mercer.KernelRidgeCV(alphas, kernel=mercer.RBF("median"))


def with_outlier(size: float) -> Callable[[np.random.Generator, np.ndarray], Any]:
    return lambda rng, X: np.r_[rng.standard_normal(N - 1), size]


PLANTED: dict[str, Planted] = {
    "MD001": Planted(with_entry(np.nan), with_entry(0.0)),
    "MD002": Planted(with_entry(np.inf), with_entry(3.0)),
    "MD003": Planted(with_column(lambda rng, X: np.full(N, 7.0)), plain_column),
    "MD004": Planted(with_column(lambda rng, X: 1e3 * rng.standard_normal(N)), plain_column),
    "MD005": Planted(with_column(with_outlier(1e3)), with_column(with_outlier(3.0))),
    "MD006": Planted(
        with_column(lambda rng, X: [f"user{i}" for i in range(N)]),
        with_column(lambda rng, X: [f"town{i % 40}" for i in range(N)]),
    ),
    "MD007": Planted(
        with_column(lambda rng, X: [f"2024-0{1 + i % 9}-{10 + i % 18}" for i in range(N)]),
        with_column(lambda rng, X: [f"{i % 9}-{i % 7}" for i in range(N)]),
    ),
    "MD008": Planted(
        with_column(lambda rng, X: -3.0 * X[:, 0] + 1.0), with_column(lambda rng, X: X[:, 0] + 0.1 * X[:, 1])
    ),
    "MD009": Planted(with_column(lambda rng, X: ["red", "green"] * (N // 2)), plain_column),
    "MD011": Planted(repeated(0.1), repeated(0.0)),
    "MD012": Planted(lambda rng: twins(rng, contradict=True), lambda rng: twins(rng, contradict=False)),
    "MD021": Planted(by_kernel("ChiSquared()"), by_kernel("ChiSquared()", shift=10.0)),
    "MD022": Planted(by_kernel("RBF(0.01)"), by_kernel("RBF('median')")),
    "MD023": Planted(by_kernel("Linear()", shift=100.0), by_kernel("Linear()")),
    "MD024": Planted(
        lambda rng: dict(X=vectors(rng) ** 5, kernel="Polynomial(4)"),
        lambda rng: dict(X=vectors(rng), kernel="Polynomial(4).normalised()"),
    ),
    "MD025": Planted(by_kernel("RBF()"), lambda rng: dict(X=rng.standard_normal((2, 4)))),
    "MD026": Planted(numbers, lambda rng: dict(X=vectors(rng))),
    "MD031": Planted(with_target(lambda X, rng: np.r_[np.nan, X[1:, 0]]), numbers),
    "MD032": Planted(with_target(lambda X, rng: ["same"] * N), classes),
    "MD033": Planted(rare(8), rare(30)),
    "MD034": Planted(rare(3), rare(30)),
    "MD035": Planted(leaking(0.0), leaking(0.5)),
    "MD036": Planted(lambda rng: classes(rng, noise=0.1), classes),
    "MD037": Planted(with_target(lambda X, rng: rng.standard_normal(N)), numbers),
    "MD041": Planted(fitted(ridge(1e4), data=far_from_zero), fitted(ridge(0.1))),
    "MD042": Planted(fitted(cut_short(1), data=classes), fitted(cut_short(100), data=classes)),
    "MD043": Planted(fitted(over(1.0, 10.0, 1e2, 1e3)), fitted(over(1e-9, 0.01, 0.1, 1.0, 10.0, 1e3))),
}
