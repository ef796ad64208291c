"""What a kernel sees of points, as operators: vectors, their maps, and functions of one point."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer.errors import NotStorable
from mercer.io.onnx.graph import Graph, refuse_too_large
from mercer.maps import Columns, Map, Scale, Torus, UnitRows
from mercer.maps.percolumn import PerColumn
from mercer.maps.transform import Transform
from mercer.points.base import Domain, Points
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["Seen", "basis_rows", "first_seen", "map_seen", "refusal"]


@final
@dataclass(frozen=True)
class Seen:
    """Points in a graph.

    Attributes
    ----------
    name : str
        The matrix, (n, width).
    width : int
    columns : tuple of (str, int), optional
        Of a table: the names of all its columns, and where each is in the matrix; −1 for one that is not numeric.
    """

    name: str
    width: int
    columns: tuple[tuple[str, int], ...] | None = None


def refusal(what: str, why: str) -> NotStorable:
    """The error for a part that ONNX cannot hold."""
    return NotStorable(
        f"{what} cannot be written as ONNX.", why, "Kernels on vectors can; any model is kept by model.save(path)."
    )


def first_seen(g: Graph, basis: Points) -> Seen:
    """The input of a graph, as the basis is."""
    if isinstance(basis, Table):
        numeric = [name for name, column in basis.columns.items() if column.domain is Domain.VECTORS]
        if not numeric:
            raise refusal("A table without numeric columns", f"Its columns are {', '.join(map(repr, basis.names))}.")
        places = {name: place for place, name in enumerate(numeric)}
        names = tuple((name, places.get(name, -1)) for name in basis.names)
        return Seen(g.input("X", np.float64, ["n", len(numeric)]), len(numeric), names)
    if not isinstance(basis, Vectors):
        raise refusal(f"A model on {basis.domain.value}", "An ONNX graph takes a matrix of numbers.")
    return Seen(g.input("X", np.float64, ["n", basis.width]), basis.width)


def basis_rows(points: Points, owner: object) -> npt.NDArray[np.float64]:
    """The basis as a dense matrix, or an error that names who reads it."""
    found = points.vectors() if isinstance(points, Table) else points
    if not isinstance(found, Vectors):
        raise refusal(repr(owner), f"It reads {found.domain.value}.")
    refuse_too_large(len(found) * found.width * 8)
    rows = found.csr.toarray() if found.is_sparse else found.dense
    return np.asarray(rows, dtype=np.float64)


def map_seen(g: Graph, m: Map, seen: Seen) -> Seen:
    """The images of points."""
    if type(m) not in MAPS:
        raise refusal(repr(m), "It is a function of Python, or one of points that are not vectors.")
    return MAPS[type(m)](g, m, seen)


def _scale(g: Graph, m: Any, seen: Seen) -> Seen:
    return Seen(g.op("Mul", seen.name, np.atleast_2d(m.factors)), seen.width)


def _columns(g: Graph, m: Any, seen: Seen) -> Seen:
    if seen.columns is None:
        places = [int(name) for name in m.names]
    else:
        by_name = dict(seen.columns)
        places = [by_name[name] if isinstance(name, str) else seen.columns[name][1] for name in m.names]
        if min(places) < 0:
            raise refusal(repr(m), "It reads a column that is not numeric.")
    return Seen(g.op("Gather", seen.name, np.array(places), axis=1), len(places))


def _torus(g: Graph, m: Any, seen: Seen) -> Seen:
    # fmod, as the map does, so that large values keep their place on the circle.
    period = np.broadcast_to(np.asarray(m.period, dtype=np.float64), seen.width)
    turns = g.op("Div", g.op("Mod", seen.name, np.ascontiguousarray(period), fmod=1), np.ascontiguousarray(period))
    angle = g.op("Mul", turns, 2.0 * np.pi)
    # Not every run time has a cosine in float64.
    both = g.op("Concat", g.op("Sin", g.op("Add", angle, 0.5 * np.pi)), g.op("Sin", angle), axis=1)
    order = np.arange(2 * seen.width).reshape(2, -1).T.ravel()
    return Seen(g.op("Gather", both, order, axis=1), 2 * seen.width)


def _unit(g: Graph, _m: Any, seen: Seen) -> Seen:
    largest = g.op("ReduceMax", g.op("Abs", seen.name), np.array([1]), keepdims=1)
    rows = g.op("Div", seen.name, _or_one(g, largest))
    norms = g.op("Sqrt", g.op("ReduceSumSquare", rows, np.array([1]), keepdims=1))
    return Seen(g.op("Div", rows, _or_one(g, norms)), seen.width)


def _or_one(g: Graph, divisors: str) -> str:
    return g.where(g.op("Greater", divisors, 0.0), divisors, 1.0)


def _transform(g: Graph, m: Any, seen: Seen) -> Seen:
    return Seen(g.op("MatMul", seen.name, np.ascontiguousarray(m.matrix.T)), len(m.matrix))


# What is a map in Python as operators.
MAPS: dict[type[Map], Callable[[Graph, Any, Seen], Seen]] = {
    Columns: _columns,
    PerColumn: lambda _g, _m, seen: seen,
    Scale: _scale,
    Torus: _torus,
    Transform: _transform,
    UnitRows: _unit,
}
