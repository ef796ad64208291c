"""Counts in graphs: new items count in norms and change no model, and nothing depends on order or threads."""

import pickle

import numpy as np
import pytest

import mercer
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.maps import ColourLevels, Colours, EdgeLabels, Graphlets, ShortestPaths
from mercer.points import Indicators, as_points
from tests.oracles import graphs as oracle

RNG = np.random.default_rng(3)


def random_graph(nodes, edges, directed=False, labels="CNO", edge_labels="12"):
    pairs = [(u, v) for u in range(nodes) for v in range(nodes) if (u != v if directed else u <= v)]
    chosen = RNG.choice(len(pairs), size=min(edges, len(pairs)), replace=False) if pairs else []
    return {
        "n": nodes,
        "edges": [pairs[at] for at in chosen],
        "labels": list(RNG.choice(list(labels), size=nodes)),
        "edge_labels": list(RNG.choice(list(edge_labels), size=len(chosen))),
        "directed": directed,
    }


GRAPHS = [random_graph(int(n), int(1.3 * n)) for n in RNG.integers(0, 12, size=60)]
KERNELS = [
    mercer.WeisfeilerLehman(3), mercer.WeisfeilerLehmanAssignment(3), mercer.ShortestPath(), mercer.Graphlet(4),
    mercer.RandomWalk(0.005), mercer.VertexHistogram(), mercer.EdgeHistogram(),
]  # fmt: skip
MAPS = [Colours(2), ColourLevels(2), ShortestPaths(), Graphlets(3), EdgeLabels()]


def renumbered(graph):
    """The same graph with its nodes and edges in another order, and edges turned."""
    place = RNG.permutation(graph["n"])
    order = RNG.permutation(len(graph["edges"]))
    ends = [tuple(int(place[node]) for node in graph["edges"][at]) for at in order]
    labels = [""] * graph["n"]
    for node, label in enumerate(graph["labels"]):
        labels[place[node]] = label
    turned = ends if graph["directed"] else [end[::-1] if at % 2 else end for at, end in enumerate(ends)]
    return graph | {"edges": turned, "labels": labels, "edge_labels": [graph["edge_labels"][at] for at in order]}


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_order_of_nodes_changes_nothing(kernel, directed):
    graphs = [graph | {"directed": directed} for graph in GRAPHS]
    np.testing.assert_allclose(kernel([renumbered(graph) for graph in graphs]), kernel(graphs), rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=repr)  # the last one counts edges, not where they lead
def test_an_undirected_edge_is_an_edge_both_ways(kernel):
    both = []
    for graph in GRAPHS:
        back = [(v, u, label) for (u, v), label in zip(graph["edges"], graph["edge_labels"], strict=True) if u != v]
        ends, labels = [(v, u) for v, u, _ in back], [label for *_, label in back]
        two_ways = {"edges": graph["edges"] + ends, "edge_labels": graph["edge_labels"] + labels, "directed": True}
        both.append(graph | two_ways)
    K = kernel(both)
    for mixed in (kernel(both, GRAPHS), kernel(GRAPHS, both), kernel(GRAPHS)):
        np.testing.assert_allclose(mixed, K, rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_results_are_bitwise_equal_for_any_number_of_threads(kernel):
    before = mercer.get_num_threads()
    try:
        mercer.set_num_threads(1)
        alone = kernel(GRAPHS)
        for count in (2, 3, 7):
            mercer.set_num_threads(count)
            np.testing.assert_array_equal(kernel(GRAPHS), alone)
    finally:
        mercer.set_num_threads(before)


NEW = {"n": 4, "edges": [(0, 1), (1, 2), (2, 3)], "labels": "CXXO", "edge_labels": "1?2"}


@pytest.mark.parametrize("m", MAPS, ids=repr)
def test_unseen_items_count_in_norms_and_change_nothing_else(m):
    basis, new = as_points(GRAPHS), as_points([NEW])
    fitted = m.fit(basis)
    before = fitted(basis)
    image = fitted(new)
    width = image.width if hasattr(image, "width") else image.n_items
    assert width == (before.width if hasattr(before, "width") else before.n_items)
    kernel = mercer.Linear().on(m)
    np.testing.assert_allclose(kernel([NEW], GRAPHS)[0], kernel([*GRAPHS, NEW])[-1, :-1], rtol=1e-14)
    norm = image.sizes[0] if isinstance(image, Indicators) else (image.raw().toarray() ** 2).sum()
    np.testing.assert_allclose(norm, kernel.diag([NEW])[0], rtol=1e-14)
    after = fitted(basis)
    np.testing.assert_array_equal(after.raw().toarray(), before.raw().toarray())


@pytest.mark.parametrize("m", MAPS, ids=repr)
def test_fitted_maps_can_be_pickled(m):
    fitted = m.fit(as_points(GRAPHS[:30]))
    new = as_points(GRAPHS[30:])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted))(new).raw().toarray(), fitted(new).raw().toarray())


def test_colours_are_those_of_the_definition():
    graphs = [random_graph(7, 9, directed=True) for _ in range(8)]
    for depth in (0, 1, 3):
        image = Colours(depth).fit(as_points(graphs))(as_points(graphs)).raw().toarray()
        counts = [oracle.coloured(graph, depth) for graph in graphs]
        assert len({colour for count in counts for colour in count}) == image.any(axis=0).sum()
        np.testing.assert_array_equal((image**2).sum(axis=1), [sum(c**2 for c in count.values()) for count in counts])


def test_graphlets_of_five_nodes_are_those_of_the_definition():
    graphs = [random_graph(8, 11, directed) for directed in (False, True) for _ in range(3)]
    for size in (3, 4, 5):
        counts = [oracle.graphlets(graph, size) for graph in graphs]
        expected = [[sum(x[g] * z[g] for g in x) for z in counts] for x in counts]
        np.testing.assert_array_equal(mercer.Graphlet(size)(graphs), expected)


def test_walks_are_refused_where_they_do_not_converge():
    star = {"edges": [(0, leaf) for leaf in range(1, 6)]}
    path = {"edges": [(0, 1), (1, 2)]}
    assert np.isfinite(mercer.RandomWalk(0.039)([star, path])).all()
    with pytest.raises(InvalidInput, match=r"graph in row 1\.\n.*5 edges.*1/5² = 0.04\.\n  Try RandomWalk\(0.036\)"):
        mercer.RandomWalk(0.04)([path, star])
    machine = mercer.OneClassSVM(kernel=mercer.RandomWalk(0.2)).fit([path, path])
    with pytest.raises(InvalidInput, match="does not converge on the graph in row 0"):
        machine.predict([star])


def test_walks_near_the_edge_of_convergence_are_right():
    cycle = {"edges": [(at, (at + 1) % 6) for at in range(6)]}
    for decay in (0.1, 0.24, 0.2499):
        np.testing.assert_allclose(mercer.RandomWalk(decay)([cycle]), [[36.0 / (1.0 - 4.0 * decay)]], rtol=1e-11)


@pytest.mark.parametrize(
    "kernel", [mercer.WeisfeilerLehman(), mercer.ShortestPath(), mercer.RandomWalk(0.01)], ids=repr
)
def test_new_graphs_must_be_labelled_as_those_of_the_basis(kernel):
    plain = [{"edges": [(0, 1)]}]
    labelled = [{"edges": [(0, 1)], "labels": "CO"}]
    with pytest.raises(DomainMismatch, match=r"with labels of nodes\.\n  The new graphs have none"):
        kernel(plain, labelled)
    with pytest.raises(DomainMismatch, match=r"without labels of nodes\.\n  The new graphs have some"):
        kernel(labelled, plain)
    assert kernel([{"n": 0, "edges": []}], labelled).item() == 0.0


def test_graphs_without_nodes_are_far_from_all():
    empty = {"n": 0, "edges": []}
    for kernel in KERNELS:
        np.testing.assert_array_equal(kernel([empty, *GRAPHS[:3]])[0], 0.0)
        np.testing.assert_array_equal(kernel([empty]), [[0.0]])


def test_parameters_out_of_range_are_refused():
    for size in (2, 6):
        with pytest.raises(InvalidParameter, match="from 3 to 5"):
            mercer.Graphlet(size)
    with pytest.raises(InvalidParameter):
        mercer.WeisfeilerLehman(-1)
    with pytest.raises(InvalidParameter):
        mercer.RandomWalk(0.0)


def test_kernels_of_graphs_refuse_other_points():
    with pytest.raises(DomainMismatch, match=r"WeisfeilerLehman\(\) cannot read X: it needs graphs"):
        mercer.WeisfeilerLehman()([[1.0]])
    with pytest.raises(DomainMismatch, match=r"RBF\(\) cannot read X: it needs vectors"):
        mercer.RBF()(GRAPHS)
    with pytest.raises(DomainMismatch, match="needs graphs"):
        mercer.RandomWalk()([{1}, {2}])


def test_features_are_named_by_what_counts_them():
    phi = mercer.WeisfeilerLehman(1).feature_map(GRAPHS[:3])
    assert phi.get_feature_names_out()[0] == "Colours(1): x0"
    assert mercer.ShortestPath().feature_map(GRAPHS[:3]).get_feature_names_out()[0] == "ShortestPaths(): x0"


def test_attributes_become_bags_of_rows():
    graphs = [{"edges": [(0, 1), (1, 2)], "attributes": [[0.0], [4.0], [8.0]]}, {"edges": [], "attributes": [[2.0]]}]
    plain = mercer.NodeAttributes()(as_points(graphs))
    np.testing.assert_array_equal(plain.offsets, [0, 3, 4])
    np.testing.assert_array_equal(plain.parts.raw(), [[0.0], [4.0], [8.0], [2.0]])
    np.testing.assert_array_equal(mercer.NodeAttributes(1)(as_points(graphs)).parts.raw(), [[2.0], [4.0], [6.0], [2.0]])
    one_way = [graph | {"directed": True} for graph in graphs]
    np.testing.assert_array_equal(
        mercer.NodeAttributes(1)(as_points(one_way)).parts.raw(), [[2.0], [6.0], [8.0], [2.0]]
    )
    kernel = mercer.WeisfeilerLehman(1) * mercer.RBF(2.0).summed().on(mercer.NodeAttributes(1))
    assert mercer.parse(repr(kernel)) == kernel
    assert kernel.proof().is_derived
    np.testing.assert_allclose(
        mercer.RBF(2.0).summed().on(mercer.NodeAttributes())(graphs)[1],
        [sum(np.exp(-((a - 2.0) ** 2) / 8.0) for a in (0.0, 4.0, 8.0)), 1.0],
    )


def test_graphs_without_attributes_are_refused_where_these_are_read():
    with pytest.raises(InvalidInput, match=r"NodeAttributes\(\) needs attributes of nodes"):
        mercer.RBF().summed().on(mercer.NodeAttributes())(GRAPHS)
