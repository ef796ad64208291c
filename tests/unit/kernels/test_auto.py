"""A kernel is proposed for every kind of data, with a reason for each column."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer
from mercer.errors import InvalidInput

N = 40
RANDOM = np.random.default_rng(0)
LEFT_OUT = "left out, because "


def repeated(*values):
    return [values[i % len(values)] for i in range(N)]


# What a column holds -> its values, its kind, the part of the formula, the reason.
NUMBERS = "standardised, so that their unit does not matter"
COLUMNS = {
    "numbers": (RANDOM.normal(size=N), "numbers", "SquaredEuclidean().on(Standardised())", NUMBERS),
    "flags": (repeated(True, False, True), "booleans", "Polarised(Delta().on('flags'))", "equal or not"),
    "words": (repeated("a", "b", "c"), "strings", "Polarised(Delta().on('words'))", "equal or not"),
    "codes": (
        pd.Series(repeated(7, 8), dtype="category"),
        "categories",
        "Polarised(Delta().on('codes'))",
        "equal or not",
    ),
    "sizes": (
        pd.Categorical(repeated("s", "l"), categories=["s", "m", "l"], ordered=True),
        "ordered categories",
        "SquaredEuclidean().on(Standardised()).on(Ranks()).on('sizes')",
        "ranks in their declared order, standardised",
    ),
    "days": (
        [dt.date(2024, 1, 1 + i % 28) for i in range(N)],
        "dates",
        "SquaredEuclidean().on(Standardised())",
        "as days since 1970-01-01, standardised",
    ),
    "clock": (
        repeated(dt.time(1), dt.time(23)),
        "times of day",
        "SquaredEuclidean().on(Torus()).on('clock')",
        "around the clock, so that 23:59 is near 0:00",
    ),
    "tags": (
        repeated({1}, {1, 2}, set()),
        "sets",
        "Polarised(Tanimoto(SetIntersection()).on('tags'))",
        "the share of common items",
    ),
    "notes": (
        [f"the quick brown fox {i}" for i in range(N)],
        "texts",
        "Polarised(Tanimoto(SetIntersection()).on(Words()).on('notes'))",
        "the share of common words",
    ),
    "mixed": (repeated(1, "x"), "values of different types", "Polarised(Delta().on('mixed'))", "equal or not"),
    "constant": (repeated(3.0), "numbers", "", LEFT_OUT + "all values are the same"),
    "one": (repeated("x"), "strings", "", LEFT_OUT + "all values are the same"),
    "empty": (repeated(None), "no values", "", LEFT_OUT + "every value is missing"),
    "rows": (RANDOM.permutation(N) + 5, "numbers", "", LEFT_OUT + "they number the rows"),
    "names": ([f"u{i}" for i in range(N)], "strings", "", LEFT_OUT + "every value differs: they name the rows"),
    "hashes": (
        [2**60 + i for i in range(N)],
        "integers beyond 2**53",
        "",
        LEFT_OUT + "every value differs: they name the rows",
    ),
    "lists": (repeated([1], [2]), "objects", "", LEFT_OUT + "a list cannot be compared as a whole"),
    "waves": (RANDOM.normal(size=N) + 1j, "complex numbers", "", LEFT_OUT + "kernels read real numbers"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_every_kind_of_column_has_its_part_and_its_reason(name):
    values, kind, part, reason = COLUMNS[name]
    proposal = mercer.auto({"base": RANDOM.normal(size=N), "other": repeated("p", "q"), name: values})
    found = next(each for each in proposal.reasons if name in each.columns)
    assert (found.kind, found.reason) == (kind, reason)
    assert part in repr(proposal.kernel)
    assert (f"'{name}'" in repr(proposal.kernel)) == bool(part)
    assert f"{name}: {reason}" in str(proposal)


def test_the_whole_table_makes_one_derived_kernel_that_reads_back_and_pickles():
    table = {name: values for name, (values, *_) in COLUMNS.items()}
    proposal = mercer.auto(table)
    assert mercer.parse(repr(proposal.kernel)) == proposal.kernel == pickle.loads(pickle.dumps(proposal)).kernel
    assert proposal.kernel.proof().is_derived
    learnt = proposal.kernel.resolve(table)
    assert mercer.parse(repr(learnt)) == learnt
    eigenvalues = np.linalg.eigvalsh(learnt(table))
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert sorted(name for each in proposal.reasons for name in each.columns) == sorted(table)


@pytest.mark.parametrize("name", ["numbers", "flags", "words", "sizes", "days", "clock", "tags", "notes"])
def test_missing_values_are_a_value_of_their_own(name):
    values, kind, _, reason = COLUMNS[name]
    holed = [None if i % 7 == 0 else value for i, value in enumerate(values)]
    if name == "sizes":
        holed = pd.Categorical(holed, categories=["s", "m", "l"], ordered=True)
    proposal = mercer.auto({"other": repeated("p", "q"), name: holed})
    assert proposal.reasons[1] == mercer.kernels.auto.Reason((name,), kind, f"{reason}; missing is a value of its own")
    assert f".on('{name}')))" in repr(proposal.kernel)
    assert "Polarised(OrMissing(" in repr(proposal.kernel)
    K = proposal.kernel({"other": repeated("p", "q"), name: holed})
    assert K[0, 14] == 1.0  # both lack the value, and are alike in the other column


def test_one_value_that_is_sometimes_missing_says_whether_it_is():
    proposal = mercer.auto({"x": repeated("yes", None, None)})
    assert proposal.kernel == mercer.OrMissing(mercer.Delta().on("x"))
    assert proposal.reasons[0].reason == "one value, or missing"


def test_numbers_alone_need_no_sum():
    assert (
        repr(mercer.auto({"a": [1, 2, 5], "b": [0.5, 0.1, 0.7]}).kernel)
        == "RBF('median').on(Standardised()).on('a', 'b')"
    )
    assert mercer.auto({"a": ["x", "y", "x"]}).kernel == mercer.Delta().on("a")
    assert (
        repr(mercer.auto({"t": [dt.time(1), dt.time(2)]}).kernel)
        == "RBF('median').of(SquaredEuclidean().on(Torus()).on('t'))"
    )


@pytest.mark.parametrize(
    ("X", "kernel"),
    [
        (RANDOM.normal(size=(20, 2)) * [1.0, 100.0], "RBF('median').on(Standardised())"),
        (RANDOM.integers(0, 17, (30, 64)), "RBF('median')"),
        (sp.random(20, 30, 0.2, random_state=0), "RBF('median').on(UnitRows())"),
        ([{1, 2}, {2}], "Tanimoto(SetIntersection())"),
        (["red", "green", "red"], "Delta()"),
        (["to be or not to be", "a rose is a rose", "all is well"], "Tanimoto(SetIntersection()).on(Words())"),
    ],
    ids=["units", "pixels", "sparse", "sets", "strings", "texts"],
)
def test_other_points_have_a_kernel_too(X, kernel):
    proposal = mercer.auto(X)
    assert repr(proposal.kernel) == kernel
    assert len(proposal.reasons) == 1
    assert np.isfinite(proposal.kernel(X)).all()


DNA = ["".join(RANDOM.choice(list("ACGT"), 30)) for _ in range(N)]
SUBSTRINGS = "the common substrings of up to three letters"


@pytest.mark.parametrize(
    "X",
    [DNA, [text.encode() for text in DNA], mercer.points.Strings([list(text) for text in DNA]), ["ab", "abc"]],
    ids=["characters", "bytes", "tokens", "few"],
)
def test_strings_that_differ_are_compared_by_their_substrings(X):
    proposal = mercer.auto(X)
    assert repr(proposal.kernel) == "BlendedSpectrum().normalised()"
    assert proposal.reasons[0].reason == SUBSTRINGS
    assert np.isfinite(proposal.kernel(X)).all()


def test_a_column_of_long_strings_of_letters_is_compared_by_its_substrings():
    proposal = mercer.auto({"gene": [*DNA[1:], None], "dose": RANDOM.normal(size=N)})
    assert proposal.reasons[0] == mercer.kernels.auto.Reason(
        ("gene",), "sequences", f"{SUBSTRINGS}; missing is a value of its own"
    )
    assert "Polarised(OrMissing(BlendedSpectrum().normalised().on('gene')))" in repr(proposal.kernel)


def test_bags_are_compared_by_what_is_proposed_for_their_parts():
    bags = [RANDOM.normal(size=(2 + i % 3, 3)) * [1.0, 1.0, 90.0] for i in range(N)]
    proposal = mercer.auto(mercer.points.Bags(bags))
    assert repr(proposal.kernel) == "RBF('median').on(Standardised()).averaged().normalised()"
    assert [each.kind for each in proposal.reasons] == ["bags", "numbers"]
    assert mercer.SVC(kernel=proposal.kernel).fit(bags, np.arange(N) % 2).certificate_.is_certified


@pytest.mark.parametrize("X", [np.ones((3, 4, 4)), [np.ones((2, 2)), np.ones((3, 2))]])
def test_of_arrays_it_asks_what_they_are(X):
    with pytest.raises(InvalidInput, match=r"bags, images or series(.|\n)*Bags\(X\)"):
        mercer.auto(X)


@pytest.mark.parametrize(
    "X", [{"a": [1, 1], "b": ["x", "x"]}, {"a": [1.0]}, {"a": [None, None]}, np.ones((3, 2)), [None, None]]
)
def test_where_nothing_differs_there_is_no_kernel(X):
    with pytest.raises(InvalidInput, match=r"nothing tells two rows apart.\n.*(all values are the same|missing)"):
        mercer.auto(X)


def test_a_precomputed_matrix_or_unknown_points_have_none():
    with pytest.raises(InvalidInput, match="no kernel is proposed for them"):
        mercer.auto(mercer.points.Stored(np.eye(3)))


def test_graphs_are_compared_by_the_neighbourhoods_of_their_nodes():
    graphs = [{"edges": [(0, 1)], "labels": "CO"}, {"edges": [(0, 1), (1, 2)], "labels": "COC"}] * 10
    proposal = mercer.auto(graphs)
    assert repr(proposal.kernel) == "WeisfeilerLehman().normalised()"
    assert proposal.reasons[0].kind == "graphs"
    assert mercer.SVC(kernel="auto").fit(graphs, [0, 1] * 10).score(graphs, [0, 1] * 10) == 1.0
    table = mercer.auto({"molecule": graphs, "name": [str(i) for i in range(20)]})
    assert repr(table.kernel) == "WeisfeilerLehman().normalised().on('molecule')"
