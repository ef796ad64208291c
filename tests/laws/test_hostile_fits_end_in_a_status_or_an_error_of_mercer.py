"""Constants, duplicates, huge and tiny numbers, weights of 0: a fit ends in a status, or in an error of mercer."""

import numpy as np
import pytest

from mercer import RBF, KernelLogisticRegression, KernelRidge, KernelRidgeCV, Laplacian, Linear
from mercer.errors import MercerError

KERNELS = ["linear", "rbf", "poly", RBF(2.0), Laplacian(), Linear() + 1, RBF(1e-3), RBF(1e6), 1e-300 * RBF()]
KERNELS += [1e300 * RBF(), Linear() ** 3]
SIZES = [-300, -160, -100, -8, 8, 100, 150, 160, 300]
PENALTIES = [-300, -15, -8, -3, 0, 3, 8, 13, 100, 300]


def points(rng, n):
    X = rng.standard_normal((n, int(rng.integers(1, 6))))
    change = (
        lambda: X,
        lambda: np.zeros_like(X),
        lambda: np.tile(X[:1], (n, 1)),
        lambda: X[rng.integers(0, max(n // 3, 1), n)],
        lambda: X * 10.0 ** rng.choice(SIZES),
        lambda: np.round(X),
        lambda: np.hstack([np.full((n, 1), 1e6), X]),
    )
    return change[rng.integers(len(change))]()


def weights(rng, n):
    choice = (None, rng.random(n), (rng.random(n) < 0.5).astype(float), 10.0 ** rng.integers(-12, 12, n), np.zeros(n))
    return choice[rng.integers(len(choice))]


def ridge(rng, n, kernel):
    t = int(rng.choice([1, 2, 10]))
    y = rng.standard_normal((n, t)) * 10.0 ** rng.choice([0, 0, 0, *SIZES])
    y = np.full_like(y, 3.0) if rng.random() < 0.2 else y
    intercept = bool(rng.integers(0, 2))
    if rng.random() < 0.5:
        alpha = 0.0 if rng.random() < 0.1 else 10.0 ** rng.choice(PENALTIES)
        solver = str(rng.choice(["auto", "auto", "cholesky", "cg", "mixed", "eigen", "primal"]))
        return KernelRidge(alpha, kernel=kernel, fit_intercept=intercept, solver=solver), y
    alphas = 10.0 ** rng.choice(PENALTIES, int(rng.integers(1, 12)))
    cv = (None, "gcv", 2 if n > 1 else None)[rng.integers(3)]
    apart = bool(rng.integers(0, 2))
    return KernelRidgeCV(alphas, kernel=kernel, fit_intercept=intercept, cv=cv, alpha_per_target=apart), y


def logistic(rng, n, kernel):
    solver = str(rng.choice(["auto", "newton-cg", "newton-cholesky", "primal"]))
    C = 10.0 ** rng.choice(PENALTIES)
    model = KernelLogisticRegression(
        C, kernel=kernel, fit_intercept=bool(rng.integers(0, 2)), solver=solver, max_iter=20
    )
    return model, rng.integers(0, int(rng.choice([2, 2, 3, 5])), n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [ridge, logistic])
@pytest.mark.parametrize("batch", range(4))
def test_whatever_the_data(make, batch):
    for seed in range(100 * batch, 100 * batch + 100):
        rng = np.random.default_rng(seed)
        n = int(rng.choice([1, 2, 3, 5, 8, 9, 12, 20, 40]))
        X, weight = points(rng, n), weights(rng, n)
        model, y = make(rng, n, KERNELS[rng.integers(len(KERNELS))])
        try:
            model.fit(X, y, sample_weight=weight)
        except MercerError:
            continue
        assert np.isfinite(model.dual_coef_).all(), seed
        assert model.certificate_.status.value
