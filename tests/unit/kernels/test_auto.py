"""A kernel is proposed for a table, with a reason for each column."""

import pickle

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import InvalidInput


@pytest.fixture
def people():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.normal(40.0, 10.0, 60),
            "income": random.lognormal(10.0, 1.0, 60),
            "country": random.choice(["ch", "de", "fr"], 60),
        }
    )
    return frame, np.where((frame.age > 40.0) ^ (frame.country == "ch"), "yes", "no")


def test_numbers_and_categories_become_one_kernel_that_reads_back_and_pickles(people):
    proposal = mercer.auto(people[0])
    assert repr(proposal.kernel) == (
        "RBF('median').of(SquaredEuclidean().on(Standardised()).on('age', 'income') + Polarised(Delta().on('country')))"
    )
    assert mercer.parse(repr(proposal.kernel)) == proposal.kernel == pickle.loads(pickle.dumps(proposal)).kernel
    assert [reason.columns for reason in proposal.reasons] == [("age", "income"), ("country",)]
    assert str(proposal).splitlines()[0] == repr(proposal.kernel)


def test_a_machine_takes_the_proposal_or_asks_for_it(people):
    X, y = people
    asked, given = mercer.SVC(kernel="auto").fit(X, y), mercer.SVC(kernel=mercer.auto(X).kernel).fit(X, y)
    assert asked.model_.kernel == given.model_.kernel
    assert not asked.model_.kernel.unresolved
    assert mercer.parse(repr(asked.model_.kernel)) == asked.model_.kernel
    np.testing.assert_array_equal(asked.decision_function(X), given.decision_function(X))
    assert asked.score(X, y) > 0.8


def test_unseen_categories_equal_nothing_and_change_no_other_prediction(people):
    X, y = people
    model = mercer.SVC(kernel="auto").fit(X, y)
    new = X.iloc[:4].assign(country=["ch", "mars", "venus", "de"])
    alone = model.decision_function(new.iloc[[0]])
    both = model.decision_function(new)
    assert both[0] == alone[0]
    assert np.isfinite(both).all()


def test_a_table_in_which_all_rows_are_alike_has_no_kernel():
    with pytest.raises(InvalidInput, match="no column tells two rows apart"):
        mercer.auto({"a": [1, 1], "b": ["x", "x"]})
