"""Nearest neighbours against their peers: one row for each promise. float32 rows, k = 10."""

from typing import Any

from benchmarks.harness.rows import Contestant, Row

N, QUERIES, K = 100_000, 10_000, 10
SPEED = {16: 8.0, 64: 4.0, 128: 2.5}
"""Against scikit-learn, by the number of columns."""


def sides(work: str, peer: str, **parameters: Any) -> tuple[Contestant, ...]:
    """Mercer and a peer at the same work; a builder's name is its contestant's and its work's."""
    return tuple(
        Contestant(side, f"benchmarks.against.neighbours_builders:{side}_{work}", parameters)
        for side in ("mercer", peer)
    )


def search(d: int, peer: str, against: str, at_least: float) -> Row:
    return Row(
        f"fit and ask {QUERIES} rows of {N} × {d} for {K} neighbours", against,
        sides("search", peer, n=N, d=d, queries=QUERIES, k=K), at_least, accuracy=0.0, repeats=3,
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    *(search(d, "sklearn", "scikit-learn NearestNeighbors, brute force", SPEED[d]) for d in SPEED),
    *(search(d, "faiss", "faiss-cpu IndexFlatL2: at most 1.2 × its time", 1.0 / 1.2) for d in SPEED),
    Row(
        f"RBF, fit and ask 2000 rows of 2000 × 8 for {K} neighbours",
        "scikit-learn NearestNeighbors with the distance in feature space as a function",
        sides("kernel_search", "sklearn", n=2_000, d=8, k=K), 1_000.0, accuracy=0.0, repeats=3, enough=5.0,
    ),
)  # fmt: skip
