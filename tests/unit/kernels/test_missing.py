"""OrMissing: derived from its parts, learnt from the rows that have values, and clear about what it needs."""

import pickle

import numpy as np
import pytest

from mercer import RBF, Delta, Linear, OrMissing, SetIntersection, Standardised, Tanimoto, parse
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, NotPositive
from mercer.kernels import Constant

HOLED = {"x": [1.0, None, 3.0, None], "c": ["a", "a", None, None], "s": [{1}, None, {1, 2}, set()]}


def test_the_proof_rests_on_rules_6_and_3_and_states_the_constant():
    proof = OrMissing(RBF(2.0).on("x"), 0.5).proof()
    assert proof.is_derived
    text = str(proof)
    assert "rule 6 (congruence)" in text
    assert "rule 3 (sum)" in text
    assert "c = 0.5 ≥ 0" in text
    assert "f(x) = [x lacks 'x']" in text


def test_values_are_those_of_the_parts():
    K = OrMissing(Delta().on("c"), 0.25)(HOLED)
    np.testing.assert_array_equal(K, [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0.25, 0.25], [0, 0, 0.25, 0.25]])
    K = OrMissing(Tanimoto(SetIntersection()).on("s"))(HOLED)
    np.testing.assert_array_equal(K, [[1, 0, 0.5, 0], [0, 1, 0, 0], [0.5, 0, 1, 0], [0, 0, 0, 1]])
    # A row lacks a value where it lacks one of two: all rows but the first.
    K = OrMissing(RBF().on("x") * Delta().on("c"))(HOLED)
    np.testing.assert_array_equal(K, [[1, 0, 0, 0], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1]])


def test_rules_are_found_on_the_rows_that_have_values():
    learnt = OrMissing(RBF("median").on(Standardised()).on("x")).resolve(HOLED)
    assert learnt == OrMissing(RBF(2.0).on(Standardised([2.0], [1.0])).on("x"))
    assert parse(repr(learnt)) == learnt == pickle.loads(pickle.dumps(learnt))


def test_parameters_have_names_for_a_grid_search():
    kernel = OrMissing(RBF().on("x"))
    assert kernel.replace(both=0.0, length_scale=2.0) == OrMissing(RBF(2.0).on("x"), 0.0)


def test_features_powers_and_normalisation_follow_from_the_parts():
    kernel = OrMissing(Linear().on("x"), 2.0)
    np.testing.assert_allclose(kernel.feature_map(HOLED)(HOLED), [[1, 0], [0, 2**0.5], [3, 0], [0, 2**0.5]])
    np.testing.assert_allclose(kernel.normalised()(HOLED), [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]])
    assert OrMissing(Delta().on("c"), 4.0).fractional(0.5) == OrMissing(Delta().on("c"), 2.0)
    assert OrMissing(Delta().on("c")).fractional(0.0) == Constant(1.0)


def test_formulas_name_the_columns_and_escape_them():
    kernel = OrMissing(Delta().on(r"a_b\c"), 0.5)
    assert kernel.formula() == (r"[x and z have 'a_b\\c']·[x['a_b\\c'] = z['a_b\\c']] + 0.5·[x and z lack it]")
    assert r"a\_b\textbackslash{}" in kernel.latex()
    assert "lack one" in OrMissing(RBF().on("x", "y")).formula()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: OrMissing(RBF()), InvalidParameter, r"names the columns.*\n.*\n.*OrMissing\(RBF\(\).on"),
        (lambda: OrMissing(RBF().on("x"), -1.0), NotPositive, "both of OrMissing must be a finite number ≥ 0"),
        (
            lambda: OrMissing(RBF().on(0))(np.ones((2, 2))),
            DomainMismatch,
            r"OrMissing\(.*\) cannot read X: it needs table",
        ),
        (lambda: OrMissing(Delta().on("c"))({"c": [None, None]}), InvalidInput, "'c' of X is missing in every row"),
        (
            lambda: OrMissing(RBF("median").on("x"))({"x": [np.nan, np.nan]}),
            InvalidInput,
            "nothing to learn from: no row has 'x'",
        ),
        (
            lambda: RBF().on("x")(HOLED),
            InvalidInput,
            r"Row 1, column 'x' is missing, as 2 of 4.*\n.*OrMissing\(k.on\('x'\)",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_work(make, error, words):
    with pytest.raises(error, match=words):
        make()
