"""Indicator: the dictionary, unseen items, and speed that is no quadratic."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import DomainMismatch
from mercer.maps import Indicator
from mercer.points import Domain, Indicators, Sets, Table, Vectors

SETS = st.lists(st.frozensets(st.integers(0, 9)), min_size=1, max_size=8)


@given(SETS, SETS)
def test_inner_products_are_sizes_of_intersections(basis, new):
    fitted = Indicator().fit(Sets(basis))
    x, z = fitted(Sets(basis)), fitted(Sets(new))
    np.testing.assert_array_equal((x.csr() @ z.csr().T).toarray(), [[len(s & t) for t in new] for s in basis])
    np.testing.assert_array_equal(z.sizes, [len(t) for t in new])
    distances = [[len(s ^ t) for t in new] for s in basis]
    a, b = x.vectors().csr.toarray(), z.vectors().csr.toarray()
    np.testing.assert_allclose(((a[:, None] - b[None]) ** 2).sum(axis=2), distances, atol=1e-12)


@given(SETS)
def test_codes_increase_within_each_point(basis):
    image = Indicator().fit(Sets(basis))(Sets(basis))
    for a, b in zip(image.offsets[:-1], image.offsets[1:], strict=True):
        assert (np.diff(image.codes[a:b]) > 0).all()
    assert image.domain is Domain.VECTORS


def test_sortable_items_are_numbered_in_order():
    assert Indicator().fit(Sets([{"c", "a"}, {"b"}])).dictionary == {"a": 0, "b": 1, "c": 2}


def test_items_that_cannot_be_sorted_are_numbered_as_first_seen():
    assert Indicator().fit(Sets([{"c"}, {1}, {"a"}, {1}])).dictionary == {"c": 0, 1: 1, "a": 2}


def test_the_dictionary_does_not_depend_on_the_hash_seed():
    code = (
        "from mercer.maps import Indicator; from mercer.points import Sets;"
        "print(list(Indicator().fit(Sets([set('kernel')])).dictionary))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_unseen_items_never_change_the_dictionary():
    fitted = Indicator().fit(Sets([{1, 2}]))
    before = dict(fitted.dictionary)
    image = fitted(Sets([{2, 5, 6}, {7}]))
    assert fitted.dictionary == before
    assert image.codes.tolist() == [1]
    assert image.offsets.tolist() == [0, 1, 1]
    assert image.sizes.tolist() == [3, 1]


def test_a_basis_of_empty_sets_has_an_empty_dictionary():
    fitted = Indicator().fit(Sets([set(), set()]))
    image = fitted(Sets([{1}, set()]))
    assert image.n_items == 0
    assert image.sizes.tolist() == [1, 0]
    np.testing.assert_array_equal(image.vectors().csr.toarray(), [[1.0], [0.0]])


def test_a_table_with_one_column_of_sets_is_read():
    assert isinstance(Indicator().fit(Table({"s": [{1}, {2}]}))(Table({"s": [{1}]})), Indicators)


def test_vectors_are_refused_with_advice():
    with pytest.raises(DomainMismatch, match=r"Indicator\(\) cannot read X: it needs sets.*\n.*\n.*list of sets"):
        Indicator().fit(Vectors([[1.0]]))


def test_a_fitted_indicator_can_be_pickled():
    fitted = pickle.loads(pickle.dumps(Indicator().fit(Sets([{"a", "b"}]))))
    assert fitted(Sets([{"b"}])).codes.tolist() == [1]


def test_a_hundred_thousand_sets_are_mapped():
    rng = np.random.default_rng(0)
    sets = [set(row) for row in rng.integers(0, 5000, size=(100_000, 10)).tolist()]
    points = Sets(sets)
    image = Indicator().fit(points)(points)
    assert image.n_items == 5000
    np.testing.assert_array_equal(image.sizes, np.diff(image.offsets))
    assert set(image.codes[image.offsets[77] : image.offsets[78]].tolist()) == sets[77]
