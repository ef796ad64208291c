"""From a data file to what a machine takes, and the steps that a model remembers in front of its machine."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer.cli.columns import CATEGORIES, DATES, NUMBERS, Column, given_kinds, infer, infer_all, values_of
from mercer.cli.filled import is_mostly_full, tabled
from mercer.cli.machines import AUTO
from mercer.cli.outcome import BadData, WrongUse
from mercer.cli.reading import LABEL, Source, nearest
from mercer.kernels import RBF, Kernel, OrMissing, parse
from mercer.kernels.auto import auto
from mercer.maps import Columns
from mercer.points import Column as TableColumn
from mercer.points.table import Table
from mercer.points.times import AWARE, CALENDAR
from mercer.points.times import DATES as MOMENTS

__all__ = [
    "Data",
    "Recipe",
    "as_frame",
    "assembled",
    "flattened",
    "kinds_of",
    "machine_of",
    "prepared",
    "read",
    "recipe",
    "seen",
    "steps_of",
    "target_values",
    "typed",
]

# Kinds that become numbers in front of a formula that names no columns.
PREPARED = (NUMBERS, DATES, CATEGORIES)
TIMES = frozenset({AWARE, CALENDAR, MOMENTS})
EPOCH = np.datetime64("1970-01-01")
# Columns that a reason names.
FEW = 3
# Squares of larger numbers overflow.
LARGEST = 1e150


@final
@dataclass(frozen=True, eq=False)
class Data:
    """What a machine is fitted on.

    Attributes
    ----------
    X : DataFrame or CSR matrix
        Numbers, and texts of categories.
    y : ndarray or None
        Numbers, or texts.
    columns : tuple of Column
        What was concluded about each; empty for a sparse matrix.
    target : Column or None
    raw : DataFrame or None
        The table as it was read, without rows that lack the target.
    matrix : CSR matrix or None
        The same rows where the format is sparse.
    """

    X: Any
    y: npt.NDArray[Any] | None
    columns: tuple[Column, ...]
    target: Column | None
    raw: pd.DataFrame | None = None
    matrix: Any = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that the machine sees."""
        return tuple(column for column in self.columns if column.is_used)

    @property
    def has_missing(self) -> bool:
        """Whether a number is missing somewhere."""
        return any(column.missing for column in self.used)


def read(
    source: Source, target: str | None, drop: Iterable[str] = (), kinds: Iterable[str] = (), *, as_is: bool = False
) -> Data:
    """Read all of a file, and conclude what its columns hold; `as_is` keeps columns that no machine can use."""
    piece = source.whole()
    frame = piece.frame
    if frame is None:
        if not is_mostly_full(piece.matrix) or target not in {None, LABEL}:
            return _sparse(source, piece.matrix, piece.labels, target)
        source.notes.append("most entries are there, so the columns were read as numbers, and those left out as 0")
        frame, target = tabled(piece), None if piece.labels is None else LABEL
    frame = frame.rename(columns=str)
    names = list(frame.columns)
    given = given_kinds(kinds, names)
    dropped = set(drop)
    usual = source.kind.target
    if target is None and usual in names and usual not in dropped:
        target = usual
        source.notes.append(f"the target is {usual!r}, as usual in this format; --target says otherwise")
    for wanted, option in [(target, "--target"), *((name, "--drop") for name in dropped)]:
        if wanted is not None and wanted not in names:
            raise WrongUse(f"{option} names a column {wanted!r}, and there is none.", "", nearest(wanted, names))
    y: npt.NDArray[Any] | None = None
    about: Column | None = None
    matrix = piece.matrix
    if target is not None:
        about, y = _target(frame[target], target, given.get(target), source.decimal)
        known = ~pd.isna(y)
        if not known.any():
            raise BadData(f"The target {target!r} has no values.")
        if not known.all():
            gone = int((~known).sum())
            said = f"1 row without {target!r} was" if gone == 1 else f"{gone} rows without {target!r} were"
            source.notes.append(f"{said} left out")
            frame, y = frame[known].reset_index(drop=True), y[known]
            matrix = None if matrix is None else matrix[known]
    features = frame[[name for name in names if name != target and name not in dropped]]
    if not features.shape[1]:
        raise BadData("There is no column to learn from.", f"The columns are {', '.join(map(repr, names))}.")
    columns = tuple(infer_all(features, given, source.decimal))
    used = [column for column in columns if column.is_used]
    if not used and not as_is:
        why = "; ".join(f"{column.name!r}: {column.left_out}" for column in columns[:5])
        raise BadData("No column tells one row from another.", f"{why}.", "--kind NAME=KIND says what a column holds.")
    made = typed(features, columns, source.decimal) if as_is else as_frame(features, used, source.decimal)
    return Data(made, y, columns, about, frame, matrix)


def _sparse(source: Source, X: Any, labels: Any, target: str | None) -> Data:
    if target not in (None, LABEL):
        raise WrongUse(f"The target of {source.name} is its first field.", f"Got --target {target}.", f"Say {LABEL}.")
    if labels is None:
        if target is not None:
            raise BadData(f"{source.name} holds a matrix and no labels.")
        return Data(X, None, (), None, matrix=X)
    about = replace(infer(pd.Series(labels), LABEL, NUMBERS), name=LABEL)
    return Data(X, labels, (), about, matrix=X)


def _target(series: Any, name: str, given: str | None, decimal: str) -> tuple[Column, npt.NDArray[Any]]:
    """Numbers where all of it are, else texts; NaN or None where missing."""
    about = replace(infer(series, name, given, decimal), left_out="")
    if about.kind == DATES:
        raise BadData(f"The target {name!r} holds dates.", "", f"Say --kind {name}=categories if they are labels.")
    y = values_of(series, about.kind, decimal)
    if about.kind == NUMBERS:
        _refuse_large(y, name)
    return about, y


def target_values(series: Any, name: str, fitted: Any, decimal: str) -> npt.NDArray[Any]:
    """The true answers, of the kind that a fitted model gives."""
    classes = machine_of(fitted).model_.classes
    if classes is None or np.asarray(classes).dtype.kind in "iu":
        y = values_of(series, NUMBERS, decimal)
    else:
        y = values_of(series, CATEGORIES, decimal)
    gone = pd.isna(y)
    if gone.any():
        raise BadData(f"The target {name!r} has no value in row {int(gone.argmax()) + 1}.", "", "Leave that row out.")
    return y if classes is None else y.astype(np.asarray(classes).dtype)


def as_frame(frame: pd.DataFrame, columns: Iterable[Column], decimal: str = ".") -> pd.DataFrame:
    """The columns as a machine takes them, in this order; refuses what is not finite, by column and row."""
    made = typed(frame, columns, decimal)
    for name in made.columns:
        if made[name].dtype == np.float64:
            _refuse_large(made[name].to_numpy(), name)
    return made


def typed(frame: pd.DataFrame, columns: Iterable[Column], decimal: str = ".") -> pd.DataFrame:
    """The columns, each by its kind."""
    return pd.DataFrame({column.name: values_of(frame[column.name], column.kind, decimal) for column in columns})


def _refuse_large(values: npt.NDArray[np.float64], name: str) -> None:
    wrong = np.flatnonzero(np.abs(values) > LARGEST)
    if wrong.size:
        raise BadData(
            f"Column {name!r} holds a number that is too large to compute with.",
            f"Row {wrong[0] + 1} has {values[wrong[0]]:g}.",
            f"Mend it, or leave the column out with --drop {name}.",
        )


@final
@dataclass(frozen=True)
class Recipe:
    """A kernel, and whether it reads the columns by their names or as one vector of prepared numbers.

    Attributes
    ----------
    kernel : Kernel
    by_name : bool
    reasons : tuple of str
        Why, where mercer chose.
    """

    kernel: Kernel
    by_name: bool
    reasons: tuple[str, ...] = ()


def recipe(formula: str, data: Data) -> Recipe:
    """The kernel that was asked for."""
    if formula == AUTO:
        return automatic(data)
    kernel = parse(formula)
    if not isinstance(kernel, Kernel):
        raise WrongUse(f"{formula} is a distance, not a kernel.", "", f'Try --kernel "RBF().of({formula})".')
    named = column_names(kernel)
    there = [column.name for column in data.used]
    for name in sorted(named):
        if name not in there:
            left_out = next((column.left_out for column in data.columns if column.name == name), "")
            raise WrongUse(
                f"The formula names a column {name!r}, and there is none to use.",
                f"It was left out: {left_out}." if left_out else "",
                nearest(name, there),
            )
    return Recipe(kernel, bool(named))


def _counted(names: tuple[str, ...]) -> str:
    return ", ".join(names) if 0 < len(names) <= FEW else f"{len(names) or 'all'} columns"


def column_names(kernel: Kernel) -> set[str]:
    """The columns that a formula names."""
    names = (name for part in kernel.walk() if isinstance(part, Columns) for name in part.names)
    return {name for name in names if isinstance(name, str)}


def automatic(data: Data) -> Recipe:
    """A kernel for data that nobody described, by `mercer.auto`."""
    proposal = auto(data.X)
    if data.has_missing and not any(isinstance(part, OrMissing) for part in proposal.kernel.walk()):
        return Recipe(RBF("median"), False, ("numbers standardised, missing ones replaced by the median",))
    reasons = tuple(f"{_counted(each.columns)}: {each.reason}" for each in proposal.reasons)
    return Recipe(proposal.kernel, bool(data.columns), reasons)


def seen(data: Data, plan: Recipe) -> Any:
    """The columns that the machine gets: those that the formula names, or those that can be prepared as numbers."""
    if not data.columns:
        return data.X
    if plan.by_name:
        named = column_names(plan.kernel)
        return data.X[[column.name for column in data.used if column.name in named]]
    chosen = [column.name for column in data.used if column.kind in PREPARED]
    if not chosen:
        raise BadData(
            "A formula that names no columns needs numbers, dates or categories, and there are none.",
            "",
            "Name the columns in it, as in --kernel \"Delta().on('name')\", or say what they hold with --kind.",
        )
    return flattened(data.X[chosen])


def flattened(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns as scikit-learn's steps take them: dates as days since 1970, and missing texts as empty ones."""
    made = {}
    for name in frame.columns:
        values = frame[name].to_numpy()
        if values.dtype.kind == "M":
            values = np.where(np.isnat(values), np.nan, (values - EPOCH) / np.timedelta64(1, "D"))
        elif values.dtype == object:
            values = np.array(["" if value is None else value for value in values], dtype=object)
        made[name] = values
    return pd.DataFrame(made)


def assembled(machine: Any, steps: Any) -> Any:
    """The machine behind the steps that prepare the columns, where its kernel reads them as one vector."""
    return machine if steps is None else Pipeline([("columns", steps), ("machine", machine)])


def steps_of(data: Data, plan: Recipe, *, scale: bool = True) -> Any:
    """Numbers and dates standardised, categories as 0 and 1; None where the machine takes the columns as they are.

    The names of the steps are the kinds of their columns, from which the model knows how to read new files.
    """
    if plan.by_name or not data.columns:
        return None
    groups: dict[str, list[str]] = {}
    for column in data.used:
        if column.kind in PREPARED:
            groups.setdefault(column.kind, []).append(column.name)
    return ColumnTransformer([(kind, _step(kind, scale), names) for kind, names in groups.items()])


def _step(kind: str, scale: bool) -> Any:
    if kind == CATEGORIES:
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    fill = SimpleImputer(strategy="median")  # also where none is missing yet: new rows may lack a value
    return Pipeline([("missing", fill), ("scale", StandardScaler())]) if scale else fill


def kinds_of(model: Any) -> dict[str, str]:
    """The kinds of the columns of a fitted model, by name, in its order; empty where it takes a sparse matrix."""
    if isinstance(model, Pipeline):
        kinds = {name: kind for kind, _, names in model[0].transformers for name in names}
        return {str(name): kinds[name] for name in model[0].feature_names_in_}
    basis = model.model_.basis
    if not isinstance(basis, Table):
        return {}
    return {name: _kind_of(column) for name, column in basis.columns.items()}


def _kind_of(column: TableColumn) -> str:
    if column.kind in TIMES:
        return DATES
    return CATEGORIES if column.values.dtype == object else NUMBERS


def machine_of(model: Any) -> Any:
    """The machine at the end of a model."""
    return model[-1] if isinstance(model, Pipeline) else model


def prepared(model: Any, X: Any) -> Any:
    """What the machine at the end sees of X."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) else X
