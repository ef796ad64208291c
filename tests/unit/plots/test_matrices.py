"""The Gram matrix and its spectrum."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import InvalidInput
from mercer.plots import GramDisplay, SpectrumDisplay


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(6, 5)).subplots()


X = np.random.default_rng(0).standard_normal((30, 3)) * [1.0, 20.0, 0.1]
LABELS = np.where(X[:, 0] > 0, "up", "down")


def note(ax: Axes) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "note").replace("\n", " ")


def test_the_gram_matrix_is_drawn_sorted_by_class(ax: Axes) -> None:
    shown = GramDisplay.from_kernel(mercer.RBF(1.0), X, LABELS, ax=ax)
    order = np.argsort(LABELS, kind="stable")
    assert shown.rows.tolist() == order.tolist()
    assert np.array_equal(shown.image_.get_array(), mercer.RBF(1.0)(X[order]))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["down", "up"]


def test_a_line_parts_each_two_classes(ax: Axes) -> None:
    shown = GramDisplay.from_kernel(mercer.RBF(1.0), X, LABELS, ax=ax)
    cut = (LABELS == "down").sum()
    assert shown.lines_ is not None
    assert {tuple(path.vertices[0]) for path in shown.lines_.get_paths()} == {(cut, 0), (0, cut)}


def test_the_colour_bar_begins_at_zero_and_is_symmetric_for_signed_values(ax: Axes) -> None:
    assert GramDisplay.from_kernel(mercer.RBF(1.0), X, ax=ax).image_.get_clim() == (0.0, 1.0)
    low, high = GramDisplay.from_kernel(mercer.Linear(), X, ax=Figure().subplots()).image_.get_clim()
    assert low == -high < 0.0


def test_a_pipeline_is_drawn_as_its_last_step_sees_the_rows(ax: Axes) -> None:
    piped = make_pipeline(StandardScaler(), mercer.SVC(kernel=mercer.RBF(1.0))).fit(X, LABELS)
    shown = GramDisplay.from_estimator(piped, X, ax=ax)
    assert np.allclose(shown.matrix, mercer.RBF(1.0)(StandardScaler().fit_transform(X)))


def test_one_class_is_drawn_without_lines(ax: Axes) -> None:
    shown = GramDisplay.from_kernel(mercer.RBF(1.0), X, ["a"] * 30, ax=ax)
    assert shown.lines_ is None
    assert "one class" in note(ax)


def test_targets_sort_the_rows(ax: Axes) -> None:
    shown = GramDisplay.from_kernel(mercer.RBF(1.0), X, X[:, 0], ax=ax)
    assert shown.rows.tolist() == np.argsort(X[:, 0]).tolist()


def test_many_rows_are_thinned_and_the_head_says_so(ax: Axes) -> None:
    many = np.random.default_rng(0).standard_normal((100_000, 2))
    shown = GramDisplay.from_kernel(mercer.RBF(1.0), many, many[:, 0] > 0, ax=ax)
    assert shown.matrix.shape == (1_000, 1_000)
    assert "1\u202f000 of 100\u202f000 rows" in note(ax)
    assert np.array_equal(shown.matrix, mercer.RBF(1.0)(many[shown.rows]))


def test_a_precomputed_matrix_is_drawn_as_it_is(ax: Axes) -> None:
    K = mercer.RBF(1.0)(X)
    machine = mercer.SVC(kernel="precomputed").fit(K, LABELS)
    assert np.array_equal(GramDisplay.from_estimator(machine, K, ax=ax).matrix, K)


def test_a_function_given_as_kernel_is_drawn(ax: Axes) -> None:
    machine = mercer.SVC(kernel=lambda A, B: np.asarray(A) @ np.asarray(B).T).fit(X, LABELS)
    assert np.allclose(GramDisplay.from_estimator(machine, X, ax=ax).matrix, X @ X.T)


def test_sets_have_a_picture_too(ax: Axes) -> None:
    shown = GramDisplay.from_kernel(mercer.SetIntersection(), [{1, 2}, {2, 3}, {9}], ["a", "a", "b"], ax=ax)
    assert shown.matrix.shape == (3, 3)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.full(30, np.nan), "y must not hold missing values"),
        (LABELS[:5], "one entry for each of the 30 rows"),
        (np.ones((30, 2)), "y must be one-dimensional"),
    ],
)
def test_labels_that_do_not_fit_are_refused(y: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        GramDisplay.from_kernel(mercer.RBF(1.0), X, y)


def test_a_matrix_with_nan_is_refused_by_its_place() -> None:
    with pytest.raises(InvalidInput, match=r"K\[0, 1\] is nan"):
        GramDisplay.from_matrix([[1.0, np.nan], [0.0, 1.0]])


def test_the_spectrum_is_drawn_in_descending_order_with_rank_and_penalty(ax: Axes) -> None:
    ridge = mercer.KernelRidge(alpha=0.5, kernel=mercer.RBF(1.0)).fit(X, X[:, 0])
    shown = SpectrumDisplay.from_estimator(ridge, X, ax=ax)
    values = np.linalg.eigvalsh(mercer.RBF(1.0)(X))[::-1]
    assert np.allclose(shown.line_.get_ydata(), values)
    share = values / values.sum()
    assert shown.rank_line_.get_xdata()[0] == pytest.approx(np.exp(-(share * np.log(share)).sum()))
    assert shown.penalty_line_ is not None
    assert shown.penalty_line_.get_ydata()[0] == pytest.approx(0.5)
    assert shown.degrees_of_freedom == pytest.approx(
        np.trace(mercer.RBF(1.0)(X) @ np.linalg.inv(mercer.RBF(1.0)(X) + 0.5 * np.eye(30)))
    )


def test_eigenvalues_that_are_rounding_are_drawn_at_the_floor(ax: Axes) -> None:
    shown = SpectrumDisplay.from_kernel(mercer.Linear(), X, ax=ax)
    assert (shown.line_.get_ydata() > 0.0).all()
    assert "27 of 30 are zero to rounding" in note(ax)


def test_negative_eigenvalues_are_called_so(ax: Axes) -> None:
    SpectrumDisplay.from_eigenvalues([2.0, 1.0, -0.5], ax=ax)
    assert "1 eigenvalues are negative" in note(ax)


def test_the_effective_rank_of_one_direction_is_one(ax: Axes) -> None:
    assert SpectrumDisplay.from_kernel(
        mercer.Linear(), np.arange(1.0, 9.0)[:, None], ax=ax
    ).effective_rank == pytest.approx(1.0)
