"""A support vector machine over a stored Gram matrix is that over the formula which made it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.kernels.binding import Binding
from mercer.points import as_points
from tests.laws.strategies import law

DECISION = 1e-5
MACHINES = {
    "SVC": lambda kernel: mercer.SVC(kernel=kernel, C=3.0, decision_function_shape="ovo"),
    "NuSVC": lambda kernel: mercer.NuSVC(kernel=kernel, nu=0.6, decision_function_shape="ovo"),
    "SVR": lambda kernel: mercer.SVR(kernel=kernel, C=3.0),
    "NuSVR": lambda kernel: mercer.NuSVR(kernel=kernel, C=3.0),
    "OneClassSVM": lambda kernel: mercer.OneClassSVM(kernel=kernel, nu=0.3),
}
FORMULAS = [
    mercer.RBF(),
    0.7 * mercer.Laplacian(2.0) + mercer.Linear(),
    mercer.Polynomial(2).normalised(),
    mercer.Matern(2.5) * mercer.ArcCosine(1),
]


@pytest.mark.parametrize("machine", MACHINES)
@law(30)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(9, 90),
    classes=st.integers(2, 3),
    kernel=st.sampled_from(FORMULAS),
)
def test_a_stored_gram_is_as_good_as_its_formula(machine, seed, n, classes, kernel):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    labels = np.arange(n) % classes
    X[:, 0] += 4.0 * labels  # so that a nu machine has a margin
    y = labels if "SVC" in machine else rng.standard_normal(n)
    K = Binding(kernel, as_points(X), np.dtype(np.float64)).self_cross().dense()
    by_formula, by_matrix = MACHINES[machine](kernel).fit(X, y), MACHINES[machine]("precomputed").fit(K, y)
    one, other = (
        model.predict(at) if "SVR" in machine else model.decision_function(at)
        for model, at in ((by_formula, X), (by_matrix, K))
    )
    np.testing.assert_allclose(other, one, atol=DECISION * max(1.0, np.abs(one).max()))


def test_beyond_the_small_problems_too():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2300, 4))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(2300), [-0.3, 0.3])
    K = Binding(mercer.RBF(), as_points(X), np.dtype(np.float64)).self_cross().dense()
    by_formula, by_matrix = MACHINES["SVC"](mercer.RBF()).fit(X, y), MACHINES["SVC"]("precomputed").fit(K, y)
    np.testing.assert_allclose(by_matrix.decision_function(K), by_formula.decision_function(X), atol=1e-2)
