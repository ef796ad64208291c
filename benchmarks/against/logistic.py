"""Kernel logistic regression against its peers: one row for each promise. RBF with gamma = 1/d, C = 1."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

D = 20
PROBABILITY = 1e-3
GAP = 1.1e-4
"""A relative gap of 1e-4, and what the referee of the benchmarks rounds otherwise."""
GIGABYTE = 1_000_000_000


def sides(work: str, *peers: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and its peers at the same work; a builder's name is its contestant's and its work's."""
    return tuple(
        Contestant(side, f"benchmarks.against.logistic_builders:{side}_{work}", parameters)
        for side in ("mercer", *peers)
    )


ROWS: tuple[Row, ...] = (
    Row(
        "fit, two classes, n = 5000", "scikit-learn GaussianProcessClassifier(optimizer=None)",
        sides("map", "sklearn", n=5_000, d=D), 10.0, accuracy=PROBABILITY, repeats=3, enough=20.0,
    ),
    Row(
        "fit, two classes, n = 20000", "scikit-learn CalibratedClassifierCV(SVC, cv=5): less time",
        sides("fit", "sklearn", n=20_000, d=D), 1.0, limits={"gap": GAP}, repeats=3, warm_up=False, enough=60.0,
    ),
    Row(
        "fit, ten classes, mnist, n = 10000: works in 2 GB", "no peer fits softmax with a kernel",
        sides("softmax", name="mnist", rows=10_000), memory=2 * GIGABYTE, memory_text="extra memory < 2 GB",
        limits={"gap": GAP}, repeats=1, warm_up=False,
    ),
    *(
        Row(
            f"fit, two classes, n = {n}, at equal log-loss", "scikit-learn Nystroem(1000) + LogisticRegression",
            sides("held_out", "sklearn", n=n, d=D, new=5_000), 3.0, limits={"log-loss over its": 1.0}, repeats=3,
            enough=30.0,
        )
        for n in (5_000, 10_000)
    ),
)  # fmt: skip
