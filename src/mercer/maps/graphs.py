"""Graphs as counts of colours, paths, graphlets and labels: the maps behind kernels of graphs with features."""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import _core
from mercer.domains import Integer
from mercer.errors import InvalidInput
from mercer.maps.base import Map, StatelessMap
from mercer.maps.graphcounts import Counted, FittedColours, FittedGraphCounts, FittedLevels, Reader, graphs_of
from mercer.notation import Notation
from mercer.points import Bags, Domain, Graphs, Points
from mercer.term import param

__all__ = ["ColourLevels", "Colours", "EdgeLabels", "Graphlets", "NodeAttributes", "ShortestPaths"]

GRAPHS = frozenset({Domain.GRAPHS})


@final
@dataclass(frozen=True, repr=False, eq=False)
class Colours(Map):
    r"""Count the colours of nodes, refined in some rounds (Weisfeiler and Lehman).

    .. math:: G \mapsto (\#\{v \in V : c_i(v) = c\})_{0 \le i \le h, \, c \in D}

    At first a node's colour is its label; in each round it becomes the colour together with the labels of its edges and
    the colours at their other ends. Of directed graphs, edges that leave and edges that come in are told apart. The
    dictionary D holds the colours of the basis; a new one has no column, but counts in <G, G>.

    Parameters
    ----------
    depth : int, default 4
        h, the number of rounds; 0 counts the labels alone.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> graphs = as_points([{"edges": [(0, 1), (1, 2)], "labels": "CCO"}, {"n": 1, "edges": [], "labels": "C"}])
    >>> Colours(0).fit(graphs)(graphs).raw().toarray()[:, :2]
    array([[2., 1.],
           [1., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="#c({x})", latex=r"\#_c({x})")
    depth: int = param(4, Integer(0))

    def fit(self, points: Points) -> FittedColours:
        """Learn the colours of the basis."""
        basis = graphs_of(points, repr(self))
        return FittedColours(Reader(repr(self), basis, edges=self.depth > 0), basis, self.depth)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # graphs have no coordinates
        """Counts are ≥ 0."""
        return True


@final
@dataclass(frozen=True, repr=False, eq=False)
class ColourLevels(Map):
    r"""Mark how many nodes have each colour, up to how many: 1, …, n for n of them.

    .. math:: G \mapsto (1[\#_c(G) \ge t])_{c \in D, \, t \ge 1}, \qquad
        \langle G, H \rangle = \sum_c \min(\#_c(G), \#_c(H))

    Parameters
    ----------
    depth : int, default 4
        The rounds in which colours are refined, as in `Colours`.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> graphs = as_points([{"edges": [(0, 1), (1, 2)], "labels": "CCO"}, {"n": 1, "edges": [], "labels": "C"}])
    >>> ColourLevels(0).fit(graphs)(graphs).raw().toarray()
    array([[1., 1., 1.],
           [1., 0., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="[#c({x}) ≥ t]", latex=r"\left[\#_c({x}) \ge t\right]")
    depth: int = param(4, Integer(0))

    def fit(self, points: Points) -> FittedLevels:
        """Learn the colours of the basis, and how often a graph has each at most."""
        basis = graphs_of(points, repr(self))
        return FittedLevels(Reader(repr(self), basis, edges=self.depth > 0), basis, self.depth)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # graphs have no coordinates
        """0 and 1 are ≥ 0."""
        return True


@final
@dataclass(frozen=True, repr=False, eq=False)
class ShortestPaths(Map):
    r"""Count the pairs of nodes with some labels and some distance.

    .. math:: G \mapsto (\#\{(u, v) : u \ne v, \, l(u) = a, \, l(v) = b, \, d(u, v) = r\})_{(a, b, r) \in D}

    Pairs are ordered, so of an undirected graph each one is counted both ways. Nodes that no path joins make no pair.
    Labels of edges do not matter.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> graphs = as_points([{"edges": [(0, 1), (1, 2)]}, {"n": 3, "edges": [(0, 1)]}])
    >>> ShortestPaths().fit(graphs)(graphs).raw().toarray()[:, :2]  # distances 1 and 2
    array([[4., 2.],
           [2., 0.]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="#d({x})", latex=r"\#_d({x})")

    def fit(self, points: Points) -> FittedGraphCounts:
        """Learn which pairs the basis has."""
        basis = graphs_of(points, repr(self))
        return FittedGraphCounts(Reader(repr(self), basis, edges=False), basis, _paths)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # graphs have no coordinates
        """Counts are ≥ 0."""
        return True


def _paths(reader: Reader, graphs: Graphs) -> Counted:
    if len(graphs.labels.values) > 1 << (_core.PATH_LABEL_BITS - 1):
        raise InvalidInput(
            f"{reader.owner} takes up to {1 << (_core.PATH_LABEL_BITS - 1)} different labels.",
            f"Got {len(graphs.labels.values)}.",
            "Give nodes of one kind the same label.",
        )
    return Counted(*reader.native(graphs).shortest_paths())


@final
@dataclass(frozen=True, repr=False, eq=False)
class Graphlets(Map):
    r"""Count the connected induced subgraphs of one size, up to isomorphism.

    .. math:: G \mapsto (\#\{S \subset V : G[S] \cong g\})_{g \in D}, \qquad |S| = k

    Of directed graphs, those that are connected without regard to directions. Labels and loops do not matter.

    Parameters
    ----------
    size : {3, 4, 5}, default 3
        k, the number of nodes.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> graphs = as_points([{"edges": [(0, 1), (1, 2), (2, 0), (2, 3)]}])
    >>> Graphlets(3).fit(graphs)(graphs).raw().toarray()[:, :2]  # two paths, one triangle
    array([[2., 1.]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="#g({x})", latex=r"\#_g({x})")
    size: int = param(3, Integer(3, 5))

    def fit(self, points: Points) -> FittedGraphCounts:
        """Learn which subgraphs the basis has."""
        basis = graphs_of(points, repr(self))
        return FittedGraphCounts(Reader(repr(self), basis, nodes=False, edges=False), basis, self._graphlets)

    def _graphlets(self, reader: Reader, graphs: Graphs) -> Counted:
        return Counted(*reader.native(graphs).graphlets(self.size))

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # graphs have no coordinates
        """Counts are ≥ 0."""
        return True


@final
@dataclass(frozen=True, repr=False, eq=False)
class EdgeLabels(Map):
    r"""Count the labels of edges; without labels, the edges.

    .. math:: G \mapsto (\#\{e \in E : l(e) = a\})_{a \in D}

    An edge counts as one, directed or not.

    Examples
    --------
    >>> from mercer.points import as_points
    >>> graphs = as_points([{"edges": [(0, 1), (1, 2)], "edge_labels": ["single", "double"]}])
    >>> EdgeLabels().fit(graphs)(graphs).raw().toarray()[:, :2]
    array([[1., 1.]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="#l({x})", latex=r"\#_l({x})")

    def fit(self, points: Points) -> FittedGraphCounts:
        """Learn the labels of the basis."""
        basis = graphs_of(points, repr(self))
        return FittedGraphCounts(Reader(repr(self), basis, nodes=False), basis, _edge_labels)

    def out_width(self, width: int) -> None:
        """Unknown before the dictionary is made."""

    def nonnegative_on(self, coordinates: bool) -> bool:  # noqa: ARG002  # graphs have no coordinates
        """Counts are ≥ 0."""
        return True


def _edge_labels(reader: Reader, graphs: Graphs) -> Counted:
    return Counted(*_core.counted(graphs.edges, reader.edge_codes(graphs).astype(np.int64)))


@final
@dataclass(frozen=True, repr=False, eq=False)
class NodeAttributes(StatelessMap):
    r"""Turn each graph into the bag of its nodes' attributes.

    .. math:: G \mapsto \{a(v) : v \in V\}

    So a kernel of numbers, summed over pairs of nodes, compares graphs by their attributes; times or plus a kernel of
    graphs, by both.

    Parameters
    ----------
    steps : int, default 0
        How often each node's attributes are replaced by the mean of themselves and the mean of its neighbours', so that
        they tell of so wide a neighbourhood. A node of a directed graph has the neighbours that its edges lead to.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> graphs = [{"edges": [(0, 1)], "attributes": [1.0, 3.0]}, {"edges": [], "attributes": [1.0]}]
    >>> RBF(1.0).averaged().on(NodeAttributes())(graphs).round(3)
    array([[0.568, 0.568],
           [0.568, 1.   ]])
    """

    needs: ClassVar[frozenset[Domain]] = GRAPHS
    notation: ClassVar[Notation] = Notation(text="a({x})", latex=r"a({x})")
    steps: int = param(0, Integer(0))

    def out_width(self, width: int) -> None:
        """Bags have no columns."""

    def __call__(self, points: Points) -> Bags:
        """The bags, a part for each node."""
        graphs = graphs_of(points, repr(self))
        values = graphs.attributes
        if values is None:
            raise InvalidInput(
                f"{self!r} needs attributes of nodes.", f"Got {graphs!r} without any.",
                'Give each graph a row for each node: {"edges": [(0, 1)], "attributes": [[0.5, 1.0], [0.0, 2.0]]}.',
            )  # fmt: skip
        for _ in range(self.steps):
            values = _spread(graphs, values)
        return Bags.of(values, np.diff(graphs.nodes))


def _spread(graphs: Graphs, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half of each node's own values and half of its neighbours' mean; its own where it has no neighbour."""
    row = np.repeat(np.arange(len(graphs)), np.diff(graphs.edges))
    ends = graphs.ends + graphs.nodes[row, None]
    back = ~graphs.directed[row] & (ends[:, 0] != ends[:, 1])
    start, end = np.concatenate([ends, ends[back, ::-1]]).T
    n = len(values)
    degree = np.bincount(start, minlength=n)[:, None]
    total = sp.csr_array((np.ones(len(start)), (start, end)), shape=(n, n)) @ values
    return np.where(degree > 0, 0.5 * (values + total / np.maximum(degree, 1)), values)
