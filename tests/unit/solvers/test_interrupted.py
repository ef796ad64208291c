"""Ctrl-C in the middle of a solve: the best so far with its certificate, where that is kept; else it is raised."""

import numpy as np
import pytest

from mercer import RBF
from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Problem, Status, certify
from mercer.solvers.cg import cg
from mercer.solvers.newton import newton_cg
from mercer.solvers.options import Options

N = 300
RNG = np.random.default_rng(0)
K = RBF(0.7)(RNG.standard_normal((N, 4)))
Y = np.sign(RNG.standard_normal((N, 1)))
PRODUCTS = 4


class Interrupted:
    """A Gram matrix whose products are interrupted once, at the given one."""

    def __init__(self, product):
        self._gram, self._left = DenseGram(K), product
        self.is_stored = False

    def __getattr__(self, name):
        return getattr(self._gram, name)

    def __matmul__(self, V):
        self._left -= 1
        if self._left == 0:
            raise KeyboardInterrupt
        return self._gram @ V

    def coded(self):
        return None


METHODS = {
    "cg": (cg, "squared", 1e-12),
    "newton-cg": (newton_cg, "logistic", 1e-10),
}


@pytest.fixture(params=METHODS)
def interrupted(request):
    method, loss, tol = METHODS[request.param]
    gram = Interrupted(PRODUCTS)
    problem = Problem(gram, Y, LOSSES[loss], np.full((N, 1), 1e3), np.ones((N, 1)), np.zeros(1))
    return method, problem, tol


def test_the_best_so_far_is_kept_and_certified_as_what_it_is(interrupted):
    method, problem, tol = interrupted
    answer = method(problem, Options(tol, keep_best=True))
    assert answer.stopped
    solution = certify(problem, answer, solver="interrupted", tol=tol)
    nothing = certify(problem, method(problem, Options(tol, max_iter=1)), solver="one step", tol=tol)
    assert solution.status is Status.STOPPED
    assert tol < solution.certificate.relative_gap <= nothing.certificate.relative_gap


def test_without_that_the_interrupt_is_raised(interrupted):
    method, problem, tol = interrupted
    with pytest.raises(KeyboardInterrupt):
        method(problem, Options(tol))
