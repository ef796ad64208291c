import pickle

import numpy as np
import pytest

from mercer.errors import InvalidInput
from mercer.grams.dense import DenseGram
from mercer.problems.certify import certify
from mercer.problems.losses import LOSSES
from mercer.problems.problem import Problem
from mercer.problems.solution import Answer, Status

SQUARED = LOSSES["squared"]
K = np.array([[2.0, 1.0], [1.0, 2.0]])


def problem(K=K, y=(1.0, 0.0), cost=(1.0, 1.0), intercept=False):
    n = len(y)
    B = np.ones((n, 1)) if intercept else np.empty((n, 0))
    column = np.reshape(y, (n, 1))
    return Problem(DenseGram(K), column, SQUARED, np.reshape(np.asarray(cost, float), (n, 1)), B, np.zeros(B.shape[1]))


def certified(problem, coef, theta=(), tol=1e-8):
    t = problem.y.shape[1]
    answer = Answer(np.reshape(coef, problem.y.shape), np.reshape(np.asarray(theta, float), (-1, t)))
    return certify(problem, answer, solver="by hand", tol=tol)


def test_the_exact_answer_has_no_gap():
    solution = certified(problem(), [0.375, -0.125])
    assert solution.status is Status.OPTIMAL
    assert solution.certificate.gap == pytest.approx(0.0, abs=1e-15)
    assert solution.certificate.primal == pytest.approx(solution.certificate.dual)


def test_primal_and_dual_are_the_formulas():
    a = np.array([0.5, -0.25])
    g = K @ a
    solution = certified(problem(), a)
    assert solution.certificate.primal == pytest.approx(0.5 * a @ K @ a + 0.5 * ((g - [1, 0]) ** 2).sum())
    assert solution.certificate.dual == pytest.approx(a @ [1, 0] - 0.5 * a @ K @ a - 0.5 * a @ a)
    assert solution.certificate.gap == pytest.approx(solution.certificate.primal - solution.certificate.dual)
    scale = max(abs(solution.certificate.primal), 0.5 * a @ K @ a)
    assert solution.certificate.relative_gap == pytest.approx(solution.certificate.gap / scale)


def test_a_wrong_answer_is_not_certified_whatever_its_solver_says():
    assert certified(problem(), [1.0, 1.0]).status is Status.INEXACT


def test_a_dual_point_off_its_equality_is_moved_and_says_how_far():
    solution = certified(problem(intercept=True), [0.5, -0.3], theta=[0.5])
    assert solution.certificate.moved == pytest.approx(np.hypot(0.1, 0.1) / np.hypot(0.5, 0.3))
    assert solution.certificate.gap == pytest.approx(solution.certificate.primal - solution.certificate.dual)
    assert solution.certificate.gap > 0


def test_an_equality_that_cannot_be_reached_is_part_of_the_gap():
    free = problem()
    asked = Problem(free.gram, free.y, SQUARED, free.cost, np.zeros((2, 1)), np.array([1.0]))
    solution = certified(asked, [0.375, -0.125], theta=[2.0])
    assert solution.certificate.gap == pytest.approx(2.0)
    assert solution.status is Status.INEXACT


def test_a_row_without_cost_has_no_coefficient():
    solution = certified(problem(cost=(1.0, 0.0)), [1 / 3, 0.1])
    assert solution.certificate.moved > 0
    assert certified(problem(cost=(1.0, 0.0)), [1 / 3, 0.0]).status is Status.OPTIMAL


def test_infinite_costs_are_constraints():
    a = np.linalg.solve(K, [1.0, 0.0])
    solution = certified(problem(cost=(np.inf, np.inf)), a)
    assert solution.status is Status.INTERPOLATING
    assert np.isnan(solution.certificate.gap)
    assert solution.certificate.primal == pytest.approx(solution.certificate.dual)
    assert certified(problem(cost=(np.inf, np.inf)), 0.9 * a).status is Status.INEXACT


def test_a_negative_norm_shows_an_indefinite_matrix():
    indefinite = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert certified(problem(K=indefinite), [1.0, -1.0]).status is Status.INDEFINITE


def test_zero_targets_are_solved_by_zero():
    solution = certified(problem(y=(0.0, 0.0)), [0.0, 0.0])
    assert solution.certificate.relative_gap == 0.0
    assert solution.status is Status.OPTIMAL
    assert solution.support.size == 0


def test_a_solution_reads_well():
    text = str(certified(problem(), [0.375, -0.125]))
    assert text.startswith("squared loss by by hand on 2 rows: solved to the tolerance")
    assert "gap" in text


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInput, match="gram must have shape"):
        problem(y=(1.0, 2.0, 3.0), cost=(1.0, 1.0, 1.0))
    with pytest.raises(InvalidInput, match="≥ 0"):
        problem(cost=(1.0, -1.0))


def test_the_conjugate_of_softmax_is_touched_at_the_slope_and_nowhere_exceeded():
    loss, rng = LOSSES["softmax"], np.random.default_rng(0)
    y, g = np.eye(4)[rng.integers(0, 4, 200)], 5.0 * rng.standard_normal((200, 4))
    v = loss.slope(g, y)
    assert loss.conjugate(v, y)[:, 0] == pytest.approx((v * g).sum(axis=1) - loss.value(g, y)[:, 0])
    other = rng.dirichlet(np.ones(4), 200) - y
    assert (loss.conjugate(other, y)[:, 0] >= (other * g).sum(axis=1) - loss.value(g, y)[:, 0] - 1e-12).all()


def test_a_loss_that_joins_its_columns_has_one_cost_a_row():
    with pytest.raises(InvalidInput, match=r"cost must have shape \(2, 1\)"):
        Problem(DenseGram(K), np.eye(2), LOSSES["softmax"], np.ones((2, 2)), np.empty((2, 0)), np.empty(0))


def test_the_residual_is_that_of_the_equations():
    a = np.array([0.5, -0.25])
    r = np.array([1.0, 0.0]) - K @ a - a
    solution = certified(problem(), a)
    assert solution.certificate.residual == pytest.approx(np.linalg.norm(r))
    assert solution.certificate.gap == pytest.approx(0.5 * (r @ r))
    assert solution.error.norm == pytest.approx([0.5 * np.linalg.norm(r)])


def test_an_answer_that_was_stopped_says_so_unless_it_is_good_enough():
    for coef, status in (([1.0, 1.0], Status.STOPPED), ([0.375, -0.125], Status.OPTIMAL)):
        answer = Answer(np.reshape(coef, (2, 1)), np.empty((0, 1)), stopped=True)
        assert certify(problem(), answer, solver="by hand", tol=1e-8).status is status


def test_a_least_squares_solution_of_a_singular_matrix_is_shown_by_its_normal_equations():
    singular = problem(K=np.ones((2, 2)), cost=(np.inf, np.inf))
    answer = Answer(np.array([[0.25], [0.25]]), np.empty((0, 1)), rank=1)
    solution = certify(singular, answer, solver="by hand", tol=1e-8)
    assert solution.status is Status.LEAST_SQUARES
    assert solution.certificate.normal_residual == pytest.approx(0.0)
    assert solution.error is None
    assert "rank          1 of 2" in str(solution)
    wrong = Answer(np.array([[0.5], [0.25]]), np.empty((0, 1)), rank=1)
    assert certify(singular, wrong, solver="by hand", tol=1e-8).status is Status.INEXACT


def test_factors_are_not_pickled():
    answer = Answer(np.array([[0.375], [-0.125]]), np.empty((0, 1)), factors=(K,))
    solution = certify(problem(), answer, solver="by hand", tol=1e-8)
    assert solution.factors == (K,)
    assert pickle.loads(pickle.dumps(solution)).factors == ()
