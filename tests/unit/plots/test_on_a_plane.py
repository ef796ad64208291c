"""Decision regions and regressions: what varies, what stays, and which rows are marked."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.plots import DecisionRegionsDisplay, RegressionDisplay


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(6, 5)).subplots()


RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
Y = X[:, 0] + 0.5 * RNG.standard_normal(40)
LABELS = np.where(Y > 0, "up", "down")
WIDE = RNG.normal([0.0, 5.0, 0.0, -3.0], 1.0, (40, 4))


def svc(**rest: object) -> mercer.SVC:
    return mercer.SVC(kernel=mercer.RBF(1.0), **rest).fit(X, LABELS)  # type: ignore[arg-type]


def grid(shown: DecisionRegionsDisplay) -> np.ndarray:
    left, right, below, above = shown.extent
    m = len(shown.regions)
    return np.stack(np.meshgrid(np.linspace(left, right, m), np.linspace(below, above, m)), axis=-1)


def note(ax: Axes) -> str:
    return " ".join(text.get_text() for text in ax.texts if text.get_gid() == "note").replace("\n", " ")


def test_regions_are_what_the_machine_predicts(ax: Axes) -> None:
    shown = DecisionRegionsDisplay.from_estimator(svc(), X, LABELS, ax=ax)
    at = grid(shown)[::40, ::40]
    predicted = svc().predict(at.reshape(-1, 2)).reshape(at.shape[:2])
    assert np.array_equal(np.array(shown.classes)[shown.regions[::40, ::40]], predicted)
    assert np.array_equal(shown.surface_.get_array(), shown.regions)


def test_the_boundary_is_where_the_decision_is_zero_and_margins_are_at_one(ax: Axes) -> None:
    shown = DecisionRegionsDisplay.from_estimator(svc(C=10.0), X, LABELS, ax=ax)
    assert shown.boundary_ is not None
    assert shown.margins_ is not None
    zero = np.vstack([path.vertices for path in shown.boundary_.get_paths()])
    assert np.abs(svc(C=10.0).decision_function(zero)).max() < 0.02
    one = np.vstack([path.vertices for path in shown.margins_.get_paths()])
    assert np.abs(np.abs(svc(C=10.0).decision_function(one)) - 1.0).max() < 0.02


def test_free_support_vectors_have_a_ring_and_bounded_ones_a_cross(ax: Axes) -> None:
    machine = svc()
    shown = DecisionRegionsDisplay.from_estimator(machine, X, LABELS, ax=ax)
    assert shown.free_ is not None
    assert shown.bounded_ is not None
    assert np.array_equal(shown.free_.get_offsets(), X[np.sort(machine.free_support_)])
    assert np.array_equal(shown.bounded_.get_offsets(), X[np.sort(machine.bounded_support_)])


@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame], ids=["array", "pandas"])
def test_support_vectors_are_found_behind_a_pipeline(ax: Axes, as_table: type) -> None:
    given = pd.DataFrame(X, columns=["a", "b"]) if as_table is pd.DataFrame else X
    piped = make_pipeline(StandardScaler(), mercer.SVC())
    piped.set_output(transform="pandas" if as_table is pd.DataFrame else "default").fit(given, LABELS)
    shown = DecisionRegionsDisplay.from_estimator(piped, given, LABELS, ax=ax)
    assert shown.free is not None
    assert shown.bounded is not None
    assert np.flatnonzero(shown.free | shown.bounded).tolist() == sorted(piped[-1].support_.tolist())


def test_rows_that_are_not_those_of_the_fit_are_not_marked(ax: Axes) -> None:
    shown = DecisionRegionsDisplay.from_estimator(svc(), X + 1.0, LABELS, ax=ax)
    assert shown.free is None


def test_other_features_stay_at_their_medians_and_the_head_says_so(ax: Axes) -> None:
    labels = WIDE[:, 1] > 5.0
    machine = mercer.SVC(kernel=mercer.RBF(2.0)).fit(WIDE, labels)
    shown = DecisionRegionsDisplay.from_estimator(machine, WIDE, labels, features=(1, 3), ax=ax)
    at = grid(shown)[::60, ::60].reshape(-1, 2)
    rows = np.tile(np.median(WIDE, axis=0), (len(at), 1))
    rows[:, [1, 3]] = at
    assert np.allclose(shown.values[::60, ::60].ravel(), machine.decision_function(rows))  # type: ignore[index]
    assert "a slice: the other 2 features at their medians" in note(ax)
    assert ax.get_xlabel() == "x₂"


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_columns_of_tables_are_chosen_by_name(ax: Axes, table: type) -> None:
    given = table(dict(zip("abcd", WIDE.T, strict=True)))
    machine = mercer.SVC(kernel=mercer.RBF(2.0)).fit(given, LABELS)
    shown = DecisionRegionsDisplay.from_estimator(machine, given, LABELS, features=("b", "d"), ax=ax)
    assert shown.axes_names == ("b", "d")
    assert np.array_equal(shown.points, WIDE[:, [1, 3]])


def test_a_classifier_of_anybody_has_regions(ax: Axes) -> None:
    shown = DecisionRegionsDisplay.from_estimator(LogisticRegression().fit(X, LABELS), X, LABELS, ax=ax)
    assert shown.boundary_ is not None
    assert shown.free is None


def test_a_logistic_regression_has_lines_at_nine_of_ten(ax: Axes) -> None:
    machine = mercer.KernelLogisticRegression(C=10.0, kernel=mercer.Linear()).fit(X, LABELS)
    shown = DecisionRegionsDisplay.from_estimator(machine, X, LABELS, ax=ax)
    assert shown.margins_ is not None
    line = np.vstack([path.vertices for path in shown.margins_.get_paths()])
    assert np.abs(machine.predict_proba(line).max(axis=1) - 0.9).max() < 1e-3


def test_a_one_class_machine_has_an_inside(ax: Axes) -> None:
    machine = mercer.OneClassSVM(nu=0.2, gamma=0.5).fit(X)
    shown = DecisionRegionsDisplay.from_estimator(machine, X, ax=ax)
    assert shown.classes == ["outside", "inside"]
    assert np.array_equal(shown.regions == 1, np.asarray(shown.values) >= 0)


def test_three_classes_have_a_colour_each(ax: Axes) -> None:
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    machine = mercer.SVC(kernel="rbf").fit(X, labels)
    shown = DecisionRegionsDisplay.from_estimator(machine, X, labels, ax=ax)
    assert set(np.unique(shown.regions)) == {0, 1, 2}
    assert set(shown.points_) == {0, 1, 2}
    assert len(shown.borders_) == 3  # tints may be one in grey print
    assert len({tuple(made.get_edgecolor()[0]) for made in shown.points_.values()}) == 3


def test_many_rows_are_thinned_but_all_are_counted(ax: Axes) -> None:
    many = np.random.default_rng(0).standard_normal((100_000, 2))
    machine = mercer.KernelLogisticRegression(kernel=mercer.Linear()).fit(many[:500], many[:500, 0] > 0)
    shown = DecisionRegionsDisplay.from_estimator(machine, many, many[:, 0] > 0, ax=ax)
    assert len(shown.points) == 2_000
    assert "100\u202f000 rows; 2\u202f000 of 100\u202f000 rows shown" in note(ax)


@pytest.mark.parametrize(
    ("given", "features", "kind", "said"),
    [
        (WIDE, None, InvalidInput, r"features=\(0, 1\); the others then stay at their medians"),
        (X[:, :1], None, InvalidInput, "X has 1"),
        (WIDE, (0, 0), InvalidParameter, "2 different features"),
        (WIDE, (0, 9), InvalidParameter, "from 0 to 3"),
        (pd.DataFrame(X, columns=["a", "b"]), ("a", "z"), InvalidParameter, "X has no feature 'z'"),
        (np.full((4, 2), np.nan), None, InvalidInput, "NaN"),
        ([{1}, {2}], None, DomainMismatch, "vectors only"),
    ],
)
def test_data_that_has_no_plane_is_refused(given: object, features: object, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        DecisionRegionsDisplay.from_estimator(svc(), given, features=features)


def test_a_regressor_has_no_regions() -> None:
    with pytest.raises(InvalidInput, match="KernelRidge is not a classifier"):
        DecisionRegionsDisplay.from_estimator(mercer.KernelRidge().fit(X, Y), X)


def ridge(given: np.ndarray = X[:, :1]) -> mercer.KernelRidge:
    return mercer.KernelRidge(alpha=0.3, kernel=mercer.RBF(1.0), fit_intercept=True).fit(given, Y)


def test_the_curve_and_its_band_are_the_posterior(ax: Axes) -> None:
    shown = RegressionDisplay.from_estimator(ridge(), X[:, :1], Y, deviations=1.0, ax=ax)
    mean, std = ridge().predict(shown.x[:, None], return_std=True)
    assert np.allclose(shown.line_.get_ydata(), mean)
    assert shown.band_ is not None
    upper = shown.band_.get_paths()[0].vertices
    unit = np.sqrt(ridge().prior_variance_)  # of the target
    assert np.isclose(upper[:, 1].max(), (mean + unit * std).max())
    assert shown.points_ is not None
    assert np.array_equal(shown.points_.get_offsets(), np.column_stack([X[:, 0], Y]))


def test_one_feature_of_several_varies(ax: Axes) -> None:
    machine = ridge(WIDE)
    shown = RegressionDisplay.from_estimator(machine, WIDE, Y, feature=3, ax=ax)
    rows = np.tile(np.median(WIDE, axis=0), (len(shown.x), 1))
    rows[:, 3] = shown.x
    assert np.allclose(shown.curve, machine.predict(rows))
    assert "a slice" in note(ax)
    with pytest.raises(InvalidInput, match="feature=0"):
        RegressionDisplay.from_estimator(machine, WIDE, Y)


def test_support_vector_regression_has_a_tube_and_filled_support_vectors(ax: Axes) -> None:
    machine = mercer.SVR(epsilon=0.3, kernel=mercer.RBF(1.0)).fit(X[:, :1], Y)
    shown = RegressionDisplay.from_estimator(machine, X[:, :1], Y, ax=ax)
    assert shown.band_ is None
    assert np.allclose(shown.tube_[0].get_ydata() - shown.tube_[1].get_ydata(), 0.6)
    assert shown.support is not None
    assert np.flatnonzero(shown.support).tolist() == sorted(machine.support_.tolist())


def test_the_tube_of_a_nu_machine_is_the_one_that_it_found(ax: Axes) -> None:
    machine = mercer.NuSVR(kernel=mercer.RBF(1.0)).fit(X[:, :1], Y)
    shown = RegressionDisplay.from_estimator(machine, X[:, :1], Y, ax=ax)
    inside = np.abs(Y - machine.predict(X[:, :1])) <= shown.tube * (1 + 1e-6)  # type: ignore[operator]
    assert set(np.flatnonzero(~inside)) <= set(machine.support_.tolist())
    assert 0 < inside.sum() < 40


def test_a_smoother_is_a_curve_without_a_band(ax: Axes) -> None:
    shown = RegressionDisplay.from_estimator(mercer.NadarayaWatson().fit(X[:, :1], Y), X[:, :1], Y, ax=ax)
    assert shown.band_ is None
    assert shown.tube_ == []


def test_a_classifier_has_no_curve() -> None:
    with pytest.raises(InvalidInput, match="predicts no numbers"):
        RegressionDisplay.from_estimator(mercer.SVC().fit(X[:, :1], LABELS), X[:, :1])


def test_a_band_of_no_width_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="deviations must be a number above 0"):
        RegressionDisplay.from_estimator(ridge(), X[:, :1], deviations=0.0)


def test_between_precomputed_rows_there_is_nothing_to_draw() -> None:
    K = mercer.RBF(1.0)(X)
    with pytest.raises(InvalidInput, match="knows nothing of the points between"):
        DecisionRegionsDisplay.from_estimator(mercer.SVC(kernel="precomputed").fit(K, LABELS), K, features=(0, 1))
    with pytest.raises(InvalidInput, match="knows nothing of the points between"):
        RegressionDisplay.from_estimator(mercer.KernelRidge(kernel="precomputed").fit(K, Y), K, feature=0)
