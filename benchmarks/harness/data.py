"""Data for the rows: made, bundled with scikit-learn, or from the folder named by MERCER_DATA."""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import sklearn.datasets

BUNDLED: dict[str, Callable[..., Any]] = {
    "breast_cancer": sklearn.datasets.load_breast_cancer,
    "diabetes": sklearn.datasets.load_diabetes,
    "digits": sklearn.datasets.load_digits,
    "iris": sklearn.datasets.load_iris,
    "wine": sklearn.datasets.load_wine,
}


class Shape(NamedTuple):
    """The shape of a real set, for made data in its place."""

    rows: int
    columns: int
    filled: int
    """Entries of a sparse row; 0 for dense rows."""


SHAPES: dict[str, Shape] = {"a9a": Shape(48842, 123, 14), "farm_ads": Shape(4143, 54877, 197)}


class Regression(NamedTuple):
    """Training rows and targets, and new rows to predict."""

    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    Z: np.ndarray[Any, Any]


class Loaded(NamedTuple):
    """Points, targets, and where they came from: the set's name, or "made"."""

    X: Any
    y: Any
    source: str


def normal(n: int, d: int, dtype: str, seed: int) -> np.ndarray[Any, Any]:
    """Return standard normal rows."""
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def regression(n: int, d: int, targets: int = 1, new: int = 200) -> Regression:
    """Return standard normal rows, with smooth functions of one direction each plus a tenth of noise as targets."""
    X, Z = normal(n, d, "float64", 1), normal(new, d, "float64", 2)
    u = X @ normal(d, targets, "float64", 3) / np.sqrt(d)
    y = np.sin(2.0 * u) + 0.5 * u**2 + 0.1 * normal(n, targets, "float64", 4)
    return Regression(X, y[:, 0] if targets == 1 else y, Z)


def made_sparse(shape: Shape, seed: int = 0) -> sp.csr_matrix:
    """Return rows of ones whose columns are drawn like words: few are frequent, most are rare."""
    rng = np.random.default_rng(seed)
    columns = (shape.columns * rng.random((shape.rows, shape.filled)) ** 2).astype(np.int32)
    rows = np.repeat(np.arange(shape.rows), shape.filled)
    X = sp.csr_matrix((np.ones(columns.size), (rows, columns.ravel())), shape=(shape.rows, shape.columns))
    X.data[:] = 1.0
    return X


def _from_folder(folder: str, name: str) -> Loaded:
    path = Path(folder) / "load.py"
    spec = importlib.util.spec_from_file_location("mercer_data", path)
    if spec is None or spec.loader is None or not path.exists():
        raise FileNotFoundError(f"MERCER_DATA names {folder}, which has no load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    X, y = module.load(name)
    return Loaded(X, y, name)


def load(name: str) -> Loaded:
    """Return a set by its name; without MERCER_DATA, made data of the same shape stands in for it."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return Loaded(X, y, name)
    folder = os.environ.get("MERCER_DATA")
    if folder:
        return _from_folder(folder, name)
    shape = SHAPES[name]
    y = np.where(np.random.default_rng(1).random(shape.rows) < 0.5, -1.0, 1.0)
    X = made_sparse(shape) if shape.filled else normal(shape.rows, shape.columns, "float64", 0)
    return Loaded(X, y, f"made, shape of {name}")
