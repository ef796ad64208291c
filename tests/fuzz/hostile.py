"""Input that no machine can use, or hardly: an answer or an error in words, and nothing else."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import mercer
from mercer import MercerError
from tests.fuzz.case import Case, is_deliberate

ESTIMATORS = (
    mercer.KernelRidge, mercer.KernelRidgeCV, mercer.KernelLogisticRegression, mercer.SVC, mercer.NuSVC, mercer.SVR,
    mercer.NuSVR, mercer.OneClassSVM, mercer.KernelNeighborsClassifier, mercer.KernelNeighborsRegressor,
    mercer.NadarayaWatson, mercer.NadarayaWatsonClassifier, mercer.KernelNearestCentroid,
)  # fmt: skip
CLASSIFIERS = tuple(estimator for estimator in ESTIMATORS if hasattr(estimator, "predict_proba"))
CLASSIFIERS += (mercer.SVC, mercer.NuSVC, mercer.KernelNearestCentroid)
WEIGHTED = tuple(estimator for estimator in ESTIMATORS if "Neighbors" not in estimator.__name__)
MARGINS = (mercer.SVC, mercer.NuSVC, mercer.SVR, mercer.NuSVR, mercer.OneClassSVM)
# A budget in place of a clock.
MOST_STEPS = 100_000
LARGEST = float(np.finfo(np.float64).max)
SUBNORMAL = 5e-324


def _entry(value: Any) -> Callable[[Any, np.random.Generator], Any]:
    def changed(X: Any, rng: np.random.Generator) -> Any:
        X = X.astype(object if isinstance(value, str | type(None)) else np.result_type(X, type(value)))
        X[tuple(rng.integers(0, size) for size in X.shape)] = value
        return X

    return changed


def _malformed(make: Any, change: Callable[[Any], None]) -> Callable[[Any, np.random.Generator], Any]:
    def changed(X: Any, rng: np.random.Generator) -> Any:
        matrix = make(X if X.ndim == 2 else X[:, None])
        change(matrix)
        return matrix

    return changed


def _beyond(matrix: Any) -> None:
    matrix.indices[0] = 10**6


def _below(matrix: Any) -> None:
    matrix.indices[0] = -5


def _disordered(matrix: Any) -> None:
    matrix.indptr[1] = matrix.indptr[-1] + 7


def _short(matrix: Any) -> None:
    matrix.data = matrix.data[:1]


# Change -> (what it makes of an array, whether it must be refused).
CHANGES: dict[str, tuple[Callable[[Any, np.random.Generator], Any], bool]] = {
    "NaN": (_entry(float("nan")), True),
    "inf": (_entry(float("inf")), True),
    "-inf": (_entry(float("-inf")), True),
    "1e300": (_entry(1e300), False),
    "largest": (_entry(LARGEST), False),
    "subnormal": (_entry(SUBNORMAL), False),
    "all 1e300": (lambda X, rng: X * 1e300, False),
    "all 1e200": (lambda X, rng: X * 1e200, False),
    "all 1e150": (lambda X, rng: X * 1e150, False),
    "all 1e-160": (lambda X, rng: X * 1e-160, False),
    "all 1e-300": (lambda X, rng: X * 1e-300, False),
    "all subnormal": (lambda X, rng: np.round(3 * X) * SUBNORMAL, False),
    "zeros": (lambda X, rng: np.zeros_like(X), False),
    "word": (_entry("word"), True),
    "None inside": (_entry(None), True),
    "None": (lambda X, rng: None, False),
    "complex": (lambda X, rng: X * (1.0 + 0.5j), True),
    "words": (lambda X, rng: X.astype(str).astype(object) + "x", False),
    "objects": (lambda X, rng: np.array([object() for _ in range(X.size)]).reshape(X.shape), False),
    "dicts": (lambda X, rng: np.array([{} for _ in range(X.size)]).reshape(X.shape), False),
    "empty": (lambda X, rng: X[:0], True),
    "no columns": (lambda X, rng: X[:, :0] if X.ndim == 2 else X[:0], True),
    "a number": (lambda X, rng: 3.0, False),
    "a word": (lambda X, rng: "word", True),
    "a set": (lambda X, rng: {1.0, 2.0}, False),
    "a class": (lambda X, rng: float, True),
    "flat": (lambda X, rng: X.ravel(), False),
    "deep": (lambda X, rng: X.reshape(*X.shape, 1, 1), True),
    "one row less": (lambda X, rng: X[1:], True),
    "uneven": (lambda X, rng: [list(np.ravel(row))[: 1 + i % 2] for i, row in enumerate(X)] + [[]], True),
    "booleans": (lambda X, rng: X > 0.0, False),
    "dates": (lambda X, rng: np.abs(X * 1e6).astype("datetime64[s]"), False),
    "masked": (lambda X, rng: np.ma.masked_array(X, mask=rng.random(X.shape) < 0.2), False),
    "float16": (lambda X, rng: X.astype(np.float16), False),
    "long double": (lambda X, rng: X.astype(np.longdouble), False),
    "swapped": (lambda X, rng: X.astype(">f8"), False),
    "integers": (lambda X, rng: np.full(X.shape, 2**62) + rng.integers(0, 9, X.shape), False),
    "huge integers": (lambda X, rng: np.full(X.shape, 10**400, dtype=object), True),
    "read-only": (lambda X, rng: np.lib.stride_tricks.as_strided(X, writeable=False), False),
    "CSR beyond": (_malformed(sp.csr_matrix, _beyond), True),
    "CSR below": (_malformed(sp.csr_matrix, _below), True),
    "CSR disordered": (_malformed(sp.csr_matrix, _disordered), True),
    "CSR short": (_malformed(sp.csr_matrix, _short), True),
    "CSC beyond": (_malformed(sp.csc_matrix, _beyond), True),
    "CSC below": (_malformed(sp.csc_matrix, _below), True),
    "CSC disordered": (_malformed(sp.csc_matrix, _disordered), True),
    "BSR": (_malformed(sp.bsr_matrix, lambda matrix: None), False),
    "LIL": (_malformed(sp.lil_matrix, lambda matrix: None), False),
    "sparse NaN": (lambda X, rng: sp.csr_matrix(np.atleast_2d(_entry(float("nan"))(X, rng))), True),
}
KERNELS: tuple[Any, ...] = (
    "rbf", "linear", "poly", mercer.RBF(1.0), mercer.Laplacian(1.0), mercer.Linear() + 1.0, mercer.Cosine(),
    mercer.RBF(1.0) * mercer.Linear(), mercer.Linear().normalised(),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    0, -1, float("nan"), float("inf"), -float("inf"), 1e300, SUBNORMAL, 10**400, "word", None, [], [1.0, 2.0], {}, 1j,
    np.array(1.0), np.array([1.0, -1.0]), np.float32(0.5), True, object, "auto", "scale", (), 2**70,
)  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "complex": lambda A, B: np.ones((len(A), len(B))) * 1j,
    "masked": lambda A, B: np.ma.masked_array(np.ones((len(A), len(B))), mask=True),
    "strings": lambda A, B: np.full((len(A), len(B)), "1.0"),
    "sparse": lambda A, B: sp.csr_matrix(np.ones((len(A), len(B)))),
    "None": lambda A, B: None,
    "NaN": lambda A, B: np.full((len(A), len(B)), np.nan),
    "a shape": lambda A, B: np.ones((len(A) + 1, len(B))),
    "a number": lambda A, B: 1.0,
    "words": lambda A, B: "word",
    "huge": lambda A, B: np.full((len(A), len(B)), 1e308),
}


# What is made wrong, and how often.
PLACES = {"X": 0.4, "y": 0.15, "weight": 0.1, "new": 0.1, "parameter": 0.15, "kernel": 0.1}
LEFT_ALONE = {"kernel", "verbose", "random_state", "kernel_params", "cv"}
# Answers of a kernel that may pass: they are numbers.
NUMBERS = frozenset({"huge", "strings"})


def hostile(rng: np.random.Generator) -> Case:
    """A sound problem with one thing wrong: the rows, the targets, the weights, a parameter or the kernel."""
    estimator = ESTIMATORS[rng.integers(len(ESTIMATORS))]
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 4))
    y = (np.arange(n) % 2).astype(float) if estimator in CLASSIFIERS else rng.standard_normal(n)
    weight = np.abs(rng.standard_normal(n))
    given: dict[str, Any] = {"X": rng.standard_normal((n, d)), "y": y, "new": rng.standard_normal((3, d))}
    parameters: dict[str, Any] = {"kernel": _kernel(rng, estimator)}
    options = estimator().get_params()
    if "n_neighbors" in options:
        parameters["n_neighbors"] = 1
    if estimator in MARGINS:
        parameters["max_iter"] = MOST_STEPS
    where, must = str(rng.choice(list(PLACES), p=list(PLACES.values()))), False
    if where == "weight" and estimator not in WEIGHTED:
        where = "X"
    if where == "parameter":
        name = str(rng.choice(sorted(set(options) - LEFT_ALONE)))
        parameters[name] = VALUES[rng.integers(len(VALUES))]
    elif where == "kernel":
        name = str(rng.choice(list(FUNCTIONS)))
        parameters["kernel"] = mercer.Custom(FUNCTIONS[name], because="hostile", form="matrix")
        must = name not in NUMBERS
    else:
        name = str(rng.choice(list(CHANGES)))
        change, must = CHANGES[name]
        given[where] = change(weight if where == "weight" else given[where], rng)
        must &= where == "X" and not (name == "one row less" and estimator is mercer.OneClassSVM)
    if estimator is mercer.OneClassSVM:
        given["y"] = None
    facts = {"where": where, "name": name, "must": must}
    return Case(estimator, parameters, **given, K=np.zeros((1, 1)), facts=facts)


def _kernel(rng: np.random.Generator, estimator: type) -> Any:
    if "Nadaraya" in estimator.__name__:
        return str(rng.choice(["rbf", "laplacian", "tricube"]))
    return KERNELS[rng.integers(len(KERNELS))]


def refused(case: Case, error: MercerError) -> list[str]:
    """Every error in words is right."""
    return []


def check(case: Case, model: Any) -> list[str]:
    """What must be refused was not; what was not predicts numbers, or refuses in words, and can be pickled."""
    if case.facts["must"]:
        return [f"took {case.facts['where']} with {case.facts['name']}"]
    try:
        predictions = np.asarray(model.predict(case.new))
    except (MercerError, TypeError, ValueError) as error:
        if not is_deliberate(error):
            raise
        return []
    if predictions.dtype.kind == "f" and not np.isfinite(predictions).all():
        return [f"{case.facts['where']} with {case.facts['name']}: a prediction is not a number"]
    if case.facts["where"] != "kernel":
        pickle.loads(pickle.dumps(model))
    return []
