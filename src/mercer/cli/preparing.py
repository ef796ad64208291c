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
from mercer.cli.machines import AUTO
from mercer.cli.outcome import BadData, WrongUse
from mercer.cli.reading import LABEL, Source, nearest
from mercer.kernels import RBF, Kernel, parse
from mercer.maps import Columns

__all__ = ["Data", "Recipe", "as_frame", "assembled", "kinds_of", "machine_of", "preparation", "prepared", "read", "recipe"]

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
    """

    X: Any
    y: npt.NDArray[Any] | None
    columns: tuple[Column, ...]
    target: Column | None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that the machine sees."""
        return tuple(column for column in self.columns if column.is_used)

    @property
    def has_missing(self) -> bool:
        """Whether a number is missing somewhere."""
        return any(column.missing and column.kind != CATEGORIES for column in self.used)


def read(source: Source, target: str | None, drop: Iterable[str] = (), kinds: Iterable[str] = ()) -> Data:
    """Read all of a file, and conclude what its columns hold."""
    piece = source.whole()
    if piece.frame is None:
        return _sparse(source, piece.matrix, piece.labels, target)
    frame = piece.frame.rename(columns=str)
    names = list(frame.columns)
    given = given_kinds(kinds, names)
    dropped = set(drop)
    for wanted, option in [(target, "--target"), *((name, "--drop") for name in dropped)]:
        if wanted is not None and wanted not in names:
            raise WrongUse(f"{option} names a column {wanted!r}, and there is none.", "", nearest(wanted, names))
    y: npt.NDArray[Any] | None = None
    about: Column | None = None
    if target is not None:
        about, y = _target(frame[target], target, given.get(target), source.decimal)
        known = ~pd.isna(y)
        if not known.any():
            raise BadData(f"The target {target!r} has no values.")
        if not known.all():
            source.notes.append(f"{int((~known).sum())} rows without {target!r} were left out")
            frame, y = frame[known].reset_index(drop=True), y[known]
    features = frame[[name for name in names if name != target and name not in dropped]]
    if not features.shape[1]:
        raise BadData("There is no column to learn from.", f"The columns are {', '.join(map(repr, names))}.")
    columns = tuple(infer_all(features, given, source.decimal))
    used = [column for column in columns if column.is_used]
    if not used:
        why = "; ".join(f"{column.name!r}: {column.note}" for column in columns[:5])
        raise BadData("No column tells one row from another.", f"{why}.", "--kind NAME=KIND says what a column holds.")
    return Data(as_frame(features, used, source.decimal), y, columns, about)


def _sparse(source: Source, X: Any, labels: Any, target: str | None) -> Data:
    if target not in (None, LABEL):
        raise WrongUse(f"The target of {source.name} is its first field.", f"Got --target {target}.", f"Say {LABEL}.")
    if labels is None:
        if target is not None:
            raise BadData(f"{source.name} holds a matrix and no labels.")
        return Data(X, None, (), None)
    about = replace(infer(pd.Series(labels), LABEL, NUMBERS), name=LABEL)
    return Data(X, labels, (), about)


def _target(series: Any, name: str, given: str | None, decimal: str) -> tuple[Column, npt.NDArray[Any]]:
    """Numbers where all of it are, else texts."""
    about = infer(series, name, given, decimal)
    if about.kind == NUMBERS or (given is None and not about.is_used):
        values = values_of(series, NUMBERS, decimal)
        if np.isfinite(values).sum() + about.missing >= len(values) and np.isfinite(values).any():
            return replace(about, kind=NUMBERS), values
    if about.kind.startswith(DATES):
        raise BadData(
            f"The target {name!r} holds dates.", "", f"Say --kind {name}=categories if they are labels."
        )
    texts = values_of(series, CATEGORIES, decimal)
    texts[series.isna().to_numpy()] = None
    return replace(about, kind=CATEGORIES), texts


def as_frame(frame: pd.DataFrame, columns: Iterable[Column], decimal: str = ".") -> pd.DataFrame:
    """The columns as a machine takes them, in this order; refuses what is not finite, by column and row."""
    made = {}
    for column in columns:
        values = values_of(frame[column.name], column.kind, decimal)
        if values.dtype != object:
            wrong = np.flatnonzero(np.abs(values) > LARGEST)
            if wrong.size:
                raise BadData(
                    f"Column {column.name!r} holds a number that is too large to compute with.",
                    f"Row {wrong[0] + 1} has {values[wrong[0]]:g}.",
                    f"Mend it, or leave the column out with --drop {column.name}.",
                )
        made[column.name] = values
    return pd.DataFrame(made)


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
    read_columns = {name for part in kernel.walk() if isinstance(part, Columns) for name in part.names}
    named = {name for name in read_columns if isinstance(name, str)}
    there = [column.name for column in data.used]
    for name in sorted(named):
        if name not in there:
            left_out = next((column.note for column in data.columns if column.name == name), "")
            raise WrongUse(
                f"The formula names a column {name!r}, and there is none to use.",
                f"It was left out: {left_out}." if left_out else "",
                nearest(name, there),
            )
    return Recipe(kernel, bool(named))


def automatic(data: Data) -> Recipe:
    """A kernel for data that nobody described."""
    return Recipe(RBF("median"), False, ("the Gaussian kernel; its length is the median distance between rows",))


def assembled(machine: Any, data: Data, plan: Recipe, *, scale: bool = True) -> Any:
    """The machine behind the steps that prepare the columns, where its kernel reads them as one vector."""
    steps = preparation(data, plan, scale=scale)
    return machine if steps is None else Pipeline([("columns", steps), ("machine", machine)])


def preparation(data: Data, plan: Recipe, *, scale: bool = True) -> Any:
    """Numbers and dates standardised, categories as 0 and 1; None where the machine takes the columns as they are.

    The names of the steps are the kinds of their columns, from which the model knows how to read new files.
    """
    if plan.by_name or not data.columns:
        return None
    groups: dict[str, list[Column]] = {}
    for column in data.used:
        groups.setdefault(column.kind, []).append(column)
    steps = [(kind, _step(kind, scale), [column.name for column in columns]) for kind, columns in groups.items()]
    return ColumnTransformer(steps)


def _step(kind: str, scale: bool) -> Any:
    if kind == CATEGORIES:
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    fill = SimpleImputer(strategy="median")  # also where none is missing yet: new rows may lack a value
    return Pipeline([("missing", fill), ("scale", StandardScaler())]) if scale else fill


def kinds_of(model: Any) -> dict[str, str]:
    """The kinds of the columns of a fitted model, by name, in its order; empty where it takes a sparse matrix."""
    if isinstance(model, Pipeline):
        return {name: kind for kind, _, names in model[0].transformers for name in names}
    names = vars(model).get("feature_names_in_", ())
    columns = getattr(model.model_.basis, "columns", {})
    return {str(name): CATEGORIES if columns[str(name)].values.dtype == object else NUMBERS for name in names}


def machine_of(model: Any) -> Any:
    """The machine at the end of a model."""
    return model[-1] if isinstance(model, Pipeline) else model


def prepared(model: Any, X: Any) -> Any:
    """What the machine at the end sees of X."""
    return model[:-1].transform(X) if isinstance(model, Pipeline) else X

