"""What the data is: rows, columns and targets in a few numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.markup import Markup, element, joined
from mercer.points.base import Points, is_missing
from mercer.points.column import Column
from mercer.points.objects import Objects
from mercer.points.ragged import Sets
from mercer.points.stored import Stored
from mercer.points.table import Table
from mercer.points.vectors import Vectors
from mercer.report.case import Case
from mercer.report.tables import count, facts, label, number, paragraph, per_cent, sketch, table

__all__ = ["data", "names_of"]

# So many columns, classes and targets have a line of their own.
MOST_COLUMNS = 30
MOST_CLASSES = 30
# A mean that is smaller than so much of the spread is 0 but for rounding.
ROUNDING = 1e-12


def data(case: Case) -> Markup:
    """The rows that were given, and their targets."""
    points = case.shown if case.shown is not None else case.points
    n = len(points)
    pairs = [("Rows", count(n)), ("Kind", _kind(points)), *_size(points)]
    if case.before is not None:
        pairs.append(("Seen by the machine as", label(repr(case.points))))
    pairs.append(("Fitted on", f"{count(case.certificate.rows)} rows" + (", these" if case.is_training else "")))
    return joined(facts(pairs), _columns(case, points), _targets(case), _fitted_elsewhere(case))


def names_of(case: Case, points: Points) -> list[str]:
    """The names of the columns, as the user has them."""
    if isinstance(points, Table):
        return list(points.names)
    if not isinstance(points, Vectors):
        return []
    known = vars(case.whole).get("feature_names_in_", vars(case.machine).get("feature_names_in_"))
    if known is not None and len(known) == points.width:
        return [str(name) for name in known]
    return [f"column {j}" for j in range(points.width)]


def _kind(points: Points) -> str:
    if isinstance(points, Vectors):
        return f"vectors, {'sparse' if points.is_sparse else 'dense'}, {points.dtype}"
    return points.domain.value


def _size(points: Points) -> list[tuple[str, str]]:
    if isinstance(points, Vectors | Table):
        return [("Columns", count(points.width))]
    if isinstance(points, Sets):
        sizes = points.sizes
        return [
            ("Items in a set", f"{sizes.min()} to {sizes.max()}, {number(float(sizes.mean()), 3)} on average"),
            ("Different items", count(len({*points.items.tolist()}))),
        ]
    if isinstance(points, Stored):
        return [("Against", f"{count(points.width)} points")]
    if isinstance(points, Objects):
        return [("Different values", count(len({*map(_key, points.values.tolist())})))]
    return []


def _key(value: Any) -> Any:
    return value if isinstance(value, str | int | tuple | frozenset) else repr(value)


def _columns(case: Case, points: Points) -> Markup | None:
    """A line for each column."""
    names = names_of(case, points)
    if not names:
        return None
    shown = range(min(len(names), MOST_COLUMNS))
    if isinstance(points, Table):
        rows = [_of_column(names[j], points.columns[names[j]]) for j in shown]
    else:
        raw: Any = points.raw()
        rows = [
            _of_numbers(names[j], raw[:, j] if isinstance(raw, np.ndarray) else raw[:, [j]].toarray()[:, 0])
            for j in shown
        ]
    more = len(names) - len(rows)
    heads = ("Column", "Mean", "Standard deviation", "Smallest", "Largest", "Distribution")
    return joined(
        element("h3", "Columns"),
        table(heads, rows, "Columns of the data", numeric=(1, 2, 3, 4)),
        paragraph(f"{count(more)} more columns are not shown.") if more else None,
    )


def _of_numbers(name: str, values: npt.NDArray[Any]) -> list[str]:
    known = values.astype(np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return [label(name), "–", "–", "–", "–", "nothing known"]
    missing = len(values) - len(known)
    note = f"{count(missing)} missing" if missing else ("always the same" if known.min() == known.max() else "")
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(known.mean()), float(known.std())
    if abs(mean) < ROUNDING * deviation:  # a column that was centred
        mean = 0.0
    moments = (mean, deviation, float(known.min()), float(known.max()))
    return [label(name), *map(number, moments), joined(sketch(known), note or None)]


def _of_column(name: str, column: Column) -> list[str]:
    if column.values.dtype.kind in "fiub":
        return _of_numbers(name, column.values)
    values = [_key(value) for value in column.values.tolist() if not is_missing(value) and value is not None]
    missing = len(column) - len(values)
    different, sizes = _frequencies(values)
    kind = column.kind or column.domain.value
    words = f"{kind}: {count(len(different))} different"
    if different and len(different) < len(values):
        words += f", most often {label(different[0])} ({count(sizes[0])} times)"
    if missing:
        words += f"; {count(missing)} missing"
    return [label(name), words]


def _frequencies(values: list[Any]) -> tuple[list[Any], list[int]]:
    found: dict[Any, int] = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    ordered = sorted(found.items(), key=lambda item: -item[1])
    return [value for value, _ in ordered], [size for _, size in ordered]


def _targets(case: Case) -> Markup:
    """The distribution of what is to be predicted."""
    if case.y is None:
        why = "The machine needs none." if case.is_one_class else "Scores need them: pass y."
        return joined(element("h3", "Targets"), paragraph(f"No targets were given. {why}"))
    y = np.asarray(case.y)
    columns = y.reshape(len(y), -1)
    if case.is_classifier and columns.shape[1] == 1:
        labels, sizes = _frequencies([str(value) for value in columns[:, 0].tolist()])
        rows = [
            [label(name), count(size), joined(_bar(size / max(sizes)), f" {per_cent(size / len(y))}")]
            for name, size in list(zip(labels, sizes, strict=True))[:MOST_CLASSES]
        ]
        made = table(("Class", "Rows", "Share"), rows, "Classes", numeric=(1,))
        more = len(labels) - len(rows)
        return joined(
            element("h3", "Targets"), made, paragraph(f"{more} more classes are not shown.") if more else None
        )
    if columns.dtype.kind not in "fiub":
        return joined(element("h3", "Targets"), paragraph(f"{columns.shape[1]} columns of labels."))
    heads = ("Target", "Mean", "Standard deviation", "Smallest", "Largest", "Distribution")
    name = getattr(case.y, "name", None)  # of a Series
    names = (
        ["y" if name is None else str(name)]
        if columns.shape[1] == 1
        else [f"target {j}" for j in range(columns.shape[1])]
    )
    rows = [_of_numbers(name, columns[:, j]) for j, name in enumerate(names[:MOST_COLUMNS])]
    return joined(element("h3", "Targets"), table(heads, rows, "Targets", numeric=(1, 2, 3, 4)))


def _bar(share: float) -> Markup:
    return element("span", class_="bar", style=f"width:{max(share, 0.01) * 6:.2f}em", aria_hidden="true")


def _fitted_elsewhere(case: Case) -> Markup | None:
    if case.is_training or not case.shared:
        return None
    return paragraph(
        f"{count(case.shared)} of these rows are among the points that the machine is made of; the machine was fitted "
        "on other rows as well."
    )
