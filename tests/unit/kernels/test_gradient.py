"""Slopes come from the program, without a second matrix, wherever a parameter is not read inside a leaf."""

import numpy as np
import pytest

import mercer as m
from mercer.kernels import gradient
from mercer.points import as_points

LENGTHS = np.array([0.7, 1.3, 2.0])
MOVES = {
    "a length": lambda f: m.RBF(1.3 * f),
    "lengths by column": lambda f: m.RBF(LENGTHS * np.array([1.0, f, 1.0])),
    "city-block lengths": lambda f: m.Laplacian(LENGTHS * np.array([f, 1.0, 1.0])),
    "a Matérn kernel": lambda f: m.Matern(3.5, 1.2 * f),
    "an exponent of a profile": lambda f: m.RationalQuadratic(1.2, 0.7 * f),
    "a quotient": lambda f: m.Cauchy(1.5 * f),
    "a period": lambda f: m.Periodic(1.1, 3.0 * f),
    "a weight": lambda f: 2.0 * f * m.RBF(1.1) + 3.0 * m.Linear(),
    "a function of one point": lambda f: ((m.Linear() + 1.5 * f) ** 2).normalised(),
    "an angle": lambda f: m.ArcCosine(1).on(m.Scale(LENGTHS * np.array([1.0, f, 1.0]))),
    "a product": lambda f: m.RBF(1.1 * f) * (m.Linear() + 1.5),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_the_program_says_takes_no_second_matrix(name, monkeypatch):
    points = as_points(np.random.default_rng(0).standard_normal((30, 3)))
    weights = np.random.default_rng(1).standard_normal((30, 30))
    weights += weights.T
    move, h = MOVES[name], 1e-4
    expected = (np.vdot(weights, move(np.exp(h))(points)) - np.vdot(weights, move(np.exp(-h))(points))) / (2.0 * h)

    def refused(*_):
        raise AssertionError("a second matrix")

    monkeypatch.setattr(gradient, "evaluate", refused)
    assert gradient.slopes([move], points, weights)[0] == pytest.approx(expected, rel=1e-6)


def test_a_parameter_inside_a_leaf_takes_two_matrices():
    points = as_points(["abab", "abba", "bbb", "cab"])
    weights = np.ones((4, 4))
    move = lambda f: m.Subsequence(2, 0.5 * f)  # noqa: E731 (as in the table)
    # Each common subsequence of two letters that spans s letters in both counts λ^s, so the slope counts it s times.
    expected = sum(
        (i[1] - i[0] + j[1] - j[0] + 2) * 0.5 ** (i[1] - i[0] + j[1] - j[0] + 2)
        for x in points.raw() for z in points.raw()
        for i in ((a, b) for a in range(len(x)) for b in range(a + 1, len(x)))
        for j in ((a, b) for a in range(len(z)) for b in range(a + 1, len(z)))
        if (x[i[0]], x[i[1]]) == (z[j[0]], z[j[1]])
    )  # fmt: skip
    assert gradient.slopes([move], points, weights)[0] == pytest.approx(expected, rel=1e-6)


def test_a_start_where_a_step_vanishes_is_right_too():
    # 1·k is written without a multiplication, which the program of 1.0001·k has.
    points = as_points([[0.0], [1.0]])
    found = gradient.slopes([lambda f: f * m.RBF()], points, np.ones((2, 2)))
    assert found[0] == pytest.approx(2.0 + 2.0 * np.exp(-0.5), rel=1e-7)
