"""Graphs as strings of whole numbers, for leaves that walk in them."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from mercer.errors import InvalidInput
from mercer.maps.graphcounts import Reader, graphs_of
from mercer.points import Graphs, Points
from mercer.points.ragged import offsets_of

__all__ = ["Networks"]


@final
class Networks:
    """Writes graphs as `network.hpp` of the core reads them, with the labels of a basis.

    Parameters
    ----------
    owner : str
        Who reads them, for messages.
    basis : Points
        Whose labels are numbered.
    decay : float
        What a step counts. Graphs are refused in which steps add more walks than decay takes away.
    """

    def __init__(self, owner: str, basis: Points, decay: float) -> None:
        self._reader, self._decay = Reader(owner, graphs_of(basis, owner)), decay

    def __call__(self, points: Points) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and words: for each graph numbers of nodes, arcs, most arcs at a node; labels; arcs."""
        graphs = self._reader.graphs(points)
        label, start, end, arcs = self._arcs(graphs)
        nodes = np.diff(graphs.nodes)
        leaving = np.bincount(start, minlength=int(graphs.nodes[-1]))
        degree = np.zeros(len(graphs), dtype=np.int64)
        np.maximum.at(degree, np.repeat(np.arange(len(graphs)), nodes), leaving)
        self._check(degree)
        offsets = offsets_of(3 + nodes + 3 * np.diff(arcs))
        words = np.empty(int(offsets[-1]), dtype=np.int32)
        for place, column in enumerate((nodes, np.diff(arcs), degree)):
            words[offsets[:-1] + place] = column
        words[_places(offsets[:-1] + 3, graphs.nodes, 1)] = self._reader.node_codes(graphs)
        first = _places(offsets[:-1] + 3 + nodes, arcs, 3)
        own = np.repeat(graphs.nodes[:-1], np.diff(arcs))
        for place, column in enumerate((label, start - own, end - own)):
            words[first + place] = column
        return offsets, words

    def _arcs(self, graphs: Graphs) -> tuple[NDArray[np.int64], ...]:
        """Labels and ends of all arcs, ordered by graph, label and ends; and offsets of the graphs."""
        row = np.repeat(np.arange(len(graphs)), np.diff(graphs.edges))
        ends = graphs.ends + graphs.nodes[row, None]
        codes = self._reader.edge_codes(graphs).astype(np.int64)
        back = ~graphs.directed[row] & (ends[:, 0] != ends[:, 1])
        row, label = np.concatenate([row, row[back]]), np.concatenate([codes, codes[back]])
        start, end = np.concatenate([ends, ends[back][:, ::-1]]).T
        order = np.lexsort((end, start, label, row))
        return label[order], start[order], end[order], offsets_of(np.bincount(row, minlength=len(graphs)))

    def _check(self, degree: NDArray[np.int64]) -> None:
        wild = np.flatnonzero(self._decay * degree.astype(np.float64) ** 2 >= 1.0)
        if not len(wild):
            return
        row, most = int(wild[0]), int(degree.max())
        own = int(degree[row])
        raise InvalidInput(
            f"{self._reader.owner} does not converge on the graph in row {row}.",
            f"A node of it has {own} edges, so decay must be below 1/{own}² = {1 / own**2:.3g}.",
            f"Try RandomWalk({0.9 / most**2:.2g}), which converges on all of these graphs.",
        )


def _places(begins: NDArray[np.int64], offsets: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Where the entries of each row go: from where it begins, so many places apart."""
    sizes = np.diff(offsets)
    return np.repeat(begins - step * offsets[:-1], sizes) + step * np.arange(int(offsets[-1]))
