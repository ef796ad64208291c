"""Searches in whole numbers: how far rounding moves distances, and when it proves neighbours."""

import numpy as np
import pytest

from mercer import _core
from mercer.search.screen import EUCLIDEAN, Screen
from mercer.search.whole import WholeVectors

RNG = np.random.default_rng(0)
ROWS, QUERIES = RNG.normal(size=(500, 24)), RNG.normal(size=(60, 24))


@pytest.fixture
def asked(monkeypatch):
    """How many queries each kind of key was asked for."""
    counts = {"whole": 0, "float": 0}
    whole, rounded = Screen._ask_whole, Screen._ask

    def ask_whole(self, queries, psi, index, which, extra):
        counts["whole"] += len(which)
        return whole(self, queries, psi, index, which, extra)

    def ask(self, dtype, queries, psi, index, which, extra):
        counts["float"] += len(which)
        return rounded(self, dtype, queries, psi, index, which, extra)

    monkeypatch.setattr(Screen, "_ask_whole", ask_whole)
    monkeypatch.setattr(Screen, "_ask", ask)
    return counts


def lengths(rows, queries):
    return np.sqrt(((queries[:, None].astype(float) - rows[None].astype(float)) ** 2).sum(axis=-1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e3, 0.1), (-3.0, 1e12)])
def test_distances_are_off_by_no_more_than_is_said(dtype, offset, scale):
    rows, queries = ((scale * part + offset).astype(dtype) for part in (ROWS, 1.5 * QUERIES))
    centre = rows.mean(axis=0, dtype=np.float64)
    vectors = WholeVectors(rows, centre, float(np.abs(rows - centre).max()), is_whole=False)
    found, index, off = vectors.nearest(queries, 500)
    true = np.take_along_axis(lengths(rows, queries), index, axis=1)
    assert (np.abs(found - true) <= off[:, None]).all()
    assert (off > 0.0).all()
    inside = (np.abs(queries - centre) <= np.abs(rows - centre).max()).all(axis=1)
    assert off[inside].max() < 2e-3 * true.max()
    assert (off[~inside] > off[inside].max()).all()
    assert 0 < inside.sum() < len(inside)


def test_ordinary_vectors_are_proved_by_whole_numbers(asked):
    index = Screen(ROWS, EUCLIDEAN).nearest(QUERIES, 5)[1]
    np.testing.assert_array_equal(index, np.argsort(lengths(ROWS, QUERIES), axis=1)[:, :5])
    assert asked["whole"] < 1.2 * len(QUERIES)
    assert asked["float"] == 0


def test_whole_vectors_need_no_proof_even_with_ties(asked):
    rows, queries = (RNG.integers(0, 4, (n, 3)).astype(float) for n in (400, 30))
    psi, index = Screen(rows, EUCLIDEAN).nearest(queries, 9)
    np.testing.assert_array_equal(index, np.argsort(lengths(rows, queries), axis=1, kind="stable")[:, :9])
    np.testing.assert_array_equal(psi, np.sort(np.rint(lengths(rows, queries) ** 2), axis=1)[:, :9])
    assert asked == {"whole": 30, "float": 0}


def test_a_far_vector_leaves_the_others_to_floats(asked):
    rows = np.vstack([ROWS, 1e6 * np.ones((1, 24))])
    index = Screen(rows, EUCLIDEAN).nearest(QUERIES, 5)[1]
    np.testing.assert_array_equal(index, np.argsort(lengths(rows, QUERIES), axis=1)[:, :5])
    assert asked["float"] >= len(QUERIES)


def test_numbers_that_32_bits_do_not_hold_are_refused():
    vectors = _core.Whole(np.full((2, 1000), 2000, dtype=np.int16))
    with pytest.raises(ValueError, match="too large for a search in whole numbers"):
        vectors.nearest(np.zeros((1, 1000), dtype=np.int16), 1)
    with pytest.raises(ValueError, match="widths differ"):
        vectors.nearest(np.zeros((1, 999), dtype=np.int16), 1)
    with pytest.raises(ValueError, match="k lies between"):
        vectors.nearest(np.zeros((1, 1000), dtype=np.int16), 3)
