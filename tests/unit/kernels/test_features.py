"""Explicit feature maps: sizes, refusals and the cases that no random tree reaches."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import kernels as mk
from mercer import maps as mm
from mercer.errors import InvalidInput, InvalidParameter, NoFiniteMap, NotFinite, TooLarge
from mercer.points import Objects

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 3))
Z = RNG.normal(size=(4, 3))


def assert_reproduces(kernel, X, Z):
    phi = kernel.feature_map(X)
    np.testing.assert_allclose(phi(Z) @ phi(X).T, kernel(Z, X), rtol=1e-10, atol=1e-10)
    return phi


@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        (mk.Linear(), 3),
        (mk.Constant(2.0), 1),
        (mk.Cosine(), 3),
        (mk.Quadratic(np.diag([1.0, 0.0, 2.0])), 2),
        (mk.Polynomial(4), math.comb(7, 4)),
        (mk.Polynomial(4, offset=0.0), math.comb(6, 4)),
        (mk.Polynomial(0), 1),
        (mk.Linear() * mk.Linear(), 6),
        (mk.Linear() * mk.Cosine(), 9),
        (mk.Linear() + 2.0 * mk.Linear().on(0, 1) + 1.0, 6),
        (mk.Linear().on(0) * mk.Linear().on(1, 2), 2),
        (mk.polynomial(mk.Linear(), [1.0, 0.0, 3.0]), 7),
        (mk.polynomial(mk.Linear(), [0.0, 0.0]), 0),
        (mk.Linear().on(mm.Torus(2.0)) ** 2, 21),
        ((mk.Linear() + 1.0).normalised(), 4),
    ],
)
def test_the_number_of_features_is_known_from_the_width(kernel, size):
    assert kernel.n_features(3) == size
    assert assert_reproduces(kernel, X, Z).n_features == size


def test_repeated_values_have_one_feature():
    colours = Objects(["red", "blue", "red", "green"])
    phi = assert_reproduces(mk.Delta(), colours, Objects(["blue", "black"]))
    assert phi.n_features == 3
    np.testing.assert_array_equal(phi(Objects(["black"])), [[0.0, 0.0, 0.0]])


def test_items_that_are_new_have_no_feature_and_still_count_in_the_norm():
    phi = mk.SetIntersection().normalised().feature_map([{"a", "b"}, {"b"}])
    np.testing.assert_allclose(phi([{"a", "new"}]), [[math.sqrt(0.5), 0.0]])


def test_unit_indicators_keep_room_for_new_items():
    kernel = mk.Linear().on(mm.UnitRows()).on(mm.Indicator())
    assert_reproduces(kernel, [{"a", "b"}, {"b"}, set()], [{"a", "new"}, {"new"}])


def test_sets_without_any_item_have_no_features():
    phi = mk.SetIntersection().feature_map([set(), set()])
    assert phi([{"a"}]).shape == (1, 0)
    assert (1.0 + mk.SetIntersection()).feature_map([set()])([set()]).tolist() == [[1.0]]


def test_sparse_rows_have_dense_features():
    rows = sp.random_array((6, 5), density=0.4, rng=RNG, format="csr")
    phi = assert_reproduces(mk.Polynomial(2), rows, rows)
    assert isinstance(phi(rows), np.ndarray)


def test_columns_of_a_table_are_mapped_by_name():
    table = {"age": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]}
    assert_reproduces(mk.Linear().on("age") * mk.Delta().on("colour") + 1.0, table, table)


def test_single_precision_points_have_double_precision_features():
    assert mk.Polynomial(2).feature_map(X)(X.astype(np.float32)).dtype == np.float64


def test_many_points_are_mapped_in_blocks():
    points = RNG.normal(size=(3000, 6))
    phi = mk.Polynomial(5).feature_map(points)
    assert len(points) * phi.n_features > 1 << 20
    np.testing.assert_array_equal(phi(points)[[0, 2500]], phi(points[[0, 2500]]))


def test_rules_for_parameters_are_resolved_on_the_points_of_the_fit():
    kernel = mk.Polynomial(2, gamma="scale")
    phi = kernel.feature_map(X)
    np.testing.assert_allclose(phi(Z) @ phi(X).T, kernel.resolve(X)(Z, X), rtol=1e-12)


def test_a_map_reads_what_it_is_and_survives_pickling():
    phi = pickle.loads(pickle.dumps((mk.Delta() + mk.Linear()).feature_map(X)))
    assert repr(phi) == "FeatureMap(Delta() + Linear(), 10 features)"
    assert phi(Z).shape == (4, 10)


@pytest.mark.parametrize(
    ("kernel", "part", "rule"),
    [
        (mk.RBF(2.0), "(0.25 * Linear()).exp()", "rule 7 (exponential)"),
        (mk.Linear() * (1 + mk.Linear().exp().exp()), "Linear().exp()", "rule 7 (exponential)"),
        (mk.Tanimoto(), "InverseSum(Linear())", "rule inverse-sum"),
        (mk.Matern(1.5).normalised(), "Matern(1.5).of(SquaredEuclidean())", "rule schoenberg"),
        (mk.ArcCosine(1), "PowerSeries(Cosine(), 'arccosine1')", "rule power-series"),
        (mk.ChiSquared() ** 2, "ChiSquared()", "rule chi-squared"),
        (mk.HistogramIntersection(), "HistogramIntersection()", "rule minimum"),
        (mk.Sigmoid(), "Sigmoid()", "rule assumed"),
    ],
)
def test_the_smallest_part_without_a_finite_map_is_named(kernel, part, rule):
    with pytest.raises(NoFiniteMap) as found:
        kernel.feature_map(np.abs(X))
    assert f"{part} is made by {rule}: " in str(found.value)
    with pytest.raises(NoFiniteMap):
        kernel.n_features(3)


@pytest.mark.parametrize(
    "kernel", [mk.Delta() + mk.Linear(), mk.SetIntersection(), mk.Linear().on(lambda rows: rows), mk.Delta().on(0)]
)
def test_what_the_data_decides_is_not_known_from_the_width(kernel):
    with pytest.raises(InvalidInput, match=r"(?s)does not depend on the width alone.*feature_map\(X\).n_features"):
        kernel.n_features(3)


@pytest.mark.parametrize("width", [0, -1, 2.5, "3"])
def test_a_width_is_a_positive_integer(width):
    with pytest.raises(InvalidParameter, match="width of n_features must be an integer ≥ 1"):
        mk.Linear().n_features(width)


@pytest.mark.parametrize("order", [-1, 1.5, "2"])
def test_an_order_is_an_integer_that_is_not_negative(order):
    with pytest.raises(InvalidParameter, match="order of feature_map must be an integer ≥ 0"):
        mk.RBF().feature_map(X, order=order)


def test_more_features_than_fit_are_refused_before_they_are_made():
    with pytest.raises(TooLarge, match=r"(?s)One point in the \d+ features of Polynomial\(60\) would take .*TB"):
        mk.Polynomial(60).feature_map(np.ones((2, 100)))
    phi = mk.Polynomial(6).feature_map(np.ones((2, 40)))
    with pytest.raises(TooLarge, match=r"(?s)20000 points in the 9366819 features of .* would take 1.4 TB"):
        phi(np.ones((20_000, 40)))


def test_points_of_another_width_are_refused():
    with pytest.raises(InvalidInput, match="Z has 2 features, but Polynomial is expecting 3 features as input"):
        mk.Polynomial(2).feature_map(X)(Z[:, :2])


def test_features_that_overflow_name_the_row():
    phi = mk.Polynomial(4).feature_map(X)
    with pytest.raises(NotFinite, match="not finite at row 1"):
        phi(np.array([[1.0, 1.0, 1.0], [1e100, 1.0, 1.0]]))


@pytest.mark.parametrize(
    "kernel",
    [
        mk.RBF(1.5),
        mk.RBF([1.0, 2.0, 3.0]),
        mk.Periodic(2.0, 5.0),
        mk.RBF(2.0) * mk.Linear() + mk.RBF() ** 2,
        mk.RBF(2.0).normalised().exp(),
        mk.RBF(2.0) ** 0.5,
        mk.Cosine().exp(),
    ],
)
def test_the_error_of_the_order_falls_below_its_bound_and_towards_rounding(kernel):
    K, bounds = kernel(X), []
    for order in range(5):
        phi = kernel.feature_map(X, order=order)
        error = np.abs(phi(X) @ phi(X).T - K).max()
        assert error == pytest.approx(phi.error_bound, rel=1e-6, abs=1e-12)  # attained on the diagonal
        bounds.append(phi.error_bound)
    assert all(later < earlier for earlier, later in pairwise(bounds))
    assert bounds[-1] > 0.0


def test_the_order_changes_nothing_where_there_is_no_exponential():
    phi = mk.Polynomial(2).feature_map(X, order=1)
    assert phi.error_bound == 0.0
    np.testing.assert_array_equal(phi(X), mk.Polynomial(2).feature_map(X)(X))


def test_the_order_cuts_exponentials_off_and_nothing_else():
    with pytest.raises(NoFiniteMap, match="rule schoenberg"):
        (mk.RBF() + mk.Laplacian()).feature_map(X, order=3)


def test_far_points_have_a_bound_of_one():
    phi = mk.RBF().feature_map([[100.0]], order=4)
    assert phi.error_bound == pytest.approx(1.0)


def test_a_tiled_gram_matrix_knows_its_factor():
    K = mercer.gram(mk.Polynomial(2), RNG.normal(size=(20, 2)), budget=0)
    Phi = K.features()
    assert Phi.shape == (20, 6)
    np.testing.assert_allclose(Phi @ Phi.dense().T, K.dense(), rtol=1e-10)


@pytest.mark.parametrize("kernel", [mk.RBF(), mk.Tanimoto(), mk.Polynomial(8), mk.Polynomial(60), mk.Delta()])
def test_a_tiled_gram_matrix_has_no_factor_that_is_infinite_or_as_large_as_itself(kernel):
    assert mercer.gram(kernel, RNG.normal(size=(20, 6)), budget=0).features() is None
