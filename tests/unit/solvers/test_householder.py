import signal

import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.solvers import householder
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


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("step", "of"), [("_reduce", 11), ("_apply", 16)])
def test_ctrl_c_comes_between_panels(monkeypatch, step, of):
    n, begun, interrupted = LAST + 11 * REFLECTORS, [], [False]
    work = getattr(householder, step)

    def counted(*arguments):
        begun.append(step)
        if interrupted[0] and len(begun) == 3:
            signal.raise_signal(signal.SIGINT)
        work(*arguments)

    monkeypatch.setattr(householder, step, counted)
    tridiagonal_in_place(np.asfortranarray(np.eye(n)))
    assert len(begun) >= of
    begun.clear()
    interrupted[0] = True
    with pytest.raises(KeyboardInterrupt):
        tridiagonal_in_place(np.asfortranarray(np.eye(n)))
    assert len(begun) == 3


@pytest.mark.parametrize("shape", [(2, 3), (0, 0), (4,)])
def test_what_is_not_a_square_matrix_is_refused(shape):
    with pytest.raises(InvalidInput, match="square"):
        tridiagonal_in_place(np.zeros(shape, order="F"))
