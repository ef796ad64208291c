"""How fast this machine is: a few operations, timed once in a process, in less than half a second together."""

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mercer.kernels.binding import Binding

__all__ = ["Rates", "rates", "seconds_per_entry"]

# Rows of the matrices that are factorised, and bytes that are read.
FACTOR_ROWS, READ_BYTES = 1_000, 1 << 25
# Each is run so often, and the fastest counts: what else the machine does is not asked for.
TIMES = 3
# Rows of K that are computed to see how long an entry takes, and the least time that can be believed.
ENTRY_ROWS, SHORTEST = 1_500, 1e-6


class Rates(NamedTuple):
    """Seconds for one operation in a factorisation, in float64 and in float32, and for a byte read."""

    double: float
    single: float
    byte: float


@cache
def rates() -> Rates:
    """What one operation takes here."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((FACTOR_ROWS, FACTOR_ROWS))
    A = A @ A.T + FACTOR_ROWS * np.eye(FACTOR_ROWS)
    narrow = A.astype(np.float32)
    operations = FACTOR_ROWS**3 / 3.0
    read = np.ones(READ_BYTES // 8)
    return Rates(
        fastest(lambda: scipy.linalg.cholesky(A, lower=True, check_finite=False)) / operations,
        fastest(lambda: scipy.linalg.cholesky(narrow, lower=True, check_finite=False)) / operations,
        fastest(lambda: float(read @ read)) / (2 * READ_BYTES),
    )


def seconds_per_entry(binding: Binding) -> float:
    """What one kernel value takes, for this kernel on such points."""
    part = binding.take(np.arange(min(len(binding), ENTRY_ROWS)))
    K, ones = part.self_cross(), np.ones((len(part), 1))
    return fastest(lambda: K @ ones) / (0.5 * len(part) ** 2)


def fastest(run: Callable[[], object]) -> float:
    """The shortest of a few times."""
    best = np.inf
    for _ in range(TIMES):
        begun = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - begun)
    return max(float(best), SHORTEST)
