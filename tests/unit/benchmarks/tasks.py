"""Small works for the tests of the benchmark harness."""

import time

import numpy as np

from benchmarks.harness.rows import Task

BYTES = 100_000_000


def sleeping(seconds: float) -> Task:
    return Task(lambda: time.sleep(seconds), lambda _: 0.0)


def allocating() -> Task:
    return Task(lambda: np.ones(BYTES // 8), lambda array: float(array.sum() - BYTES // 8), allowance=1)


def breaking() -> Task:
    def run() -> None:
        raise RuntimeError("this peer is broken")

    return Task(run)
