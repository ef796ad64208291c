"""Kernels of graphs against GraKeL: whole Gram matrices, from the graphs as Python has them.

Both sides are given what they read: mercer dicts of edges and labels, GraKeL its dictionaries of neighbours. The rows
of the matrix are compared with counts that are made label by label in plain Python.
"""

from benchmarks.harness.rows import Contestant, Row

ACCURACY = 1e-9

# What is computed, the set and its number of graphs, and the ratio to be reached.
WORKS: tuple[tuple[str, str, str, int, float], ...] = (
    ("colours", "Weisfeiler-Lehman, depth 4", "NCI1", 4110, 15.0),
    ("paths", "shortest paths", "NCI1", 4110, 10.0),
    ("paths", "shortest paths", "PROTEINS_full", 1113, 10.0),
    ("levels", "Weisfeiler-Lehman assignment, depth 4", "NCI1", 4110, 15.0),
)
PEERS = {
    "colours": "GraKeL WeisfeilerLehman",
    "paths": "GraKeL ShortestPath",
    "levels": "GraKeL WeisfeilerLehmanOptimalAssignment",
}


def row(work: str, text: str, name: str, count: int, target: float) -> Row:
    sides = tuple(
        Contestant(side, f"benchmarks.against.objects_graphs_builders:{side}", {"work": work, "name": name})
        for side in ("mercer", "grakel")
    )
    return Row(
        f"{text}, Gram matrix of {name.removesuffix('_full')} ({count} graphs)", PEERS[work], sides, target,
        accuracy=ACCURACY, enough=60.0, repeats=3,
    )  # fmt: skip


ROWS: tuple[Row, ...] = tuple(row(*work) for work in WORKS)
