"""A smoother is a weighted mean of its targets, for every kernel with derived values ≥ 0 and every window."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from mercer.errors import NotFinite
from mercer.estimators.neighbors import KernelNeighborsRegressor
from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.estimators.svm import SVC
from mercer.kernels import RBF, Laplacian, Matern
from mercer.kernels.windows import TABLE, Window
from tests.laws.strategies import law, samples

# Relative to the range of the targets.
AGREEMENT = 1e-9
FORMS = {
    "uniform": lambda u: (u < 1.0) * 1.0,
    "epanechnikov": lambda u: np.maximum(1.0 - u**2, 0.0),
    "tricube": lambda u: np.maximum(1.0 - u**3, 0.0) ** 3,
}


@st.composite
def data(draw, least=3):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, t = draw(st.integers(least, 16)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    X = rng.standard_normal((n, d))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]  # duplicates
    y = rng.standard_normal((n, t)) + draw(st.sampled_from([0.0, 1e6]))
    weight = rng.integers(0, 4, n).astype(float)
    weight[:2] = 1.0
    return X, y, weight, rng.standard_normal((7, d))


kinds = st.sampled_from(["rbf", "laplacian", RBF(2.0) + Matern(1.5, 0.5), *map(Window, TABLE)])
widths = st.sampled_from([1e-3, 0.05, 0.4, 1.0, 5.0])


@law(50)
@given(samples(), st.integers(0, 2**32 - 1))
def test_predictions_are_the_direct_formula_for_every_derived_kernel(sample, seed):
    kernel, X = sample
    assume(kernel.nonnegative)
    y = np.random.default_rng(seed).standard_normal(len(X))
    try:
        K = kernel(X)
        model = NadarayaWatson(kernel=kernel).fit(X, y)
    except NotFinite:
        assume(False)
    # Values that are 0 up to rounding have no ratio.
    assume((K.max(axis=1) > 1e-6 * np.abs(K).max()).all())
    K = np.maximum(K, 0.0)
    np.testing.assert_allclose(model.predict(X), K @ y / K.sum(axis=1), atol=1e-6)
    assert model.has_support(X).all()


@given(data(), st.sampled_from(list(FORMS)), widths)
def test_windows_are_the_direct_formula(case, name, h):
    X, y, weight, new = case
    model = NadarayaWatson(h, kernel=name).fit(X, y, weight)
    a = weight * FORMS[name](np.linalg.norm(new[:, None] - X[None], axis=2) / h)
    inside = a.sum(axis=1) > 1e-9
    np.testing.assert_array_equal(model.has_support(new)[inside], True)
    expected = a[inside] @ y / a[inside].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict(new)[inside], expected, atol=1e-6, rtol=1e-12)


@given(data(), kinds, widths)
def test_leave_one_out_by_formula_is_refitting_without_the_row(case, kind, h):
    X, y, weight, _ = case
    model = NadarayaWatson(h, kernel=kind).fit(X, y, weight)
    found = model.leave_one_out()
    rows = np.arange(len(X))
    expected = [
        NadarayaWatson(h, kernel=kind).fit(X[rows != i], y[rows != i], weight[rows != i]).predict(X[[i]])[0]
        for i in rows
    ]
    np.testing.assert_allclose(found, expected, atol=AGREEMENT * np.ptp(y), rtol=1e-12)


@law(40)
@given(data(), kinds, widths)
def test_votes_leave_one_out_too(case, kind, h):
    X, y, _, _ = case
    labels = (y[:, 0] > np.median(y[:, 0])).astype(int)
    assume(len(labels) > 4)
    model = NadarayaWatsonClassifier(h, kernel=kind).fit(X, labels)
    rows = np.arange(len(X))
    expected = [
        NadarayaWatsonClassifier(h, kernel=kind).fit(X[rows != i], labels[rows != i]).predict_proba(X[[i]])[0]
        for i in rows
    ]
    np.testing.assert_allclose(model.leave_one_out(), expected, atol=AGREEMENT)


@given(data(), kinds, widths)
def test_a_weight_is_a_number_of_copies(case, kind, h):
    X, y, weight, new = case
    copies = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = NadarayaWatson(h, kernel=kind).fit(X, y, weight)
    copied = NadarayaWatson(h, kernel=kind).fit(X[copies], y[copies])
    np.testing.assert_allclose(
        weighted.predict(new), copied.predict(new), atol=AGREEMENT * max(1.0, np.ptp(y)), rtol=1e-12
    )
    np.testing.assert_array_equal(weighted.has_support(new), copied.has_support(new))


@given(data(), kinds, widths)
def test_a_mean_never_leaves_the_range_of_the_targets(case, kind, h):
    X, y, _, new = case
    found = NadarayaWatson(h, kernel=kind).fit(X, y).predict(new * 3.0)
    slack = 1e-15 * np.abs(y).max(axis=0)
    assert (found >= y.min(axis=0) - slack).all()
    assert (found <= y.max(axis=0) + slack).all()


@given(data(), st.sampled_from(["rbf", "laplacian", Matern(2.5)]))
def test_a_wide_kernel_gives_the_mean(case, kind):
    X, y, weight, new = case
    found = NadarayaWatson(1e9, kernel=kind).fit(X, y, weight).predict(new)
    mean = np.average(y, axis=0, weights=weight)
    np.testing.assert_allclose(found, np.broadcast_to(mean, found.shape), atol=1e-6, rtol=1e-9)


@pytest.mark.parametrize("kind", ["rbf", "laplacian", Matern(0.5), RBF() * Matern(1.5), *map(Window, TABLE)])
@given(seed=st.integers(0, 2**32 - 1), h=st.sampled_from([1e-6, 1e-4]))
def test_a_narrow_kernel_gives_the_nearest_neighbour(kind, seed, h):
    rng = np.random.default_rng(seed)
    X, new, y = rng.standard_normal((12, 2)), rng.standard_normal((6, 2)), rng.standard_normal(12)
    # The city-block distance where the kernel is one of it.
    p = 1 if kind == "laplacian" else 2
    gaps = np.sort(np.abs(new[:, None] - X[None]).sum(axis=2) if p == 1 else np.linalg.norm(new[:, None] - X, axis=2))
    assume((gaps[:, 1] - gaps[:, 0] > 100 * h).all())
    nearest = KNeighborsRegressor(1, p=p).fit(X, y).predict(new)
    np.testing.assert_allclose(NadarayaWatson(h, kernel=kind).fit(X, y).predict(new), nearest, rtol=1e-12, atol=1e-12)


@law(20)
@given(data(), hnp.arrays(int, 40, elements=st.integers(0, 2)))
def test_all_neighbours_voting_by_a_kernel_are_the_smoother(case, codes):
    X, y, _, new = case
    labels = codes[: len(X)]
    vote = lambda distance: np.exp(-0.5 * distance**2)  # noqa: E731
    n = len(X)
    smooth = NadarayaWatson().fit(X, y).predict(new)
    np.testing.assert_allclose(KNeighborsRegressor(n, weights=vote).fit(X, y).predict(new), smooth, rtol=1e-9)
    share = NadarayaWatsonClassifier().fit(X, labels).predict_proba(new)
    np.testing.assert_allclose(
        KNeighborsClassifier(n, weights=vote).fit(X, labels).predict_proba(new), share, atol=1e-9
    )
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-14)


@law(20)
@given(data(), st.sampled_from([0.1, 1.0, 100.0]))
def test_support_vectors_vote_as_neighbours_do_each_with_a_weight_of_its_own(case, C):
    X, y, _, new = case
    label = np.where(y[:, 0] > np.median(y[:, 0]), 1.0, -1.0)
    assume(np.unique(label).size == 2)
    machine = SVC(C=C, kernel=RBF()).fit(X, label)
    decision = machine.decision_function(new)
    votes = RBF()(new, X[machine.support_]) * np.abs(machine.dual_coef_[0])
    mean = votes @ label[machine.support_] / votes.sum(axis=1)
    np.testing.assert_allclose(mean * votes.sum(axis=1) + machine.intercept_, decision, atol=1e-9 * max(C, 1.0))
    # That mean is the smoother's, of the support vectors, each as often as its coefficient says; k-NN with such votes.
    rows, own = machine.support_, np.abs(machine.dual_coef_[0])
    smoother = NadarayaWatson(kernel=RBF()).fit(X[rows], label[rows], own)
    np.testing.assert_allclose(smoother.predict(new), mean, atol=1e-9)
    near = KernelNeighborsRegressor(len(rows), kernel=RBF(), weights="kernel").fit(X[rows], label[rows] * own)
    np.testing.assert_allclose(
        near.predict(new) * RBF()(new, X[rows]).sum(axis=1) + machine.intercept_, decision, atol=1e-9 * max(C, 1.0)
    )


@given(data())
def test_the_standard_error_is_its_formula(case):
    X, y, weight, new = case
    model = NadarayaWatson(0.8, kernel=Laplacian()).fit(X, y, weight)
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, model.predict(new), rtol=1e-12, atol=1e-9)
    a = weight * np.exp(-np.abs(new[:, None] - X[None]).sum(axis=2) / 0.8)
    share = (a**2).sum(axis=1) / a.sum(axis=1) ** 2
    centred = y - y.mean(axis=0)
    f = a @ centred / a.sum(axis=1, keepdims=True)
    variance = np.einsum("mn,mnt->mt", a, (centred[None] - f[:, None]) ** 2) / a.sum(axis=1)[:, None]
    expected = np.sqrt(variance / (1.0 - share)[:, None] * share[:, None])
    np.testing.assert_allclose(std, expected, rtol=1e-5, atol=1e-6)
