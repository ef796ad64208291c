"""Kernels meet points: bad input, memory, interruption, forks."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import _core
from mercer.grams import TiledGram
from mercer.kernels.binding import bind

X = np.random.default_rng(0).normal(size=(50, 3))


@pytest.mark.parametrize("columns", [None, 1, 3, 6])
def test_powers_without_the_diagonal_are_those_of_the_entries(columns):
    V = np.random.default_rng(1).normal(size=50 if columns is None else (50, columns))
    K = mercer.RBF()(X)
    np.fill_diagonal(K, 0.0)
    found = bind(mercer.RBF(), X, dtype=np.float64).self_cross().powers_without_diagonal(V, 3, 2)
    np.testing.assert_allclose(found, [K @ V, K**4 @ V, K**16 @ V], rtol=1e-12, atol=1e-14)


def test_the_same_kernel_need_not_be_bound_again():
    binding = bind(mercer.RBF(2.0), X)
    assert binding.with_kernel(mercer.RBF(2.0)) is binding
    assert binding.with_kernel(mercer.RBF(3.0)) is not binding


BAD = {
    "NaN": (np.where(np.arange(6).reshape(3, 2) == 3, np.nan, 1.0), "NaN"),
    "inf": (np.array([[1.0, np.inf]]), "infinity"),
    "empty": (np.empty((0, 3)), "0 sample"),
    "no columns": (np.empty((3, 0)), "0 feature"),
    "one-dimensional": (np.arange(3.0), "Expected 2D array"),
    "object array": (np.array([[{}, 1.0]], dtype=object), "X"),
    "complex": (np.array([[1j]]), "Complex"),
    "strings": (["a", "b"], "vectors"),
    "sets": ([frozenset("ab")], "vectors"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("ask", [lambda k, x: k(x), lambda k, x: k.diag(x), mercer.gram], ids=["call", "diag", "gram"])
def test_bad_points_are_refused_by_name(ask, case):
    points, words = BAD[case]
    with pytest.raises((ValueError, TypeError), match=words):
        ask(mercer.RBF(), points)


@pytest.mark.parametrize("case", ["NaN", "inf", "empty", "one-dimensional", "complex", "strings"])
def test_bad_second_points_are_refused_as_z(case):
    with pytest.raises((ValueError, TypeError), match="Z"):
        mercer.RBF()(X, BAD[case][0])


def test_points_of_another_width_are_refused():
    with pytest.raises(ValueError, match=r"4 features.*3 features"):
        mercer.RBF()(X, np.ones((2, 4)))


@pytest.mark.parametrize(
    "kernel", [mercer.HistogramIntersection(), mercer.ChiSquared(), mercer.ExponentialChiSquared()]
)
def test_negative_numbers_are_refused_where_the_kernel_has_none(kernel):
    with pytest.raises(mercer.InvalidInput, match=r"non-negative numbers only(.|\n)*X\[1, 0\] is -2"):
        kernel(np.array([[1.0, 2.0], [-2.0, 1.0]]))


@pytest.mark.parametrize(
    "V", [np.ones(49), np.ones((50, 2, 2)), np.full(50, np.nan), np.array(["a"] * 50), np.ones((1, 50))]
)
def test_a_product_with_a_wrong_array_is_refused(V):
    with pytest.raises(mercer.InvalidInput, match="V must"):
        mercer.gram(mercer.RBF(), X, budget=0) @ V


def test_an_overflow_names_row_and_node():
    sets = [frozenset("a"), frozenset(range(800))]
    with pytest.raises(mercer.NotFinite, match=r"^IntersectionExp\(\) is not finite at row 1 against basis point 1"):
        mercer.IntersectionExp()(sets)
    with pytest.raises(mercer.NotFinite, match=r"^IntersectionExp\(\) is not finite at row 1"):
        mercer.gram(mercer.IntersectionExp(), sets, budget=0) @ np.ones(2)


def test_float32_overflows_earlier_and_says_that_float64_reaches_further():
    kernel = mercer.Linear().exp()
    points = np.array([[10.0]], dtype=np.float32)
    with pytest.raises(mercer.NotFinite, match="float64 points reach further"):
        kernel(points)
    assert np.isfinite(kernel(points.astype(np.float64))).all()


@pytest.mark.parametrize(
    "ask",
    [mercer.RBF(), lambda x: mercer.gram(mercer.RBF(), x).dense(), lambda x: mercer.RBF()(x, x[:-1])],
    ids=["call", "dense", "two sets"],
)
def test_what_does_not_fit_is_refused_with_its_bytes_before_anything_is_allocated(ask):
    n = int(np.sqrt(_core.available_memory() / 8)) + 1000
    points = np.zeros((n, 1))
    with pytest.raises(MemoryError, match=r"would take [\d.]+ [GT]B(.|\n)*Only [\d.]+ [GT]B(.|\n)*mercer.gram"):
        ask(points)


def test_a_product_of_points_whose_matrix_would_not_fit_works():
    n = int(np.sqrt(_core.available_memory() / 8)) + 1000
    K = mercer.gram(mercer.RBF(), np.zeros((n, 1), dtype=np.float32), np.zeros((3, 1), dtype=np.float32), budget=0)
    np.testing.assert_allclose(K @ np.ones(3), 3.0)


def test_small_matrices_are_stored_and_large_ones_are_not():
    assert isinstance(mercer.gram(mercer.RBF(), X, budget=0), TiledGram)
    assert not isinstance(mercer.gram(mercer.RBF(), X), TiledGram)


@pytest.mark.parametrize("points", [X, sp.csr_array(np.abs(X).round()), [frozenset({i % 7, i % 3}) for i in range(50)]])
def test_a_tiled_gram_is_the_stored_one(points):
    kernel = mercer.RBF().on(mercer.Indicator()) if isinstance(points, list) else mercer.RBF()
    tiled, stored = mercer.gram(kernel, points, budget=0), mercer.gram(kernel, points)
    rows = np.array([3, 1, 41])
    np.testing.assert_allclose(tiled.columns(rows), stored.columns(rows), rtol=1e-13)
    np.testing.assert_allclose(tiled.take(rows).dense(), stored.take(rows).dense(), rtol=1e-13)
    np.testing.assert_allclose(tiled.diag(), stored.diag(), rtol=1e-13)
    np.testing.assert_allclose(tiled @ np.eye(50), stored.dense(), rtol=1e-13)


def test_dense_and_sparse_sides_mix():
    dense = np.abs(X).round()
    sparse = sp.csr_array(dense)
    np.testing.assert_allclose(mercer.RBF()(dense, sparse), mercer.RBF()(dense), rtol=1e-13)
    np.testing.assert_allclose(mercer.RBF()(sparse, dense), mercer.RBF()(dense), rtol=1e-13)


def test_items_outside_the_dictionary_count_in_the_size_only():
    binding = bind(mercer.Tanimoto(mercer.SetIntersection()), [frozenset("ab"), frozenset("bc")])
    np.testing.assert_allclose(binding.cross([frozenset("axyz")]).dense(), [[1 / 5, 0.0]])


def test_values_are_equal_as_they_came_not_as_they_are_rounded():
    close = np.array([[1.0], [np.nextafter(1.0, 2.0)], [-0.0], [0.0]])
    expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    np.testing.assert_array_equal(bind(mercer.Delta(), close, dtype="float32").self_cross().dense(), expected)


def test_a_bound_kernel_survives_pickling():
    binding = bind(mercer.RBF("median"), X)
    again = pickle.loads(pickle.dumps(binding))
    np.testing.assert_array_equal(again.cross(X[:5]).dense(), binding.cross(X[:5]).dense())


def test_an_error_in_a_users_function_is_the_users_error():
    def broken(x, z):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mercer.Custom(broken, because="it is not")(X)


def test_a_function_of_the_wrong_form_is_explained():
    with pytest.raises(mercer.InvalidInput, match='form="matrix"'):
        mercer.Custom(lambda x, z: np.ones((2, 2)), because="test")(X)
    with pytest.raises(mercer.InvalidInput, match='form="pair"'):
        mercer.Custom(lambda x, z: 1.0, because="test", form="matrix")(X)


def test_a_matrix_function_is_called_by_blocks():
    kernel = mercer.Custom(lambda A, B: A @ B.T, because="rule 1", form="matrix")
    np.testing.assert_allclose(kernel(X), X @ X.T, atol=1e-13)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_returns_long_before_the_end():
    def work(n, then=lambda: None):
        K = mercer.gram(mercer.Laplacian(), np.zeros((n, 64)), budget=0)
        begun = time.process_time()
        K @ np.ones(n)
        then()
        return time.process_time() - begun

    sent = []

    def interrupt():
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    whole = 100 * work(12_000)
    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work(120_000, then=timer.join)
    # In time of the processors, which other programs have no part in; a hundredth or so is what it takes.
    assert time.process_time() - sent[0] < 0.2 * whole
    timer.join()


def test_a_forked_child_computes_too():
    program = textwrap.dedent("""
        import os, sys, numpy as np, mercer
        X = np.random.default_rng(0).normal(size=(900, 4))
        K = mercer.gram(mercer.RBF(), X, budget=0)
        before = K @ np.ones(900)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(K @ np.ones(900), before) else 1)
        _, status = os.waitpid(child, 0)
        assert np.array_equal(K @ np.ones(900), before)
        sys.exit(os.waitstatus_to_exitcode(status))
    """)
    environment = {**os.environ, "MERCER_NUM_THREADS": "3", "PYTHONWARNINGS": "ignore"}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0


def test_threads_follow_the_environment():
    for name in ("OMP_NUM_THREADS", "MERCER_NUM_THREADS"):
        environment = {key: value for key, value in os.environ.items() if not key.endswith("NUM_THREADS")} | {name: "5"}
        program = "import mercer; print(mercer.get_num_threads())"
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True, text=True
        )
        assert done.stdout.strip() == "5"


def test_two_python_threads_may_ask_at_once():
    K = mercer.gram(mercer.RBF(), X, budget=0)
    expected, results = K @ np.ones(50), []
    workers = [threading.Thread(target=lambda: results.append(K @ np.ones(50))) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(result, expected) for result in results)
    assert len(results) == 8


def test_a_function_that_holds_its_own_model_is_collected():
    class Model:
        def fit(self):
            self.binding = bind(mercer.Custom(lambda x, z: float(x @ z) * self.scale, because="rule 1"), X)
            return self

        scale = 1.0

    models = [Model().fit() for _ in range(3)]
    alive = [weakref.ref(model) for model in models]
    del models
    gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def test_another_kernel_on_the_same_basis_shares_what_both_read():
    first = bind(mercer.RBF(1.0), X)
    wider = first.with_kernel(mercer.RBF(2.0))
    assert wider.reading is first.reading
    assert wider.basis is first.basis
    np.testing.assert_array_equal(wider.self_cross().dense(), bind(mercer.RBF(2.0), X).self_cross().dense())
    np.testing.assert_array_equal(wider.cross(X[:5]).dense(), bind(mercer.RBF(2.0), X).cross(X[:5]).dense())
    elsewhere = first.with_kernel(mercer.RBF(1.0).on(mercer.Columns(0, 2)))
    assert elsewhere.reading is not first.reading
    np.testing.assert_array_equal(
        elsewhere.self_cross().dense(), bind(mercer.RBF(1.0).on(mercer.Columns(0, 2)), X).self_cross().dense()
    )
