"""Random trees and points for the laws: nested and mixed, in dimensions 1 to 6.

Numbers are coarse (eighths) and small, so that deep trees stay in range and equal points occur.
"""

from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from mercer import kernels as mk
from mercer import maps as mm
from tests.laws import mixed_rows

Sample = tuple[Any, Any]  # a tree and its points


def law(examples: int) -> settings:
    """How many examples a law is tried on; time is no failure, since machines are shared."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@cache
def numbers(low: int = 2, high: int = 24) -> st.SearchStrategy[float]:
    """Eighths, from 1/4 to 3."""
    return st.integers(low, high).map(lambda eighths: eighths / 8)


@cache
def lengths(d: int) -> st.SearchStrategy[Any]:
    """One length scale, or one per column."""
    return numbers() | st.lists(numbers(4, 16), min_size=d, max_size=d)


@cache
def psd_matrices(d: int) -> st.SearchStrategy[Any]:
    """B Bᵀ for a small integer matrix B."""
    entries = st.lists(st.integers(-2, 2), min_size=d * d, max_size=d * d)
    return entries.map(lambda values: np.reshape(values, (d, d)) @ np.reshape(values, (d, d)).T / 4.0)


@cache
def maps(d: int) -> st.SearchStrategy[Any]:
    """Maps that keep the width and, where it is, the sign of the coordinates."""
    return st.one_of(
        numbers(4, 16).map(mm.Scale),
        st.lists(numbers(4, 16), min_size=d, max_size=d).map(mm.Scale),
        st.just(mm.UnitRows()),
        st.permutations(range(d)).map(lambda order: mm.Columns(*order)),
    )


@cache
def distances(d: int) -> st.SearchStrategy[Any]:
    """Nested distances on vectors."""
    leaves = st.one_of(
        st.just(mk.SquaredEuclidean()),
        st.just(mk.L1()),
        st.sampled_from([mk.Linear(), mk.RBF(), mk.Cosine(), mk.Linear() ** 2 + 1.0]).map(mk.Polarised),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(numbers(0), inner).map(lambda pair: pair[0] * pair[1]),
            st.tuples(inner, st.sampled_from([0.25, 0.5, 0.75, 1.0])).map(lambda pair: pair[0] ** pair[1]),
            inner.map(lambda distance: distance.log1p()),
            st.tuples(inner, maps(d)).map(lambda pair: pair[0].on(pair[1])),
        ),
        max_leaves=3,
    )


def radial_kernels(length: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """All profiles."""
    return st.one_of(
        length.map(mk.RBF),
        length.map(mk.Laplacian),
        length.map(mk.Cauchy),
        st.tuples(st.sampled_from([0.5, 1.5, 2.5, 3.5, 6.5]), length).map(lambda pair: mk.Matern(*pair)),
        st.tuples(length, numbers()).map(lambda pair: mk.RationalQuadratic(*pair)),
    )


@cache
def vector_leaves(d: int, nonnegative: bool) -> st.SearchStrategy[Any]:
    """Kernels of vectors that hold no other kernel, or a simple one."""
    leaves = [
        st.just(mk.Linear()),
        st.just(mk.Cosine()),
        st.just(mk.Delta()),
        st.just(mk.Tanimoto()),
        numbers(0).map(mk.Constant),
        psd_matrices(d).map(mk.Quadratic),
        st.tuples(st.integers(0, 3), numbers(0), numbers()).map(lambda triple: mk.Polynomial(*triple)),
        radial_kernels(lengths(d)),
        st.tuples(lengths(d), numbers(8, 32)).map(lambda pair: mk.Periodic(*pair)),
        st.integers(0, 2).map(mk.ArcCosine),
        st.tuples(radial_kernels(numbers()), distances(d)).map(lambda pair: pair[0].of(pair[1])),
    ]
    if nonnegative:
        leaves += [
            st.just(mk.HistogramIntersection()),
            st.just(mk.ChiSquared()),
            numbers().map(mk.ExponentialChiSquared),
            st.just(mk.Tanimoto(mk.HistogramIntersection())),
            st.just(mk.MinMax()),
        ]
    return st.one_of(leaves)


def _combined(inner: st.SearchStrategy[Any]) -> list[st.SearchStrategy[Any]]:
    return [
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, numbers(0)).map(lambda pair: pair[0] + pair[1]),
        st.tuples(numbers(0), inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(0, 3)).map(lambda pair: pair[0] ** pair[1]),
        st.tuples(inner, st.lists(numbers(0), min_size=1, max_size=4)).map(lambda pair: mk.polynomial(*pair)),
        inner.map(lambda kernel: kernel.normalised()),
        inner.map(lambda kernel: kernel.normalised().exp()),
        inner.map(mk.Tanimoto),
    ]


@cache
def vector_kernels(d: int, nonnegative: bool) -> st.SearchStrategy[Any]:
    """Nested kernels on vectors of width d."""
    return st.recursive(
        vector_leaves(d, nonnegative),
        lambda inner: st.one_of(
            *_combined(inner),
            st.tuples(inner, maps(d)).map(lambda pair: pair[0].on(pair[1])),
            st.tuples(radial_kernels(numbers()).filter(lambda k: not isinstance(k, mk.Matern)), numbers()).map(
                lambda pair: pair[0] ** pair[1]
            ),
            inner.map(lambda kernel: kernel.scaled_by(mk.GaussianEnvelope(1.5))),
            inner.map(lambda kernel: kernel.scaled_by(mk.NormPower(1))),
        ),
        max_leaves=4,
    )


@cache
def vectors(d: int, nonnegative: bool, n: int) -> st.SearchStrategy[Any]:
    """Rows of eighths, often repeated, sometimes zero."""
    entry = st.integers(0 if nonnegative else -16, 16).map(lambda eighths: eighths / 8)
    row = st.lists(entry, min_size=d, max_size=d)
    return st.lists(row, min_size=2, max_size=n).map(lambda rows: np.array(rows, dtype=np.float64))


@st.composite
def vector_samples(draw: Any, n: int = 6) -> Sample:
    """A tree and vectors for it."""
    d, nonnegative = draw(st.integers(1, 6)), draw(st.booleans())
    return draw(vector_kernels(d, nonnegative)), draw(vectors(d, nonnegative, n))


@cache
def set_kernels() -> st.SearchStrategy[Any]:
    """Nested kernels on sets."""
    leaves = st.sampled_from(
        [
            mk.SetIntersection(),
            mk.IntersectionExp(),
            mk.Tanimoto(mk.SetIntersection()),
            mk.Delta(),
            mk.RBF(2.0).on(mm.Indicator()),
            mk.Linear().normalised().on(mm.Indicator()),
            mk.Matern(1.5).of(mk.Polarised(mk.SetIntersection())),
        ]
    )
    return st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=4)


@st.composite
def set_samples(draw: Any, n: int = 6) -> Sample:
    """A tree and sets for it, the empty one among them."""
    points = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=5), min_size=2, max_size=n)
    return draw(set_kernels()), draw(points)


@st.composite
def table_samples(draw: Any, n: int = 6) -> Sample:
    """A tree and rows of a table for it, with missing values."""
    trees = st.recursive(mixed_rows.kernels(numbers(4, 16)), lambda inner: st.one_of(*_combined(inner)), max_leaves=4)
    return draw(trees), draw(mixed_rows.rows(n))


@cache
def string_kernels() -> st.SearchStrategy[Any]:
    """Nested kernels on strings."""
    leaves = st.sampled_from(
        [
            mk.Spectrum(1),
            mk.Spectrum(3),
            mk.BlendedSpectrum(3, 0.5),
            mk.GappedKmer(3, 2),
            mk.Mismatch(2, 1, "abé"),
            mk.Mismatch(3, 2, "bc"),
            mk.Subsequence(1, 1.0),
            mk.Subsequence(3, 0.5),
            mk.WeightedDegree(2),
            mk.WeightedDegree(3, 2),
            mk.Delta(),
            mk.RBF(2.0).on(mm.Kmers(2)),
            mk.Tanimoto(mk.Spectrum(2)),
        ]
    )
    return st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=4)


@st.composite
def string_samples(draw: Any, n: int = 6) -> Sample:
    """A tree and strings for it, the empty one among them."""
    points = st.lists(st.text("abé", max_size=6), min_size=2, max_size=n)
    return draw(string_kernels()), draw(points)


class Graph(dict):
    """A graph as a dict; the oracle asks for its hash."""

    def __hash__(self) -> int:
        return hash(repr(sorted(self.items())))


@st.composite
def graphs(draw: Any, n: int = 6) -> list[Graph]:
    """Graphs of up to five nodes, all labelled or none, all directed or none; loops, and nodes without edges."""
    labelled, edges_labelled, directed = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    found = []
    for _ in range(draw(st.integers(2, n))):
        size = draw(st.integers(0, 5))
        places = [(u, v) for u in range(size) for v in range(size) if directed or u <= v]
        edges = draw(st.lists(st.sampled_from(places), unique=True, max_size=7)) if places else []
        graph = Graph(n=size, edges=edges, directed=directed)
        if labelled:
            graph["labels"] = draw(st.lists(st.sampled_from("CO"), min_size=size, max_size=size))
        if edges_labelled:
            graph["edge_labels"] = draw(st.lists(st.sampled_from("12"), min_size=len(edges), max_size=len(edges)))
        found.append(graph)
    return found


@cache
def graph_kernels() -> st.SearchStrategy[Any]:
    """Nested kernels on graphs of degrees up to five."""
    leaves = st.sampled_from(
        [
            mk.WeisfeilerLehman(0),
            mk.WeisfeilerLehman(2),
            mk.WeisfeilerLehmanAssignment(1),
            mk.WeisfeilerLehmanAssignment(3),
            mk.ShortestPath(),
            mk.Graphlet(3),
            mk.Graphlet(4),
            mk.RandomWalk(0.0078125),
            mk.RandomWalk(0.03125),
            mk.VertexHistogram(),
            mk.EdgeHistogram(),
            mk.RBF(2.0).on(mm.Colours(1)),
            mk.Matern(1.5).of(mk.Polarised(mk.WeisfeilerLehmanAssignment(1))),
        ]
    )
    return st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=4)


@st.composite
def graph_samples(draw: Any, n: int = 6) -> Sample:
    """A tree and graphs for it, the empty one among them."""
    return draw(graph_kernels()), draw(graphs(n))


@st.composite
def bag_samples(draw: Any, n: int = 5) -> Sample:
    """A tree and bags of up to three vectors for it, empty ones among them."""
    d, nonnegative = draw(st.integers(1, 3)), draw(st.booleans())
    part = vector_kernels(d, nonnegative)
    leaves = st.one_of(part.map(lambda kernel: kernel.summed()), part.map(lambda kernel: kernel.averaged()))
    tree = st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=2)
    entry = st.integers(0 if nonnegative else -16, 16).map(lambda eighths: eighths / 8)
    row = st.lists(entry, min_size=d, max_size=d)
    bag = st.lists(row, max_size=3).map(lambda rows: np.array(rows, dtype=np.float64).reshape(-1, d))
    bags = st.tuples(st.lists(row, min_size=1, max_size=3).map(np.array), st.lists(bag, min_size=1, max_size=n - 1))
    return draw(tree), draw(bags.map(lambda pair: [pair[0], *pair[1]]))


@cache
def image_kernels() -> st.SearchStrategy[Any]:
    """Nested kernels on grey images of at least two pixels each way."""
    alike = mk.RBF(0.5).on(mm.UnitRows()).scaled_by(mk.NormPower(1)).on(mm.Pixels())
    leaves = st.sampled_from(
        [
            mk.SpatialPyramid(1),
            mk.SpatialPyramid(2, 5),
            mk.Linear().summed().on(mm.Patches(2, centred=True)),
            mk.RBF().on(mm.Pixels()).averaged().on(mm.Patches(1)),
            (alike * mk.RBF(1.5).on(mm.Position())).summed().on(mm.Patches(2, flat="drop")),
        ]
    )
    return st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=3)


@st.composite
def image_samples(draw: Any, n: int = 5) -> Sample:
    """A tree and images of several sizes for it, flat ones among them."""
    found = []
    for _ in range(draw(st.integers(2, n))):
        h, w = draw(st.integers(2, 4)), draw(st.integers(2, 4))
        pixels = draw(st.lists(st.integers(0, 8), min_size=h * w, max_size=h * w))
        found.append(np.array(pixels, dtype=np.float64).reshape(h, w) / 8)
    return draw(image_kernels()), found


@cache
def series_kernels() -> st.SearchStrategy[Any]:
    """Nested kernels on series."""
    leaves = st.sampled_from(
        [
            mk.GlobalAlignment(1.0),
            mk.GlobalAlignment(0.5, 2),
            mk.GlobalAlignment(2.0, 1),
            mk.Signature(1),
            mk.Signature(3, 2),
            mk.Signature(None, 2),
            mk.Signature(2, 4, 1.5),
        ]
    )
    return st.recursive(leaves, lambda inner: st.one_of(*_combined(inner)), max_leaves=3)


@st.composite
def series_samples(draw: Any, n: int = 5) -> Sample:
    """A tree and series of up to four points for it, the empty one among them."""
    d = draw(st.integers(1, 2))
    entry = st.integers(-8, 8).map(lambda eighths: eighths / 8)
    point = st.lists(entry, min_size=d, max_size=d)
    series = st.lists(point, max_size=4).map(lambda rows: np.array(rows, dtype=np.float64).reshape(-1, d))
    first = st.lists(point, min_size=1, max_size=4).map(np.array)
    some = st.tuples(first, st.lists(series, min_size=1, max_size=n - 1)).map(lambda pair: [pair[0], *pair[1]])
    return draw(series_kernels()), draw(some)


@cache
def samples() -> st.SearchStrategy[Sample]:
    """Trees with their points: vectors, sets, strings, graphs, rows of a table, bags, images, or series."""
    return st.one_of(
        vector_samples(), vector_samples(), set_samples(), string_samples(), graph_samples(), table_samples(),
        bag_samples(), image_samples(), series_samples(),
    )  # fmt: skip
