"""What is counted in graphs, from the definitions: node by node, pair by pair, subset by subset.

A graph is a dict with n, edges and directed, and perhaps labels and edge_labels.
"""

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment


def labels(graph: Any) -> list[Any]:
    """The label of each node."""
    return list(graph.get("labels") or [None] * graph["n"])


def arcs(graph: Any) -> list[tuple[int, int, Any]]:
    """Start, end and label of each arc; an undirected edge is two, a loop one, a copy none."""
    each = graph.get("edge_labels") or [None] * len(graph["edges"])
    found = {(int(u), int(v)): label for (u, v), label in zip(graph["edges"], each, strict=True)}
    if not graph.get("directed"):
        found |= {(v, u): label for (u, v), label in found.items()}
    return [(u, v, label) for (u, v), label in found.items()]


def colours(graph: Any, depth: int) -> list[list[Any]]:
    """The colour of each node after 0, …, depth rounds, as all that it stands for."""
    rounds: list[list[Any]] = [labels(graph)]
    for _ in range(depth):
        last = rounds[-1]
        out: list[list[Any]] = [[] for _ in last]
        into: list[list[Any]] = [[] for _ in last]
        for u, v, label in arcs(graph):
            out[u].append((str(label), repr(last[v])))
            into[v].append((str(label), repr(last[u])))
        rounds.append([(last[u], tuple(sorted(out[u])), tuple(sorted(into[u]))) for u in range(len(last))])
    return rounds


def coloured(graph: Any, depth: int) -> Counter[Any]:
    """How many nodes have which colour, of which round."""
    return Counter((i, repr(colour)) for i, row in enumerate(colours(graph, depth)) for colour in row)


def agreements(x: Any, z: Any, depth: int) -> np.ndarray:
    """In how many rounds nodes have the same colour: (nodes of x, nodes of z)."""
    ours, theirs = colours(x, depth), colours(z, depth)
    same = [[[a == b for b in right] for a in left] for left, right in zip(ours, theirs, strict=True)]
    return np.sum(np.reshape(same, (depth + 1, len(ours[0]), len(theirs[0]))), axis=0, dtype=np.float64)


def assigned(x: Any, z: Any, depth: int) -> float:
    """The best assignment of nodes, by the Hungarian method."""
    value = agreements(x, z, depth)
    return float(value[linear_sum_assignment(value, maximize=True)].sum())


def paths(graph: Any) -> Counter[Any]:
    """Pairs of different nodes by labels and distance, by Floyd and Warshall."""
    n, names = graph["n"], labels(graph)
    distance = np.full((n, n), np.inf)
    for u, v, _ in arcs(graph):
        distance[u, v] = 1.0
    for k in range(n):
        distance = np.minimum(distance, distance[:, k, None] + distance[None, k, :])
    joined = ((u, v) for u in range(n) for v in range(n) if u != v and np.isfinite(distance[u, v]))
    return Counter((names[u], names[v], float(distance[u, v])) for u, v in joined)


def graphlets(graph: Any, size: int) -> Counter[Any]:
    """Connected induced subgraphs, each by the smallest of its matrices."""
    A = np.zeros((graph["n"], graph["n"]), dtype=int)
    for u, v, _ in arcs(graph):
        A[u, v] = u != v
    found: Counter[Any] = Counter()
    for chosen in combinations(range(graph["n"]), size):
        part = A[np.ix_(chosen, chosen)]
        reached = np.linalg.matrix_power(part + part.T + np.eye(size, dtype=int), size)
        if reached.all():
            found[min(tuple(part[np.ix_(order, order)].ravel()) for order in permutations(range(size)))] += 1
    return found


def edge_labels(graph: Any) -> Counter[Any]:
    """How many edges have which label."""
    ends = {frozenset((u, v)) if not graph.get("directed") else (u, v): label for u, v, label in arcs(graph)}
    return Counter(ends.values())


def common_walks(x: Any, z: Any, decay: float) -> float:
    """Σ decayⁿ 1ᵀWⁿ1 over the walks in the product of two graphs, by solving (I − decay W) s = 1."""
    ours, theirs = labels(x), labels(z)
    cells = [(u, v) for u in range(x["n"]) for v in range(z["n"]) if ours[u] == theirs[v]]
    place = {cell: at for at, cell in enumerate(cells)}
    W = np.zeros((len(cells), len(cells)))
    for u, to_u, label in arcs(x):
        for v, to_v, other in arcs(z):
            if label == other and (u, v) in place and (to_u, to_v) in place:
                W[place[u, v], place[to_u, to_v]] += 1.0
    return float(np.linalg.solve(np.eye(len(cells)) - decay * W, np.ones(len(cells))).sum())
