"""Random targets that a loss takes: one row for each value of `Targets`."""

import numpy as np

from mercer.problems import Targets

DRAW = {
    Targets.REAL: lambda rng, n, t: 3.0 * rng.standard_normal((n, t)),
    Targets.SIGNS: lambda rng, n, t: rng.choice([-1.0, 1.0], (n, t)),
    Targets.COUNTS: lambda rng, n, t: rng.poisson(3.0, (n, t)).astype(float),
    Targets.ONE_HOT: lambda rng, n, t: np.eye(t)[rng.integers(0, t, n)],
}


def targets_of(loss, rng, n, t):
    """y of shape (n, t)."""
    return DRAW[loss.targets](rng, n, t)
