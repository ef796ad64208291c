"""Memory: limits of the process are seen, and what is refused comes with advice. Limits are set in child processes."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mercer
from mercer import budget

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")

CHILD = """
import resource
import numpy as np
import mercer

X = np.random.default_rng(0).normal(size=(2000, 3))
y = X[:, 0]
mercer.KernelRidge().fit(X[:50], y[:50])  # threads, and what else is made once

def leave(megabytes, limit):
    used = open("/proc/self/statm").read().split()[5 if limit == resource.RLIMIT_DATA else 0]
    room = int(used) * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(limit, (room, resource.getrlimit(limit)[1]))

def told(ask):
    try:
        ask()
    except mercer.TooLarge as error:
        print(error)
"""


def child(program):
    """What a process of its own prints."""
    text = CHILD + textwrap.dedent(program)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout


@linux
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_process_is_seen_before_anything_is_allocated(limit):
    told = child(f"""
        leave(24, resource.{limit})
        told(lambda: mercer.RBF()(X))
    """)
    assert told.startswith("The Gram matrix of 2000 x 2000 points in float64 would take 30.5 MB.\n  Only ")
    assert float(told.split("Only ")[1].split()[0]) <= 24.0
    assert "Use mercer.gram(kernel, X)" in told


@linux
def test_under_a_limit_machines_do_with_what_there_is():
    told = child("""
        leave(24, resource.RLIMIT_AS)
        print(type(mercer.gram(mercer.RBF(), X, budget=1 << 40)).__name__)
        machine = mercer.KernelRidge(kernel="rbf", alpha=0.5).fit(X, y)
        print(machine.score(X, y) > 0.9)
        told(lambda: mercer.KernelRidge(kernel="rbf", solver="cholesky").fit(X, y))
    """)
    kind, score, *refused = told.splitlines()
    assert (kind, score) == ("TiledGram", "True")
    assert refused[0] == "The system of 2000 x 2000 equations in float64 would take 30.5 MB."
    assert refused[-1] == "  Fit fewer rows, or a sample of them."


@linux
def test_a_solver_that_runs_out_of_memory_on_its_way_says_so():
    told = child("""
        machine = mercer.KernelLogisticRegression(kernel="rbf", solver="newton-cholesky")
        machine.fit(X[:50], y[:50] > 0.0)
        X = np.vstack([X, X[:1000] + 1.0])
        leave(120, resource.RLIMIT_AS)  # room for K, 69 MB, and not for the system that is made of it
        told(lambda: machine.fit(X, X[:, 0] > 0.0))
    """)
    assert told.splitlines()[0] == "Solver 'newton-cholesky' has run out of memory."
    assert "Fit fewer rows, or try another solver." in told


def test_an_allocation_that_fails_although_the_budget_allowed_it_comes_with_advice():
    with (
        pytest.raises(mercer.TooLarge, match=r"(?s)A wish would take 1 exabyte.*refused an allocation.*Wish for less"),
        budget.or_too_large("A wish would take 1 exabyte.", "Wish for less."),
    ):
        np.empty(1 << 57)
    with pytest.raises(mercer.TooLarge, match="another"), budget.or_too_large("A wish.", "Wish for less."):
        raise mercer.TooLarge("another")


def test_what_is_allocated_is_refused_by_all_that_is_asked_for():
    there = budget.memory_there()
    assert budget.allocate((2, 3), np.float32, "A table", "Nothing.").shape == (2, 3)
    for asked in ({"shape": (there, 2)}, {"shape": (2, 2), "n_bytes": 2 * there}):
        with pytest.raises(mercer.TooLarge, match=r"(?s)A table would take.*Only.*Nothing\."):
            budget.allocate(dtype=np.float64, what="A table", attempt="Nothing.", **asked)
