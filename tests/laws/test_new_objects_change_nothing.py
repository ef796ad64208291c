"""What training never saw counts in k(x, x) alone: it changes no prediction of others, and no value of the kernel."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.kernels.binding import bind
from tests.laws.strategies import law

TEXTS = st.text("abé𝒳", max_size=7)
GRAPHS = st.builds(
    lambda n, ends, labels: {"edges": [(u, v) for u, v in ends if max(u, v) < n], "n": n, "labels": labels[:n]},
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6, unique_by=lambda ends: tuple(sorted(ends))),
    st.lists(st.sampled_from("CON"), min_size=5, max_size=5),
)
# The points of a basis and new ones; the kernels; and what is like none of them.
DOMAINS: dict[str, tuple[st.SearchStrategy[Any], list[Any], Any]] = {
    "strings": (
        TEXTS,
        [mercer.BlendedSpectrum(3, 0.5), mercer.GappedKmer(3, 2), mercer.Mismatch(2, 1), mercer.WeightedDegree(2, 1),
         mercer.Subsequence(2)],
        "?!" * 40,
    ),
    "sets": (
        st.frozensets(st.sampled_from("abcd")),
        [mercer.SetIntersection(), mercer.Tanimoto(mercer.SetIntersection())],
        frozenset({1, 2, "new"}),
    ),
    "graphs": (
        GRAPHS,
        [mercer.WeisfeilerLehman(2), mercer.WeisfeilerLehmanAssignment(2), mercer.ShortestPath(),
         mercer.EdgeHistogram(), mercer.RandomWalk(0.01)],
        {"edges": [(at, at + 1) for at in range(60)], "labels": ["new", *["C"] * 60]},
    ),
    "bags": (
        st.lists(st.lists(st.integers(-8, 8), min_size=2, max_size=2), max_size=3).map(
            lambda rows: np.array(rows, dtype=np.float64).reshape(-1, 2)
        ),
        [mercer.RBF().averaged(), mercer.Linear().summed()],
        np.full((50, 2), 1e3),
    ),
}  # fmt: skip
CASES = [(name, kernel) for name, (_, kernels, _) in DOMAINS.items() for kernel in kernels]


@pytest.mark.parametrize(("name", "kernel"), CASES, ids=repr)
@law(25)
@given(data=st.data())
def test_a_stranger_changes_no_prediction_of_others(name, kernel, data):
    points, _, stranger = DOMAINS[name]
    X = data.draw(st.lists(points, min_size=4, max_size=7))
    new = data.draw(st.lists(points, min_size=1, max_size=4))
    normalised = kernel.normalised() + 1.0
    model = mercer.KernelRidge(kernel=normalised, alpha=0.1).fit(X, np.arange(len(X)) % 2)
    together = model.predict([*new, stranger])
    np.testing.assert_allclose(together[:-1], model.predict(new), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict([*new, stranger]), together)
    assert np.isfinite(together).all()


@pytest.mark.parametrize(("name", "kernel"), CASES, ids=repr)
@law(25)
@given(data=st.data())
def test_values_do_not_depend_on_what_else_is_in_the_basis(name, kernel, data):
    points, _, stranger = DOMAINS[name]
    X = data.draw(st.lists(points, min_size=2, max_size=5))
    new = data.draw(st.lists(points, min_size=1, max_size=4))
    kernel = kernel.resolve([*X, *new])  # an alphabet is that of the training points, once for all
    expected = kernel.normalised()(new, X)
    bound = bind(kernel.normalised(), [*X, stranger])
    np.testing.assert_allclose(bound.cross(new).dense()[:, :-1], expected, rtol=1e-12, atol=1e-12)
