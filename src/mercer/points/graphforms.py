"""What graphs look like in Python, and what is read of each: a table with a row for every class of graphs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.registry import ClassName, nearest
from mercer.points.sparse import check_well_formed

__all__ = ["FORMS", "GraphParts", "Tags", "read_graphs"]


class Tags(NamedTuple):
    """Under which names the nodes and edges of a graph object hold what is read."""

    label: str = "label"
    edge_label: str = "label"
    attributes: str = "attributes"


class GraphParts(NamedTuple):
    """What was read of one graph. Nodes are numbered from 0; undirected edges may stand in either order."""

    size: int | None  # the number of nodes; None: as many as the rest says
    ends: Any  # (m, 2)
    labels: Sequence[Any] | None
    edge_labels: Sequence[Any] | Mapping[Any, Any] | None
    attributes: Any  # (size, d), or None
    directed: bool


class _Reading(NamedTuple):
    """One graph that is being read, for messages."""

    row: int
    name: str
    tags: Tags

    @property
    def where(self) -> str:
        """What it is called."""
        return f"Graph {self.row} of {self.name}"

    def refused(self, wrong: str, got: str = "", attempt: str = "") -> InvalidInput:
        """The error about this graph."""
        return InvalidInput(f"{self.where} {wrong}", got, attempt)


def read_graphs(X: Iterable[Any], name: str, tags: Tags) -> list[GraphParts]:
    """The parts of each graph, whatever its class.

    Examples
    --------
    >>> read_graphs([{"edges": [(0, 1)], "labels": "CO"}], "X", Tags())[0].labels
    'CO'
    """
    forms: dict[type, Any] = {}
    found: list[GraphParts] = []
    for row, graph in enumerate(X):
        kind = type(graph)
        if kind not in forms:
            forms[kind] = nearest(FORMS, kind)
        if forms[kind] is None:
            raise DomainMismatch(f"Graph {row} of {name} is none.", f"It is a {kind.__name__}.", INSTEAD)
        found.append(forms[kind](graph, _Reading(row, name, tags)))
    return found


INSTEAD = (
    'Pass networkx graphs, SciPy adjacency matrices, or dicts: {"edges": [(0, 1), (1, 2)], "labels": ["C", "C", "O"]}.'
)

# The keys of a dict -> the part that they give.
_KEYS = {
    "n": "size", "edges": "ends", "adjacency": "adjacency", "labels": "labels", "node_labels": "labels",
    "edge_labels": "edge_labels", "attributes": "attributes", "node_attributes": "attributes", "directed": "directed",
}  # fmt: skip


def _of_dict(graph: Mapping[str, Any], reading: _Reading) -> GraphParts:
    given: dict[str, Any] = {}
    for key, value in graph.items():
        part = _KEYS.get(key)
        if part is None or part in given:
            raise reading.refused(
                f"has a key {shown(key)}, which says nothing." if part is None else f"gives its {part} twice.",
                f"Its keys are {', '.join(map(shown, graph))}.",
                f"A graph may have {', '.join(_KEYS)}.",
            )
        if value is not None:
            given[part] = value
    directed = given.pop("directed", False)
    if not isinstance(directed, bool | np.bool_):
        raise reading.refused("must say whether it is directed by True or False.", f"Got {shown(directed)}.")
    adjacency = given.pop("adjacency", None)
    if adjacency is not None:
        if given.keys() & {"ends", "size"}:
            raise reading.refused("gives its edges twice: by adjacency, and by edges or n.")
        matrix = _of_matrix(adjacency, reading)
        directed = directed or matrix.directed
        given |= {"size": matrix.size, "ends": _both_ways(matrix) if directed else matrix.ends}
    size = given.get("size")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0):
        raise reading.refused("must have a number of nodes n ≥ 0.", f"Got {shown(size)}.")
    edge_labels = given.get("edge_labels")
    if adjacency is not None and edge_labels is not None and not isinstance(edge_labels, Mapping):
        raise reading.refused(
            "gives edge labels without saying of which edge.", "Its edges are those of an adjacency matrix.",
            "Give them by edge: {(0, 1): 'single', (1, 2): 'double'}.",
        )  # fmt: skip
    return GraphParts(
        None if size is None else int(size), given.get("ends", ()), given.get("labels"), edge_labels,
        given.get("attributes"), bool(directed),
    )  # fmt: skip


def _both_ways(matrix: GraphParts) -> Any:
    """Each edge as two arcs."""
    if matrix.directed:
        return matrix.ends
    return np.concatenate([matrix.ends, matrix.ends[matrix.ends[:, 0] != matrix.ends[:, 1], ::-1]])


def _of_matrix(matrix: Any, reading: _Reading) -> GraphParts:
    """An adjacency matrix: undirected where it is symmetric."""
    is_sparse = sp.issparse(matrix)
    if is_sparse:
        check_well_formed(matrix, reading.where)
    dense = None if is_sparse else np.asarray(matrix)
    shape = matrix.shape if dense is None else dense.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise reading.refused("has an adjacency matrix that is not square.", f"Its shape is {shape}.")
    dtype = matrix.dtype if dense is None else dense.dtype
    if dtype.kind not in "biuf":
        raise reading.refused("has an adjacency matrix without numbers.", f"Its type is {dtype}.")
    entries = sp.coo_array(matrix if dense is None else dense)
    entries.sum_duplicates()
    ends = np.stack(entries.coords, axis=1)[entries.data != 0]
    weights = entries.data[entries.data != 0]
    if (weights != 1).any():
        place = int((weights != 1).argmax())
        raise reading.refused(
            "has an edge with a weight, which no kernel of graphs reads.",
            f"The entry at {tuple(ends[place].tolist())} is {shown(weights[place])}.",
            'Pass A != 0, and the weights as labels, if any: {"adjacency": A != 0, "edge_labels": {(0, 1): 0.5}}.',
        )
    upper, lower = ends[ends[:, 0] < ends[:, 1]], ends[ends[:, 0] > ends[:, 1], ::-1]
    mirrored = np.array_equal(upper[np.lexsort(upper.T)], lower[np.lexsort(lower.T)])
    kept = ends[ends[:, 0] <= ends[:, 1]] if mirrored else ends
    return GraphParts(shape[0], kept, None, None, None, not mirrored)


def _of_pair(pair: tuple[Any, ...], reading: _Reading) -> GraphParts:
    if len(pair) != 2:
        raise reading.refused("is a tuple of another length.", f"Got {len(pair)} parts.", "Pass (adjacency, labels).")
    return _of_matrix(pair[0], reading)._replace(labels=pair[1])


def _of_networkx(graph: Any, reading: _Reading) -> GraphParts:
    if graph.is_multigraph() and any(key for *_, key in graph.edges(keys=True)):
        raise reading.refused(
            "has several edges between two nodes.", f"It is a {type(graph).__name__}.",
            "Merge them: nx.Graph(G), or nx.DiGraph(G).",
        )  # fmt: skip
    label, edge_label, attributes = reading.tags
    number = {node: place for place, node in enumerate(graph)}
    edges = list(graph.edges(data=True))
    nodes = [data for _, data in graph.nodes(data=True)]
    return GraphParts(
        len(number), [(number[a], number[b]) for a, b, _ in edges], _tagged(nodes, label),
        _tagged([data for *_, data in edges], edge_label), _vectors(_tagged(nodes, attributes), attributes, reading),
        graph.is_directed(),
    )  # fmt: skip


def _of_igraph(graph: Any, reading: _Reading) -> GraphParts:
    label, edge_label, attributes = reading.tags
    found = graph.vs[attributes] if attributes in graph.vs.attributes() else None
    return GraphParts(
        graph.vcount(), graph.get_edgelist(), graph.vs[label] if label in graph.vs.attributes() else None,
        graph.es[edge_label] if edge_label in graph.es.attributes() else None, _vectors(found, attributes, reading),
        graph.is_directed(),
    )  # fmt: skip


def _tagged(records: list[dict[Any, Any]], tag: str) -> list[Any] | None:
    """What each record has under a name; None if none of them has it."""
    if not any(tag in record for record in records):
        return None
    return [record.get(tag) for record in records]


def _vectors(rows: list[Any] | None, tag: str, reading: _Reading) -> NDArray[np.float64] | None:
    """One vector, or one number, for each node."""
    if rows is None:
        return None
    missing = next((node for node, row in enumerate(rows) if row is None), None)
    if missing is not None:
        raise reading.refused(
            f"has no {tag!r} at node {missing}, but at others.", "", "Give every node the same numbers."
        )
    return np.array([np.atleast_1d(row) for row in rows])


# The class of a graph -> how it is read. Classes are named, so that their libraries need not be there.
FORMS: dict[ClassName, Callable[[Any, _Reading], GraphParts]] = {
    ("builtins", "dict"): _of_dict,
    ("builtins", "tuple"): _of_pair,
    ("igraph", "Graph"): _of_igraph,
    ("networkx", "Graph"): _of_networkx,
    ("numpy", "ndarray"): _of_matrix,
    ("scipy", "sparray"): _of_matrix,
    ("scipy", "spmatrix"): _of_matrix,
}
