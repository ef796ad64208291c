"""Graphs as points: what is read, what is refused."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import DomainMismatch, InvalidInput
from mercer.points import Graphs, Objects, as_points

WATER = {"edges": [(0, 1), (0, 2)], "labels": ["O", "H", "H"], "edge_labels": ["single", "single"]}
OXYGEN = {"edges": [(0, 1)], "labels": ["O", "O"], "edge_labels": ["double"]}
PROTON = {"n": 1, "edges": [], "labels": ["H"]}


def parts(graphs):
    """All that graphs hold, to be compared."""
    return [
        {key: np.asarray(value).tolist() if key in ("edges", "attributes") else value for key, value in graph.items()}
        for graph in graphs.raw()
    ]


def test_graphs_come_back_as_they_were():
    points = as_points([WATER, OXYGEN, PROTON])
    assert isinstance(points, Graphs)
    assert parts(points)[0] == {
        "n": 3,
        "edges": [[0, 1], [0, 2]],
        "labels": ["O", "H", "H"],
        "edge_labels": ["single", "single"],
        "directed": False,
    }
    assert parts(as_points(points.raw())) == parts(points)
    assert parts(points.take([2, 0])) == [parts(points)[2], parts(points)[0]]
    assert parts(pickle.loads(pickle.dumps(points))) == parts(points)
    assert repr(points) == "Graphs(3, 6 nodes, 3 edges)"


def test_empty_graphs_single_nodes_and_loops_are_graphs():
    points = as_points([{"n": 0, "edges": []}, {"n": 1, "edges": []}, {"edges": [(0, 0)]}, {"n": 4, "edges": [(1, 2)]}])
    np.testing.assert_array_equal(points.nodes, [0, 0, 1, 2, 6])
    np.testing.assert_array_equal(points.edges, [0, 0, 0, 1, 2])


def test_an_edge_that_is_given_twice_is_one_edge():
    both_ways = as_points([{"edges": [(0, 1), (1, 0), (1, 2), (0, 1)]}])
    assert parts(both_ways)[0]["edges"] == [[0, 1], [1, 2]]
    directed = as_points([{"edges": [(0, 1), (1, 0)], "directed": True}])
    assert parts(directed)[0]["edges"] == [[0, 1], [1, 0]]


def test_labels_of_edges_may_be_given_by_edge():
    by_edge = {"edges": [(0, 1), (2, 1)], "edge_labels": {(1, 2): "b", (0, 1): "a"}}
    assert parts(as_points([by_edge]))[0]["edge_labels"] == ["a", "b"]


def test_labels_of_several_columns_are_tuples():
    points = as_points([{"edges": np.array([[0, 1]]), "node_labels": np.array([[1, 2], [3, 4]])}])
    assert parts(points)[0]["labels"] == [(1, 2), (3, 4)]


A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_matrix, sp.csc_matrix, sp.lil_array], ids=lambda f: f.__name__)
def test_adjacency_matrices_are_graphs(form):
    (plain,) = parts(as_points([form(A)]))
    assert plain == {"n": 3, "edges": [[0, 1], [1, 2]], "directed": False}
    (labelled,) = parts(as_points([(form(A), "COC")]))
    assert labelled == plain | {"labels": ["C", "O", "C"]}
    (one_way,) = parts(as_points([form(np.triu(A))]))
    assert one_way["directed"]
    (given,) = parts(Graphs([{"adjacency": A, "labels": "COC", "edge_labels": {(0, 1): 1, (1, 2): 2}}]))
    assert given == labelled | {"edge_labels": [1, 2]}
    (both_ways,) = parts(Graphs([{"adjacency": A, "directed": True}]))
    assert len(both_ways["edges"]) == 4


def test_dense_matrices_are_graphs_where_that_is_said():
    assert parts(Graphs([A, A])) == parts(as_points([sp.csr_array(A)] * 2))


def test_attributes_are_rows_of_numbers():
    points = as_points([{"edges": [(0, 1)], "attributes": [[1.0, 2.0], [3.0, 4.0]]}, {"n": 0, "edges": []}])
    np.testing.assert_array_equal(points.attributes, [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(as_points([{"edges": [], "attributes": [1, 2]}]).attributes, [[1.0], [2.0]])
    assert points.take([1]).attributes.shape == (0, 2)


@pytest.mark.parametrize(
    ("graph", "error", "says"),
    [
        ({"edges": [(0, 3)], "labels": "CCO"}, InvalidInput, r"Graph 1 of X has an edge to a node .*\n.*\(0, 3\)"),
        ({"edges": [(-1, 0)], "labels": "C"}, InvalidInput, "Graph 1 of X has an edge to a node"),
        ({"edges": [(0, 1, 2)], "labels": "CC"}, InvalidInput, "edges of graph 1 of X must be pairs"),
        ({"edges": [(0.0, 1.0)], "labels": "CC"}, InvalidInput, "edges of graph 1 of X must be pairs"),
        ({"edges": [("a", "b")], "labels": "CC"}, InvalidInput, "edges of graph 1 of X must be pairs"),
        ({"edges": 3, "labels": "CC"}, InvalidInput, "edges of graph 1 of X must be pairs"),
        ({"edges": [(0, 1), (2,)], "labels": "CCC"}, InvalidInput, "edges of graph 1 of X must be pairs"),
        ({"edges": [(0, 1)]}, InvalidInput, "Node 0 of graph 1 of X has no label"),
        ({"edges": [(0, 1)], "labels": ["C", None]}, InvalidInput, "Node 1 of graph 1 of X has no label"),
        ({"edges": [(0, 1)], "labels": ["C", float("nan")]}, InvalidInput, "Node 1 of graph 1 of X has no label"),
        (
            {"edges": [(0, 1)], "labels": ["C", ["O"]]},
            InvalidInput,
            "Node 1 of graph 1 of X has a label without a hash",
        ),
        ({"edges": [(0, 1)], "labels": {0: "C", 1: "O"}}, InvalidInput, "labels of graph 1 of X are not a list"),
        ({"n": 3, "edges": [(0, 1)], "labels": "CC"}, InvalidInput, "3 by its n, 2 by its labels"),
        ({"edges": [], "labels": "CC", "attributes": [[1.0]]}, InvalidInput, "2 by its labels, 1 by its attributes"),
        ({"n": -1, "edges": []}, InvalidInput, "Graph 1 of X must have a number of nodes n ≥ 0"),
        ({"n": 2.5, "edges": []}, InvalidInput, "Graph 1 of X must have a number of nodes n ≥ 0"),
        ({"edges": [(0, 1)], "label": "CC"}, InvalidInput, "Graph 1 of X has a key 'label', which says nothing"),
        ({"edges": [], "labels": "C", "node_labels": "C"}, InvalidInput, "Graph 1 of X gives its labels twice"),
        ({"edges": [], "n": 0, "directed": "yes"}, InvalidInput, "Graph 1 of X must say whether it is directed"),
        ({"edges": [], "adjacency": A, "labels": "CCC"}, InvalidInput, "Graph 1 of X gives its edges twice"),
        ({"adjacency": A[:2], "labels": "CC"}, InvalidInput, "Graph 1 of X has an adjacency matrix that is not square"),
        ({"adjacency": A.astype(str), "labels": "CCC"}, InvalidInput, "Graph 1 of X has an adjacency matrix without"),
        ({"adjacency": A * 0.5, "labels": "CCC"}, InvalidInput, r"Graph 1 of X has an edge with a weight.*\n.*is 0.5"),
        ({"adjacency": A, "labels": "CCC", "edge_labels": [1, 2]}, InvalidInput, "without saying of which edge"),
        ({"edges": [(0, 1)], "labels": "CC", "edge_labels": [1, 2]}, InvalidInput, "one label for each edge"),
        ({"edges": [(0, 1)], "labels": "CC", "edge_labels": {(0, 2): 1}}, InvalidInput, r"There is no edge \(0, 2\)"),
        (3, DomainMismatch, "Graph 1 of X is none"),
        (None, DomainMismatch, "Graph 1 of X is none"),
        ((A, "CCC", "too many"), InvalidInput, "Got 3 parts"),
    ],
)
def test_what_is_no_graph_is_named(graph, error, says):
    with pytest.raises(error, match=says):
        Graphs([{"n": 1, "edges": [], "labels": "C"}, graph])


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({"edges": [(0, 1)]}, "Graph 1 of X has no attributes"),
        ({"edges": [], "attributes": [[1.0, float("nan")]]}, "Graph 1 of X has an attribute that is not finite"),
        ({"edges": [], "attributes": [[1.0]]}, "Graph 1 of X must have a row of attributes"),
        ({"edges": [], "attributes": [["a", "b"]]}, "Graph 1 of X has attributes that are no numbers"),
    ],
)
def test_attributes_that_do_not_fit_are_named(second, says):
    with pytest.raises(InvalidInput, match=says):
        Graphs([{"edges": [], "attributes": [[1.0, 2.0]]}, second])


def test_copies_of_an_edge_must_agree():
    with pytest.raises(InvalidInput, match=r"Graph 0 of X gives an edge twice.*\n.*'a' and 'b'"):
        Graphs([{"edges": [(0, 1), (1, 0)], "edge_labels": "ab"}])


def test_collections_that_hold_no_graphs_are_refused():
    with pytest.raises(DomainMismatch, match="not a list of graphs"):
        Graphs({"edges": []})
    with pytest.raises(InvalidInput, match="0 sample"):
        Graphs([])


def test_dicts_that_are_no_graphs_stay_values():
    assert isinstance(as_points([{"a": 1}, {"b": 2}]), Objects)


class Network:
    """As much of networkx as is read: the library need not be there."""

    def __init__(self, nodes, edges, directed=False, multi=False):
        self._nodes, self._edges, self._directed, self._multi = nodes, edges, directed, multi

    def __iter__(self):
        return iter(self._nodes)

    def nodes(self, data=False):
        assert data
        return list(self._nodes.items())

    def edges(self, data=False, keys=False):
        assert data != keys
        return [(a, b, 1) for a, b, _ in self._edges] if keys else self._edges

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return self._multi


Network.__module__, Network.__name__ = "networkx.classes.graph", "Graph"


def test_networkx_graphs_are_read_by_their_class():
    nodes = {"a": {"label": "C", "attributes": 1.0}, "b": {"label": "O", "attributes": 2.0}}
    graph = Network(nodes, [("a", "b", {"label": "double"})], directed=True)
    assert parts(as_points([graph])) == [
        {
            "n": 2,
            "edges": [[0, 1]],
            "labels": ["C", "O"],
            "edge_labels": ["double"],
            "attributes": [[1.0], [2.0]],
            "directed": True,
        }
    ]
    assert parts(Graphs([graph], label="element", edge_label="bond", attributes="weight")) == [
        {"n": 2, "edges": [[0, 1]], "directed": True}
    ]


def test_networkx_graphs_with_several_edges_or_without_some_labels_are_refused():
    with pytest.raises(InvalidInput, match="Graph 0 of X has several edges"):
        as_points([Network({0: {}, 1: {}}, [(0, 1, {}), (0, 1, {})], multi=True)])
    with pytest.raises(InvalidInput, match="Node 1 of graph 0 of X has no label"):
        as_points([Network({0: {"label": "C"}, 1: {}}, [])])
    with pytest.raises(InvalidInput, match="Graph 0 of X has no 'attributes' at node 1"):
        as_points([Network({0: {"attributes": 1}, 1: {}}, [])])


class Sequenced(dict):
    def attributes(self):
        return list(self)


class IGraph:
    """As much of igraph as is read."""

    vs = Sequenced(label=["C", "O"], attributes=[[1.0], [2.0]])
    es = Sequenced(label=["double"])

    def vcount(self):
        return 2

    def get_edgelist(self):
        return [(0, 1)]

    def is_directed(self):
        return False


IGraph.__module__, IGraph.__name__ = "igraph", "Graph"


def test_igraph_graphs_are_read_by_their_class():
    (found,) = parts(as_points([IGraph()]))
    assert (found["labels"], found["edge_labels"], found["attributes"]) == (["C", "O"], ["double"], [[1.0], [2.0]])


def test_a_column_of_a_table_may_hold_graphs():
    table = as_points({"age": [1, 2], "molecule": [WATER, OXYGEN]})
    assert isinstance(table.select(["molecule"]), Graphs)


def test_real_networkx_graphs_are_read_where_it_is_installed():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, {0: "C", 1: "O", 2: "C"}, "label")
    assert parts(as_points([graph, networkx.Graph(graph)]))[1]["labels"] == ["C", "O", "C"]
