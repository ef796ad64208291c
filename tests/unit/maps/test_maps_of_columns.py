"""Standardised numbers, ranks, words, local time: what they learn, and what they refuse."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from mercer import RBF, Cosine, Laplacian, Torus, parse
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.maps import Columns, LocalTime, Ranks, Standardised, WordCounts, Words
from mercer.points import Table, as_points

SIZES = pd.Series(pd.Categorical(["m", "s", "l"], categories=["s", "m", "l"], ordered=True))


def test_standardised_columns_have_mean_0_and_standard_deviation_1_on_the_training_points():
    X = np.random.default_rng(0).lognormal(3.0, 2.0, (50, 3))
    learnt = Standardised().fit(as_points(X))
    np.testing.assert_allclose(learnt.centre, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(learnt.scale, X.std(axis=0), rtol=1e-14)
    np.testing.assert_allclose(learnt(as_points(X)).dense.std(axis=0), 1.0)


def test_what_is_learnt_does_not_depend_on_the_order_of_the_rows():
    X = np.random.default_rng(1).normal(size=(500, 2)) * 1e5
    assert Standardised().fit(as_points(X)) == Standardised().fit(as_points(X[::-1]))


def test_a_constant_column_is_only_centred_and_large_numbers_do_not_overflow():
    learnt = Standardised().fit(as_points([[0.1, 1e300], [0.1, -1e300], [0.1, 1e300]]))
    assert learnt.scale[0] == 1.0
    np.testing.assert_allclose(learnt.centre, [0.1, 1e300 / 3])
    assert np.isfinite(learnt(as_points([[0.2, 3e300]])).dense).all()


def test_one_rule_may_be_a_number():
    X = as_points([[1.0], [3.0]])
    assert Standardised(centre=0.0).fit(X) == Standardised(0.0, [1.0])
    assert Standardised(scale=4.0).fit(X)(X).raw().ravel().tolist() == [-0.25, 0.25]


def test_a_kernel_learns_its_map_on_the_training_points_and_keeps_the_numbers_in_its_formula():
    X, Z = {"a": [1.0, 3.0], "b": [10.0, 30.0]}, {"a": [7.0], "b": [0.0]}
    kernel = RBF().on(Standardised()).on("a", "b")
    learnt = kernel.resolve(X)
    assert learnt == RBF().on(Standardised([2.0, 20.0], [1.0, 10.0])).on("a", "b")
    assert parse(repr(learnt)) == learnt == pickle.loads(pickle.dumps(learnt))
    np.testing.assert_array_equal(kernel(X, Z), learnt(X, Z))
    assert kernel.unresolved
    assert not learnt.unresolved


def test_a_length_scale_behind_a_map_is_found_on_its_images():
    X = {"a": [100.0, 300.0, 500.0]}
    learnt = RBF("median").on(Standardised()).on("a").resolve(X)
    spread = np.std([100.0, 300.0, 500.0])
    assert learnt.replace(length_scale=1.0) == RBF().on(Standardised([300.0], [spread])).on("a")
    assert learnt.get_params()["length_scale"] == pytest.approx(200.0 / spread)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Standardised("median"), 'rule "mean"'),
        (lambda: Standardised(scale=0.0), "must be a finite number > 0"),
        (lambda: Standardised([1.0, 2.0])(as_points([[1.0]])), "not resolved"),
        (lambda: Standardised([1.0, 2.0], 1.0)(as_points([[1.0]])), "1 features, but Standardised is expecting 2"),
        (lambda: Standardised().fit(as_points(sp.eye_array(2))), "sparse"),
        (lambda: Ranks(["a", "a"]), "different"),
        (lambda: LocalTime("Mars/Olympus"), "Europe/Zurich"),
    ],
)
def test_wrong_parameters_and_points_are_refused(make, words):
    with pytest.raises((InvalidParameter, InvalidInput), match=words):
        make()


@pytest.mark.parametrize("column", [SIZES, pl.Series(["m", "s", "l"], dtype=pl.Enum(["s", "m", "l"]))], ids=type)
def test_ranks_follow_the_declared_order(column):
    kernel = Laplacian(2.0).on(Ranks()).on("size")
    learnt = kernel.resolve({"size": column})
    assert learnt == Laplacian(2.0).on(Ranks(["s", "m", "l"])).on("size")
    np.testing.assert_allclose(learnt({"size": column})[1], np.exp([-0.5, 0.0, -1.0]))


def test_an_order_may_be_given_for_strings_numbers_and_intervals():
    assert Ranks([10, 20])(as_points([[20.0], [10.0]])).raw().ravel().tolist() == [2.0, 1.0]
    bins = Table({"x": pd.cut([1.0, 5.0, 9.0], 3)})
    ranks = Ranks().fit(Columns("x")(bins))
    assert ranks(Columns("x")(bins)).raw().ravel().tolist() == [1.0, 2.0, 3.0]
    assert parse(repr(RBF().on(ranks))) == RBF().on(ranks)


def test_a_value_without_a_rank_is_named_and_so_is_a_column_without_an_order():
    with pytest.raises(InvalidInput, match=r"no rank for 'xl'.\n.*row 1"):
        Ranks(["s"])(as_points(["s", "xl"]))
    with pytest.raises(InvalidInput, match=r"finds no order.*\n.*\n.*Ranks\(\['low', 'high'\]\)"):
        Ranks().fit(as_points(["s", "m"]))


def test_words_have_no_case_and_an_empty_text_has_none():
    assert Words()(as_points(["Über die BRÜCKE", ""])).raw() == [{"über", "die", "brücke"}, frozenset()]
    with pytest.raises(DomainMismatch, match=r"needs texts.\n.*Row 1 is a int"):
        Words()(as_points(["a", 3]))


def test_unseen_words_count_in_the_norm_only():
    counts = WordCounts().fit(as_points(["a b b", "c"]))
    new = counts(as_points(["b x x y", "", "c"]))
    np.testing.assert_allclose(new.raw().toarray(), [[0, 1, 0, 5**0.5], [0, 0, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(Cosine().on(WordCounts())(["b x x y"], ["a b b", "c"]), [[2 / 30**0.5, 0.0]])


def test_the_clock_of_a_place_knows_summer_time():
    noon = [dt.datetime(2024, month, 1, 12 - shift, tzinfo=dt.UTC) for month, shift in ((1, 1), (7, 2))]
    kernel = RBF().on(Torus(1.0)).on(LocalTime("Europe/Zurich")).on("at")
    np.testing.assert_allclose(kernel({"at": noon}), 1.0)
    assert RBF().on(Torus(1.0)).on("at")({"at": noon})[0, 1] < 0.99
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        LocalTime("UTC")(as_points([[1e9]]))
