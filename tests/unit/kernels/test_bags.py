"""Sums over parts: what a law cannot say."""

import pickle

import numpy as np
import pytest

import mercer
from mercer import (
    RBF,
    Cosine,
    Delta,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    Spectrum,
    Standardised,
    _core,
    parse,
)
from mercer.errors import DomainMismatch, InvalidInput, NoFiniteMap, NotFinite
from mercer.kernels.binding import bind
from mercer.points import Bags

RNG = np.random.default_rng(0)
SIZES = [3, 0, 1, 7, 2, 5, 1, 1, 4, 90]
BAGS = [RNG.normal(size=(size, 3)) for size in SIZES]


def plainly(kernel, X, Z):
    """The sums, one pair of bags after the other."""
    return np.array([[kernel(x, z).sum() if len(x) and len(z) else 0.0 for z in Z] for x in X])


@pytest.mark.parametrize(
    "part", [Linear(), RBF(), Laplacian(), Delta(), Matern(1.5) * Linear() + 1, RBF().on(0, 2), Linear().normalised()]
)
def test_a_sum_is_the_sum_over_all_pairs_of_parts(part):
    K = part.summed()(BAGS)
    np.testing.assert_allclose(K, plainly(part, BAGS, BAGS), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(part.summed()(BAGS[:4], BAGS), K[:4], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(part.summed().diag(BAGS), np.diag(K), rtol=1e-12)


def test_a_mean_divides_by_the_numbers_of_parts():
    K = RBF().averaged()(BAGS)
    pairs = np.outer(SIZES, SIZES)
    np.testing.assert_allclose(K * pairs, RBF().summed()(BAGS), rtol=1e-12)
    assert K[1].tolist() == [0.0] * len(BAGS)  # the empty bag
    assert RBF().summed().normalised()(BAGS)[1, 1] == 0.0


def test_of_bags_with_one_part_a_sum_is_the_kernel_itself():
    X = RNG.normal(size=(200, 4))
    np.testing.assert_allclose(RBF().summed()(X[:, None, :]), RBF()(X), rtol=1e-12)


def test_the_order_of_parts_means_nothing():
    shuffled = [RNG.permutation(bag) for bag in BAGS]
    np.testing.assert_allclose(RBF().summed()(shuffled, BAGS), RBF().summed()(BAGS), rtol=1e-12)


def test_bags_of_bags_are_summed_twice():
    inner = Bags(BAGS)
    outer = Bags.of(inner, [2, 0, 5, 3])
    flat = [np.concatenate([*bags, np.empty((0, 3))]) for bags in (BAGS[:2], [], BAGS[2:7], BAGS[7:])]
    np.testing.assert_allclose(RBF().summed().summed()(outer), RBF().summed()(flat), rtol=1e-12)
    np.testing.assert_allclose(RBF().summed().summed().diag(outer), RBF().summed().diag(flat), rtol=1e-12)


def test_parts_may_be_strings_sets_or_rows_of_a_table():
    words = [["abab", "ba"], ["ab"], []]
    np.testing.assert_array_equal(Spectrum(2).summed()(Bags(words))[0, :2], [5 + 1 + 1 + 1, 2.0])
    sets = [[{1, 2}, {2}], [{2, 3}]]
    assert mercer.SetIntersection().summed()(Bags(sets)).tolist() == [
        [5, 2],
        [2, 2],
    ]
    rows = Bags.of({"age": [1.0, 2.0, 3.0], "town": ["a", "b", "a"]}, [2, 1])
    k = (Linear().on("age") * Delta().on("town")).summed()
    assert k(rows).tolist() == [[5.0, 3.0], [3.0, 9.0]]


def test_items_that_the_basis_does_not_have_change_nothing():
    k = mercer.SetIntersection().summed().normalised()
    bound = bind(k, Bags([[{1, 2}], [{3}]]))
    new = bound.cross(Bags([[{1, 9}], [{8}]])).dense()
    np.testing.assert_allclose(new, [[0.5, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("empty", [Bags([[], []]), [np.empty((0, 3))] * 2])
def test_empty_bags_alone_are_points_too(empty):
    k = RBF().averaged().normalised()
    assert k(empty).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert k(empty, BAGS).tolist() == [[0.0] * len(BAGS)] * 2
    assert k(BAGS, empty).tolist() == [[0.0, 0.0]] * len(BAGS)
    fitted = mercer.KernelRidge(kernel=k + 1).fit(BAGS, SIZES)
    np.testing.assert_allclose(fitted.predict(empty), fitted.predict([BAGS[1]])[[0, 0]])
    assert Spectrum(2).summed()(Bags([["ab"]]), Bags([[], []])).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("part", [RBF([1.0, 2.0, 3.0]), Linear().on(0, 2), RBF().on(Standardised()), Cosine()])
def test_new_bags_may_all_be_empty_under_any_map(part):
    empty = [np.empty((0, 3))] * 2
    fitted = mercer.KernelRidge(kernel=part.summed() + 1).fit(BAGS, SIZES)
    np.testing.assert_allclose(fitted.predict(empty), fitted.predict([BAGS[1]])[[0, 0]])


def test_nothing_is_learnt_from_bags_without_parts():
    with pytest.raises(InvalidInput, match="nothing to learn from: all bags are empty"):
        RBF("median").summed()([np.empty((0, 3))] * 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_do_not_depend_on_the_number_of_threads(dtype):
    X = Bags.of(RNG.normal(size=(3000, 5)).astype(dtype), np.bincount(RNG.integers(0, 400, 3000), minlength=400))
    before = _core.thread_count()
    try:
        found = []
        for count in (1, 3):
            _core.set_thread_count(count)
            cross = bind(RBF().summed(), X, dtype=dtype).self_cross()
            found.append((cross.dense(), cross @ np.ones(400)))
    finally:
        _core.set_thread_count(before)
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


def test_float32_keeps_the_error_of_a_pair_below_a_millionth():
    parts = RNG.normal(size=(2000, 8)) + 50.0
    sizes = np.full(100, 20)
    exact = RBF(2.0).averaged()(Bags.of(parts.astype(np.float32).astype(np.float64), sizes))
    single = RBF(2.0).averaged()(Bags.of(parts.astype(np.float32), sizes))
    assert single.dtype == np.float32
    assert np.abs(single - exact).max() < 1e-6


def test_features_are_the_sums_of_those_of_the_parts():
    phi = Linear().summed().feature_map(BAGS)
    np.testing.assert_allclose(phi(BAGS), [bag.sum(axis=0) for bag in BAGS])
    mean = ((Linear() + 1) ** 2).averaged().feature_map(BAGS)
    np.testing.assert_allclose(mean(BAGS) @ mean(BAGS).T, ((Linear() + 1) ** 2).averaged()(BAGS), rtol=1e-10)
    assert mean.get_feature_names_out()[0].endswith("Σ x0^2")
    with pytest.raises(NoFiniteMap, match="RBF"):
        RBF().summed().feature_map(BAGS)
    with pytest.raises(InvalidInput, match="bags have no columns"):
        Linear().summed().n_features(3)


def test_a_machine_takes_the_primal_route_where_the_features_are_few():
    y = np.array([bag.sum() for bag in BAGS])
    fitted = mercer.KernelRidge(kernel=Linear().summed(), alpha=1e-2).fit(BAGS, y)
    assert "primal" in fitted.explain()
    np.testing.assert_allclose(fitted.predict(BAGS), y, atol=0.1)


def test_a_formula_of_bags_is_read_back_and_has_its_parameters():
    k = (RBF(2.0).on(0, 1) ** 3).summed().normalised() + 0.5 * Linear().averaged()
    assert parse(repr(k)) == k
    assert k.replace(length_scale=1.0) != k
    assert pickle.loads(pickle.dumps(k)) == k
    assert r"\sum_{i, j}" in k.latex()
    assert "<munder>" in k.mathml()
    assert "rule convolution" in str(k.proof())
    assert not k.proof().assumptions


def test_rules_of_parameters_see_the_parts():
    k = RBF("median").summed().resolve(BAGS)
    assert k == RBF("median").resolve(np.concatenate(BAGS)).summed()


def test_a_custom_kernel_of_parts_is_called_for_blocks():
    calls = []

    def inner(x, z):
        calls.append(len(x))
        return x @ z.T

    k = mercer.Custom(inner, because="⟨x, z⟩", form="matrix").summed()
    np.testing.assert_allclose(k(BAGS), Linear().summed()(BAGS), rtol=1e-12)
    np.testing.assert_allclose(k.diag(BAGS), Linear().summed().diag(BAGS), rtol=1e-12)
    assert len(calls) < 100


def test_what_cannot_be_read_is_named():
    with pytest.raises(DomainMismatch, match=r"RBF\(\)\.summed\(\) cannot read X: it needs bags"):
        RBF().summed()([[1.0, 2.0]])
    with pytest.raises(DomainMismatch, match=r"RBF\(\) cannot read X: it needs vectors(.|\n)*summed"):
        RBF()(BAGS)
    with pytest.raises(InvalidInput, match=r"X \(its parts\) has 4 features"):
        mercer.KernelRidge(kernel=RBF().summed()).fit(BAGS, SIZES).predict([np.ones((2, 4))])
    with pytest.raises(InvalidInput, match="non-negative"):
        HistogramIntersection().summed()(BAGS)
    with pytest.raises(NotFinite, match=r"summed\(\) is not finite at row 0"):
        Linear().exp().summed()([np.full((1, 2), 40.0)])


MACHINES = [
    mercer.SVC(kernel=RBF().averaged()),
    mercer.NuSVC(kernel=RBF().averaged(), nu=0.3),
    mercer.KernelLogisticRegression(kernel=RBF().averaged()),
    mercer.KernelNeighborsClassifier(kernel=RBF().summed().normalised(), n_neighbors=3),
    mercer.NadarayaWatsonClassifier(kernel=RBF().summed().normalised()),
    mercer.KernelNearestCentroid(kernel=RBF().averaged()),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
def test_every_machine_learns_whether_a_bag_has_a_far_part(machine):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = [np.vstack([0.3 * rng.normal(size=(4, 2)), rng.normal([3.0 * label, 0.0], 0.3)[None]]) for label in y]
    fitted = machine.fit(X[:40], y[:40])
    assert fitted.score(X[40:], y[40:]) == 1.0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


@pytest.mark.parametrize("machine", [mercer.SVR, mercer.KernelRidge, mercer.NadarayaWatson, mercer.NuSVR])
def test_every_regression_takes_bags(machine):
    y = np.array([bag.mean() if len(bag) else 0.0 for bag in BAGS])
    fitted = machine(kernel=1.0 + RBF(2.0).averaged()).fit(BAGS, y)
    assert np.isfinite(fitted.predict(BAGS[:3])).all()


def test_a_one_class_machine_takes_bags():
    fitted = mercer.OneClassSVM(kernel=RBF().averaged(), nu=0.2).fit(BAGS)
    assert set(fitted.predict(BAGS)) <= {-1, 1}
