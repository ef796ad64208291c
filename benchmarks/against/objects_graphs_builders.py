"""The works of the rows of graphs: each builder makes its graphs and returns the run that is measured.

Imports of peers stand inside their builders: each process has only its own contestant in memory.
"""

import importlib
import operator
import os
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from benchmarks.harness import data
from benchmarks.harness.accuracy import relative
from benchmarks.harness.rows import Task

Graph = dict[str, Any]
DEPTH = 4
CHECKED = 25
"""Rows of the matrix that are compared."""


class Size(NamedTuple):
    """The size of a real set, for made graphs in its place."""

    graphs: int
    nodes: float
    labels: int


SIZES = {"ENZYMES": Size(600, 32.6, 3), "NCI1": Size(4110, 29.9, 37), "PROTEINS_full": Size(1113, 39.1, 3)}


def graphs(name: str) -> tuple[list[Graph], Any, str]:
    """Graphs with labels, their classes, and where they came from: made like molecules without MERCER_DATA."""
    if os.environ.get("MERCER_DATA"):
        X, y, source = data.load(f"graphs/{name}")
        kept = ("n", "edges", "node_labels")
        return [{key: graph[key] for key in kept} for graph in X], y, source
    size = SIZES[name]
    rng = np.random.default_rng(0)
    made = []
    for n in rng.poisson(size.nodes, size.graphs) + 2:
        parents = np.maximum(np.arange(1, n) - rng.integers(1, 4, n - 1), 0)
        rings = rng.integers(0, n, (max(1, n // 10), 2))
        edges = np.concatenate([np.column_stack([parents, np.arange(1, n)]), rings[rings[:, 0] != rings[:, 1]]])
        made.append({"n": int(n), "edges": edges, "node_labels": rng.geometric(0.6, n) % size.labels})
    return made, rng.integers(0, 2, size.graphs), f"made, size of {name}"


def mercer(work: str, name: str) -> Task:
    """From the graphs to the matrix: reading, counting and all."""
    import mercer as library

    kernels = {
        "colours": library.WeisfeilerLehman(DEPTH),
        "paths": library.ShortestPath(),
        "levels": library.WeisfeilerLehmanAssignment(DEPTH),
    }
    X, _, source = graphs(name)
    return Task(lambda: kernels[work](X), error_of(work, X), allowance=8 * len(X) ** 2, source=source)


def grakel(work: str, name: str) -> Task:
    """GraKeL's kernel, on dictionaries that are made beforehand."""
    kernels = importlib.import_module("grakel.kernels")
    makers: dict[str, Callable[[], Any]] = {
        "colours": lambda: kernels.WeisfeilerLehman(n_iter=DEPTH, base_graph_kernel=kernels.VertexHistogram),
        "paths": kernels.ShortestPath,
        "levels": lambda: kernels.WeisfeilerLehmanOptimalAssignment(n_iter=DEPTH),
    }
    X, _, source = graphs(name)
    theirs = [_as_neighbours(graph) for graph in X]
    return Task(lambda: makers[work]().fit_transform(theirs), error_of(work, X), source=source)


def _as_neighbours(graph: Graph) -> list[dict[int, Any]]:
    neighbours: dict[int, dict[int, float]] = {node: {} for node in range(graph["n"])}
    for u, v in graph["edges"].tolist():
        neighbours[u][v] = neighbours[v][u] = 1.0
    return [neighbours, dict(enumerate(graph["node_labels"].tolist()))]


def error_of(work: str, X: list[Graph]) -> Callable[[Any], float]:
    """How far some rows of a matrix are from those that are counted in plain Python."""
    return lambda found: relative(expected_rows(work, X, CHECKED), np.asarray(found)[:CHECKED])


def expected_rows(work: str, X: list[Graph], rows: int) -> np.ndarray[Any, Any]:
    """The first rows of the matrix, by counters of labels."""
    counts = [COUNTED[work](graph) for graph in X]
    combine: Callable[[int, int], int] = min if work == "levels" else operator.mul
    some = [
        [sum(combine(times, other[key]) for key, times in one.items() if key in other) for other in counts]
        for one in counts[:rows]
    ]
    return np.array(some, dtype=np.float64)


def _colours(graph: Graph) -> Counter[Any]:
    """Colours of each round as hashes of all that they stand for, which tell apart what few graphs could have."""
    around: list[list[int]] = [[] for _ in range(graph["n"])]
    for u, v in graph["edges"].tolist():
        around[u].append(v)
        around[v].append(u)
    colours = [(0, label) for label in graph["node_labels"].tolist()]
    found = Counter(colours)
    for depth in range(1, DEPTH + 1):
        colours = [
            (depth, hash((colours[node], tuple(sorted(colours[other] for other in set(others))))))
            for node, others in enumerate(around)
        ]
        found.update(colours)
    return found


def _paths(graph: Graph) -> Counter[Any]:
    n, edges, labels = graph["n"], graph["edges"], graph["node_labels"].tolist()
    matrix = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    length = shortest_path(matrix, directed=False, unweighted=True)
    starts, ends = np.nonzero(np.isfinite(length) & (length > 0))
    return Counter(
        (labels[u], labels[v], r)
        for u, v, r in zip(starts.tolist(), ends.tolist(), length[starts, ends].tolist(), strict=True)
    )


COUNTED: dict[str, Callable[[Graph], Counter[Any]]] = {"colours": _colours, "paths": _paths, "levels": _colours}
