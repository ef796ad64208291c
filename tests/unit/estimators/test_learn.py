"""`learn`: parameters of a formula by gradient."""

import numpy as np
import pytest

from mercer import (
    RBF,
    InvalidInput,
    InvalidParameter,
    KernelRidge,
    KernelRidgeCV,
    Linear,
    Matern,
    Spectrum,
    Subsequence,
    UncertifiedWarning,
    learn,
)  # fmt: skip
from mercer.kernels.binding import evaluate
from mercer.solvers.criteria import CRITERIA, Sample

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (60, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 0.05 * RNG.standard_normal(60)


def rated(kernel, by="loo", y=Y):
    sample = Sample(y[:, None], np.ones(60), np.ones(60), np.ones((60, 1)))
    return CRITERIA[by](np.asarray(evaluate(kernel, X)), sample).value


@pytest.mark.parametrize("by", ["loo", "likelihood"])
def test_the_columns_that_matter_are_found(by):
    kernel = learn(RBF("median"), X, Y, by=by, starts=1)
    scales = kernel.get_params()["length_scale"]
    assert scales[0] < scales[1] < scales[2]
    assert scales[2] > 5.0 * scales[0]
    assert kernel.proof().assumptions == ()
    isotropic = learn(RBF("median"), X, Y, by=by, each_column=False, starts=1)
    assert isinstance(isotropic.get_params()["length_scale"], float)
    assert rated(kernel, by) < rated(isotropic, by)


def test_nothing_near_is_better():
    y = np.sin(2.0 * X[:, 0]) + np.cos(1.5 * X[:, 1]) + np.sin(2.5 * X[:, 2]) + 0.3 * RNG.standard_normal(60)
    kernel = learn(100.0 * Matern(2.5, "median"), X, y, parameters=["length_scale"], starts=1)
    here = rated(kernel, y=y)
    for factor in (0.95, 1.05):
        for column in range(3):
            scales = kernel.get_params()["length_scale"] * np.where(np.arange(3) == column, factor, 1.0)
            assert rated(kernel.replace(length_scale=scales), y=y) > here


def test_the_factor_in_front_is_the_penalty():
    kernel = learn(RBF(1.0), X, Y, parameters=["scale"], each_column=False)
    best = KernelRidgeCV(alphas=np.logspace(-4, 2, 200), kernel=RBF(1.0)).fit(X, Y).alpha_
    assert 1.0 / kernel.get_params()["scale"] == pytest.approx(best, rel=0.05)
    twice = learn(RBF(1.0), X, Y, parameters=["scale"], each_column=False, alpha=2.0)
    assert twice.get_params()["scale"] == pytest.approx(2.0 * kernel.get_params()["scale"], rel=1e-2)


def test_weights_of_a_sum_are_learnt():
    y = 3.0 * X[:, 0] - X[:, 1] + 0.05 * RNG.standard_normal(60)
    kernel = learn(RBF(1.0) + Linear(), X, y, parameters=["0__scale", "1__scale"])
    weights = kernel.get_params()
    assert weights["1__scale"] > 100.0 * weights["0__scale"]


def test_the_result_is_the_same_each_time_and_serves_other_machines():
    first, second = (learn(RBF("median"), X, Y, starts=4, max_iter=5, random_state=3) for _ in range(2))
    assert first == second
    assert KernelRidge(kernel=first).fit(X, Y).score(X, Y) > 0.98


def test_many_rows_are_sampled():
    big = np.repeat(X, 4, axis=0)
    kernel = learn(RBF("median"), big, np.repeat(Y, 4), max_rows=50, starts=1, max_iter=10)
    assert kernel == learn(RBF("median"), big, np.repeat(Y, 4), max_rows=50, starts=1, max_iter=10)


def test_a_length_inside_a_bag_is_learnt():
    bags = [RNG.standard_normal((3, 2)) for _ in range(12)]
    y = np.array([np.sin(bag).sum() for bag in bags])
    kernel = learn(RBF(0.1).averaged(), bags, y, each_column=False, starts=1, max_iter=5)
    assert np.ndim(kernel.get_params()["length_scale"]) == 0
    assert kernel.get_params()["length_scale"] != 0.1


def test_labels_and_objects_are_learnt_from():
    words = ["abab", "aabb", "bbab", "cbab", "ccab", "cccc", "accc", "cacc"]
    labels = ["x", "x", "x", "x", "x", "y", "y", "y"]
    kernel = learn(Spectrum(2).normalised() + Subsequence(2, 0.5).normalised(), words, labels, starts=1, max_iter=5)
    weights = [kernel.get_params()[f"{term}__scale"] for term in (0, 1)]
    assert min(weights) > 0.0
    assert weights[0] != weights[1]


def test_weights_of_rows_count():
    weight = np.where(np.arange(60) < 45, 1.0, 1e-9)
    some = learn(RBF(1.0), X[:45], Y[:45], starts=1)
    all_rows = learn(RBF(1.0), X, Y, sample_weight=weight, starts=1)
    np.testing.assert_allclose(
        np.log(all_rows.get_params()["length_scale"][:2]), np.log(some.get_params()["length_scale"][:2]), atol=0.05
    )


def test_time_and_ctrl_c_leave_the_best_so_far(monkeypatch):
    with pytest.warns(UncertifiedWarning, match="best so far"):
        learn(RBF("median"), X, Y, max_time=1e-9)
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return original(*arguments)

    original = CRITERIA["loo"]
    monkeypatch.setitem(CRITERIA, "loo", interrupted)
    with pytest.warns(UncertifiedWarning, match="best so far"):
        assert isinstance(learn(RBF(1.0), X, Y, parameters=["length_scale"]), type(2.0 * RBF()))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"by": "magic"}, InvalidParameter, "by of learn"),
        ({"alpha": 0.0}, InvalidParameter, "alpha of learn"),
        ({"starts": 0}, InvalidParameter, "starts of learn"),
        ({"parameters": ["nu"]}, InvalidParameter, "nu is no parameter that can be learnt"),
        ({"parameters": []}, InvalidParameter, "no parameter that can be learnt"),
        ({"kernel": 3}, InvalidParameter, "kernel must be a Kernel"),
        ({"y": ["a"] * 60}, InvalidInput, "at least 2 classes"),
        ({"y": Y[:5]}, InvalidInput, "60"),
        ({"X": X[:2], "y": Y[:2]}, InvalidInput, "at least 3 rows"),
        ({"X": np.where(np.arange(180).reshape(60, 3) == 7, np.nan, X)}, InvalidInput, "NaN"),
    ],
)
def test_what_cannot_be_learnt_is_refused(arguments, error, message):
    given = {"kernel": RBF(1.0), "X": X, "y": Y} | arguments
    with pytest.raises(error, match=message):
        learn(given.pop("kernel"), given.pop("X"), given.pop("y"), **given)
