"""Inner products of explicit features are the values of the kernel, and what a truncated map misses is bounded."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mercer import kernels as mk
from mercer import maps as mm
from mercer.errors import NoFiniteMap, TooLarge
from mercer.kernels.features import COEFFICIENTS, REASONS, RECIPES
from mercer.kernels.rules import POLYNOMIAL, TABLE
from tests.laws.strategies import maps, numbers, psd_matrices, samples, vectors
from tests.oracles.kernels import gram

ROUNDING = 1e-10
MOST_FEATURES = 3_000


def _first(X: Any) -> Any:
    """A function of one point that changes its sign; of a set, its size."""
    return np.array([len(x) if isinstance(x, frozenset) else x[0] for x in X], dtype=np.float64)


def finite_leaves(d: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.just(mk.Linear()),
        st.just(mk.Cosine()),
        st.just(mk.Delta()),
        numbers(0).map(mk.Constant),
        psd_matrices(d).map(mk.Quadratic),
        st.tuples(st.integers(0, 4), numbers(0), numbers()).map(lambda triple: mk.Polynomial(*triple)),
        st.just(mk.Linear().on(mm.Torus(2.0))),
    )


def combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        inner.map(lambda kernel: kernel * kernel),
        st.tuples(inner, numbers(0)).map(lambda pair: pair[0] + pair[1]),
        st.tuples(numbers(0), inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(0, 3)).map(lambda pair: pair[0] ** pair[1]),
        st.tuples(inner, st.lists(numbers(0), min_size=1, max_size=4)).map(lambda pair: mk.polynomial(*pair)),
        inner.map(lambda kernel: kernel.normalised()),
        inner.map(lambda kernel: kernel.scaled_by(_first)),
    )


@st.composite
def finite_vector_samples(draw: Any) -> Any:
    d = draw(st.integers(1, 6))
    trees = st.recursive(
        finite_leaves(d),
        lambda inner: combined(inner) | st.tuples(inner, maps(d)).map(lambda pair: pair[0].on(pair[1])),
        max_leaves=4,
    )
    return draw(trees), draw(vectors(d, False, 6)), draw(vectors(d, False, 4))


@st.composite
def finite_set_samples(draw: Any) -> Any:
    leaves = st.sampled_from(
        [
            mk.SetIntersection(),
            mk.Delta(),
            mk.Linear().normalised().on(mm.Indicator()),
            mk.Polynomial(2).on(mm.Indicator()),
        ]
    )
    sets = st.frozensets(st.sampled_from("abcdef"), max_size=5)
    trees = st.recursive(leaves, combined, max_leaves=3)
    return draw(trees), draw(st.lists(sets, min_size=2, max_size=5)), draw(st.lists(sets, min_size=1, max_size=4))


def self_similarity(kernel: Any, X: Any) -> Any:
    return np.array([gram(kernel, [x])[0, 0] for x in X])


@settings(max_examples=120, suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
@given(sample=finite_vector_samples() | finite_set_samples())
def test_inner_products_of_features_are_values_of_the_kernel(sample):
    kernel, X, Z = sample  # Z holds items and values that X does not
    phi = kernel.feature_map(X)
    assume(phi.n_features <= MOST_FEATURES)
    scale = np.sqrt(np.outer(self_similarity(kernel, Z), self_similarity(kernel, X)))
    assert phi(X).shape == (len(X), phi.n_features)
    assert phi.error_bound == 0.0
    assert np.all(np.abs(phi(Z) @ phi(X).T - gram(kernel, Z, X)) <= ROUNDING * scale)
    assert np.all(np.abs(phi(Z) @ phi(X).T - kernel(Z, X)) <= ROUNDING * scale)


@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
@given(sample=finite_vector_samples())
def test_the_width_alone_decides_the_number_of_features_unless_values_do(sample):
    kernel, X, _ = sample
    assume("Delta" not in repr(kernel))
    assert kernel.n_features(X.shape[1]) == kernel.feature_map(X).n_features


@settings(max_examples=30, suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
@given(sample=finite_vector_samples() | finite_set_samples())
def test_a_map_survives_pickling(sample):
    kernel, X, Z = sample
    phi = kernel.feature_map(X)
    assume(phi.n_features <= MOST_FEATURES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(phi))(Z), phi(Z))


@settings(max_examples=100, suppress_health_check=[HealthCheck.filter_too_much], deadline=None)
@given(sample=samples(), order=st.integers(0, 4), split=st.integers(1, 5))
def test_the_error_of_a_truncated_map_is_bounded(sample, order, split):
    kernel, points = sample
    X, Z = points[:split], points[min(split, len(points) - 1) :]
    try:
        phi = kernel.feature_map(X, order=order)
    except (NoFiniteMap, TooLarge):
        assume(False)
    assume(phi.n_features <= MOST_FEATURES)
    own = self_similarity(kernel, X)
    error = np.abs(phi(X) @ phi(X).T - gram(kernel, X))
    assert error.max() <= phi.error_bound + ROUNDING * own.max()
    left, right = phi.remainder(Z), phi.remainder(X)
    scale = np.sqrt(np.outer(self_similarity(kernel, Z), own))
    error = np.abs(phi(Z) @ phi(X).T - gram(kernel, Z, X))
    assert np.all(error <= np.sqrt(np.outer(left, right)) + ROUNDING * scale)


@settings(max_examples=50, deadline=None)
@given(X=st.integers(1, 4).flatmap(lambda d: vectors(d, False, 5)), length=numbers(4), order=st.integers(0, 5))
def test_the_remainder_of_the_gaussian_kernel_is_the_tail_of_its_series(X, length, order):
    mpmath = pytest.importorskip("mpmath")
    remainder = mk.RBF(length).feature_map(X, order=order).remainder(X)
    for x, found in zip(X, remainder, strict=True):
        s = mpmath.mpf(float(x @ x)) / mpmath.mpf(length) ** 2
        tail = float(mpmath.exp(-s) * (mpmath.exp(s) - sum(s**n / mpmath.factorial(n) for n in range(order + 1))))
        assert found == pytest.approx(tail, rel=1e-9, abs=1e-12)


def test_every_rule_that_makes_kernels_has_a_recipe_or_a_reason():
    rules = {rule for rule in TABLE if rule.concludes == "kernel"}
    assert set(RECIPES) | set(REASONS) == rules
    assert not set(RECIPES) & set(REASONS)


def test_every_node_of_rule_4_has_its_coefficients():
    nodes = {node for node in map(mk.__dict__.get, mk.__all__) if getattr(node, "rule", None) is POLYNOMIAL}
    assert nodes == set(COEFFICIENTS)
