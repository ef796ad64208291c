import numpy as np
import pytest

from mercer import RBF, KernelRidge, KernelRidgeCV, Linear
from mercer.errors import InvalidInput, NotFinite

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 3)), RNG.standard_normal(20)
MACHINES = [KernelRidge(solver=solver) for solver in ("auto", "primal", "cholesky", "cg", "eigen")]
MACHINES += [KernelRidgeCV(), KernelRidgeCV(cv="gcv"), KernelRidgeCV(cv=3)]


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("machine", MACHINES, ids=repr)
@pytest.mark.parametrize("size", [1e100, 1e300])
def test_kernel_values_that_overflow_when_squared_are_refused(machine, size):
    with pytest.raises(NotFinite):
        machine.set_params(kernel=Linear()).fit(size * X, Y)


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_targets_that_overflow_when_squared_are_refused(machine):
    machine.set_params(kernel="linear")
    with pytest.raises(InvalidInput, match="The targets are too large"):
        machine.fit(X, 1e200 * Y)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
@pytest.mark.parametrize("solver", ["auto", "cholesky", "eigen", "primal"])
def test_coefficients_that_overflow_are_refused(solver):
    kernel = Linear() if solver == "primal" else 1e-300 * RBF()
    with pytest.raises(InvalidInput, match="too large for float64"):
        KernelRidge(1e-300, kernel=kernel, solver=solver).fit(X, 1e100 * Y)


def test_an_alpha_that_is_too_small_for_the_targets_is_not_chosen():
    model = KernelRidgeCV([1e-300, 1.0], kernel=1e-300 * RBF(), cv=3).fit(X, 1e100 * Y)
    assert model.alpha_ == 1.0
