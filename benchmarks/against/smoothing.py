"""Kernel smoothing against its peers: one row for each promise. Gaussian weights."""

from dataclasses import replace
from typing import Any

from benchmarks.harness.rows import Contestant, Row

MEGABYTE = 1_000_000
ACCURACY = 1e-6
REPEAT = 20
"""Fits of mercer's within one run, so that a run is no less than some milliseconds; the peer's one takes seconds."""


def sides(work: str, *peers: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and its peers at the same work; a builder's name is its contestant's and its work's."""
    return tuple(
        Contestant(side, f"benchmarks.against.smoothing_builders:{side}_{work}", parameters)
        for side in ("mercer", *peers)
    )


def bandwidth(d: int) -> Row:
    mercer, peer = sides("bandwidth", "statsmodels", n=1_000, d=d)
    mercer = replace(mercer, parameters={**mercer.parameters, "repeat": REPEAT}, work=float(REPEAT))
    return Row(
        f"fit with the bandwidth by leave-one-out, n = 1000, d = {d}: mercer {REPEAT} times, the peer once",
        'statsmodels KernelReg(bw="cv_ls")', (mercer, peer), 500.0, no_worse={"left-out error": 0.0}, repeats=5,
        enough=5.0, patience=10.0,  # the peer's left-out error is wanted, however long that takes it
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    *(bandwidth(d) for d in (1, 2)),
    Row(
        "predict 100000 rows on 100000, d = 2", "a matrix of the weights would need 80 GB; not run",
        sides("predict", n=100_000, d=2, new=100_000, h=0.1),
        memory=64 * MEGABYTE, memory_text="extra memory < 64 MB", accuracy=ACCURACY, repeats=1,
    ),
)  # fmt: skip
