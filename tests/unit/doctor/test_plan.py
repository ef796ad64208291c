"""What a plan predicts is compared with what certificates and the allocator say afterwards."""

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest

import mercer
from mercer.doctor import MACHINES
from mercer.doctor.work import COSTS
from mercer.solvers.table import SOLVERS

FACTOR = 3.0
KERNEL = mercer.RBF("median")


def data(n: int, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.sin(X @ rng.standard_normal(d)) + 0.3 * rng.standard_normal(n)


def labels(y: np.ndarray) -> np.ndarray:
    return y > 0.0


def classes(y: np.ndarray) -> np.ndarray:
    return np.digitize(y, [-0.5, 0.5])


# An estimator, how many rows, and what becomes of y.
FITS: list[tuple[Any, int, Any]] = [
    (mercer.KernelRidge(kernel=KERNEL), 900, None),
    (mercer.KernelRidge(kernel=KERNEL), 3_600, None),
    (mercer.KernelRidge(alpha=1e-3, kernel=KERNEL), 3_600, None),
    (mercer.KernelRidge(kernel="linear"), 3_000, None),
    (mercer.KernelRidge(kernel=KERNEL, solver="eigen"), 400, None),
    (mercer.KernelLogisticRegression(kernel=KERNEL), 900, labels),
    (mercer.KernelLogisticRegression(C=10.0, kernel=KERNEL), 3_600, labels),
    (mercer.KernelLogisticRegression(kernel=KERNEL), 1_500, classes),
    (mercer.SVC(kernel=KERNEL), 900, labels),
    (mercer.SVC(C=10.0, kernel=KERNEL), 5_000, labels),
    (mercer.SVC(kernel=KERNEL), 5_000, classes),
    (mercer.SVR(kernel=KERNEL), 3_000, None),
    (mercer.OneClassSVM(nu=0.2, kernel=KERNEL), 5_000, None),
]


@pytest.mark.parametrize(("machine", "n", "of"), FITS, ids=lambda value: type(value).__name__)
def test_entries_memory_and_solver_are_predicted(machine: Any, n: int, of: Any) -> None:
    X, y = data(n)
    y = y if of is None else of(y)
    found = mercer.plan(X, y, machine)
    tracemalloc.start()
    try:
        machine.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    certificate = machine.certificate_
    assert found.solver == certificate.solver
    assert certificate.evaluations / FACTOR <= found.entries <= certificate.evaluations * FACTOR
    # The rows that a support vector machine keeps are the core's, which the allocator of Python does not see.
    cached = 4 * certificate.evaluations if found.solver == "smo" and n > 2_000 else 0
    assert peak / FACTOR <= found.bytes <= FACTOR * (peak + cached)
    assert found.seconds > 0.0


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_can_be_planned_from_its_size_alone(name: str) -> None:
    found = mercer.plan((3_000, 5), machine=name)
    assert found.machine == name
    assert found.rows == 3_000
    assert found.bytes > 0
    assert found.seconds_to_predict > 0.0
    assert any("made up" in note for note in found.notes)


def test_every_solver_is_counted() -> None:
    assert set(COSTS) == set(SOLVERS)


def test_a_plan_grows_with_the_rows() -> None:
    small, large = (mercer.plan((n, 10), machine="ridge", alpha=1.0) for n in (4_000, 40_000))
    assert large.bytes > small.bytes
    assert large.entries > 50 * small.entries
    assert large.seconds > small.seconds


def test_the_same_problem_has_the_same_plan_but_for_the_clock() -> None:
    first, again = (mercer.plan((6_000, 10), machine="svc", C=100.0) for _ in range(2))
    assert (first.entries, first.steps, first.bytes) == (again.entries, again.steps, again.bytes)


def test_what_does_not_fit_is_said_so() -> None:
    found = mercer.plan((2_000_000, 10), machine="ridge", solver="cholesky")
    assert not found.fits
    assert "are available" in str(found)
    assert found.bytes >= 8 * 2_000_000**2


def test_a_plan_is_plain_json_and_html() -> None:
    found = mercer.plan((500, 3), machine="svc", C=10.0)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["solver"] == "smo"
    assert "svc on 500 rows" in found._repr_html_()


def test_rows_sorted_by_class_are_planned_as_if_shuffled() -> None:
    X, y = data(5_000)
    order = np.argsort(y > 0.0, kind="stable")
    plain, by_class = mercer.plan(X, y > 0.0, "svc"), mercer.plan(X[order], np.sort(y > 0.0), "svc")
    assert plain.entries / FACTOR <= by_class.entries <= plain.entries * FACTOR


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (dict(X=(1, 2)), "at least 2 rows"),
        (dict(X=(100, 3), machine="forest"), "must be the name of a machine"),
        (dict(X=(100, 3), machine="ridge", depth=3), "depth is no parameter"),
        (dict(X=[{1}, {2}, {3}]), "need a kernel"),
        (dict(X=(10, 2), y=np.zeros(10), machine="svc"), "at least 2 classes"),
        (dict(X=[[1.0, np.nan], [2.0, 3.0]] * 9), "contains NaN"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(mercer.MercerError, match=said):
        mercer.plan(**arguments)
