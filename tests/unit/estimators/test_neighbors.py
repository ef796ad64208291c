import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from mercer.errors import InvalidInput, InvalidParameter, NotFinite
from mercer.estimators.neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from mercer.kernels import L1, RBF, Cauchy, Delta, Laplacian, Linear, SetIntersection, SquaredEuclidean

LINE = np.arange(6.0)[:, None]


def fitted(kernel=None, n=3, y=None, X=LINE, **more):
    return KernelNeighborsRegressor(n, kernel=kernel or Linear(), **more).fit(X, np.arange(len(X)) if y is None else y)


def test_of_equally_near_points_that_of_the_smaller_index_comes_first():
    model = fitted(X=[[1.0], [-1.0], [1.0], [-1.0]])
    np.testing.assert_array_equal(model.kneighbors([[0.0]])[1], [[0, 1, 2]])


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3), Linear() ** 2 + Linear(), Laplacian()])
def test_a_point_is_not_its_own_neighbour_among_many_duplicates(kernel):
    model = fitted(kernel, X=np.ones((6, 2)) * 0.3)
    distances, index = model.kneighbors()
    np.testing.assert_array_equal(index, [[j for j in range(6) if j != i][:3] for i in range(6)])
    np.testing.assert_allclose(distances, 0.0, atol=1e-7)


def test_far_points_keep_their_order_where_the_kernel_has_become_zero():
    model = fitted(RBF(1e-3))
    distances, index = model.kneighbors([[100.0]])
    np.testing.assert_array_equal(index, [[5, 4, 3]])
    np.testing.assert_allclose(distances, np.sqrt(2.0))


def test_where_all_kernel_weights_are_zero_the_nearest_decides():
    model = fitted(RBF(1e-3), weights="kernel")
    np.testing.assert_array_equal(model.predict([[100.0], [-100.0]]), [5.0, 0.0])


def test_kernel_weights_with_all_neighbours_are_the_smoother_of_nadaraya_and_watson():
    y = np.sin(LINE[:, 0])
    for kernel in (RBF(1.5), Cauchy(2.0) ** 2, RBF().of(SquaredEuclidean() + L1())):
        K = kernel([[1.3]], LINE)
        model = fitted(kernel, 6, y, weights="kernel")
        np.testing.assert_allclose(model.predict([[1.3]]), K @ y / K.sum())


def test_kernel_weights_below_zero_are_refused():
    with pytest.raises(InvalidInput, match="≥ 0"):
        fitted(weights="kernel", X=LINE - 2.0).predict([[0.4]])


def test_sets_strings_and_tables_have_neighbours():
    sets = KernelNeighborsClassifier(1, kernel=SetIntersection()).fit([{1, 2}, {3}, {4, 5}], [0, 1, 2])
    np.testing.assert_array_equal(sets.predict([{1}, {3, 9}]), [0, 1])
    words = KernelNeighborsClassifier(1, kernel=Delta()).fit(["tea", "milk"], [0, 1])
    np.testing.assert_array_equal(words.predict(["milk", "tea"]), [1, 0])
    table = {"age": [20.0, 30.0, 40.0], "job": ["a", "b", "a"]}
    mixed = KernelNeighborsClassifier(1, kernel=RBF(10.0).on("age") + Delta().on("job")).fit(table, [0, 1, 2])
    np.testing.assert_array_equal(mixed.predict({"age": [31.0, 29.0], "job": ["a", "b"]}), [2, 1])


def test_length_scales_per_column_and_columns_by_index_change_who_is_near():
    X, q = [[0.0, 3.0], [2.0, 0.0]], [[0.0, 0.0]]
    assert fitted(RBF([1.0, 1.0]), 1, X=X).kneighbors(q)[1] == 1
    assert fitted(RBF([1.0, 10.0]), 1, X=X).kneighbors(q)[1] == 0
    assert fitted(RBF().on(0), 1, X=X).kneighbors(q)[1] == 0


def test_more_neighbours_than_points_are_refused_in_the_words_of_scikit_learn():
    model = fitted(n=6)
    assert model.kneighbors([[0.0]])[1].shape == (1, 6)
    with pytest.raises(ValueError, match="Expected n_neighbors < n_samples_fit, but n_neighbors = 6"):
        model.kneighbors()
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit, but n_neighbors = 7"):
        model.kneighbors([[0.0]], 7)


def test_wrong_parameters_are_refused():
    many = np.ones(3)
    for wrong in (
        {"n_neighbors": 0}, {"n_neighbors": 1.5}, {"weights": "near"}, {"n_neighbors": True}, {"weights": many}
    ):  # fmt: skip
        with pytest.raises(InvalidParameter):
            KernelNeighborsRegressor(**wrong).fit(LINE, LINE[:, 0])
    model = fitted()
    with pytest.raises(TypeError, match="enter integer value"):
        model.kneighbors([[0.0]], 2.0)
    with pytest.raises(InvalidParameter, match="> 0"):
        model.kneighbors([[0.0]], 0)
    with pytest.raises(InvalidParameter, match="Unsupported mode"):
        model.kneighbors_graph(mode="weights")
    with pytest.raises(InvalidParameter, match="radius"):
        model.radius_neighbors([[0.0]], -1.0)
    with pytest.raises(InvalidParameter, match="return_distance must be True"):
        model.radius_neighbors([[0.0]], 1.0, return_distance=False, sort_results=True)


@pytest.mark.parametrize(
    ("votes", "words"),
    [(lambda d: d * np.nan, "finite numbers"), (lambda d: np.ones_like(d) * [1, -1], "zero weights")],
)
def test_votes_that_make_no_mean_are_refused(votes, words):
    model = KernelNeighborsRegressor(2, weights=votes).fit(LINE, LINE[:, 0])
    with pytest.raises(InvalidInput, match=words):
        model.predict(LINE)


def test_bad_input_is_refused():
    model = fitted()
    wrong = {"NaN": [[np.nan]], "real numbers": [["a"]], "2 features": [[1.0, 2.0]], "2D array": [1.0]}
    for words, X in wrong.items():
        with pytest.raises(ValueError, match=words):
            model.predict(X)
    targets = {"is None": None, "numbers of samples": [1.0, 2.0], "NaN": np.full(6, np.nan), "real": ["a"] * 6}
    for words, y in targets.items():
        with pytest.raises(ValueError, match=words):
            KernelNeighborsRegressor().fit(LINE, y)
    with pytest.raises(ValueError, match="continuous"):
        KernelNeighborsClassifier().fit(LINE, LINE[:, 0] + 0.5)
    with pytest.raises(NotFittedError):
        KernelNeighborsClassifier().kneighbors(LINE)


def test_one_point_and_one_class_are_answered():
    one = KernelNeighborsClassifier(1, kernel="rbf").fit([[2.0]], ["only"])
    assert one.predict([[5.0]]) == ["only"]
    np.testing.assert_array_equal(one.predict_proba([[5.0]]), [[1.0]])
    np.testing.assert_array_equal(fitted(y=np.full(6, 3.0)).predict([[2.2]]), [3.0])


def test_votes_of_a_function_must_be_as_many_as_the_distances_and_not_all_zero():
    with pytest.raises(InvalidInput, match="one number for each"):
        fitted(weights=lambda d: d[:, :1]).predict([[0.2]])
    with pytest.raises(ValueError, match="zero weights"):
        fitted(weights=np.zeros_like).predict([[0.2]])


def test_a_precomputed_kernel_knows_no_distances_of_new_points():
    K = LINE @ LINE.T
    model = KernelNeighborsRegressor(2, kernel="precomputed", weights="kernel").fit(K, LINE[:, 0])
    np.testing.assert_allclose(model.kneighbors()[0], fitted(n=2).kneighbors()[0])
    new = np.array([[2.2]]) @ LINE.T
    np.testing.assert_array_equal(model.kneighbors(new, return_distance=False), [[2, 3]])
    np.testing.assert_allclose(model.predict(new), (2 * 2.2 * 2 + 3 * 2.2 * 3) / (2.2 * 5))
    for ask in (model.kneighbors, model.radius_neighbors):
        with pytest.raises(InvalidInput, match="k\\(x, x\\)"):
            ask(new)
    within = model.radius_neighbors(None, 1.0, return_distance=False)
    np.testing.assert_array_equal(within[2], [1, 3])


def test_the_radius_itself_is_inside():
    model = fitted()
    distances, index = model.radius_neighbors([[2.0], [2.5], [50.0]], 1.0)
    assert [list(row) for row in index] == [[1, 2, 3], [2, 3], []]
    np.testing.assert_array_equal(distances[0], [1.0, 0.0, 1.0])
    _, nearest_first = model.radius_neighbors([[2.0]], 1.0, sort_results=True)
    assert list(nearest_first[0]) == [2, 1, 3]
    rbf = fitted(RBF(2.0))
    reached = rbf.kneighbors([[2.2]])[0][0, -1]
    assert len(rbf.radius_neighbors([[2.2]], reached)[1][0]) == 3
    assert len(rbf.radius_neighbors([[2.2]], 2.0)[1][0]) == 6


def test_a_fitted_model_survives_pickling_and_cloning():
    model = fitted(0.5 * RBF(2.0) + Linear(), weights="distance")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict([[2.3]]), model.predict([[2.3]]))
    assert clone(model).set_params(kernel__length_scale=3.0).kernel == 0.5 * RBF(3.0) + Linear()


def test_without_points_the_training_points_are_predicted_by_the_others():
    np.testing.assert_allclose(fitted(n=2).predict(None), [1.5, 1.0, 2.0, 3.0, 4.0, 3.5])


@pytest.mark.parametrize("scale", [1e-150, 1e-40, 1e40, 1e150])
def test_neighbours_do_not_depend_on_the_scale(scale):
    rng = np.random.default_rng(3)
    X, new = rng.standard_normal((60, 3)), rng.standard_normal((20, 3))
    distances, index = KernelNeighborsRegressor(3, kernel="linear").fit(X, X[:, 0]).kneighbors(new)
    scaled = KernelNeighborsRegressor(3, kernel="linear").fit(scale * X, X[:, 0]).kneighbors(scale * new)
    np.testing.assert_array_equal(scaled[1], index)
    np.testing.assert_allclose(scaled[0], scale * distances, rtol=1e-12)


def test_distances_that_vanish_are_ties_and_those_that_overflow_are_refused():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3))
    found = KernelNeighborsRegressor(3, kernel="linear").fit(1e-200 * X, X[:, 0]).kneighbors(1e-200 * X[:5], 3)
    np.testing.assert_array_equal(found[0], np.zeros((5, 3)))
    np.testing.assert_array_equal(found[1], np.tile([0, 1, 2], (5, 1)))
    for scale in (1e154, 1e200, 1e300):
        model = KernelNeighborsRegressor(3, kernel="linear").fit(scale * X, X[:, 0])
        with pytest.raises(NotFinite):
            model.kneighbors(-scale * X[:5])


@pytest.mark.parametrize("kernel", [Linear(), RBF(), Laplacian()])
@pytest.mark.parametrize("step", [5e-324, 1e-310])
def test_the_smallest_numbers_have_neighbours(kernel, step):
    X = step * np.array([[0.0], [1.0], [2.0], [4.0]])
    distances, index = fitted(kernel, X=X).kneighbors(X)
    np.testing.assert_array_equal(distances, 0.0)  # their squares, and what they take from exp, are below all numbers
    expected = [[0, 1, 2]] * 4 if kernel != Laplacian() else [[0, 1, 2], [1, 0, 2], [2, 1, 0], [3, 2, 1]]
    np.testing.assert_array_equal(index, expected)


def test_one_far_point_does_not_hide_the_others():
    X = np.vstack([np.arange(9.0)[:, None], [[1e300]]])
    model = KernelNeighborsRegressor(3, kernel="linear").fit(X, X[:, 0])
    np.testing.assert_array_equal(model.kneighbors([[4.2], [0.0]])[1], [[4, 5, 3], [0, 1, 2]])
    alone = KernelNeighborsRegressor(1, kernel="linear").fit(X, X[:, 0])
    np.testing.assert_array_equal(alone.kneighbors([[1e300]])[1], [[9]])


@pytest.mark.parametrize("kernel", [Linear(), RBF(), 3.0 * Linear() + 1.0, (Linear() + 1.0) ** 2])
@pytest.mark.parametrize("scale", [1e-160, 1.0, 8.0])
def test_a_radius_that_is_a_distance_reaches_all_that_are_no_farther(kernel, scale):
    X = scale * np.random.default_rng(0).normal(size=(40, 3))
    model = fitted(kernel, 7, X=X)
    distances, index = model.kneighbors(X)
    for row in range(len(X)):
        reached = model.radius_neighbors(X[row, None], distances[row, -1])[1][0]
        assert set(index[row]) <= set(reached)


def test_any_finite_radius_is_a_radius():
    for kernel in (Linear(), RBF(), (Linear() + 1.0) ** 2):
        assert len(fitted(kernel).radius_neighbors([[2.0]], 1e300)[1][0]) == 6
