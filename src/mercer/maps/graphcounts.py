"""Graphs as counts of what is in them: rows with a column for everything that the basis has."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from mercer import _core
from mercer.errors import DomainMismatch
from mercer.points import Domain, Graphs, Indicators, Points, Vectors, require
from mercer.points.graphs import Labels
from mercer.points.ragged import offsets_of

__all__ = ["Counted", "FittedColours", "FittedGraphCounts", "FittedLevels", "Reader", "graphs_of"]

Index = NDArray[np.int64]


class Counted(NamedTuple):
    """How often each graph has which key: those of graph i from offsets[i] to offsets[i + 1], keys increasing."""

    offsets: Index
    keys: Index
    times: Index


def graphs_of(points: Points, owner: str) -> Graphs:
    """The points as graphs, or an error that says what would work."""
    found = require(points, frozenset({Domain.GRAPHS}), owner)
    assert isinstance(found, Graphs)
    return found


@final
@dataclass(frozen=True, eq=False)
class _Alphabet:
    """The labels of the basis, numbered; new ones get the numbers after these."""

    what: str
    known: dict[Hashable, int]

    @classmethod
    def of(cls, labels: Labels, what: str) -> "_Alphabet":
        used = np.unique(labels.codes).tolist()
        return cls(what, {labels.values[code]: number for number, code in enumerate(used)})

    def codes(self, labels: Labels, owner: str) -> NDArray[np.int32]:
        was_labelled = {*self.known} != {None}
        if len(labels.codes) and self.known and labels.given != was_labelled:
            raise DomainMismatch(
                f"{owner} was fitted on graphs {'with' if was_labelled else 'without'} labels of {self.what}.",
                f"The new graphs have {'none' if was_labelled else 'some'}.",
                f"Label the {self.what} as in training.",
            )
        fresh = len(self.known)
        table = np.empty(len(labels.values), dtype=np.int32)
        for place, value in enumerate(labels.values):
            table[place] = self.known.get(value, fresh)
            fresh += value not in self.known
        return np.asarray(table[labels.codes])


@final
class Reader:
    """Reads graphs by the labels of the basis.

    Parameters
    ----------
    owner : str
        Who reads them, for messages.
    basis : Graphs
        Whose labels are numbered.
    nodes, edges : bool
        Whether labels of nodes, and of edges, tell them apart.
    """

    def __init__(self, owner: str, basis: Graphs, *, nodes: bool = True, edges: bool = True) -> None:
        self.owner = owner
        self._nodes = _Alphabet.of(basis.labels, "nodes") if nodes else None
        self._edges = _Alphabet.of(basis.edge_labels, "edges") if edges else None

    def graphs(self, points: Points) -> Graphs:
        """The points as graphs."""
        return graphs_of(points, self.owner)

    def native(self, graphs: Graphs) -> _core.Graphs:
        """The graphs, with numbers for labels."""
        return _core.Graphs(
            graphs.nodes, graphs.edges, graphs.ends, graphs.directed,
            self.node_codes(graphs), self.edge_codes(graphs),
        )  # fmt: skip

    def node_codes(self, graphs: Graphs) -> NDArray[np.int32]:
        """The number of each node's label."""
        return self._coded(self._nodes, graphs.labels)

    def edge_codes(self, graphs: Graphs) -> NDArray[np.int32]:
        """The number of each edge's label."""
        return self._coded(self._edges, graphs.edge_labels)

    def _coded(self, alphabet: _Alphabet | None, labels: Labels) -> NDArray[np.int32]:
        if alphabet is None:
            return np.zeros(len(labels.codes), dtype=np.int32)
        return alphabet.codes(labels, self.owner)


def _columns(known: Index, keys: Index) -> Index:
    """The place of each key among those that are known, which increase; −1 for a new one."""
    if not len(known):
        return np.full(len(keys), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place, -1)


def _as_rows(counts: Counted, column: Index, width: int) -> Vectors:
    """Counts as rows. What has no column (−1) counts in one more: as the norm of all that, so that norms are exact."""
    n = len(counts.offsets) - 1
    times = counts.times.astype(np.float64)
    known = column >= 0
    if known.all():
        return Vectors(sp.csr_array((times, column, counts.offsets), shape=(n, width + 1)))
    row = np.repeat(np.arange(n), np.diff(counts.offsets))
    outside = np.bincount(row[~known], weights=np.square(times[~known]), minlength=n)
    apart = np.flatnonzero(outside)
    places = np.concatenate([row[known], apart]), np.concatenate([column[known], np.full(len(apart), width)])
    values = np.concatenate([times[known], np.sqrt(outside[apart])])
    return Vectors(sp.csr_array((values, places), shape=(n, width + 1)))


class _Basis(NamedTuple):
    """What a map was fitted on, and was counted then: its image is asked for next."""

    graphs: Graphs
    counts: Counted

    def of(self, graphs: Graphs) -> Counted | None:
        """What was counted, if these are the same graphs."""
        return self.counts if graphs is self.graphs else None


@final
class FittedGraphCounts:
    """A map from graphs to counts, with the dictionary of its basis.

    Parameters
    ----------
    reader : Reader
        With the labels of the basis.
    basis : Graphs
        What the dictionary is made of.
    count : callable
        From the reader and graphs to `Counted`.
    """

    def __init__(self, reader: Reader, basis: Graphs, count: Callable[[Reader, Graphs], Counted]) -> None:
        self._reader, self._count = reader, count
        self._basis = _Basis(basis, count(reader, basis))
        self._keys = np.unique(self._basis.counts.keys)

    def __repr__(self) -> str:
        return self._reader.owner

    def __call__(self, points: Points) -> Vectors:
        """The counts of each graph."""
        graphs = self._reader.graphs(points)
        counts = self._basis.of(graphs) or self._count(self._reader, graphs)
        return _as_rows(counts, _columns(self._keys, counts.keys), len(self._keys))


@final
class _Palette:
    """Colours after 0, 1, …, depth rounds of refinement; those of the basis are numbered from 0."""

    def __init__(self, reader: Reader, basis: Graphs, depth: int) -> None:
        self._reader, self._depth = reader, depth
        self._offsets, self._items = np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64)
        colours, self._offsets, self._items = self._refined(basis)
        self._basis = _Basis(basis, _counted(colours, basis.nodes))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __repr__(self) -> str:
        return self._reader.owner

    def _refined(self, graphs: Graphs) -> Any:
        return self._reader.native(graphs).refined(self._depth, self._offsets, self._items)

    def counted(self, points: Points) -> Counted:
        """How often each graph has which colour; new ones are len(self) or more."""
        graphs = self._reader.graphs(points)
        return self._basis.of(graphs) or _counted(self._refined(graphs)[0], graphs.nodes)


def _counted(colours: Index, nodes: Index) -> Counted:
    """How often each graph has which colour, of all rounds."""
    rounds, count = colours.shape
    offsets = rounds * nodes
    graph = np.repeat(np.arange(len(nodes) - 1), np.diff(nodes))
    local = np.arange(count) - nodes[:-1][graph]
    size = np.diff(nodes)[graph]
    keys = np.empty(rounds * count, dtype=np.int64)
    for step, row in enumerate(colours):
        keys[offsets[:-1][graph] + step * size + local] = row
    return Counted(*_core.counted(offsets, keys))


@final
class FittedColours:
    """Counts of colours, with the palette of the basis."""

    def __init__(self, reader: Reader, basis: Graphs, depth: int) -> None:
        self._palette = _Palette(reader, basis, depth)

    def __repr__(self) -> str:
        return repr(self._palette)

    def __call__(self, points: Points) -> Vectors:
        """The counts of each graph."""
        counts, known = self._palette.counted(points), len(self._palette)
        return _as_rows(counts, np.where(counts.keys < known, counts.keys, -1), known)


@final
class FittedLevels:
    """Marks of (colour, t) for t = 1, …, its count: so common marks are the sum of the smaller counts."""

    def __init__(self, reader: Reader, basis: Graphs, depth: int) -> None:
        self._palette = _Palette(reader, basis, depth)
        counts = self._palette.counted(basis)
        most = np.zeros(len(self._palette), dtype=np.int64)
        np.maximum.at(most, counts.keys, counts.times)
        self._starts = offsets_of(most)

    def __repr__(self) -> str:
        return repr(self._palette)

    def __call__(self, points: Points) -> Indicators:
        """The marks of each graph; those that the basis does not have only count in the sizes."""
        counts, known = self._palette.counted(points), len(self._palette)
        n = len(counts.offsets) - 1
        row = np.repeat(np.arange(n), np.diff(counts.offsets))
        sizes = np.bincount(row, weights=counts.times, minlength=n).astype(np.int64)
        seen = counts.keys < known
        colour = counts.keys[seen]
        levels = np.minimum(counts.times[seen], self._starts[colour + 1] - self._starts[colour])
        begin = offsets_of(levels)
        codes = np.arange(begin[-1]) + np.repeat(self._starts[colour] - begin[:-1], levels)
        per_row = np.bincount(row[seen], weights=levels, minlength=n).astype(np.int64)
        return Indicators(offsets_of(per_row), codes.astype(np.int32), int(self._starts[-1]), sizes)
