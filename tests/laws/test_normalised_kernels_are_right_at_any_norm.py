"""A normalised kernel is k(x, z)/√(k(x, x)·k(z, z)), also where k overflows: against mpmath, which never does."""

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mercer import kernels as mk
from mercer import maps as mm
from tests.laws.strategies import law, numbers
from tests.tolerances import SINGLE, TREE


def value(k, x, z):
    """The kernel at one pair, by its definition."""
    match k:
        case mk.Linear():
            return mpmath.fsum(a * b for a, b in zip(x, z, strict=True))
        case mk.SetIntersection():
            return mpmath.mpf(len(x & z))
        case mk.IntersectionExp():
            return mpmath.exp(len(x & z))
        case mk.RBF():
            square = mpmath.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True))
            return mpmath.exp(-square / (2 * mpmath.mpf(k.length_scale) ** 2))
        case mk.Constant():
            return mpmath.mpf(k.value)
        case mk.Scaled():
            return k.scale * value(k.kernel, x, z)
        case mk.Sum():
            return mpmath.fsum(value(term, x, z) for term in k.terms)
        case mk.Product():
            return mpmath.fprod(value(factor, x, z) for factor in k.factors)
        case mk.Power():
            return value(k.kernel, x, z) ** k.exponent
        case mk.PolynomialOf():
            return mpmath.fsum(a * value(k.kernel, x, z) ** n for n, a in enumerate(k.coefficients))
        case mk.Exp():
            return mpmath.exp(value(k.kernel, x, z))
        case mk.FractionalPower() | mk.Polynomial():
            return value(k.expand(), x, z)
        case mk.Pullback(kernel=inner, map=mm.Scale(factors=factor)):
            return value(inner, [factor * a for a in x], [factor * a for a in z])
        case mk.Congruence(function=mk.GaussianEnvelope(length_scale=length)):
            square = mpmath.fsum(a * a for a in x) + mpmath.fsum(a * a for a in z)
            return value(k.kernel, x, z) * mpmath.exp(-square / (2 * mpmath.mpf(length) ** 2))
        case mk.Congruence(function=mk.NormPower(power=n)):
            norms = mpmath.sqrt(mpmath.fsum(a * a for a in x) * mpmath.fsum(a * a for a in z))
            return value(k.kernel, x, z) * norms**n if norms else mpmath.mpf(0)
        case mk.Normalised():
            root = mpmath.sqrt(value(k.kernel, x, x) * value(k.kernel, z, z))
            return value(k.kernel, x, z) / root if root else mpmath.mpf(0)
    raise NotImplementedError(k)


def expected(kernel, X, Z=None):
    exact = [[mpmath.mpf(float(a)) for a in x] if isinstance(x, np.ndarray) else x for x in X]
    others = exact if Z is None else [[mpmath.mpf(float(a)) for a in z] if isinstance(z, np.ndarray) else z for z in Z]
    with mpmath.workdps(60):
        return np.array([[float(value(kernel, x, z)) for z in others] for x in exact])


@st.composite
def inner_products(draw):
    """Kernels of ⟨x, z⟩ alone: what exp is taken of, so that the exponents themselves lose no digits."""
    kernel = draw(numbers()) * mk.Linear()
    if draw(st.booleans()):
        kernel = kernel.on(mm.Scale(draw(numbers(4, 16)))) + draw(numbers(0))
    return kernel


def steep_kernels():
    leaves = st.one_of(
        st.sampled_from([mk.Linear(), mk.Constant(1.5), mk.RBF(20.0), mk.Polynomial(5)]),
        inner_products().map(lambda kernel: kernel.exp()),
        inner_products().map(lambda kernel: kernel.exp() ** 0.5),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(numbers(), inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, st.sampled_from([0, 2, 3, 50])).map(lambda pair: pair[0] ** pair[1]),
            st.tuples(inner, st.lists(numbers(0), min_size=1, max_size=4)).map(lambda pair: mk.polynomial(*pair)),
            st.tuples(inner, numbers(4, 16)).map(lambda pair: pair[0].on(mm.Scale(pair[1]))),
            inner.map(lambda kernel: kernel.scaled_by(mk.GaussianEnvelope(1.5))),
            inner.map(lambda kernel: kernel.scaled_by(mk.NormPower(1))),
        ),
        max_leaves=4,
    )


@st.composite
def samples(draw):
    """A kernel, and rows of norms up to some hundreds: close ones, far ones, the zero row."""
    kernel = draw(steep_kernels())
    d = draw(st.integers(1, 4))
    far = draw(st.lists(st.lists(st.integers(-200, 200), min_size=d, max_size=d), min_size=1, max_size=2))
    near = [[entry + draw(st.integers(-4, 4)) / 8 for entry in row] for row in far]
    return kernel, np.array([*far, *near, [0.0] * d], dtype=np.float64)


# Powers that do not occur are not made, since 0 times what overflows is no number.
UNUSED = mk.polynomial((2.0 * mk.Linear()).exp(), [0.0, 0.0]).scaled_by(mk.NormPower(1))


@law(200)
@given(sample=samples())
@example(sample=(UNUSED, np.array([[19.0], [19.0], [0.0]])))
def test_normalised_kernels_are_right_at_any_norm(sample):
    kernel, X = sample
    normalised = kernel.normalised()
    exact = expected(normalised, X)
    np.testing.assert_allclose(normalised(X), exact, rtol=0, atol=TREE)
    np.testing.assert_allclose(normalised.diag(X), np.diag(exact), rtol=0, atol=TREE)


@law(60)
@given(sample=samples())
def test_new_points_are_normalised_as_the_basis_is(sample):
    kernel, X = sample
    normalised = kernel.normalised()
    np.testing.assert_allclose(normalised(X[1:], X[:-1]), expected(normalised, X[1:], X[:-1]), rtol=0, atol=TREE)


@law(60)
@given(kernel=inner_products())
def test_normalised_exponentials_are_right_in_float32(kernel):
    X = np.array([[30.0, 40.0], [30.5, 40.0], [-30.0, 39.5], [0.0, 0.0]], dtype=np.float32)
    normalised = kernel.exp().normalised()
    K = normalised(X)
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, expected(normalised, X), rtol=0, atol=SINGLE)


@pytest.mark.parametrize(
    "kernel",
    [
        mk.IntersectionExp(),
        (0.5 * mk.SetIntersection()).exp(),
        3.0 * mk.IntersectionExp() ** 2,
        mk.IntersectionExp() + mk.SetIntersection() ** 3,
        (mk.SetIntersection() + 1.0) ** 400,
    ],
    ids=repr,
)
def test_large_sets_are_normalised(kernel):
    everything = list(range(820))
    sets = [set(everything[:800]), set(everything[5:805]), set(everything[2:800]), {1, 2}, set()]
    normalised = kernel.normalised()
    np.testing.assert_allclose(normalised(sets), expected(normalised, sets), rtol=0, atol=TREE)
    new = [set(everything[8:802]), {"of no set", 1}]
    np.testing.assert_allclose(normalised(new, sets), expected(normalised, new, sets), rtol=0, atol=TREE)
