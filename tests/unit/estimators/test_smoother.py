import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict, cross_val_score

from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, NotPositive
from mercer.estimators.smoother import NadarayaWatson, NadarayaWatsonClassifier
from mercer.kernels import (
    L1,
    RBF,
    Cosine,
    Delta,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polarised,
    RationalQuadratic,
    SetIntersection,
    SquaredEuclidean,
    Tanimoto,
)
from mercer.kernels.windows import TABLE, Window
from mercer.models.bandwidth import FormulaWeights

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
y = np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(80)


def test_named_kernels_have_the_bandwidth_as_their_length_scale():
    assert NadarayaWatson(0.3).fit(X, y).binding_.kernel == RBF(0.3)
    assert NadarayaWatson(0.3, kernel="laplacian").fit(X, y).binding_.kernel == Laplacian(0.3)
    assert NadarayaWatson(kernel=RBF("median")).fit(X, y).binding_.kernel == RBF("median").resolve(X)


def test_a_formula_without_length_scales_has_no_bandwidth():
    sets, target = [{"a"}, {"a", "b"}, {"c"}], [1.0, 2.0, 5.0]
    kernel = Tanimoto(SetIntersection())
    model = NadarayaWatson(kernel=kernel).fit(sets, target)
    np.testing.assert_allclose(model.predict([{"b"}, {"c"}]), [2.0, 5.0])
    for bandwidth in (2.0, "loo"):
        with pytest.raises(InvalidParameter, match="has none"):
            NadarayaWatson(bandwidth, kernel=kernel).fit(sets, target)


@pytest.mark.parametrize(
    ("kernel", "part"),
    [
        (Linear(), "Linear(), by rule 1"),
        ("linear", "Linear(), by rule 1"),
        ("cosine", "Cosine(), by rule 1"),
        ("poly", "Polynomial(3), by rule 1"),
        (RBF() + Cosine(), "Cosine(), by rule 1"),
        ("sigmoid", "by rule assumed"),
        (lambda x, z: 1.0, "nothing is derived from a claim"),
        (RBF().scaled_by(len), "change its sign"),
    ],
)
def test_a_kernel_that_may_be_negative_is_refused_at_its_smallest_part(kernel, part):
    with pytest.raises(NotPositive, match="cannot weight a mean") as refusal:
        NadarayaWatson(kernel=kernel).fit(X, y)
    assert part in str(refusal.value)
    assert "not a disproof" in str(refusal.value)


def test_what_a_refusal_proposes_is_accepted():
    for kernel in (Linear() ** 2, Linear().exp(), Cosine() ** 2, Linear() * Linear()):
        NadarayaWatson(kernel=kernel).fit(X, y).predict(X)


def test_windows_are_no_kernels_and_a_grid_of_points_refutes_each():
    points = np.linspace(0.0, 3.0, 40)[:, None]
    for name in TABLE:
        window = Window(name)
        assert not isinstance(window, Kernel)
        with pytest.raises(NotPositive, match="not a kernel"):
            window.proof()
        values = NadarayaWatson(kernel=window).fit(points, points[:, 0]).binding_.self_cross().dense()
        assert np.linalg.eigvalsh(values)[0] < -1e-3


def test_a_window_of_any_distance():
    x = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    model = NadarayaWatson(1.4, kernel=Window("uniform", L1())).fit(x, [1.0, 3.0, 9.0])
    np.testing.assert_allclose(model.predict([[0.0, 0.0]]), [1.0])  # √2 is the root of the next city-block distance
    model = NadarayaWatson(1.5, kernel=Window("uniform", L1())).fit(x, [1.0, 3.0, 9.0])
    np.testing.assert_allclose(model.predict([[0.0, 0.0]]), [2.0])
    sets = NadarayaWatson(1.1, kernel=Window("uniform", Polarised(SetIntersection())))
    np.testing.assert_allclose(sets.fit([{1}, {1, 2}, {7, 8, 9}], [1.0, 2.0, 9.0]).predict([{1}]), [1.5])


def test_windows_vanish_at_the_bandwidth_itself():
    for name in TABLE:
        model = NadarayaWatson(1.0, kernel=name).fit([[0.0], [1.0], [2.0]], [0.0, 10.0, 20.0])
        np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [0.0, 10.0])


def test_without_support_the_nearest_point_predicts_and_ties_go_to_the_first():
    model = NadarayaWatson(0.5, kernel="epanechnikov").fit([[-2.0], [0.0], [2.0]], [1.0, 2.0, 3.0])
    new = [[-1.9], [0.9], [1.0], [1.1], [100.0]]
    np.testing.assert_array_equal(model.has_support(new), [True, False, False, False, False])
    np.testing.assert_array_equal(model.predict(new), [1.0, 2.0, 2.0, 3.0, 3.0])
    np.testing.assert_array_equal(np.isinf(model.predict(new, return_std=True)[1]), True)


def test_points_without_weight_are_never_the_nearest():
    model = NadarayaWatson(1e-3).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0], sample_weight=[1.0, 0.0, 1.0])
    np.testing.assert_array_equal(model.predict([[1.1], [0.9]]), [3.0, 1.0])
    np.testing.assert_allclose(model.leave_one_out(), [3.0, 1.0, 1.0])


def test_kernels_that_underflow_hand_over_to_the_nearest_point():
    x = np.arange(5.0)[:, None]
    for kernel in (RBF(), RBF() + Matern(1.5), RBF() * RBF(2.0), 3.0 * RBF([1.0]), RBF().of(SquaredEuclidean())):
        model = NadarayaWatson(1e-4, kernel=kernel).fit(x, x[:, 0])
        assert not model.has_support([[1.6]])[0]
        np.testing.assert_allclose(model.predict([[1.6], [2.4]]), 2.0)


def test_leave_one_out_chooses_as_scikit_learn_would_by_refitting():
    grid = np.geomspace(0.05, 5.0, 12)
    model = NadarayaWatson("loo", bandwidths=grid).fit(X, y)
    errors = [mean_squared_error(y, cross_val_predict(NadarayaWatson(h), X, y, cv=LeaveOneOut())) for h in grid]
    np.testing.assert_allclose(-model.loo_scores_, errors, rtol=1e-9)
    assert model.bandwidth_ == grid[np.argmin(errors)]
    assert model.loo_score_ == model.loo_scores_.max()
    np.testing.assert_allclose(np.mean((y - model.leave_one_out()) ** 2), -model.loo_score_)
    assert NadarayaWatson("loo").fit(X, y).loo_score_ >= model.loo_score_ * 1.1


def test_the_default_grid_is_refined_around_its_best():
    model = NadarayaWatson("loo").fit(X, y)
    assert len(model.bandwidths_) == len(model.loo_scores_) == 11
    assert (np.diff(model.bandwidths_) > 0.0).all()
    at = int(np.flatnonzero(model.bandwidths_ == model.bandwidth_)[0])
    assert model.loo_scores_[at] == model.loo_score_ == model.loo_scores_.max()
    ratios = model.bandwidths_[at : at + 2] / model.bandwidths_[at - 1 : at + 1]
    assert ratios.max() < 4.0, "new widths lie on both sides, or all on the side of the best"
    fine = NadarayaWatson("loo", bandwidths=np.geomspace(*(model.bandwidth_ * np.array([0.25, 4.0])), 200)).fit(X, y)
    assert model.loo_score_ >= 1.01 * fine.loo_score_
    assert model.bandwidth_ == pytest.approx(fine.bandwidth_, rel=0.1)


@pytest.mark.parametrize(
    ("kernel", "doublings"),
    [
        (RBF(0.7), 4),
        (RBF([0.5, 2.0]), 4),
        (RBF().on(0) * RBF(2.0).on(1), 4),
        (Laplacian(), 2),
        (RBF() * Laplacian(), 0),
        (3.0 * RBF(), 0),
        (RBF() + Laplacian(), 0),
        (Matern(1.5), 0),
    ],
)
def test_widths_that_share_a_walk_score_as_each_alone(kernel, doublings):
    assert FormulaWeights(kernel.resolve(X)).doublings() == doublings
    model = NadarayaWatson("loo", kernel=kernel).fit(X, y)
    alone = NadarayaWatson("loo", kernel=kernel, bandwidths=model.bandwidths_).fit(X, y)
    np.testing.assert_allclose(model.loo_scores_, alone.loo_scores_, rtol=1e-10)
    assert model.bandwidth_ == alone.bandwidth_
    np.testing.assert_array_equal(model.predict(X + 0.1), alone.predict(X + 0.1))


def test_equal_scores_choose_the_widest():
    for bandwidths in ([0.1, 1.0], [1.0, 0.1]):
        assert NadarayaWatson("loo", bandwidths=bandwidths).fit(X, np.full(80, 3.0)).bandwidth_ == 1.0


def test_a_constant_stays_what_it_is():
    model = NadarayaWatson(0.3).fit(X, np.full(80, 0.1))
    mean, std = model.predict(X + 0.1, return_std=True)
    np.testing.assert_array_equal(mean, 0.1)
    assert set(np.unique(std)) <= {0.0, np.inf}


def test_large_offsets_and_scales_cost_no_digits():
    plain = NadarayaWatson(0.5).fit(X, y).predict(X)
    np.testing.assert_allclose(NadarayaWatson(0.5).fit(X, y + 1e8).predict(X) - 1e8, plain, atol=1e-7)
    np.testing.assert_allclose(NadarayaWatson(0.5).fit(X, y * 1e200).predict(X) / 1e200, plain, rtol=1e-9)
    weight = np.full(80, 1e-200)
    np.testing.assert_allclose(NadarayaWatson(0.5).fit(X, y, weight).predict(X), plain, rtol=1e-9)


def test_targets_of_several_columns_are_those_of_each():
    Y = np.column_stack([y, y**2])
    both = NadarayaWatson(0.5).fit(X, Y)
    for column in range(2):
        alone = NadarayaWatson(0.5).fit(X, Y[:, column])
        np.testing.assert_allclose(both.predict(X)[:, column], alone.predict(X), rtol=1e-9, atol=1e-12)
        std = alone.predict(X, return_std=True)[1]
        np.testing.assert_allclose(both.predict(X, return_std=True)[1][:, column], std, rtol=1e-6)
    assert NadarayaWatson("loo").fit(X, Y).leave_one_out().shape == (80, 2)


def test_standard_errors_cover_a_constant_mean_as_they_should():
    rng = np.random.default_rng(2)
    x = np.linspace(0.0, 1.0, 50)[:, None]
    scores = []
    for _ in range(400):
        noise = rng.standard_normal(50)
        mean, std = NadarayaWatson(0.1, kernel="epanechnikov").fit(x, noise).predict([[0.5]], return_std=True)
        scores.append(mean[0] / std[0])
    assert 0.9 < np.std(scores) < 1.25  # Student's t of a few degrees of freedom
    assert 0.90 < np.mean(np.abs(scores) < 2.0) < 0.98


def test_duplicates_one_point_and_one_row():
    same = np.zeros((4, 2))
    assert NadarayaWatson(0.5).fit(same, [1.0, 2.0, 3.0, 6.0]).predict([[0.0, 0.0]])[0] == pytest.approx(3.0)
    assert NadarayaWatson("loo").fit(same, [1.0, 2.0, 3.0, 6.0]).bandwidth_ == 1.0
    model = NadarayaWatson().fit([[1.0]], [2.0])
    np.testing.assert_array_equal(model.predict([[5.0], [1e9]]), 2.0)
    np.testing.assert_array_equal(model.predict([[5.0]], return_std=True)[1], np.inf)
    with pytest.raises(InvalidInput, match="n_samples = 1"):
        NadarayaWatson("loo").fit([[1.0]], [2.0])
    with pytest.raises(InvalidInput, match="two rows"):
        NadarayaWatson("loo").fit(X, y, sample_weight=np.eye(80)[0])


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf, "wide", None, True, [1.0]])
def test_a_bandwidth_is_a_positive_number_or_loo(bandwidth):
    with pytest.raises(InvalidParameter, match="bandwidth must be a number > 0"):
        NadarayaWatson(bandwidth).fit(X, y)


@pytest.mark.parametrize("bandwidths", [[], [0.0, 1.0], "many", [[1.0]], [np.nan]])
def test_a_grid_is_of_positive_numbers(bandwidths):
    with pytest.raises(InvalidParameter, match="bandwidths must be numbers > 0"):
        NadarayaWatson("loo", bandwidths=bandwidths).fit(X, y)


def test_what_is_not_a_kernel_is_refused():
    with pytest.raises(InvalidParameter, match="kernel or a window"):
        NadarayaWatson(kernel="gauss").fit(X, y)
    with pytest.raises(InvalidParameter):
        NadarayaWatson(kernel=3).fit(X, y)
    with pytest.raises(InvalidParameter, match="not its class"):
        NadarayaWatson(kernel=RBF).fit(X, y)
    with pytest.raises(InvalidParameter, match="name of a window"):
        Window("gauss")
    for width in (0.0, -1.0, np.nan, "wide"):
        with pytest.raises(InvalidParameter, match="bandwidth of Window must be"):
            Window("uniform", bandwidth=width)
    with pytest.raises(InvalidParameter, match="must be a distance"):
        Window("uniform", RBF())
    with pytest.raises(DomainMismatch):
        NadarayaWatson().fit([{"a"}, {"b"}], [1.0, 2.0])
    with pytest.raises(InvalidInput, match="NaN"):
        NadarayaWatson().fit([[np.nan], [1.0]], [1.0, 2.0])


def test_precomputed_weights_are_looked_at():
    K = RBF(0.5)(X)
    model = NadarayaWatson(kernel="precomputed").fit(K, y)
    plain = NadarayaWatson(0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(K[:9]), plain.predict(X[:9]), rtol=1e-9)
    np.testing.assert_allclose(model.predict(K[:9], return_std=True)[1], plain.predict(X[:9], return_std=True)[1])
    np.testing.assert_allclose(model.leave_one_out(), plain.leave_one_out(), rtol=1e-9)
    np.testing.assert_array_equal(model.has_support(np.zeros((1, 80))), False)
    assert model.predict(np.zeros((1, 80)))[0] == y[0]
    with pytest.raises(InvalidInput, match=r"X\[1, 2\] is -1"):
        NadarayaWatson(kernel="precomputed").fit([[1.0, 0, 0], [0, 1, -1.0], [0, -1.0, 1]], [1.0, 2.0, 3.0])
    with pytest.raises(InvalidInput, match="Negative values"):
        model.predict(-K[:2])
    scores = cross_val_score(model, K, y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(NadarayaWatson(0.5), X, y, cv=3))


def test_tables_and_sparse_rows():
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    target = y + 3.0 * (frame["colour"] == "red")
    kernel = RBF().on("size") * Delta().on("colour")
    model = NadarayaWatson("loo", kernel=kernel).fit(frame, target)
    assert model.score(frame, target) > 0.9
    far = pd.DataFrame({"size": [1e6], "colour": ["red"]})
    assert not model.has_support(far)[0]
    assert np.isfinite(model.predict(far)).all()
    sparse = NadarayaWatson(0.5).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), NadarayaWatson(0.5).fit(X, y).predict(X), rtol=1e-9)


def test_pickles_clones_and_grid_searches():
    model = NadarayaWatson("loo", kernel=Window("tricube", L1())).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).kernel == Window("tricube", L1())
    grid = {"bandwidth": [0.1, 0.5, 5.0], "kernel": ["rbf", "tricube", RationalQuadratic()]}
    assert GridSearchCV(NadarayaWatson(), grid, cv=3).fit(X, y).best_params_["bandwidth"] != 5.0
    replaced = NadarayaWatson(kernel=RBF()).set_params(kernel__length_scale=2.0)
    assert replaced.kernel == RBF(2.0)


def test_memory_is_that_of_tiles():
    rng = np.random.default_rng(1)
    wide, target = rng.standard_normal((6000, 3)), rng.standard_normal(6000)
    model = NadarayaWatson(0.3).fit(wide, target)
    tracemalloc.start()
    model.predict(wide, return_std=True)
    model.leave_one_out()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # the matrix would have 288 MB


def test_classes_by_votes():
    data, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[labels]
    model = NadarayaWatsonClassifier("loo").fit(data, names)
    share = model.predict_proba(data)
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(data), model.classes_[share.argmax(axis=1)])
    assert np.mean(model.classes_[model.leave_one_out().argmax(axis=1)] == names) > 0.94
    own = (names[:, None] == model.classes_[None]).astype(float)
    brier = ((own - model.leave_one_out()) ** 2).sum(axis=1).mean()
    assert -model.loo_score_ == pytest.approx(brier)
    far = model.predict_proba(data + 1e6)
    np.testing.assert_array_equal(np.sort(far, axis=1)[:, -1], 1.0)


def test_votes_are_regression_on_indicators():
    labels = (y > 0).astype(int) + (y > 0.5)
    share = NadarayaWatsonClassifier(0.4).fit(X, labels, np.arange(80.0)).predict_proba(X)
    own = (labels[:, None] == np.arange(3)).astype(float)
    np.testing.assert_allclose(share, NadarayaWatson(0.4).fit(X, own, np.arange(80.0)).predict(X), atol=1e-12)


def test_bad_labels():
    with pytest.raises(ValueError, match="Unknown label type"):
        NadarayaWatsonClassifier().fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NadarayaWatsonClassifier().fit(X, [0, 1])
    with pytest.raises(InvalidInput, match="y is None"):
        NadarayaWatsonClassifier().fit(X, None)
    with pytest.raises(ValueError, match="1d"):
        NadarayaWatsonClassifier().fit(X, np.ones((80, 2), dtype=int))
    one = NadarayaWatsonClassifier().fit(X, np.full(80, "only"))
    np.testing.assert_array_equal(one.predict_proba(X), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NadarayaWatson(1e-3).fit(X, y).predict(X, return_std=True)
