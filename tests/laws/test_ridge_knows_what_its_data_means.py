"""Weight k is k copies; the order of rows does not matter; the primal is the dual; the error bound bounds the error."""

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.errors import UncertifiedWarning

FIT = 1e-7


@st.composite
def data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d))
    y = rng.standard_normal((n, draw(st.integers(1, 2))))
    return rng, X, y


machines = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([1e-3, 0.1, 10.0]),
        "kernel": st.sampled_from([mercer.RBF(), mercer.Linear(), mercer.Polynomial(2), mercer.Laplacian(2.0)]),
        "fit_intercept": st.booleans(),
    }
)


def alike(ours, theirs, X):
    a, b = ours.predict(X), theirs.predict(X)
    np.testing.assert_allclose(a, b, atol=FIT * max(1.0, np.abs(b).max()))


@given(data=data(), parameters=machines)
def test_a_weight_is_a_number_of_copies(data, parameters):
    rng, X, y = data
    copies = rng.integers(0, 4, size=len(X))
    copies[0] = 1
    rows = np.repeat(np.arange(len(X)), copies)
    weighted = mercer.KernelRidge(**parameters).fit(X, y, sample_weight=copies.astype(float))
    copied = mercer.KernelRidge(**parameters).fit(X[rows], y[rows])
    alike(weighted, copied, X)


@given(data=data(), parameters=machines)
def test_the_order_of_the_rows_does_not_matter(data, parameters):
    rng, X, y = data
    order = rng.permutation(len(X))
    one = mercer.KernelRidge(**parameters).fit(X, y)
    other = mercer.KernelRidge(**parameters).fit(X[order], y[order])
    alike(one, other, X)


@given(data=data(), alpha=st.sampled_from([1e-3, 0.1, 10.0]), fit_intercept=st.booleans(), d=st.integers(1, 2))
def test_the_primal_equals_the_dual(data, alpha, fit_intercept, d):
    _, X, y = data
    n = len(X)
    rows = np.vstack([X[:, :1]] * 4)[: max(4, n)]  # at least as many rows as features
    rows = rows + np.linspace(0.0, 1.0, len(rows))[:, None]
    targets = np.resize(y, (len(rows), y.shape[1]))
    given_ = {"alpha": alpha, "kernel": mercer.Polynomial(d), "fit_intercept": fit_intercept}
    one = mercer.KernelRidge(**given_, solver="primal").fit(rows, targets)
    other = mercer.KernelRidge(**given_, solver="cholesky").fit(rows, targets)
    alike(one, other, rows)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-6 * max(1.0, np.abs(one.coef_).max()))


@given(data=data(), fit_intercept=st.booleans(), alpha=st.sampled_from([1e-2, 1.0]), steps=st.integers(1, 4))
def test_a_prediction_is_within_its_bound_of_the_exact_one(data, fit_intercept, alpha, steps):
    rng, X, y = data
    weight = rng.random(len(X)) + 0.1
    given_ = {"alpha": alpha, "kernel": mercer.RBF(), "fit_intercept": fit_intercept}
    exact = mercer.KernelRidge(**given_, solver="cholesky").fit(X, y, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        rough = mercer.KernelRidge(**given_, solver="cg", max_iter=steps).fit(X, y, sample_weight=weight)
    new = np.vstack([X, rng.standard_normal((5, X.shape[1])) * 3.0])
    difference = np.abs(rough.predict(new) - exact.predict(new))
    assert (difference <= rough.error_bound(new) + exact.error_bound(new) + 1e-12 * np.abs(y).max()).all()
