"""Kernels of graphs with labels: what two graphs have in common, counted."""

from dataclasses import dataclass
from typing import ClassVar, final

from mercer.domains import Integer, Positive
from mercer.kernels.kernel import Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.pullback import Pullback
from mercer.kernels.rules import WALKS, Rule
from mercer.kernels.tape import Register, Tape
from mercer.maps.graphs import ColourLevels, Colours, EdgeLabels, Graphlets, ShortestPaths
from mercer.notation import SUM, Notation
from mercer.term import param

__all__ = [
    "EdgeHistogram", "Graphlet", "RandomWalk", "ShortestPath", "VertexHistogram", "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
]  # fmt: skip


@final
@dataclass(frozen=True, repr=False, eq=False)
class WeisfeilerLehman(Kernel):
    """The common neighbourhoods of two graphs: the Weisfeiler-Lehman subtree kernel.

    k(G, H) = Σ #c(G)·#c(H) over the colours c of rounds 0 to `depth`, where #c(G) is how many nodes of G have it.
    Positive because it is the inner product of counts (rule 1, rule pullback).

    A node's first colour is its label; in each round it becomes the colour with the labels of the node's edges and the
    colours at their other ends. So colours of round i are equal where the labelled trees of walks of length i are.

    Parameters
    ----------
    depth : int, default 4
        The number of rounds.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt, Weisfeiler-Lehman graph kernels,
    Journal of Machine Learning Research 12 (2011).

    Examples
    --------
    >>> path = {"edges": [(0, 1), (1, 2)], "labels": ["C", "C", "O"]}
    >>> triangle = {"edges": [(0, 1), (1, 2), (2, 0)], "labels": ["C", "C", "O"]}
    >>> WeisfeilerLehman(1)([path, triangle])
    array([[ 8.,  7.],
           [ 7., 10.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ #c({x})·#c({z}), c of rounds 0‥{depth}",
        latex=r"\sum_{{i \le {depth}}} \sum_{{c \in C_i}} \#_c({x}) \, \#_c({z})", level=SUM,
    )  # fmt: skip
    depth: int = param(4, Integer(0))

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), Colours(self.depth))


@final
@dataclass(frozen=True, repr=False, eq=False)
class WeisfeilerLehmanAssignment(Kernel):
    """The best assignment of the nodes of one graph to those of another, by common neighbourhoods.

    k(G, H) = Σ min(#c(G), #c(H)) over the colours c of rounds 0 to `depth`, where #c(G) is how many nodes of G have it.
    It is the largest Σ κ(v, π(v)) over the one-to-one assignments π of nodes, where κ(v, w) is the number of rounds in
    which v and w have one colour: these rounds come first, so colours form a hierarchy, in which taking equals greedily
    is optimal. Positive because min(a, b) = Σ [a ≥ t]·[b ≥ t] over t = 1, 2, … for counts, so that k is the inner
    product of such marks (rule 1, rule pullback).

    Parameters
    ----------
    depth : int, default 4
        The number of rounds.

    References
    ----------
    N. M. Kriege, P.-L. Giscard and R. C. Wilson, On valid optimal assignment kernels and applications to graph
    classification, NIPS (2016).

    Examples
    --------
    >>> path = {"edges": [(0, 1), (1, 2)], "labels": ["C", "C", "O"]}
    >>> triangle = {"edges": [(0, 1), (1, 2), (2, 0)], "labels": ["C", "C", "O"]}
    >>> WeisfeilerLehmanAssignment(1)([path, triangle])
    array([[6., 4.],
           [4., 6.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ min(#c({x}), #c({z})), c of rounds 0‥{depth}",
        latex=r"\sum_{{i \le {depth}}} \sum_{{c \in C_i}} \min(\#_c({x}), \#_c({z}))", level=SUM,
    )  # fmt: skip
    depth: int = param(4, Integer(0))

    def expand(self) -> Kernel:
        """The inner product of marks."""
        return Pullback(Linear(), ColourLevels(self.depth))


@final
@dataclass(frozen=True, repr=False, eq=False)
class ShortestPath(Kernel):
    """The common shortest paths of two graphs, by the labels of their ends and their length.

    k(G, H) = Σ #(a, b, r)(G)·#(a, b, r)(H), where #(a, b, r)(G) is how many ordered pairs of different nodes with the
    labels a and b have the distance r in G. Positive because it is the inner product of counts (rule 1, rule pullback).

    Distances are numbers of edges; labels of edges do not matter.

    References
    ----------
    K. M. Borgwardt and H.-P. Kriegel, Shortest-path kernels on graphs, ICDM (2005).

    Examples
    --------
    >>> path = {"edges": [(0, 1), (1, 2)], "labels": ["C", "C", "O"]}
    >>> triangle = {"edges": [(0, 1), (1, 2), (2, 0)], "labels": ["C", "C", "O"]}
    >>> ShortestPath()([path, triangle])
    array([[ 8.,  8.],
           [ 8., 12.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ #(a, b, r)({x})·#(a, b, r)({z})", latex=r"\sum_{{a, b, r}} \#_{{a, b, r}}({x}) \, \#_{{a, b, r}}({z})",
        level=SUM,
    )  # fmt: skip

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), ShortestPaths())


@final
@dataclass(frozen=True, repr=False, eq=False)
class Graphlet(Kernel):
    """The common small subgraphs of two graphs.

    k(G, H) = Σ #g(G)·#g(H) over the connected graphs g of `size` nodes, where #g(G) is how many induced subgraphs of G
    are isomorphic to g. Positive because it is the inner product of counts (rule 1, rule pullback).

    All are counted, none is sampled. Labels and loops do not matter; directed graphs g count as connected without
    regard to directions.

    Parameters
    ----------
    size : {3, 4, 5}, default 3
        The number of nodes of g.

    References
    ----------
    N. Shervashidze, S. V. N. Vishwanathan, T. Petri, K. Mehlhorn and K. M. Borgwardt, Efficient graphlet kernels for
    large graph comparison, AISTATS (2009).

    Examples
    --------
    >>> path = {"edges": [(0, 1), (1, 2), (2, 3)]}
    >>> triangle = {"edges": [(0, 1), (1, 2), (2, 0), (2, 3)]}
    >>> Graphlet(3)([path, triangle])
    array([[4., 4.],
           [4., 5.]])
    """

    notation: ClassVar[Notation] = Notation(
        text="Σ #g({x})·#g({z}), |g| = {size}", latex=r"\sum_{{|g| = {size}}} \#_g({x}) \, \#_g({z})", level=SUM
    )
    size: int = param(3, Integer(3, 5))

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), Graphlets(self.size))


@final
@dataclass(frozen=True, repr=False, eq=False)
class VertexHistogram(Kernel):
    """The common labels of nodes.

    k(G, H) = Σ #l(G)·#l(H) over the labels l, where #l(G) is how many nodes of G have it. Positive because it is the
    inner product of counts (rule 1, rule pullback).

    Examples
    --------
    >>> VertexHistogram()([{"edges": [(0, 1)], "labels": "CO"}, {"n": 3, "edges": [], "labels": "CCH"}])
    array([[2., 2.],
           [2., 5.]])
    """

    notation: ClassVar[Notation] = Notation(text="Σ #l({x})·#l({z})", latex=r"\sum_l \#_l({x}) \, \#_l({z})", level=SUM)

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), Colours(0))


@final
@dataclass(frozen=True, repr=False, eq=False)
class EdgeHistogram(Kernel):
    """The common labels of edges.

    k(G, H) = Σ #l(G)·#l(H) over the labels l, where #l(G) is how many edges of G have it. Positive because it is the
    inner product of counts (rule 1, rule pullback).

    An edge counts as one, directed or not.

    Examples
    --------
    >>> single = {"edges": [(0, 1), (1, 2)], "edge_labels": ["single", "single"]}
    >>> both = {"edges": [(0, 1), (1, 2)], "edge_labels": ["single", "double"]}
    >>> EdgeHistogram()([single, both])
    array([[4., 2.],
           [2., 2.]])
    """

    notation: ClassVar[Notation] = Notation(text="Σ #l({x})·#l({z})", latex=r"\sum_l \#_l({x}) \, \#_l({z})", level=SUM)

    def expand(self) -> Kernel:
        """The inner product of counts."""
        return Pullback(Linear(), EdgeLabels())


@final
@dataclass(frozen=True, repr=False, eq=False)
class RandomWalk(Kernel):
    """The common walks of two graphs, of any length: the geometric random walk kernel.

    k(G, H) = Σ λⁿ·|{pairs of walks of n steps in G and in H that pass the same labels of nodes and edges}|, summed over
    n = 0, 1, 2, …. Positive because it is an inner product with one coordinate for each sequence of labels: how many
    walks of G read it, times λ^(n/2) (rule walks).

    The sum converges where λ·d² < 1 for the largest number d of edges at a node; other graphs are refused when points
    are bound, with a decay that would do. Of directed graphs, d counts the edges that leave a node.

    Parameters
    ----------
    decay : float, default 0.01
        λ > 0: what a step counts.

    References
    ----------
    T. Gärtner, P. Flach and S. Wrobel, On graph kernels: hardness results and efficient alternatives, COLT (2003).

    Examples
    --------
    >>> edge = {"edges": [(0, 1)]}
    >>> RandomWalk(0.5)([edge])  # 2·2 walks of n steps: 4·(1 + ½ + ¼ + …)
    array([[8.]])
    """

    rule: ClassVar[Rule] = WALKS
    notation: ClassVar[Notation] = Notation(
        text="Σ {decay}^n·|common walks of n steps in {x}, {z}|",
        latex=r"\sum_n {decay}^n \, \lvert \{{\text{{common walks of }} n \text{{ steps in }} {x}, {z}\}} \rvert",
        level=SUM, condition="decay·d² < 1 for the largest degree d, checked when points are bound",
        condition_latex=r"\lambda \, d^2 < 1",
    )  # fmt: skip
    decay: float = param(0.01, Positive)

    def lower(self, tape: Tape) -> Register:
        """The sum, step by step, until what is left is lost in rounding."""
        return tape.value("walks", self.decay)
