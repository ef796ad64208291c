"""Saving a fitted machine to a file, and loading it: the content of the file, and the rows that it is verified with."""

import io
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from mercer.config import version
from mercer.errors import BadModelFile, InvalidArgument, InvalidInput, MercerError, NotStorable, shown
from mercer.estimators._frames import as_given, as_stored
from mercer.io import Functions, Reader, Writer, pack, unpack, write_atomically
from mercer.io.strictjson import read_json, write_json
from mercer.points.base import Points, is_points
from mercer.points.given import Given
from mercer.points.stored import Places, Stored

__all__ = ["SCHEMA", "load", "notes_of", "save", "save_with_notes"]

# Raised when a file that this version writes cannot be read by an older one. Files of every earlier schema keep
# loading: `UPGRADES` turns them into the next, and tests/unit/io/fixtures has one file of each.
SCHEMA = 1
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
# So many training rows are predicted at save, and again at load.
ROWS = 5
# Predictions may differ by so much of the largest: another machine rounds differently.
TOLERANCE = 1e-6
# The first of these that a machine has is what is compared; numbers say more than labels.
METHODS = ("decision_function", "predict_proba", "predict", "transform")
# What Python and NumPy raise when the parts of a file do not fit each other.
MISFITS = (
    ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, MemoryError, MercerError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


def save(
    machine: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> None:
    """Save a fitted machine, or a Pipeline that ends in one, to one file without pickle.

    The file holds JSON and raw arrays (its format is that of safetensors). With it travel a few training rows and
    their predictions, which `load` verifies. It is written beside its place and renamed, so that there is the old file
    or the new one at every moment.

    Parameters
    ----------
    machine : estimator
        Any machine of mercer, or a Pipeline, ColumnTransformer or TransformedTargetRegressor of scikit-learn with the
        usual scalers and encoders.
    path : str or path
        Where to; an existing file is replaced.
    X : like the X of `fit`, optional
        Rows to verify with, of which the first five are stored. By default training rows that the machine keeps; those
        of a Pipeline are seen by its last step only, so give some here to verify the other steps as well.
    functions : mapping of str to callable, optional
        Names for the Python functions in the machine; by default their own.

    Raises
    ------
    NotStorable
        Where the machine holds something that a file cannot; the message names it.
    NotWritten
        Where the system refuses; the old file is as it was.

    Examples
    --------
    >>> import tempfile, pathlib, mercer
    >>> model = mercer.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "svc.mercer"
    ...     mercer.save(model, path)
    ...     mercer.load(path).predict([[0.2], [2.8]])
    array([0, 1])
    """
    save_with_notes(machine, path, X, functions, {})


def save_with_notes(
    machine: Any,
    path: str | os.PathLike[str],
    X: Any,
    functions: Mapping[str, Callable[..., Any]] | None,
    notes: Mapping[str, str],
) -> None:
    """Save with some words beside the machine, such as the name of its target, which `notes_of` gives back."""
    if not isinstance(machine, BaseEstimator) or isinstance(machine, type):
        raise NotStorable("Only a fitted estimator can be saved.", f"Got {shown(machine)}.")
    check_is_fitted(machine)
    names = Functions(dict(functions or {}))
    writer = Writer(names)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "mercer": version(),
        "scikit-learn": version_of("scikit-learn"),
        "machine": writer.value(machine, type(machine).__name__),
        **({"notes": dict(notes)} if notes else {}),
    }
    content["verify"] = _evidence_of(machine, X, writer)
    content["functions"] = names.origins()
    # What is written is put together again and verified before anything is replaced.
    _restored(read_json(write_json(content), "The header"), writer.arrays, Functions(names.used))
    write_atomically(path, pack(content, writer.arrays))


def load(source: str | os.PathLike[str] | bytes, *, functions: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Load a machine that `save` wrote, and verify that it predicts what it predicted then.

    Nothing in the file is ever executed: it names classes of a fixed table, kernels are read by `mercer.parse`, and
    functions are only those that you pass here.

    Parameters
    ----------
    source : str, path or bytes
        The file, or its content.
    functions : mapping of str to callable, optional
        The Python functions that the machine uses, by the names they were saved under.

    Returns
    -------
    estimator
        As it was when it was saved.

    Raises
    ------
    BadModelFile
        Where the file is not a model file, is damaged, lacks a function, or predicts other values than when it was
        saved.
    """
    if isinstance(source, bytes):
        return _loaded(io.BytesIO(source), len(source), functions)
    path = Path(source)
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would wait for ever
        raise BadModelFile(f"{str(path)!r} is a device or a pipe, not a file.")
    with path.open("rb") as file:
        try:
            return _loaded(file, os.fstat(file.fileno()).st_size, functions)
        except BadModelFile as error:
            error.add_note(f"The file is {str(path)!r}.")
            raise


def notes_of(path: str | os.PathLike[str]) -> dict[str, str]:
    """The words that were stored beside a machine; none in files that say nothing."""
    with Path(path).open("rb") as file:
        content, _ = unpack(file, os.fstat(file.fileno()).st_size)
    found = content.get("notes", {}) if isinstance(content, dict) else {}
    if not isinstance(found, dict) or not all(isinstance(word, str) for word in found.values()):
        raise BadModelFile("The notes of the model file are none.")
    return found


def _loaded(file: BinaryIO, size: int, functions: Mapping[str, Callable[..., Any]] | None) -> Any:
    given = dict(functions or {})
    for name, function in given.items():
        if not callable(function):
            raise InvalidArgument(f"functions[{name!r}] must be a function.", f"Got {shown(function)}.")
    content, arrays = unpack(file, size)
    return _restored(content, arrays, Functions(given))


def _restored(content: Any, arrays: dict[str, npt.NDArray[Any]], functions: Functions) -> Any:
    """The machine of a content, verified."""
    content = _current(content)
    origins = content.get("functions")
    if not isinstance(origins, dict) or not all(isinstance(origin, str) for origin in origins.values()):
        raise BadModelFile("The model file does not say which functions it uses.")
    functions.check(origins)
    reader = Reader(arrays, functions)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numbers that are refused later
            machine = reader.value(content.get("machine"))
    except BadModelFile:
        raise
    except MISFITS as error:
        raise BadModelFile("The parts of the model file do not fit each other.", f"{_brief(error)}") from error
    if not isinstance(machine, BaseEstimator):
        raise BadModelFile("The model file holds no machine.")
    try:
        check_is_fitted(machine)
        _verify(machine, content.get("verify"), reader)
    except BadModelFile:
        raise
    except MISFITS as error:
        raise BadModelFile("The machine of the model file cannot predict.", f"{_brief(error)}") from error
    return machine


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _current(content: Any) -> dict[str, Any]:
    """The content in the schema of this version."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if type(schema) is not int or schema < 1:
        raise BadModelFile("The model file does not say which schema it has.")
    if schema > SCHEMA:
        raise BadModelFile(
            f"The model file has schema {schema}, of mercer {str(content.get('mercer'))[:20]}.",
            f"This is mercer {version()}, which knows schemas up to {SCHEMA}.",
            "Update mercer.",
        )
    current: dict[str, Any] = content
    while schema < SCHEMA:
        current, schema = UPGRADES[schema](current), schema + 1
    return current


# The rows that are verified


def _evidence_of(machine: Any, X: Any, writer: Writer) -> Any:
    """Some rows and what the machine makes of them."""
    if X is not None:
        stored = writer.value(as_stored(_first(X)), "rows")
        # As they come back from the file: a frame may lose what no prediction should depend on.
        rows = as_given(Reader(writer.arrays, Functions(writer.functions.used)).value(stored))
        method, found = _answers(machine, rows)
        return {"X": stored, "method": method, "values": writer.value(found, "predictions")}
    fitted = next(_fitted(machine), None)
    if fitted is None or not len(fitted.model_.basis):
        return None
    index = np.unique(np.linspace(0, len(fitted.model_.basis) - 1, ROWS).astype(int)).tolist()
    try:
        method, found = _answers(fitted, _training_rows(fitted.model_.basis, index))
    except MercerError:  # it cannot predict, for instance by distances that a precomputed kernel does not know
        return None
    return {"rows": index, "method": method, "values": writer.value(found, "predictions")}


def _verify(machine: Any, evidence: Any, reader: Reader) -> None:
    if evidence is None:
        return
    saved = reader.value(evidence["values"])
    if "X" in evidence:
        asked, rows = machine, as_given(reader.value(evidence["X"]))
    else:
        asked, index = next(_fitted(machine), None), evidence["rows"]
        n = 0 if asked is None else len(asked.model_.basis)
        good = isinstance(index, list) and index and all(type(row) is int and 0 <= row < n for row in index)
        if asked is None or not good:
            raise BadModelFile("The model file verifies rows that it does not have.", f"Got {str(index)[:60]}.")
        rows = _training_rows(asked.model_.basis, index)
    if evidence["method"] not in METHODS:
        raise BadModelFile(f"The model file verifies by an unknown method: {str(evidence['method'])[:60]!r}.")
    _, now = _answers(asked, rows, evidence["method"])
    if not _same(saved, now):
        raise BadModelFile(
            "The loaded machine predicts other values than when it was saved.",
            f"{evidence['method']} of the stored rows was {_short(saved)}, now is {_short(now)}.",
            "Pass the functions that it was saved with, and the versions of mercer and scikit-learn that wrote it.",
        )


def _answers(machine: Any, rows: Any, method: str | None = None) -> tuple[str, Any]:
    """What a machine makes of rows, by its first method of the table."""
    tried = METHODS if method is None else (method,)
    known = next((name for name in tried if getattr(machine, name, None) is not None), None)
    if known is None:
        raise InvalidInput(f"{type(machine).__name__} has no method {' or '.join(tried)}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows have no column names, which is all right here
        return known, getattr(machine, known)(rows)


def _same(saved: Any, now: Any) -> bool:
    if isinstance(saved, list):
        return isinstance(now, list) and len(saved) == len(now) and all(map(_same, saved, now))
    if sp.issparse(saved) and sp.issparse(now):
        saved, now = saved.toarray(), now.toarray()
    saved, now = np.asarray(saved), np.asarray(now)
    if saved.shape != now.shape:
        return False
    if saved.dtype.kind != "f" or now.dtype.kind != "f":
        return bool(np.array_equal(saved, now))
    finite = saved[np.isfinite(saved)]
    largest = float(np.abs(finite).max()) if finite.size else 0.0
    return bool(np.allclose(saved, now, rtol=TOLERANCE, atol=TOLERANCE * largest, equal_nan=True))


def _short(values: Any) -> str:
    return np.array2string(np.asarray(values).reshape(-1)[:5], precision=6, separator=", ")


def _fitted(value: Any) -> Iterator[Any]:
    """The fitted machines of mercer in an estimator, outermost first."""
    if isinstance(value, BaseEstimator):
        if "model_" in vars(value):
            yield value
        else:
            for part in vars(value).values():
                yield from _fitted(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _fitted(part)


def _training_rows(basis: Points, index: list[int]) -> Any:
    """Points of the basis as `predict` takes them; of a precomputed kernel the rows of a matrix."""
    if isinstance(basis, Places):
        K = np.zeros((len(index), basis.width))
        K[np.arange(len(index)), basis.rows[index]] = 1.0
        return K
    if isinstance(basis, Given):
        own = index if basis.rows is None else basis.rows[index].tolist()
        return _safe_indexing(basis.collection, own)
    chosen = basis.take(index)
    return chosen.raw() if isinstance(chosen, Stored) else chosen


def _first(X: Any) -> Any:
    if is_points(X):
        return X.take(slice(0, ROWS))
    if isinstance(X, dict):
        return {name: _first(column) for name, column in X.items()}
    n = X.shape[0] if getattr(X, "shape", None) is not None else len(X)
    return _safe_indexing(X, list(range(min(ROWS, n))))
