"""Predictions, probabilities and influences."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots import CalibrationDisplay, ConfusionDisplay, InfluenceDisplay, PredictionDisplay


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(6, 5)).subplots()


RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
Y = X[:, 0] + 0.3 * RNG.standard_normal(40)
LABELS = np.where(Y > 0, "up", "down")


def ridge(**rest: object) -> mercer.KernelRidge:
    return mercer.KernelRidge(alpha=0.3, kernel=mercer.RBF(1.0), **rest).fit(X, Y)  # type: ignore[arg-type]


def test_predictions_are_drawn_over_the_truth(ax: Axes) -> None:
    machine = ridge()
    shown = PredictionDisplay.from_estimator(machine, X, Y, ax=ax)
    assert np.array_equal(shown.points_.get_offsets(), np.column_stack([Y, machine.predict(X)]))
    assert shown.r2 == pytest.approx(machine.score(X, Y))


def test_error_bars_are_two_posterior_deviations(ax: Axes) -> None:
    machine = ridge()
    mean, std = machine.predict(X, return_std=True)
    shown = PredictionDisplay.from_estimator(machine, X, Y, ax=ax)
    assert shown.bars_ is not None
    drawn = np.array([path.vertices[:, 1] for path in shown.bars_.get_paths()])
    half = 2 * np.sqrt(machine.prior_variance_) * std
    assert np.allclose(drawn, np.column_stack([mean - half, mean + half]))


def test_error_bars_follow_the_unit_of_the_target(ax: Axes) -> None:
    in_metres = PredictionDisplay.from_estimator(ridge(), X, Y, ax=ax).std
    machine = mercer.KernelRidge(alpha=0.3, kernel=mercer.RBF(1.0)).fit(X, 1000.0 * Y)
    in_millimetres = PredictionDisplay.from_estimator(machine, X, 1000.0 * Y, ax=ax).std
    assert in_metres is not None
    assert in_millimetres is not None
    assert np.allclose(in_millimetres, 1000.0 * in_metres)


def test_any_regressor_is_drawn_without_bars(ax: Axes) -> None:
    assert PredictionDisplay.from_estimator(LinearRegression().fit(X, Y), X, Y, ax=ax).bars_ is None


def test_one_of_several_targets_is_drawn(ax: Axes) -> None:
    machine = mercer.KernelRidge(kernel="rbf").fit(X, np.column_stack([Y, -Y]))
    shown = PredictionDisplay.from_estimator(machine, X, np.column_stack([Y, -Y]), target=1, ax=ax)
    assert np.array_equal(shown.y_true, -Y)
    with pytest.raises(InvalidInput, match="target must be from 0 to 1"):
        PredictionDisplay.from_estimator(machine, X, np.column_stack([Y, -Y]), target=2)


def test_all_rows_count_where_only_some_are_drawn(ax: Axes) -> None:
    truth = np.arange(100_000.0)
    shown = PredictionDisplay.from_predictions(truth, truth + 1.0, ax=ax)
    assert len(shown.points_.get_offsets()) == 3_000
    assert shown.rmse == 1.0
    assert "3\u202f000 of 100\u202f000 rows shown" in ax.texts[0].get_text().replace("\n", " ")


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (([1.0, np.nan], [1.0, 2.0]), r"y_true\[1\] is nan"),
        (([1.0, 2.0], [1.0]), "y_pred must have one entry"),
        ((["a"], [1.0]), "y_true must hold numbers"),
        (([], []), "one number for each row"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(pair: tuple[object, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        PredictionDisplay.from_predictions(*pair)


def test_confusions_are_counted_and_coloured_by_their_share(ax: Axes) -> None:
    shown = ConfusionDisplay.from_predictions(["a", "a", "a", "b"], ["a", "a", "b", "b"], ax=ax)
    assert [text.get_text() for text in shown.texts_] == ["2", "1", "0", "1"]
    assert np.allclose(shown.image_.get_array(), [[2 / 3, 1 / 3], [0, 1]])
    assert shown.accuracy == 0.75


def test_a_table_of_many_classes_has_no_numbers(ax: Axes) -> None:
    labels = np.arange(40)
    assert ConfusionDisplay.from_predictions(labels, labels, ax=ax).texts_ == []


def test_one_class_alone_is_a_table_of_one_cell(ax: Axes) -> None:
    assert ConfusionDisplay.from_predictions(["a"], ["a"], ax=ax).counts.tolist() == [[1]]


def test_a_perfect_forecast_lies_on_the_diagonal(ax: Axes) -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(size=40_000)
    shown = CalibrationDisplay.from_predictions(rng.uniform(size=40_000) < p, p, ax=ax)
    assert np.abs(shown.line_.get_ydata() - shown.line_.get_xdata()).max() < 0.03
    assert shown.error < 0.02
    assert shown.sizes.sum() == 40_000


def test_bars_count_the_rows_of_the_bins(ax: Axes) -> None:
    shown = CalibrationDisplay.from_predictions([0, 1, 1, 1], [0.1, 0.9, 0.9, 0.9], ax=ax)
    heights = [bar.get_height() for bar in shown.counts_]
    assert heights[1] == pytest.approx(3 * heights[0])
    assert [bar.get_x() for bar in shown.counts_] == pytest.approx([0.1, 0.9])


def test_intervals_hold_the_share_and_are_those_of_wilson(ax: Axes) -> None:
    shown = CalibrationDisplay.from_predictions([0] * 5 + [1] * 5, [0.55] * 10, ax=ax)
    assert (shown.low[0], shown.high[0]) == pytest.approx((0.2366, 0.7634), abs=1e-4)  # 5 of 10, as tables have it
    assert np.array_equal(shown.intervals_.get_paths()[0].vertices[:, 1], [shown.low[0], shown.high[0]])


def test_of_many_classes_the_predicted_one_is_looked_at(ax: Axes) -> None:
    labels = np.repeat(["a", "b", "c"], 10)
    model = DummyClassifier().fit(np.zeros((30, 1)), labels)
    shown = CalibrationDisplay.from_estimator(model, np.zeros((30, 1)), labels, ax=ax)
    assert shown.predicted == pytest.approx([1 / 3])
    assert shown.observed == pytest.approx([1 / 3])
    only = CalibrationDisplay.from_estimator(model, np.zeros((30, 1)), labels, label="c", ax=Figure().subplots())
    assert only.is_so.sum() == 10


@pytest.mark.parametrize(
    ("labels", "p", "said"),
    [
        ([1, 1], [0.2, 0.3], "rows inside and outside the class"),
        ([0, 1], [0.2, 1.3], "between 0 and 1"),
        ([0, 1], [0.2, np.nan], r"probability\[1\] is nan"),
    ],
)
def test_probabilities_that_do_not_fit_are_refused(labels: list[int], p: list[float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        CalibrationDisplay.from_predictions(labels, p)


def test_a_classifier_without_probabilities_is_refused() -> None:
    with pytest.raises(InvalidInput, match="SVC has no predict_proba"):
        CalibrationDisplay.from_estimator(mercer.SVC().fit(X, LABELS), X, LABELS)


def test_the_largest_coefficients_are_drawn_largest_first(ax: Axes) -> None:
    machine = make_pipeline(StandardScaler(), mercer.SVC(C=1.0)).fit(X, LABELS)
    shown = InfluenceDisplay.from_estimator(machine, most=5, ax=ax)
    drawn = [bar.get_width() for bar in shown.bars_]
    dual = np.abs(machine[-1].dual_coef_[0])
    assert drawn == pytest.approx(np.sort(dual)[::-1][:5])
    assert shown.rows.tolist() == machine[-1].support_.tolist()
    hatched = [bar.get_hatch() == "////" for bar in shown.bars_]
    assert hatched == np.isin(shown.rows[shown.top], machine[-1].bounded_support_).tolist()


def test_influence_by_leaving_out_is_what_refitting_finds(ax: Axes) -> None:
    machine = ridge(fit_intercept=True)
    shown = InfluenceDisplay.from_estimator(machine, measure="leave-one-out", ax=ax)
    f = machine.predict(X)
    for row in (0, 7, 39):
        kept = np.delete(np.arange(40), row)
        without = mercer.KernelRidge(alpha=0.3, kernel=mercer.RBF(1.0), fit_intercept=True).fit(X[kept], Y[kept])
        assert shown.values[row] == pytest.approx(f[row] - without.predict(X[[row]])[0], abs=1e-9)


def test_rows_are_called_by_their_names(ax: Axes) -> None:
    InfluenceDisplay.from_values([1.0, 3.0], names=["Ann", "Bo"], ax=ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Bo", "Ann"]


def test_what_has_no_influence_to_draw_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has no coefficients"):
        InfluenceDisplay.from_estimator(mercer.NadarayaWatson().fit(X, Y))
    with pytest.raises(InvalidInput, match="has no formula for leave-one-out"):
        InfluenceDisplay.from_estimator(mercer.SVC().fit(X, LABELS), measure="leave-one-out")
    with pytest.raises(InvalidParameter, match="measure must be one of"):
        InfluenceDisplay.from_estimator(ridge(), measure="cook")
    with pytest.raises(InvalidInput, match="not a kernel machine of mercer"):
        InfluenceDisplay.from_estimator(LinearRegression().fit(X, Y))
