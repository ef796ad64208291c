import signal
import threading

import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.solvers import lapack
from mercer.solvers.lapack import (
    STOPPED,
    THREAD,
    eigen_in_place,
    factor_in_place,
    forward_in_place,
    solve_in_place,
)
from mercer.solvers.watch import Watch

RNG = np.random.default_rng(0)
PANEL = 64
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-4}
EVERY_TYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])
# One call; one call at its largest; panels with a short one at the end; panels that come out even.
EVERY_SIZE = pytest.mark.parametrize("n", [0, 1, 2, 70, 2 * PANEL - 1, 2 * PANEL + 37, 3 * PANEL])


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch):
    """Panels for matrices that are factorised in milliseconds."""
    monkeypatch.setattr(lapack, "PANELS", dict.fromkeys(lapack.PANELS, PANEL))
    monkeypatch.setattr(lapack, "STEP", 8 * 2.0 * PANEL**2 * PANEL)


class Count:
    """A watch that is over after some looks."""

    def __init__(self, looks=10**9):
        self.looks, self.shares = looks, []

    def look(self, share, measure=""):  # noqa: ARG002
        self.shares.append(share)
        return len(self.shares) > self.looks


class Interrupted:
    """A watch during whose look the user presses Ctrl-C."""

    def look(self, share, measure=""):  # noqa: ARG002
        raise KeyboardInterrupt


def positive(n, dtype=np.float64):
    P = RNG.standard_normal((n, 30)) / 5.0  # far from diagonal
    return np.asfortranarray(P @ P.T + np.eye(n), dtype=dtype)


@EVERY_TYPE
@EVERY_SIZE
def test_the_factor_multiplies_back_to_the_matrix(n, dtype):
    A = positive(n, dtype)
    M = A.copy(order="F")
    assert factor_in_place(M, Watch("")) == 0
    L = np.tril(M).astype(np.float64)
    np.testing.assert_allclose(L @ L.T, A, atol=TOLERANCE[dtype] * np.abs(A).max(initial=0.0))


def test_what_lies_above_the_diagonal_is_neither_read_nor_written():
    A = positive(3 * PANEL)
    M = A.copy(order="F")
    M[np.triu_indices_from(M, 1)] = np.nan
    assert factor_in_place(M, Watch("")) == 0
    assert np.isnan(M[np.triu_indices_from(M, 1)]).all()
    np.testing.assert_allclose(np.tril(M), np.linalg.cholesky(A), atol=1e-12)


def test_a_matrix_of_few_operations_is_one_call_and_gives_the_same_factor(monkeypatch):
    A = positive(3 * PANEL + 5)
    steps, once = A.copy(order="F"), A.copy(order="F")
    many, one = Count(), Count()
    factor_in_place(steps, many)
    monkeypatch.setattr(lapack, "STEP", 1e11)
    factor_in_place(once, one)
    assert len(many.shares) > 4  # between panels, and within them
    assert len(one.shares) == 1
    np.testing.assert_allclose(np.tril(steps), np.tril(once), atol=1e-12)


def test_a_block_of_a_larger_matrix_is_factorised_where_it_lies():
    A = positive(50)
    around = np.full((70, 80), 7.0, order="F")
    around[5:55, 9:59] = A
    assert factor_in_place(around[5:55, 9:59], Watch("")) == 0
    np.testing.assert_allclose(np.tril(around[5:55, 9:59]), np.linalg.cholesky(A), atol=1e-12)
    around[5:55, 9:59] = 7.0
    assert (around == 7.0).all()


@EVERY_TYPE
@pytest.mark.parametrize("row", [0, 3, 2 * PANEL + 3])
def test_the_first_minor_that_is_not_positive_is_named(row, dtype):
    A = positive(3 * PANEL, dtype)
    A[row, row] = -1.0
    assert factor_in_place(A, Watch("")) == row + 1


def test_a_watch_that_is_over_stops_it_between_panels():
    assert factor_in_place(positive(3 * PANEL), Count(looks=0)) == STOPPED
    assert factor_in_place(positive(3 * PANEL), Count(looks=2)) == STOPPED


def test_the_share_that_is_done_only_grows():
    watch = Count()
    factor_in_place(positive(3 * PANEL + 1), watch)
    assert watch.shares[0] == 0.0
    assert (np.diff(watch.shares) >= 0.0).all()
    assert watch.shares[-1] <= 1.0


def test_ctrl_c_returns_between_panels():
    with pytest.raises(KeyboardInterrupt):
        factor_in_place(positive(2 * PANEL), Interrupted())


@EVERY_TYPE
@EVERY_SIZE
@pytest.mark.parametrize("k", [0, 1, 2, 9])
def test_triangular_solves_agree_with_numpy(n, k, dtype):
    A = positive(n, dtype)
    L = A.copy(order="F")
    factor_in_place(L, Watch(""))
    right = np.asfortranarray(RNG.standard_normal((n, k)), dtype=dtype)
    half, whole = right.copy(order="F"), right.copy(order="F")
    forward_in_place(L, half)
    solve_in_place(L, whole)
    lower = np.tril(L).astype(np.float64)
    np.testing.assert_allclose(half, np.linalg.solve(lower, right), atol=TOLERANCE[dtype] * 10)
    np.testing.assert_allclose(whole, np.linalg.solve(A.astype(np.float64), right), atol=TOLERANCE[dtype] * 10)


def test_a_solve_in_strips_of_columns_is_the_same_solve(monkeypatch):
    L = positive(PANEL + 40)
    factor_in_place(L, Watch(""))
    right = np.asfortranarray(RNG.standard_normal((len(L), 3 * PANEL)))
    whole, strips = right.copy(order="F"), right.copy(order="F")
    solve_in_place(L, whole)
    monkeypatch.setattr(lapack, "STEP", 1.0)
    solve_in_place(L, strips)
    np.testing.assert_allclose(strips, whole, atol=1e-12)


def test_a_factor_that_is_read_only_still_solves():
    L = np.asfortranarray(np.eye(4) * 2.0)
    L.flags.writeable = False
    right = np.ones((4, 1))
    solve_in_place(L, right)
    np.testing.assert_array_equal(right, 0.25)


UNALIGNED = np.zeros(8 * 16 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(4, 4, order="F")
READ_ONLY = np.asfortranarray(np.eye(4))
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "A",
    [
        np.eye(4),
        np.eye(4, dtype=np.longdouble, order="F"),
        np.eye(4, dtype=np.int64, order="F"),
        np.eye(4, dtype=">f8", order="F"),
        np.eye(4, dtype=complex, order="F"),
        np.ones((4, 3), order="F"),
        np.ones(4),
        np.eye(8, order="F")[::2, ::2],
        np.eye(4, order="F")[:, ::-1],
        np.broadcast_to(np.ones(4), (4, 4)).T,
        UNALIGNED,
        READ_ONLY,
    ],
    ids=["c-order", "long", "int", "swapped", "complex", "oblong", "flat", "strided", "reversed", "broadcast",
         "unaligned", "read-only"],
)  # fmt: skip
def test_an_array_that_lapack_would_misread_is_refused(A):
    with pytest.raises(InvalidInput, match="Got"):
        factor_in_place(A, Watch(""))


@pytest.mark.parametrize(
    "R", [np.ones((3, 2), order="F"), np.ones((4, 2)), np.ones(4), np.ones((4, 2), dtype=np.float32, order="F")]
)
def test_right_hand_sides_that_do_not_fit_are_refused(R):
    for solve in (forward_in_place, solve_in_place):
        with pytest.raises(InvalidInput, match="Got"):
            solve(np.eye(4, order="F"), R)


def test_a_factor_is_not_solved_into_itself():
    L = np.eye(4, order="F")
    with pytest.raises(InvalidInput, match="share memory"):
        solve_in_place(L, L[:, :2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 2, 60])
def test_eigenvectors_come_in_place_of_the_matrix(n, dtype):
    A = np.random.default_rng(0).standard_normal((n, n))
    A = np.asfortranarray(A + A.T, dtype=dtype)
    vectors = A.copy(order="F")
    vectors[np.triu_indices(n, 1)] = np.nan  # never read
    values = eigen_in_place(vectors)
    tolerance = 200 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose((vectors * values) @ vectors.T, A, atol=tolerance)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=tolerance)
    assert (np.diff(values) >= 0.0).all()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_returns_while_eigenvectors_are_made(monkeypatch):
    may_end, ended = threading.Event(), threading.Event()
    calls = lapack.calls

    def slow(*arguments):
        """LAPACK's routine, that does not end before Ctrl-C was answered."""
        signal.raise_signal(signal.SIGINT)  # in this thread: it is Python's main one that hears of it
        may_end.wait(60.0)
        calls(A).syevd(*arguments)
        ended.set()

    monkeypatch.setattr(lapack, "calls", lambda *arrays: calls(*arrays)._replace(syevd=slow))
    A = positive(5)
    with pytest.raises(KeyboardInterrupt):
        eigen_in_place(A)
    assert not ended.is_set()
    may_end.set()
    for thread in threading.enumerate():
        if thread.name == THREAD:  # so that it is not left to the tests that follow, or to the end of the process
            thread.join()
    assert ended.is_set()


def test_a_matrix_that_is_not_square_has_no_eigenvectors():
    with pytest.raises(InvalidInput, match="square"):
        eigen_in_place(np.zeros((2, 3), order="F"))
