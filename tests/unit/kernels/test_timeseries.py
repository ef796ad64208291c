"""Kernels of series: what a law cannot say."""

import pickle

import numpy as np
import pytest

import mercer
from mercer import GlobalAlignment, Signature, parse
from mercer.errors import InvalidInput, InvalidParameter, NoFiniteMap, NotFinite
from mercer.kernels.binding import bind
from mercer.points import Series
from tests.oracles.series import alignments, signature

RNG = np.random.default_rng(0)
WALKS = [RNG.normal(size=(n, 2)).cumsum(axis=0) for n in (5, 9, 0, 1, 17, 70, 2, 8, 8, 8, 8)]


def normalised(K):
    return K / np.sqrt(np.outer(np.diag(K), np.diag(K)))


@pytest.mark.parametrize("triangular", [None, 1, 3, 40, 1000])
def test_alignments_are_those_of_the_plain_recursion(triangular):
    k = GlobalAlignment(1.3, triangular)
    exact = np.array([[alignments(x, z, 1.3, triangular) for z in WALKS] for x in WALKS])
    np.testing.assert_allclose(k(WALKS), exact.astype(np.float64), rtol=1e-12)
    np.testing.assert_allclose(k.normalised()(WALKS), normalised(exact).astype(np.float64), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(k.diag(WALKS), np.diag(exact).astype(np.float64), rtol=1e-12)


@pytest.mark.parametrize("triangular", [None, 2])
def test_an_empty_series_alone_is_like_no_other(triangular):
    k = GlobalAlignment(1.0, triangular)
    empty = Series([np.empty((0, 2))])
    for kernel in (k, k.normalised()):
        np.testing.assert_array_equal(kernel(WALKS, empty)[:, 0], [float(len(walk) == 0) for walk in WALKS])
        np.testing.assert_array_equal(kernel(empty, WALKS)[0], [float(len(walk) == 0) for walk in WALKS])
        paired = bind(kernel, Series([np.empty((0, 2))] * len(WALKS)))
        np.testing.assert_array_equal(
            paired.native.pairs(paired.reading.side(Series(WALKS))), [float(len(walk) == 0) for walk in WALKS]
        )


def test_the_length_of_a_series_has_no_limit():
    X = [RNG.normal(size=n).cumsum() for n in (1, 200, 500)]
    k = GlobalAlignment(30.0)
    exact = np.array([[alignments(x[:, None], z[:, None], 30.0, None) for z in X] for x in X])
    K = k.normalised()(X)
    np.testing.assert_allclose(K, normalised(exact).astype(np.float64), rtol=1e-11)
    assert np.diag(K).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(NotFinite, match=r"k\.normalised\(\)"):
        k(X)


def test_a_flat_series_of_3000_points_is_as_near_as_can_be():
    # Along a row, the numbers of alignments range over more than a double can hold.
    X = [np.zeros(3000), np.full(3000, 0.001), np.zeros(2900)]
    K = GlobalAlignment(1.0).normalised()(X)
    log_delannoy = np.log(3.0 + 2.0 * np.sqrt(2.0))
    assert np.log(K[0, 2]) > -0.01 * 100 * log_delannoy
    assert 0.99 < K[0, 1] < 1.0
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_log_diagonals_add_up_in_products():
    X = [np.zeros(600), np.ones(500)]
    product = GlobalAlignment(1.0) * GlobalAlignment(2.0, 10)
    apart = GlobalAlignment(1.0).normalised()(X) * GlobalAlignment(2.0, 10).normalised()(X)
    np.testing.assert_allclose(product.normalised()(X), apart, rtol=1e-12)


def test_the_median_is_that_of_points_times_the_root_of_the_length():
    X = [np.array([0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])]
    assert GlobalAlignment().resolve(X).length_scale == pytest.approx(np.sqrt(3.0))
    assert Signature(length_scale="median").resolve(X).length_scale == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match="all distances are zero"):
        GlobalAlignment().resolve([np.zeros(2), np.zeros(3)])


@pytest.mark.parametrize("level", [1, 2, 3, 5])
@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
def test_signatures_are_those_of_the_tensors(level, order):
    X = [0.7 * RNG.normal(size=(n, 2)) for n in (4, 3, 1, 5, 2, 4)]
    S = np.array([signature(x, level, order) for x in X])
    np.testing.assert_allclose(Signature(level, order)(X), S @ S.T, rtol=1e-12, atol=1e-12)


def test_truncated_signatures_have_features_and_others_none():
    X = [0.7 * RNG.normal(size=(n, 2)) for n in (4, 3, 1, 5, 2)] + [np.empty((0, 2))]
    k = Signature(3, 2)
    phi = k.feature_map(X)
    assert phi.n_features == 15
    assert phi.get_feature_names_out()[[0, 2, 5]].tolist() == ["1", "δx1", "δx1δx0"]
    np.testing.assert_allclose(phi(X) @ phi(X).T, k(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(phi(X[:4]), [signature(x, 3, 2) for x in X[:4]], atol=1e-12)
    for kernel in (Signature(), Signature(2, length_scale=1.0), k * GlobalAlignment(1.0).normalised()):
        with pytest.raises(NoFiniteMap):
            kernel.feature_map(X)
    with pytest.raises(InvalidInput, match="3 channels"):
        phi([np.ones((4, 3))])


def test_of_all_levels_there_are_as_many_as_steps_times_order():
    X = [0.7 * RNG.normal(size=(n, 2)) for n in (4, 3, 5)]
    for order in (1, 2, 3):
        S = np.array([signature(x, 4 * order, order) for x in X])
        np.testing.assert_allclose(Signature(None, order)(X), S @ S.T, rtol=1e-12)


def test_the_kernel_of_straight_lines_is_a_bessel_function():
    from scipy.special import iv

    X = [np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 1.0], [1.5, 0.5]])]
    K = Signature(order=6)(X)
    np.testing.assert_allclose(K[0, 0], iv(0, 2.0 * np.sqrt(5.0)), rtol=0.02)
    # Cut into twenty, a line has short steps, and the same signature.
    fine = [np.linspace(x[0], x[1], 21) for x in X]
    np.testing.assert_allclose(Signature(order=6)(fine)[0, 0], iv(0, 2.0 * np.sqrt(5.0)), rtol=1e-9)


def test_a_lift_is_the_signature_of_features():
    X = [RNG.normal(size=(n, 2)) for n in (3, 4, 2)]
    points = np.concatenate(X)
    values, vectors = np.linalg.eigh(mercer.RBF(0.8)(points))
    features = np.split(vectors * np.sqrt(np.maximum(values, 0.0)), np.cumsum([len(x) for x in X])[:-1])
    for level in (None, 3):
        np.testing.assert_allclose(
            Signature(level, 3, 0.8)(X), Signature(level, 3)(features), rtol=1e-10, err_msg=str(level)
        )


@pytest.mark.parametrize("k", [GlobalAlignment(1.0).normalised(), Signature(), Signature(2, 2, 1.0)])
@pytest.mark.parametrize("X", [[np.empty((0, 2))] * 2, [np.ones((1, 2)), np.empty((0, 2))], WALKS[:1]])
def test_empty_series_and_single_points_are_points_too(k, X):
    K = k(X)
    assert np.isfinite(K).all()
    np.testing.assert_allclose(np.diag(K), k.diag(X))
    against_empty = bind(k, Series([np.empty((0, 2))])).cross(Series(X)).dense()
    np.testing.assert_array_equal(against_empty, k(X, Series([[]])))


def test_new_series_may_have_any_length_but_no_other_channels():
    y = np.arange(len(WALKS)) % 2
    model = mercer.SVC(kernel=GlobalAlignment().normalised()).fit(WALKS, y)
    assert model.predict([np.ones((123, 2))]).shape == (1,)
    with pytest.raises(InvalidInput, match="3 channels"):
        model.predict([np.ones((5, 3))])
    one = mercer.SVC(kernel=GlobalAlignment(1.0).normalised()).fit([w[:, 0] for w in WALKS], y)
    assert one.predict([np.ones(4)]).shape == (1,)
    assert one.predict([np.ones(4), np.ones(6)]).shape == (2,)


def test_a_point_that_repeats_changes_no_signature():
    x = RNG.normal(size=(6, 2))
    slow = np.repeat(x, 3, axis=0)
    np.testing.assert_allclose(Signature()([x, slow]), np.full((2, 2), Signature()([x])[0, 0]), rtol=1e-12)


def test_signatures_that_overflow_say_what_helps():
    with pytest.raises(NotFinite, match="Scale the points"):
        Signature()([1e9 * RNG.normal(size=(40, 2))])


@pytest.mark.parametrize(
    "make",
    [
        lambda: GlobalAlignment(0.0),
        lambda: GlobalAlignment("mean"),
        lambda: GlobalAlignment(1.0, 0),
        lambda: Signature(0),
        lambda: Signature(order=7),
        lambda: Signature(length_scale=-1.0),
    ],
)
def test_parameters_outside_their_domain_are_refused(make):
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.parametrize(
    "k", [GlobalAlignment(), GlobalAlignment(2.0, 5), Signature(), Signature(3, 2), Signature(None, 2, "median")]
)
def test_formulas_are_written_and_read(k):
    assert parse(repr(k)) == k
    assert pickle.loads(pickle.dumps(k)) == k
    assert k.proof().is_derived
    assert k.latex()
    assert k.mathml()
    assert "rule" in str(k.normalised().proof())


@pytest.mark.parametrize("k", [GlobalAlignment(1.0, 20).normalised(), Signature(3), Signature(None, 2, 2.0)])
def test_float32_is_float64_rounded(k):
    X = [each.astype(np.float32) / 4 for each in WALKS]
    single = k(X)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, k([each.astype(np.float64) for each in X]), rtol=1e-6, atol=1e-6)


def test_auto_proposes_alignments_and_a_machine_takes_them():
    X = [RNG.normal(label, 1.0, size=RNG.integers(5, 9)) for label in (0, 4) * 10]
    proposal = mercer.auto(X)
    assert proposal.kernel == GlobalAlignment().normalised()
    assert mercer.SVC(kernel="auto").fit(X, [0, 1] * 10).score(X, [0, 1] * 10) == 1.0
