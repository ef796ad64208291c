"""Machines on tables of mixed columns: fitted from a DataFrame, and asked about tables that differ from it."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_score

import mercer
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter

N = 90
RANDOM = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "age": RANDOM.normal(40.0, 10.0, N).round(1),
        "country": RANDOM.choice(["ch", "de", "fr"], N),
        "pay": RANDOM.lognormal(10.0, 1.0, N),
        "size": pd.Categorical(RANDOM.choice(["s", "m", "l"], N), categories=["s", "m", "l"], ordered=True),
        "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(RANDOM.integers(0, 300, N), unit="D"),
        "id": [f"u{i}" for i in range(N)],
    }
)
PEOPLE.loc[::7, "pay"] = None
PEOPLE.loc[::9, "country"] = None
PEOPLE.loc[::11, "size"] = None
PEOPLE.loc[::13, "since"] = pd.NaT
LABEL = np.where((PEOPLE.age > 40.0) ^ (PEOPLE.country == "ch"), "yes", "no")
TARGET = PEOPLE.age.to_numpy() + 10.0 * (PEOPLE.country == "ch")


@pytest.fixture(scope="module")
def model():
    return mercer.SVC(kernel="auto", C=10.0).fit(PEOPLE, LABEL)


MACHINES = [
    mercer.SVC, mercer.NuSVC, mercer.SVR, mercer.NuSVR, mercer.OneClassSVM, mercer.KernelRidge, mercer.KernelRidgeCV,
    mercer.KernelLogisticRegression, mercer.KernelNearestCentroid, mercer.KernelNeighborsClassifier,
    mercer.KernelNeighborsRegressor, mercer.NadarayaWatson, mercer.NadarayaWatsonClassifier,
]  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.__name__)
def test_every_machine_takes_auto(machine):
    estimator = machine(kernel="auto")
    fitted = estimator.fit(PEOPLE, LABEL if is_classifier(estimator) else TARGET)
    assert not fitted.model_.kernel.unresolved
    assert "OrMissing" in repr(fitted.model_.kernel)
    assert fitted.kernel == clone(fitted).kernel == "auto"
    assert len(fitted.predict(PEOPLE.iloc[:5])) == 5


def test_auto_is_the_formula_that_mercer_auto_proposes(model):
    given = mercer.SVC(kernel=mercer.auto(PEOPLE).kernel, C=10.0).fit(PEOPLE, LABEL)
    assert given.model_.kernel == model.model_.kernel == mercer.parse(repr(model.model_.kernel))
    np.testing.assert_array_equal(given.decision_function(PEOPLE), model.decision_function(PEOPLE))
    assert model.score(PEOPLE, LABEL) > 0.85


def _as_dict(frame):
    return {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame}


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas, _as_dict], ids=["polars", "arrow", "dict"])
def test_every_library_gives_bitwise_the_same_machine(model, convert):
    expected = model.decision_function(PEOPLE)
    np.testing.assert_array_equal(model.decision_function(convert(PEOPLE)), expected)
    converted = convert(PEOPLE)
    # An order that a library does not carry is part of the formula.
    fitted = mercer.SVC(kernel=model.model_.kernel, C=10.0).fit(converted, LABEL)
    np.testing.assert_array_equal(fitted.decision_function(PEOPLE), expected)


def test_columns_are_found_by_name_in_any_order(model):
    backwards = PEOPLE[PEOPLE.columns[::-1]]
    expected = model.decision_function(PEOPLE)
    for new in (backwards, pl.from_pandas(backwards), _as_dict(backwards)):
        np.testing.assert_array_equal(model.decision_function(new), expected)


def test_rows_may_come_in_any_order(model):
    order = np.random.default_rng(1).permutation(N)
    other = mercer.SVC(kernel="auto", C=10.0).fit(PEOPLE.iloc[order], LABEL[order])
    assert other.model_.kernel == model.model_.kernel
    np.testing.assert_allclose(other.decision_function(PEOPLE), model.decision_function(PEOPLE), atol=0.02)


def test_a_pickled_machine_says_the_same(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(PEOPLE), model.decision_function(PEOPLE))


@pytest.mark.parametrize("frame", [lambda X: X, pl.from_pandas, _as_dict], ids=["pandas", "polars", "dict"])
def test_columns_that_are_missing_renamed_or_too_many_are_named(model, frame):
    with pytest.raises(InvalidInput, match="unseen at fit time: extra"):
        model.predict(frame(PEOPLE.assign(extra=1)))
    with pytest.raises(InvalidInput, match="yet now missing: pay"):
        model.predict(frame(PEOPLE.drop(columns="pay")))
    with pytest.raises(InvalidInput, match=r"unseen at fit time: salary.*yet now missing: pay"):
        model.predict(frame(PEOPLE.rename(columns={"pay": "salary"})))


def test_unseen_categories_equal_nothing_and_change_no_other_row(model):
    new = PEOPLE.iloc[1:5].assign(country=["ch", "mars", "venus", "de"])
    together = model.decision_function(new)
    alone = [model.decision_function(new.iloc[[row]])[0] for row in range(4)]
    np.testing.assert_array_equal(together, alone)
    other = model.decision_function(new.assign(country=["ch", "pluto", "moon", "de"]))
    np.testing.assert_array_equal(together, other)  # all unseen categories are alike: none is that of a training row


def test_a_row_may_lack_all_that_was_sometimes_missing_in_training(model):
    new = PEOPLE.iloc[[0]].assign(country=None, pay=None, size=None, since=pd.NaT, id=None)
    assert np.isfinite(model.decision_function(new)).all()
    with pytest.raises(InvalidInput, match=r"column 'age' is missing.*\n.*OrMissing\(k.on\('age'\)"):
        model.predict(new.assign(age=None))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pay": "much"}, r"Column 'pay' of X holds strings; in training it held numbers.\n.*'much'"),
        ({"country": 3}, "Column 'country' of X holds numbers; in training it held strings"),
        ({"since": 3.0}, "Column 'since' of X holds numbers; in training it held dates and times"),
        ({"since": pd.Timestamp("2024-01-01", tz="UTC")}, "with a time zone; in training it held dates and times"),
    ],
    ids=["strings", "numbers", "no dates", "a zone"],
)
def test_a_column_of_another_kind_is_named(model, change, words):
    with pytest.raises(DomainMismatch, match=words):
        model.predict(PEOPLE.assign(**change))


def test_a_category_without_a_rank_is_named(model):
    with pytest.raises(InvalidInput, match=r"Ranks\(\['s', 'm', 'l'\]\) has no rank for 'xl'"):
        model.predict(PEOPLE.assign(size="xl"))


def test_parameters_of_a_formula_are_searched_and_those_of_auto_are_not():
    kernel = mercer.OrMissing(mercer.RBF().on(mercer.Standardised()).on("pay")) + mercer.Delta().on("id")
    grid = {"kernel__length_scale": [0.5, 2.0], "kernel__both": [0.0, 1.0]}
    search = GridSearchCV(mercer.SVC(kernel=kernel), grid, cv=3).fit(PEOPLE, LABEL)
    assert set(search.best_params_) == set(grid)
    with pytest.raises(InvalidParameter, match=r"kernel=mercer.auto\(X\).kernel, which has parameters"):
        mercer.SVC(kernel="auto").set_params(kernel__length_scale=2.0)
    with pytest.raises(InvalidParameter, match="gamma has no effect on this kernel, which is proposed for the data"):
        mercer.SVC(kernel="auto", gamma=3.0).fit(PEOPLE, LABEL)


def test_each_fold_learns_its_own_numbers():
    assert cross_val_score(mercer.SVC(kernel="auto", C=10.0), PEOPLE, LABEL, cv=3).mean() > 0.6


def test_a_formula_written_by_hand_mixes_domains():
    kernel = mercer.RBF().on(mercer.Standardised()).on("age") + mercer.OrMissing(
        mercer.RBF(30.0).on("since") * mercer.Delta().on("country")
    )
    ridge = mercer.KernelRidge(alpha=0.1, kernel=kernel).fit(PEOPLE, TARGET)
    assert ridge.score(PEOPLE, TARGET) > 0.9
    assert ridge.certificate_.status.is_certified
