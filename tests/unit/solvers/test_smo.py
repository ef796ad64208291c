"""Certificates of large problems: f = K b is computed in float64 only where they depend on it."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.problems.margin_cells import segments, settled_rows
from mercer.problems.margin_referee import judge
from mercer.problems.margins import KINDS, rows_of
from mercer.solvers import margin_image

N = 2_400  # above SMALL_ROWS of solvers.smo
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, 3))
LABEL = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.standard_normal(N) > 1.0, 1.0, -1.0)
TARGET = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.standard_normal(N)
MACHINES = {
    "SVC": (mercer.SVC(gamma=0.5), LABEL),
    "SVC, three classes": (mercer.SVC(gamma=0.5, C=20.0), LABEL + (X[:, 2] > 0.5)),
    "SVC, C = 1e4": (mercer.SVC(gamma=0.5, C=1e4, tol=0.1), LABEL),
    "NuSVC": (mercer.NuSVC(gamma=0.5, nu=0.2), LABEL),
    "SVR": (mercer.SVR(gamma=0.5, epsilon=0.3), TARGET),
    "NuSVR": (mercer.NuSVR(gamma=0.5, nu=0.3), TARGET),
    "OneClassSVM": (mercer.OneClassSVM(gamma=0.5, nu=0.1), None),
    "stopped": (mercer.SVC(gamma=0.5, C=100.0, max_iter=300), LABEL),
}


def plain_image(solution, points):
    """K b on the rows of each problem, by plain float64."""
    batch = solution.batch
    rows = rows_of(batch.cuts, batch.uses)
    image = np.empty(len(rows))
    for p in range(len(batch)):
        mine = slice(batch.row_offsets[p], batch.row_offsets[p + 1])
        b = solution.coef[batch.offsets[p] : batch.offsets[p + 1]].reshape(batch.copies, -1).sum(axis=0)
        Z = points[rows[mine]]
        image[mine] = np.exp(-0.5 * ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)) @ b
    return image


def certificates(solution):
    return [solution.primals, solution.duals, solution.gaps, solution.violations, solution.intercepts, solution.spreads]


def fitted(name):
    machine, y = MACHINES[name]
    order = np.arange(N) if machine.__class__ not in (mercer.SVC, mercer.NuSVC) else np.argsort(y, kind="stable")
    expected = pytest.warns(ConvergenceWarning) if name == "stopped" else nullcontext()
    with expected:
        machine.fit(X[order], None if y is None else y[order])
    return machine.solution_, X[order]


@pytest.mark.parametrize("name", MACHINES)
def test_a_certificate_is_that_of_float64_on_all_rows(name):
    solution, points = fitted(name)
    exact = judge(
        solution.kind, solution.batch, solution.coef, plain_image(solution, points), steps=solution.steps,
        kernel_evaluations=0, tol=1e-3, stopped=False, seconds=0.0, assumptions=(), diagonal=np.ones(N),
    )  # fmt: skip
    for got, wanted in zip(certificates(solution), certificates(exact), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-10 * (1.0 + float(np.abs(exact.primals).max())))


def test_few_rows_are_computed_twice(monkeypatch):
    images, asked = margin_image._core.margin_images, []

    def counting(*arguments):
        asked.append(int((arguments[6] == 0).sum()))
        images(*arguments)

    monkeypatch.setattr(margin_image._core, "margin_images", counting)
    solution, _ = fitted("SVC")
    assert len(solution.coef.nonzero()[0]) <= sum(asked) < 0.7 * N


def test_an_error_larger_than_thought_is_found_out(monkeypatch):
    monkeypatch.setattr(margin_image, "SINGLE", 1e-16)
    asked = []
    images = margin_image._core.margin_images
    monkeypatch.setattr(margin_image._core, "margin_images", lambda *a: (asked.append(a[6:]), images(*a)))
    solution, points = fitted("SVC")
    np.testing.assert_allclose(solution.image, plain_image(solution, points), rtol=0, atol=1e-9)
    assert len(asked) >= 2


def test_settled_rows_have_no_coefficient_and_lie_beyond_the_ends():
    # f of three rows of the first class and three of the second; the last of each is far outside.
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    batch = KINDS["c-svc"].build(np.array([0, 3, 6]), np.array([[0, 1]]), y, np.ones(6), nu=0.5, epsilon=0.0)
    b = np.array([0.5, 1.0, 0.0, -0.5, -1.0, 0.0])
    image = np.array([1.0, 0.5, 3.0, -1.0, -0.5, -3.0])
    _, cells = segments(batch)
    small, large = np.full(6, 0.1), np.full(6, 2.5)
    np.testing.assert_array_equal(settled_rows(batch, cells, b, image, small), [0, 0, 1, 0, 0, 1])
    assert not settled_rows(batch, cells, b, image, large).any()
    # Where nothing is known, nothing is settled.
    assert not settled_rows(batch, cells, b, image, small, np.zeros(6, dtype=bool)).any()


def test_the_bar_shows_the_gap(monkeypatch, capsys):
    monkeypatch.setattr("mercer.solvers.watch.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("mercer.solvers.watch.BETWEEN_SECONDS", 0.0)
    monkeypatch.setattr("mercer.solvers.margin_newton.MarginNewton.most_free", 0)
    with pytest.warns(ConvergenceWarning):
        mercer.SVC(kernel="linear", C=1e6, max_iter=500_000, verbose=1).fit(1e3 * X, LABEL)
    drawn = capsys.readouterr().err.split("\r")[1:]
    assert drawn
    gaps = [float(line.partition("gap ")[2].partition(",")[0]) for line in drawn]
    assert all(gap >= 0.0 for gap in gaps)
    assert "violation" in drawn[-1]
