"""The row of graphs: their arrays, which are checked so that nothing leads out of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.io.checks import check, check_offsets, is_item
from mercer.io.codec import Reader, Row, Writer
from mercer.io.values import object_array, refuse_collisions
from mercer.points.graphs import Graphs, Labels

__all__ = ["GRAPHS"]

PARTS = ("nodes", "edges", "ends", "directed", "labels", "edge_labels", "attributes")


def _take_labels(labels: Labels, writer: Writer, path: str) -> Any:
    # Only those that are there: support vectors may lack some.
    used, codes = np.unique(labels.codes, return_inverse=True)
    values = [labels.values[code] for code in used.tolist()] if len(used) else [None]
    return {
        "codes": writer.value(codes.reshape(-1).astype(np.int32), f"{path}.codes"),
        "values": writer.value(object_array(values), f"{path}.values"),
    }


def _make_labels(stored: Any, reader: Reader, count: int) -> Labels:
    codes, values = reader.parts(stored, ("codes", "values"))
    check(isinstance(codes, np.ndarray) and codes.dtype == np.int32 and codes.shape == (count,), "labels that are none")
    check(isinstance(values, np.ndarray) and values.dtype == np.object_ and values.ndim == 1, "labels that are none")
    listed = tuple(values)
    check(all(map(is_item, listed)) and (None not in listed or listed == (None,)), "a label that no node may have")
    refuse_collisions(listed)
    check(len(set(listed)) == len(listed), "a label that is stored twice")
    check(not count or (codes.min() >= 0 and codes.max() < len(listed)), "labels out of range")
    return Labels(codes, listed)


def _take(value: Graphs, writer: Writer, path: str) -> Any:
    arrays = {name: writer.value(getattr(value, name), f"{path}.{name}") for name in (*PARTS[:4], "attributes")}
    labels = {name: _take_labels(getattr(value, name), writer, f"{path}.{name}") for name in PARTS[4:6]}
    return arrays | labels


def _make(stored: Any, reader: Reader) -> Graphs:
    check(isinstance(stored, dict) and set(stored) == set(PARTS), "graphs that are none")
    nodes, edges, ends, directed, attributes = (reader.value(stored[name]) for name in (*PARTS[:4], "attributes"))
    check(isinstance(ends, np.ndarray) and ends.dtype == np.int32 and ends.ndim == 2, "graphs without edges")
    check(ends.shape[1] == 2, "edges that have not two ends")
    check_offsets(edges, len(ends))
    check(isinstance(nodes, np.ndarray) and nodes.ndim == 1 and len(nodes) == len(edges), "graphs without nodes")
    check_offsets(nodes, int(nodes[-1]))
    check(isinstance(directed, np.ndarray) and directed.dtype == np.bool_, "graphs that have no direction")
    check(directed.shape == (len(nodes) - 1,), "graphs that have no direction")
    _check_ends(nodes, edges, ends, directed)
    count = int(nodes[-1])
    labels = _make_labels(stored["labels"], reader, count)
    edge_labels = _make_labels(stored["edge_labels"], reader, len(ends))
    check(attributes is None or _are_attributes(attributes, count), "attributes that are none")
    return Graphs._trusted(nodes, edges, ends, directed, labels, edge_labels, attributes)  # noqa: SLF001 (checked above)


def _check_ends(
    nodes: npt.NDArray[np.int64], edges: npt.NDArray[np.int64], ends: npt.NDArray[np.int32], directed: npt.NDArray[Any]
) -> None:
    row = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    inside = (ends >= 0) & (ends < np.diff(nodes)[row, None])
    check(inside.all(), "an edge that leads out of its graph")
    ordered = np.where(directed[row, None], ends, np.sort(ends, axis=1))
    different = np.unique(np.column_stack([row, ordered]), axis=0)
    check(len(different) == len(ends), "an edge that is stored twice")


def _are_attributes(attributes: Any, count: int) -> bool:
    good = isinstance(attributes, np.ndarray) and attributes.dtype == np.float64 and attributes.ndim == 2
    return good and attributes.shape[0] == count and attributes.shape[1] > 0 and bool(np.isfinite(attributes).all())


GRAPHS = Row("graphs", Graphs, _take, _make)
