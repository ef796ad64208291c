"""Graphs: nodes and edges, with labels and attributes; directed or not."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from mercer.domains import is_hashable
from mercer.errors import DomainMismatch, InvalidInput, shown
from mercer.points.base import Domain, Points, Selection, as_selection, found_none, is_missing, read_only
from mercer.points.graphforms import INSTEAD, GraphParts, Tags, read_graphs
from mercer.points.objects import Objects
from mercer.points.ragged import gather, offsets_of
from mercer.points.registry import Adapter, register
from mercer.points.vectors import refuse_masked

__all__ = ["Graphs", "Labels"]

# Nodes of one graph: they are numbered in 32 bits.
MOST_NODES = np.iinfo(np.int32).max


@final
@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as numbers into their different values.

    Attributes
    ----------
    codes : int32 ndarray
        The place of each label in `values`.
    values : tuple
        Different labels. ``(None,)`` if there are none.
    """

    codes: NDArray[np.int32]
    values: tuple[Hashable, ...]

    @property
    def given(self) -> bool:
        """Whether there are labels at all."""
        return self.values != (None,)

    def take(self, places: NDArray[np.int64]) -> "Labels":
        """The chosen ones, of the same values."""
        return Labels(read_only(self.codes[places]), self.values)

    def raw(self, begin: int, end: int) -> list[Hashable]:
        """Some of them, as they were given."""
        return [self.values[code] for code in self.codes[begin:end].tolist()]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False, slots=True)
class Graphs:
    """Points that are finite graphs; the graph without nodes is one of them.

    A graph is a networkx or igraph graph, a SciPy adjacency matrix (undirected where it is symmetric) or a tuple
    ``(adjacency, labels)``, or a dict with the keys ``n`` (the number of nodes, where labels do not say it), ``edges``
    (pairs of nodes 0, …, n − 1) or ``adjacency``, ``labels``, ``edge_labels`` (one for each edge, or by edge:
    ``{(0, 1): "double"}``), ``attributes`` (numbers, a row for each node) and ``directed`` (False).

    Labels are hashable values; either all nodes of all graphs have one, or none has. An edge that is given twice is one
    edge. A loop is an edge.

    Parameters
    ----------
    X : list, tuple or one-dimensional array
        One graph per point, at least one.
    name : str
        The argument's name in messages.
    label, edge_label, attributes : str
        The names that nodes and edges of networkx and igraph graphs have these under.

    Attributes
    ----------
    nodes, edges : int64 ndarray of shape (n + 1,)
        Graph i has the nodes ``nodes[i]:nodes[i + 1]`` and the edges ``edges[i]:edges[i + 1]``.
    ends : int32 ndarray of shape (m, 2)
        The nodes of each edge, numbered within their graph.
    directed : bool ndarray of shape (n,)
        Which graphs are directed.
    labels, edge_labels : Labels
        Of all nodes and all edges, graph by graph.
    attributes : float64 ndarray of shape (N, d), or None
        Of all nodes.

    Examples
    --------
    >>> X = Graphs([{"edges": [(0, 1), (1, 2)], "labels": "CCO"}, {"n": 2, "labels": ["O", "H"]}])
    >>> X
    Graphs(2, 5 nodes, 2 edges)
    >>> X.take([1]).raw()
    [{'n': 2, 'edges': array([], shape=(0, 2), dtype=int32), 'labels': ['O', 'H'], 'directed': False}]
    """

    domain: ClassVar[Domain] = Domain.GRAPHS
    nodes: NDArray[np.int64]
    edges: NDArray[np.int64]
    ends: NDArray[np.int32]
    directed: NDArray[np.bool_]
    labels: Labels
    edge_labels: Labels
    attributes: NDArray[np.float64] | None

    def __init__(
        self,
        X: Sequence[Any] | NDArray[Any],
        name: str = "X",
        *,
        label: str = "label",
        edge_label: str = "label",
        attributes: str = "attributes",
    ) -> None:
        if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
            raise DomainMismatch(f"Input {name} is not a list of graphs.", f"Got a {type(X).__name__}.", INSTEAD)
        if len(X) == 0:
            raise found_none(name, "sample", (0,))
        refuse_masked(X, name)
        tags = Tags(label, edge_label, attributes)
        self._set(*_joined(read_graphs(X, name, tags), name))

    def _set(self, *arrays: Any) -> None:
        for field, array in zip(self.__slots__, arrays, strict=True):
            object.__setattr__(self, field, read_only(array) if isinstance(array, np.ndarray) else array)

    @classmethod
    def _trusted(cls, *arrays: Any) -> Self:
        self = object.__new__(cls)
        self._set(*arrays)
        return self

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[Any, ...]]:
        return self._trusted, tuple(getattr(self, field) for field in self.__slots__)

    def __len__(self) -> int:
        return len(self.nodes) - 1

    def __repr__(self) -> str:
        return f"Graphs({len(self)}, {self.nodes[-1]} nodes, {self.edges[-1]} edges)"

    def take(self, rows: Selection) -> Self:
        """The chosen points, in the chosen order."""
        index = as_selection(rows, len(self))
        nodes, of_nodes = gather(self.nodes, index)
        edges, of_edges = gather(self.edges, index)
        return self._trusted(
            nodes, edges, self.ends[of_edges], self.directed[index], self.labels.take(of_nodes),
            self.edge_labels.take(of_edges), None if self.attributes is None else self.attributes[of_nodes],
        )  # fmt: skip

    def raw(self) -> list[dict[str, Any]]:
        """The graphs as dicts."""
        bounds = zip(pairwise(self.nodes.tolist()), pairwise(self.edges.tolist()), self.directed.tolist(), strict=True)
        return [self._as_dict(*node, *edge, directed) for node, edge, directed in bounds]

    def _as_dict(self, a: int, b: int, first: int, last: int, directed: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"n": b - a, "edges": self.ends[first:last]}
        if self.labels.given:
            found["labels"] = self.labels.raw(a, b)
        if self.edge_labels.given:
            found["edge_labels"] = self.edge_labels.raw(first, last)
        if self.attributes is not None:
            found["attributes"] = self.attributes[a:b]
        return found | {"directed": directed}


def _joined(parts: list[GraphParts], name: str) -> tuple[Any, ...]:
    """The arrays of `Graphs`, checked."""
    each = [_ends(part, row, name) for row, part in enumerate(parts)]
    counts = np.array([_count(part, ends, row, name) for row, (part, ends) in enumerate(zip(parts, each, strict=True))])
    nodes, edges = offsets_of(counts), offsets_of(np.fromiter(map(len, each), np.int64, len(each)))
    ends = np.concatenate(each)
    row_of = np.repeat(np.arange(len(parts)), np.diff(edges))
    _check_inside(ends, row_of, counts, edges, name)
    directed = np.array([part.directed for part in parts])
    labels = _coded(
        [_one_each(part.labels, n) for part, n in zip(parts, counts.tolist(), strict=True)], nodes, name, "node"
    )
    of_edges = [_of_edges(part, found, row, name) for row, (part, found) in enumerate(zip(parts, each, strict=True))]
    edge_labels = _coded(of_edges, edges, name, "edge")
    kept = _without_copies(ends + nodes[row_of, None], directed[row_of], row_of, edge_labels, name)
    if len(kept) < len(ends):
        edges = offsets_of(np.bincount(row_of[kept], minlength=len(parts)))
        ends, edge_labels = ends[kept], edge_labels.take(kept)
    return nodes, edges, ends.astype(np.int32), directed, labels, edge_labels, _attributes(parts, counts, name)


def _ends(part: GraphParts, row: int, name: str) -> NDArray[np.int64]:
    try:
        found = part.ends if isinstance(part.ends, np.ndarray) else np.asarray(list(part.ends))
    except (TypeError, ValueError):
        found = np.empty(0, dtype=np.object_)
    if found.size == 0 and found.dtype != np.object_:
        return np.empty((0, 2), dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise InvalidInput(
            f"The edges of graph {row} of {name} must be pairs of nodes, which are whole numbers.",
            f"Got {shown(part.ends)}.",
            "Pass edges=[(0, 1), (1, 2)]; a label or a weight of an edge goes into edge_labels.",
        )
    return found.astype(np.int64, copy=False)


def _count(part: GraphParts, ends: NDArray[np.int64], row: int, name: str) -> int:
    """The number of nodes, which all that says something about it must agree on."""
    said: dict[str, int] = {} if part.size is None else {"n": part.size}
    if part.labels is not None:
        if isinstance(part.labels, Mapping) or not isinstance(part.labels, (Sequence, np.ndarray)):
            kind = type(part.labels).__name__
            raise InvalidInput(
                f"The labels of graph {row} of {name} are not a list.", f"Got a {kind}.", "Pass one label per node."
            )
        said["labels"] = len(part.labels)
    if part.attributes is not None:
        said["attributes"] = len(np.atleast_1d(part.attributes))
    found = next(iter(said.values())) if said else int(ends.max(initial=-1)) + 1
    if any(value != found for value in said.values()):
        raise InvalidInput(
            f"Graph {row} of {name} does not say how many nodes it has.",
            f"Got {', '.join(f'{value} by its {key}' for key, value in said.items())}.",
            "Give one label and one row of attributes for each node.",
        )
    if found > MOST_NODES:
        raise InvalidInput(
            f"Graph {row} of {name} has more than {MOST_NODES} nodes.", f"Got {found}.", "Number the nodes from 0."
        )
    return found


def _check_inside(
    ends: NDArray[np.int64], row_of: NDArray[np.int64], counts: NDArray[np.int64], edges: NDArray[np.int64], name: str
) -> None:
    """Whether every edge ends at nodes of its graph."""
    outside = (ends < 0) | (ends >= counts[row_of, None])
    if not outside.any():
        return
    at = int(outside.any(axis=1).argmax())
    row = int(row_of[at])
    raise InvalidInput(
        f"Graph {row} of {name} has an edge to a node that it does not have.",
        f"Edge {at - int(edges[row])} is {tuple(ends[at].tolist())}; the graph has {counts[row]} nodes.",
        "Number the nodes from 0.",
    )


def _one_each(labels: Any, count: int) -> list[Any]:
    if labels is None:
        return [None] * count
    if isinstance(labels, np.ndarray):
        listed: list[Any] = labels.tolist()
        return listed if labels.ndim == 1 else [tuple(row) for row in listed]
    return list(labels)


def _of_edges(part: GraphParts, ends: NDArray[np.int64], row: int, name: str) -> list[Any]:
    """The label of each edge."""
    labels = part.edge_labels
    if not isinstance(labels, Mapping):
        found = _one_each(labels, len(ends))
        if len(found) != len(ends):
            raise InvalidInput(
                f"Graph {row} of {name} must have one label for each edge.", f"Got {len(found)} for {len(ends)} edges."
            )
        return found
    pairs = [(int(a), int(b)) for a, b in ends]
    known = {*pairs} if part.directed else {*pairs, *((b, a) for a, b in pairs)}
    other = next((pair for pair in labels if pair not in known), None)
    if other is not None:
        raise InvalidInput(
            f"Graph {row} of {name} has a label for an edge that it does not have.", f"There is no edge {shown(other)}."
        )
    turned = {} if part.directed else {(b, a): label for (a, b), label in labels.items()}
    by_edge = turned | dict(labels)
    return [by_edge.get(pair) for pair in pairs]


def _coded(each: list[list[Any]], offsets: NDArray[np.int64], name: str, what: str) -> Labels:
    """Labels as numbers; an error where some are missing, or cannot be compared."""
    every = list(chain.from_iterable(each))

    def refused(place: int, wrong: str, attempt: str) -> InvalidInput:
        row = int(np.searchsorted(offsets, place, side="right")) - 1
        whose = f"{what.capitalize()} {place - int(offsets[row])} of graph {row} of {name}"
        return InvalidInput(f"{whose} {wrong}", f"Its label is {shown(every[place])}.", attempt)

    try:
        values = dict.fromkeys(every)
    except TypeError:
        place = next(place for place, label in enumerate(every) if not is_hashable(label))
        raise refused(place, "has a label without a hash.", "Use strings, numbers, or tuples of them.") from None
    if any(map(is_missing, values)) and not all(value is None for value in values):
        place = next(place for place, label in enumerate(every) if is_missing(label))
        raise refused(place, "has no label, but others have.", 'Give it one, for instance "".')
    codes = {label: code for code, label in enumerate(values or (None,))}
    return Labels(read_only(np.fromiter(map(codes.__getitem__, every), np.int32, len(every))), tuple(codes))


def _without_copies(
    ends: NDArray[np.int64], directed: NDArray[np.bool_], row_of: NDArray[np.int64], labels: Labels, name: str
) -> NDArray[np.int64]:
    """The places of edges, each once; an error where two copies differ in their label.

    Here nodes are numbered from graph to graph.
    """
    low, high = ends.min(axis=1), ends.max(axis=1)
    first, second = np.where(directed, ends[:, 0], low), np.where(directed, ends[:, 1], high)
    # Both in one number, which sorts many times as fast as pairs: nodes are fewer than 2³¹ in a graph, and in memory.
    key = first * (int(high.max(initial=0)) + 1) + second
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order[1:]] == key[order[:-1]]) + 1
    if not len(again):
        return np.arange(len(ends))
    other = labels.codes[order[again]] != labels.codes[order[again - 1]]
    if other.any():
        at = int(other.argmax())
        one, two = (labels.values[labels.codes[order[again[at] - step]]] for step in (1, 0))
        raise InvalidInput(
            f"Graph {row_of[order[again[at]]]} of {name} gives an edge twice, with different labels.",
            f"Got {shown(one)} and {shown(two)}.",
            "Give each edge one label, such as a tuple of both.",
        )
    return np.sort(np.delete(order, again))


def _attributes(parts: list[GraphParts], counts: NDArray[np.int64], name: str) -> NDArray[np.float64] | None:
    """The attributes of all nodes: all graphs with nodes have them, or none has."""
    if all(part.attributes is None for part in parts):
        return None
    rows: list[NDArray[np.float64]] = []
    width: int | None = None
    for row, (part, count) in enumerate(zip(parts, counts.tolist(), strict=True)):
        if count == 0:
            continue
        where = f"Graph {row} of {name}"
        if part.attributes is None:
            raise InvalidInput(f"{where} has no attributes, but others have.", "", "Give every node the same numbers.")
        try:
            found = np.asarray(part.attributes, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{where} has attributes that are no numbers.", f"{error}.") from None
        found = found[:, None] if found.ndim == 1 else found
        width = found.shape[1] if width is None and found.ndim == 2 else width
        if found.ndim != 2 or found.shape[1] != width or width == 0:
            raise InvalidInput(
                f"{where} must have a row of attributes for each node, as long as those of the graphs before it.",
                f"Got shape {found.shape}.",
            )
        if not np.isfinite(found).all():
            node, column = (int(at) for at in np.argwhere(~np.isfinite(found))[0])
            raise InvalidInput(
                f"{where} has an attribute that is not finite.",
                f"Number {column} of node {node} is {found[node, column]}.",
                "Fill it, or drop the graph.",
            )
        rows.append(found)
    return np.concatenate(rows) if rows else None


def _dicts(X: Any, name: str) -> Points:
    """Dicts that are graphs; others are mere values."""
    return (
        Graphs(X, name) if any(isinstance(graph, dict) and graph.keys() & _MARKS for graph in X) else Objects(X, name)
    )


_MARKS = frozenset({"edges", "adjacency"})
_MATRICES = (("scipy", "sparray"), ("scipy", "spmatrix"))

for row in (
    Adapter(_dicts, entries=(("builtins", "dict"),), domain=Domain.GRAPHS),
    Adapter(
        Graphs, entries=(("networkx", "Graph"), ("igraph", "Graph"), *_MATRICES), pairs=_MATRICES, domain=Domain.GRAPHS
    ),
):
    register(row)
