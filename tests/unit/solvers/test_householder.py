import signal
import threading
import time

import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.solvers.householder import LAST, REFLECTORS, tridiagonal_in_place

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 3, LAST, LAST + 1, LAST + REFLECTORS, LAST + 3 * REFLECTORS + 5])
def test_the_form_is_that_of_the_matrix(n, dtype):
    A = RNG.standard_normal((n, n))
    A = (A + A.T).astype(dtype)
    Q = np.tril(A).copy(order="F")
    Q[np.triu_indices(n, 1)] = np.nan  # what is above the diagonal is not read
    diagonal, beside = tridiagonal_in_place(Q)
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    tolerance = 300 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(Q @ T @ Q.T, A, atol=tolerance)
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=tolerance)


@pytest.mark.usefixtures("uncollected")
def test_ctrl_c_comes_between_panels():
    A = np.asfortranarray(RNG.standard_normal((2500, 2500)))
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tridiagonal_in_place(A)
    assert time.monotonic() - start < 0.8
    timer.join()


@pytest.mark.parametrize("shape", [(2, 3), (0, 0), (4,)])
def test_what_is_not_a_square_matrix_is_refused(shape):
    with pytest.raises(InvalidInput, match="square"):
        tridiagonal_in_place(np.zeros(shape, order="F"))
