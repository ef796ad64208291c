"""Kernels of strings against their peers: one row for each promise; a part of the suite of objects."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

# Of two Gram matrices, relative to the largest entry.
SAME = 1e-9
CELEGANS_SECONDS = 600.0
CELEGANS_BYTES = 4 << 30


def sides(work: str, *peers: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and its peers at the same work."""
    return tuple(
        Contestant(side, f"benchmarks.against.objects_strings_builders:{side}_{work}", parameters)
        for side in ("mercer", *peers)
    )


ROWS: tuple[Row, ...] = (
    Row(
        "Gram of Spectrum(5), splice, 3190 strings of 60", "scikit-learn CountVectorizer + linear_kernel",
        sides("spectrum", "sklearn", name="splice", n=3190, length=5), 3.0, accuracy=SAME,
    ),
    Row(
        "Gram of Spectrum(5), celegans_acc, 20000 strings of 398", "scikit-learn CountVectorizer + linear_kernel",
        sides("spectrum", "sklearn", name="celegans_acc", n=20_000, length=5), 3.0, accuracy=SAME, repeats=1,
        warm_up=False,
    ),
    Row(
        "Gram of Mismatch(5, 1), splice, 300 strings of 60", "strkernel MismatchKernel",
        sides("mismatch", "strkernel", name="splice", n=300, length=5, mismatches=1), 20.0, accuracy=SAME, repeats=3,
    ),
    Row(
        "Gram of Subsequence(4), 1000 strings of 100", "the plain recursion in numba",
        sides("subsequence", "numba", n=1000, letters=100, length=4, decay=0.5), 30.0, accuracy=SAME, repeats=2,
        limits={"gram seconds": 15.0},
    ),
    Row(
        "fit SVC of WeightedDegree(10) to 80000 of celegans_acc, predict 20000", "no peer: 600 s and 4 GB",
        sides("celegans", n=100_000, degree=10, C=1.0), memory=CELEGANS_BYTES, memory_text="4 GB",
        limits={"fit seconds": CELEGANS_SECONDS}, repeats=1, warm_up=False,
    ),
)  # fmt: skip
