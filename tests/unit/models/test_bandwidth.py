import numpy as np
import pytest

from mercer.kernels import RBF, SquaredEuclidean
from mercer.models.bandwidth import FormulaWeights, next_width
from mercer.points import as_points

X = np.random.default_rng(0).standard_normal((80, 2))


def test_the_default_grid_lies_around_the_median_distance():
    median = RBF("median").resolve(X).length_scale
    for kernel in (RBF(), RBF(5.0), RBF([5.0, 5.0]), RBF(5.0).of(SquaredEuclidean()), 2.0 * RBF(5.0).on(0, 1)):
        grid = FormulaWeights(kernel).grid(as_points(X))
        scale = 1.0 if kernel == RBF() else 5.0
        np.testing.assert_allclose(grid[[0, -1]] * scale, [3e-3 * median, 3e-3 * 4096 * median], rtol=1e-9)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([-1.0, 0.0, -1.0], np.sqrt(8.0)),  # the top is known: the wider side, of equals the right, is halved
        ([-1.0, -0.5, -1.5], 2.0 * 2.0 ** (-0.5 / 3.0)),
        ([0.0, -1.0, -2.0], np.sqrt(2.0)),  # at an end
        ([-2.0, -1.0, 0.0], np.sqrt(8.0)),
        ([-np.inf, 0.0, -1.0], np.sqrt(8.0)),
        ([0.0, 0.0, 0.0], np.sqrt(8.0)),
    ],
)
def test_the_next_width_is_the_top_of_a_parabola(scores: list[float], expected: float) -> None:
    assert next_width(np.array([1.0, 2.0, 4.0]), np.array(scores)) == pytest.approx(expected)


def test_one_width_has_no_next() -> None:
    assert next_width(np.ones(1), np.zeros(1)) is None
