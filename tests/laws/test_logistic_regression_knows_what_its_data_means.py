"""Weight k is k copies; the order of rows and the names of classes do not matter; two classes are softmax of two."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer.estimators.logistic import KernelLogisticRegression

FIT = 1e-4
machines = st.fixed_dictionaries(
    {
        "C": st.sampled_from([0.1, 1.0, 50.0]),
        "kernel": st.sampled_from([mercer.RBF(), mercer.Linear(), mercer.Polynomial(2), "rbf"]),
        "fit_intercept": st.booleans(),
        "class_weight": st.sampled_from([None, "balanced"]),
        "tol": st.just(1e-11),
    }
)


@st.composite
def data(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(classes, 25)), draw(st.integers(1, 4))
    return rng, rng.standard_normal((n, d)), np.r_[np.arange(classes), rng.integers(0, classes, n - classes)]


@settings(max_examples=40)
@given(data=data(), parameters=machines)
def test_a_weight_is_a_number_of_copies(data, parameters):
    rng, X, y = data
    copies = rng.integers(0, 4, size=len(X))
    copies[: y.max() + 1] = 1
    rows = np.repeat(np.arange(len(X)), copies)
    weighted = KernelLogisticRegression(**parameters).fit(X, y, sample_weight=copies.astype(float))
    copied = KernelLogisticRegression(**parameters).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=FIT)


@settings(max_examples=40)
@given(data=data(), parameters=machines)
def test_neither_the_order_of_rows_nor_the_names_of_classes_matter(data, parameters):
    rng, X, y = data
    order, name = rng.permutation(len(X)), rng.permutation(y.max() + 1)
    one = KernelLogisticRegression(**parameters).fit(X, y)
    other = KernelLogisticRegression(**parameters).fit(X[order], name[y[order]])
    np.testing.assert_allclose(other.predict_proba(X)[:, name], one.predict_proba(X), atol=FIT)


@settings(max_examples=40)
@given(data=data(), parameters=machines)
def test_probabilities_are_of_sum_one_and_their_largest_is_the_prediction(data, parameters):
    _, X, y = data
    model = KernelLogisticRegression(**parameters).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
