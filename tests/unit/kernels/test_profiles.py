import numpy as np
import pytest

from mercer.kernels import RBF, Cauchy, Laplacian, Matern, RationalQuadratic
from mercer.kernels.profiles import matern_coefficients
from tests.oracles.profiles import profile_value
from tests.oracles.tape import evaluate_plan
from tests.tolerances import PROFILE

KERNELS = [
    RBF(0.7),
    Laplacian(0.7),
    Cauchy(0.7),
    RationalQuadratic(0.7, 0.3),
    RationalQuadratic(0.7, 1e6),
    *(Matern(p + 0.5, 0.7) for p in range(8)),
    Matern(20.5, 0.7),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_profile_agrees_with_mpmath(kernel):
    distances = np.array([0.0, 1e-9, 1e-4, 0.01, 0.3, 1.0, 2.5, 7.0])
    power = 1 if isinstance(kernel, Laplacian) else 2
    got = evaluate_plan(kernel, np.zeros((1, 1)), distances[:, None])[0]
    expected = [profile_value(kernel.profile.name, r**power, kernel.fields()) for r in distances]
    np.testing.assert_allclose(got, expected, rtol=PROFILE)
    assert got[0] == 1.0


def test_matern_polynomials_of_the_usual_orders():
    assert matern_coefficients(0.5) == (1.0,)
    assert matern_coefficients(1.5) == (1.0, 1.0)
    assert matern_coefficients(2.5) == (1.0, 1.0, 1 / 3)
    np.testing.assert_allclose(matern_coefficients(3.5), (1.0, 1.0, 2 / 5, 1 / 15))


def test_far_points_have_the_value_zero_and_not_nan():
    K = evaluate_plan(Matern(30.5), np.array([[0.0], [1e12]]))
    np.testing.assert_array_equal(K, np.eye(2))
