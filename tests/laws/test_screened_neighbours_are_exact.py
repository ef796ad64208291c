"""Neighbours found in float32 are those of a sort of all distances in float64, ties by index."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import NotFinite
from mercer.search.screen import CITY_BLOCK, EUCLIDEAN, Screen
from tests.laws.strategies import law

DISTANCE = {
    EUCLIDEAN: lambda gaps: (gaps**2).sum(axis=-1),
    CITY_BLOCK: lambda gaps: np.abs(gaps).sum(axis=-1),
}


def sorted_all(rows, queries, k, metric):
    with np.errstate(over="ignore"):
        found = DISTANCE[metric](rows[None].astype(float) - queries[:, None].astype(float))
    index = np.argsort(found, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, index, 1), index


def assert_exact(rows, queries, k, metric):
    psi, index = Screen(rows, metric).nearest(queries, k)
    expected, which = sorted_all(rows, queries, k, metric)
    np.testing.assert_array_equal(index, which)
    np.testing.assert_array_equal(psi, expected)


@st.composite
def clouds(draw):
    """Points far from the origin, in clusters, on grids, with duplicates and outliers, tiny and huge."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, d = draw(st.integers(1, 200)), draw(st.integers(1, 20)), draw(st.integers(1, 24))
    both = rng.normal(size=(n + m, d))
    if draw(st.booleans()):  # ties, and with a step that has no exact form
        both = np.rint(both) * draw(st.sampled_from([1.0, 0.1, 3.0]))
    both += draw(st.sampled_from([0.0, 1e3, 1e6])) * rng.integers(0, draw(st.integers(1, 3)), (n + m, 1))
    both += draw(st.sampled_from([0.0, 1e3, 1e8]))
    both *= draw(st.sampled_from([1.0, 1e-15, 1e15, 1e-3]))
    if draw(st.booleans()):
        both[rng.integers(n + m)] *= 1e6
    if draw(st.booleans()):  # queries among the points, and points more than once
        both = both[rng.integers(0, n + m, n + m)]
    both = both.astype(draw(st.sampled_from([np.float32, np.float64])))
    return both[:n], both[n:], draw(st.integers(1, n))


SCALES = [5e-324, 1e-323, 1e-310, 2.2e-308, 1e-300, 1e-160, 1e-150, 1e-45, 1.0, 1e40, 1e150, 1e154, 1e200, 1e307]


@st.composite
def extremes(draw):
    """Numbers from the smallest to the largest that there are, one or two sizes together."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, d = draw(st.integers(1, 60)), draw(st.integers(1, 10)), draw(st.integers(1, 5))
    steps = rng.integers(-3, 4, (n + m, d)).astype(float)
    both = draw(st.sampled_from([steps, rng.normal(size=(n + m, d)), np.ones((n + m, d))]))
    scale, offset, other = (draw(st.sampled_from([*some, *SCALES])) for some in ([], [0.0], [1.0]))
    with np.errstate(over="ignore"):
        both = both * scale + offset
        both[rng.integers(n + m)] *= other
    both = np.clip(both, -1.7e308, 1.7e308)
    return both[:n], both[n:], draw(st.integers(1, n))


@given(extremes(), st.sampled_from([EUCLIDEAN, CITY_BLOCK]))
@law(250)
def test_numbers_of_any_size_are_searched_exactly_or_refused(cloud, metric):
    rows, queries, k = cloud
    if np.isfinite(sorted_all(rows, queries, k, metric)[0]).all():
        assert_exact(rows, queries, k, metric)
    else:
        with pytest.raises(NotFinite, match="distance between points overflows"):
            Screen(rows, metric).nearest(queries, k)


@given(clouds(), st.sampled_from([EUCLIDEAN, CITY_BLOCK]))
@law(250)
def test_every_cloud_is_searched_exactly(cloud, metric):
    rows, queries, k = cloud
    assert_exact(rows, queries, k, metric)


@pytest.mark.parametrize("metric", [EUCLIDEAN, CITY_BLOCK], ids=["euclidean", "city block"])
@pytest.mark.parametrize("spread", [0.0, 1e4])
def test_more_queries_than_the_pilot_are_searched_exactly(metric, spread):
    rng = np.random.default_rng(0)
    rows, queries = (rng.normal(size=(n, 6)) + spread * rng.integers(0, 3, (n, 1)) for n in (700, 1500))
    assert_exact(rows, queries, 7, metric)
