"""Kernels of series against their peers: one row for each promise; a part of the suite of objects."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

# Of two Gram matrices, relative to the largest entry.
SAME = 1e-9


def sides(work: str, *peers: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and its peers at the same work."""
    return tuple(
        Contestant(side, f"benchmarks.against.objects_series_builders:{side}_{work}", parameters)
        for side in ("mercer", *peers)
    )


ROWS: tuple[Row, ...] = (
    Row(
        "Gram of GlobalAlignment().normalised(), 500 series of 150", "tslearn cdist_gak, all cores",
        sides("alignment", "tslearn", n=500, length=150), 10.0, accuracy=SAME, repeats=1,
    ),
    Row(
        "Gram of Signature(), 200 series of 60 in 3 channels", "the recursion in NumPy, all pairs at once",
        sides("signature", "numpy", n=200, length=60, channels=3, order=4), 10.0, accuracy=SAME, repeats=1,
    ),
)  # fmt: skip
