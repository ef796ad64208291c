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
    filled: int = 0
    """Entries of a sparse row; 0 for dense rows."""
    classes: int = 2
    """0 for regression."""


SHAPES: dict[str, Shape] = {
    "a9a": Shape(48842, 123, 14),
    "adult": Shape(32561, 108),
    "cal_housing": Shape(20640, 8, classes=0),
    "covtype": Shape(581012, 54, classes=7),
    "flights3m": Shape(3000000, 6, classes=0),
    "kddcup99": Shape(494021, 118, classes=23),
    "skin": Shape(245057, 3),
    "farm_ads": Shape(4143, 54877, 197),
    "glass": Shape(214, 9, classes=6),
    "letter": Shape(20000, 16, classes=26),
    "magic": Shape(19020, 10),
    "mnist": Shape(70000, 784, classes=10),
    "penbased": Shape(10992, 16, classes=10),
    "satellite": Shape(6435, 36, classes=6),
    "shuttle": Shape(58000, 9, classes=7),
    "spam": Shape(4601, 57),
    "uci_gp/kin40k": Shape(40000, 8, classes=0),
    "vehicle": Shape(846, 18, classes=4),
    "vowel": Shape(990, 10, classes=11),
}
STANDARD = {"a9a": 32561, "letter": 16000, "mnist": 60000, "shuttle": 43500}
"""Sets whose first rows are the training rows by convention; of others, four fifths are drawn."""


class Regression(NamedTuple):
    """Training rows and targets, and new rows to predict."""

    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    Z: np.ndarray[Any, Any]


class Parts(NamedTuple):
    """Rows to train on and rows held out, with their targets, and where they came from."""

    X: Any
    y: np.ndarray[Any, Any]
    Z: Any
    target: np.ndarray[Any, Any]
    source: str


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
    X = made_sparse(shape) if shape.filled else normal(shape.rows, shape.columns, "float64", 0)
    return Loaded(X, made_targets(X, shape.classes), f"made, shape of {name}")


def made_targets(X: Any, classes: int) -> np.ndarray[Any, Any]:
    """Return a smooth function of two directions plus a tenth of noise, or equal shares of its values as classes."""
    U = X @ normal(X.shape[1], 2, "float64", 3)
    U = (U - U.mean(axis=0)) / U.std(axis=0)
    y = np.sin(2.0 * U[:, 0]) + U[:, 1] + 0.1 * normal(len(U), 1, "float64", 4)[:, 0]
    if not classes:
        return np.asarray(y)
    return np.asarray(np.searchsorted(np.quantile(y, np.arange(1, classes) / classes), y), float)


def parts(name: str, rows: int | None = None, scaled: bool = True) -> Parts:
    """Return a set in training and held-out rows, dense columns of mean 0 and variance 1 over the training rows.

    `rows` draws that many of the training rows; what is left of them is not used. Pixels are divided by 255, and sparse
    rows stay as they are; so do all others unless `scaled`.
    """
    X, y, source = load(name)
    rng = np.random.default_rng(0)
    order = np.arange(X.shape[0]) if name in STANDARD else rng.permutation(X.shape[0])
    cut = STANDARD.get(name, X.shape[0] - round(0.2 * X.shape[0]))
    train = order[:cut] if rows is None or rows >= cut else rng.permutation(order[:cut])[:rows]
    held = order[cut:]
    A, B = X[train], X[held]
    if not scaled or sp.issparse(X):
        pass
    elif name == "mnist":
        A, B = A / 255.0, B / 255.0
    else:
        mean, deviation = A.mean(axis=0), A.std(axis=0)
        deviation[deviation == 0.0] = 1.0
        A, B = (A - mean) / deviation, (B - mean) / deviation
    return Parts(A, np.asarray(y)[train], B, np.asarray(y)[held], source)
