"""Support vector machines go through the table of solvers as every other problem does."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.errors import InvalidInput, InvalidParameter
from mercer.grams.dense import DenseGram
from mercer.problems import LOSSES, Problem, Status
from mercer.problems.margins import KINDS, MarginProblem
from mercer.solvers import Options, explain, solve

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
LABEL = np.where(X[:, 0] > 0.3 * RNG.standard_normal(30), 1.0, -1.0)

MANY = RNG.standard_normal((2_400, 3))
MANY_LABELS = MANY[:, 0] + MANY[:, 1] ** 2 + 0.3 * RNG.standard_normal(2_400) > 1.0


def problem(kind="c-svc", **more):
    batch = KINDS[kind].build(np.array([0, 30]), np.array([[0]]), LABEL, np.ones(30))
    return MarginProblem(DenseGram(K), KINDS[kind], batch, **more)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_solved_through_the_table(kind):
    solution = solve(problem(kind))
    assert solution.status is Status.MARGIN_OPTIMAL
    assert (solution.certificate.machine, solution.certificate.solver) == (kind, "smo")
    assert solution.certificate.seconds > 0.0


def test_what_is_chosen_is_explained():
    assert explain(problem()).startswith("→ smo: steps of two coefficients")
    assert explain(problem()).count("\n") == 0


def test_a_solver_of_another_loss_is_refused_and_smo_for_another_loss():
    with pytest.raises(InvalidParameter, match="cholesky"):
        solve(problem(), solver="cholesky")
    ridge = Problem(DenseGram(K), LABEL[:, None], LOSSES["squared"], np.ones((30, 1)), np.empty((30, 0)), np.empty(0))
    with pytest.raises(InvalidParameter, match="smo"):
        solve(ridge, solver="smo")
    with pytest.raises(InvalidParameter, match="tol must lie between 0 and 1"):
        solve(ridge, Options(tol=2.0))


def test_minus_one_step_means_no_limit_and_few_are_kept_to():
    assert Options(max_iter=-1).max_iter is None
    stopped = solve(problem(), Options(tol=1e-8, max_iter=3))
    assert stopped.status is Status.STOPPED
    assert stopped.certificate.steps == 3


def test_a_start_of_another_length_is_refused():
    with pytest.raises(InvalidInput, match="start must have shape"):
        problem(start=np.zeros(29))


def test_the_bar_shows_the_gap(monkeypatch, capsys):
    monkeypatch.setattr("mercer.solvers.watch.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("mercer.solvers.watch.BETWEEN_SECONDS", 0.0)
    monkeypatch.setattr("mercer.solvers.margin_newton.MarginNewton.most_free", 0)
    with pytest.warns(ConvergenceWarning):
        mercer.SVC(kernel="linear", C=1e6, max_iter=500_000, verbose=1).fit(1e3 * MANY, MANY_LABELS)
    drawn = capsys.readouterr().err.split("\r")[1:]
    assert drawn
    gaps = [float(line.partition("gap ")[2].partition(",")[0]) for line in drawn]
    assert all(gap >= 0.0 for gap in gaps)
    assert "violation" in drawn[-1]


def test_pairs_of_classes_make_every_entry_once_and_none_of_a_matrix_that_is_given():
    X, y = load_iris(return_X_y=True)
    n = len(X)
    assert mercer.SVC().fit(X, y).certificate_.evaluations == n * (n + 1) // 2
    assert mercer.SVC(kernel="precomputed").fit(mercer.RBF()(X), y).certificate_.evaluations == 0
