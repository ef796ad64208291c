"""The rows that a machine rests on most."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.errors import MercerError
from mercer.markup import Markup, joined
from mercer.points.graphs import Graphs
from mercer.points.ragged import Sets
from mercer.points.stored import Places, Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.report.case import Case
from mercer.report.data import names_of
from mercer.report.tables import count, label, number, paragraph, table

__all__ = ["influence"]

Array = npt.NDArray[np.float64]

MOST = 12
# So many columns of a row are shown.
COLUMNS = 4


def influence(case: Case) -> Markup:
    """The points whose share in f is largest, with what they hold."""
    model = case.model
    if model.votes is not None:
        return _neighbours(case)
    if model.smoothing is not None or case.certificate.machine == "nearest centroid":
        return paragraph(
            "Every row takes part with its own weight, which depends on where the question is asked: there are no "
            "coefficients, and no row counts more than another everywhere."
        )
    share = _shares(case)
    order = np.argsort(-share, kind="stable")[:MOST]
    total = float(np.square(share).sum())
    rows = [_row(case, int(i), share, total) for i in order]
    top = float(np.square(share[order]).sum()) / total if total else 0.0
    small = (
        ""
        if len(share) <= MOST
        else f" These {len(order)} of {count(len(share))} hold {100 * top:.1f} % of Σ ‖αᵢ φ(xᵢ)‖²."
    )
    return joined(
        paragraph(
            "f is a sum with one term for each of these points, αᵢ k(xᵢ, ·). The length of the term, |αᵢ| √k(xᵢ, xᵢ), "
            f"says how much of f the point carries.{small}"
        ),
        table(("Row", "Target", "Coefficient", "Share of f", "What it is"), rows, "Influential rows", numeric=(2, 3)),
        paragraph(
            "Row numbers count from 0 in the data of this report."
            if _numbers(case) is not None
            else "Numbers count from 0 among the points of the model: the data of this report holds other rows."
        ),
    )


def _shares(case: Case) -> Array:  # (m,)
    """√Σ αᵢ² · √k(xᵢ, xᵢ)."""
    model = case.model
    coef = np.sqrt(np.square(model.coef).sum(axis=1))
    return np.asarray(coef * np.sqrt(np.maximum(_diagonal(case), 0.0)))


def _diagonal(case: Case) -> Array:
    model = case.model
    basis = model.basis
    if isinstance(basis, Places):
        points = case.points
        if not isinstance(points, Stored) or len(points) != basis.width:  # not the square matrix of the fit
            return np.ones(len(basis))
        return np.asarray(points.matrix[basis.rows, basis.rows], dtype=np.float64)
    try:
        return np.asarray(model.binding.diag(basis), dtype=np.float64) if len(basis) else np.empty(0)
    except MercerError:  # functions of whole collections, and matrices of which only a part is there
        return np.ones(len(basis))


def _numbers(case: Case) -> npt.NDArray[np.intp] | None:
    """Where each point of the model stands in the rows of the report."""
    if case.places is not None:
        return None if (case.places < 0).any() else case.places
    own = vars(case.machine).get("support_")  # rows that cannot be compared: they have to be those of the fit, in order
    if not case.is_training:
        return None
    return np.arange(len(case.model.basis)) if own is None else np.asarray(own, dtype=np.intp)


def _row(case: Case, i: int, share: Array, total: float) -> list[str]:
    numbers = _numbers(case)
    place = None if numbers is None else int(numbers[i])
    coef = case.model.coef[i]
    largest = float(coef[np.abs(coef).argmax()])
    part = float(share[i]) ** 2 / total if total else 0.0
    target = "–" if place is None or case.y is None else _target(np.asarray(case.y)[place])
    return [
        str(i if place is None else place), target, number(largest), f"{100 * part:.1f} %", _described(case, i, place),
    ]  # fmt: skip


def _target(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return ", ".join(map(_target, value[:COLUMNS].tolist())) + (", …" if value.size > COLUMNS else "")
    return number(float(value)) if isinstance(value, float | np.floating) else label(value)


def _value(value: Any) -> str:
    return number(float(value)) if isinstance(value, np.number) else label(value)


def _described(case: Case, i: int, place: int | None) -> str:
    """What a point holds, in a few words."""
    points = case.shown if place is not None and case.shown is not None else case.model.basis
    row = i if place is None else place
    for kind, describe in _DESCRIBED.items():
        if isinstance(points, kind):
            return describe(case, points, row)
    return "–" if isinstance(points, Stored | Places) else label(_one(points, row))


def _one(points: Any, row: int) -> Any:
    try:
        return points.take([row]).raw()[0]
    except (KeyError, IndexError, TypeError, MercerError):
        return "–"


def _of_vectors(case: Case, points: Any, row: int) -> str:
    raw = points.take([row]).raw()
    values = (raw if isinstance(raw, np.ndarray) else raw.toarray())[0]
    names = names_of(case, points)
    chosen = range(len(values)) if len(values) <= COLUMNS else np.flatnonzero(values)[:COLUMNS].tolist()
    words = [f"{label(names[j])} {number(float(values[j]))}" for j in chosen]
    return ", ".join(words) + (", …" if len(values) > len(words) else "")


def _of_table(_: Case, points: Any, row: int) -> str:
    chosen = list(points.columns.items())[:COLUMNS]
    words = [f"{label(name)} {_value(column.values[row])}" for name, column in chosen]
    return ", ".join(words) + (", …" if points.width > COLUMNS else "")


def _of_sets(_: Case, points: Any, row: int) -> str:
    items = sorted(map(str, points.take([row]).raw()[0]))
    return label("{" + ", ".join(items) + "}")


def _of_graphs(_: Case, points: Any, row: int) -> str:
    graph = points.take([row])
    counted = Counter(map(str, graph.labels.raw(0, len(graph.labels.codes)))) if graph.labels.given else Counter()
    words = [f"{label(name)} {count(times)}" for name, times in counted.most_common(COLUMNS)]
    sizes = f"{count(int(graph.nodes[-1]))} nodes, {count(int(graph.edges[-1]))} edges"
    return ", ".join([sizes, *words]) + (", …" if len(counted) > len(words) else "")


_DESCRIBED: dict[type, Callable[[Case, Any, int], str]] = {
    Graphs: _of_graphs,
    Sets: _of_sets,
    Table: _of_table,
    Vectors: _of_vectors,
}


def _neighbours(case: Case) -> Markup:
    """Of nearest neighbours: how often each training row is one, among the training rows themselves."""
    model = case.model
    votes = model.votes
    assert votes is not None
    if len(model.basis) <= votes.n_neighbors:
        return paragraph("Every row is a neighbour of every other.")
    found = model.space.nearest(None, votes.n_neighbors)
    often = np.bincount(found.index.ravel(), minlength=len(model.basis))
    order = np.argsort(-often, kind="stable")[:MOST]
    numbers = _numbers(case)
    rows = []
    for i in order.tolist():
        place = None if numbers is None else int(numbers[i])
        target = "–" if place is None or case.y is None else _target(np.asarray(case.y)[place])
        rows.append([str(i if place is None else place), target, count(int(often[i])), _described(case, i, place)])
    never = int((often == 0).sum())
    return joined(
        paragraph(
            f"How often a training row is among the {votes.n_neighbors} nearest of another training row: on average "
            f"{votes.n_neighbors} times. Rows far above that (hubs) speak for many others; {count(never)} never do."
        ),
        table(("Row", "Target", "Times a neighbour", "What it is"), rows, "Influential rows", numeric=(2,)),
    )
