"""Small works for the tests of the benchmark harness."""

import subprocess
import time

import numpy as np

from benchmarks.harness.rows import Task

BYTES = 100_000_000


def sleeping(seconds: float) -> Task:
    return Task(lambda: time.sleep(seconds), lambda _: 0.0)


def slowing(first: float, then: float) -> Task:
    """The first run is quicker than the others."""
    times = [first]
    return Task(lambda: time.sleep(times.pop() if times else then), lambda _: 0.0)


def parenting(seconds: int) -> Task:
    """The work is done by a process of its own, which holds the pipes of its parent."""
    return Task(lambda: subprocess.run(["sleep", str(seconds)], check=True))


def allocating(share: float = 1.0) -> Task:
    size = int(share * BYTES) // 8
    return Task(lambda: np.ones(size), lambda array: float(array.sum() - size), allowance=1)


def erring(error: float) -> Task:
    return Task(lambda: None, lambda _: error)


def unfinished() -> Task:
    return Task(lambda: None)


def counting() -> Task:
    """The error is the number of runs."""
    runs: list[None] = []
    return Task(lambda: runs.append(None), lambda _: float(len(runs)))


def breaking() -> Task:
    def run() -> None:
        raise RuntimeError("this peer is broken")

    return Task(run)
