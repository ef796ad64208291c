"""`python -m benchmarks.series_accuracy [set …]`: accuracy of kernels of series on the test part of UCR sets.

The kernel and C are chosen by folds of the training part, then scored once on the test part. Beside kernels of series
stands RBF on series that are resampled to one length. The data are those of MERCER_DATA. Results are in
docs/how-to/kernels-on-series.md.
"""

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import mercer
from benchmarks.harness import data
from mercer import RBF, SVC, GlobalAlignment, Signature
from mercer.points import Series

Array = np.ndarray[Any, Any]
PENALTIES = (1.0, 10.0, 100.0)
FOLDS = 5


@dataclass(frozen=True)
class Study:
    """The training rows of a set, and the length to which series are resampled."""

    train: int
    length: int


STUDIES = {"ArrowHead": Study(36, 251), "JapaneseVowels": Study(270, 15)}
SCALES = (0.5, 1.0, 2.0)  # of the median length


def standardised(X: list[Array], train: int) -> list[Array]:
    """Series in channels of mean 0 and variance 1 over the training part."""
    tall = [np.asarray(x, dtype=np.float64).reshape(len(x), -1) for x in X]
    points = np.concatenate(tall[:train])
    return [(x - points.mean(axis=0)) / points.std(axis=0) for x in tall]


def resampled(X: list[Array], length: int) -> Array:
    """Rows of one length, by linear interpolation of each channel."""
    at = np.linspace(0.0, 1.0, length)
    return np.array(
        [np.concatenate([np.interp(at, np.linspace(0.0, 1.0, len(x)), channel) for channel in x.T]) for x in X]
    )


def timed(X: list[Array]) -> list[Array]:
    """Series with time, from 0 to 1, as one more channel; a first point at the origin makes the level count."""
    tall = [np.concatenate([np.zeros((1, x.shape[1])), x]) for x in X]
    return [np.column_stack([np.linspace(0.0, 1.0, len(x)), x / np.sqrt(x.shape[1])]) for x in tall]


def candidates(X: list[Array], study: Study) -> dict[str, list[tuple[Any, Any]]]:
    """By what it is called: kernels with their points."""
    rows, series, clocks = resampled(X, study.length), Series(X), Series(timed(X))
    part = slice(0, study.train)
    wide = float(np.asarray(RBF("median").resolve(rows[part]).length_scale))
    narrow = float(GlobalAlignment().resolve(series.take(part)).length_scale)
    near = max(2, int(np.median(series.sizes)) // 5)
    return {
        "RBF, resampled": [(RBF(s * wide), rows) for s in (0.25, *SCALES)],
        "GlobalAlignment": [
            (GlobalAlignment(s * narrow, T).normalised(), series) for s in (0.1, 0.25, *SCALES) for T in (None, near)
        ],
        "Signature, with time": [
            *((Signature(level).normalised(), clocks) for level in (3, None)),
            *((Signature(order=2, length_scale=s).normalised(), clocks) for s in (0.5, 1.0, 2.0)),
        ],
    }


def score(K: Array, y: Array, train: Array, test: Array, C: float) -> float:
    model = SVC(kernel="precomputed", C=C).fit(np.ascontiguousarray(K[np.ix_(train, train)]), y[train])
    return float(np.mean(model.predict(np.ascontiguousarray(K[np.ix_(test, train)])) == y[test]))


def study(name: str) -> None:
    of = STUDIES[name]
    found = data.load(f"ucr/{name}")
    y, train = np.asarray(found.y), np.arange(of.train)
    X = standardised(list(found.X), of.train)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(train, y[train]))
    for label, pairs in candidates(X, of).items():
        began = time.perf_counter()
        grams = [kernel(points) for kernel, points in pairs]
        taken = time.perf_counter() - began
        choices = [
            (float(np.mean([score(K, y, a, b, C) for a, b in folds])), -k, -C)
            for k, K in enumerate(grams)
            for C in PENALTIES
        ]
        inner, k, C = max(choices)
        accuracy = score(grams[-k], y, train, np.arange(of.train, len(y)), -C)
        print(
            f"{name}: {label}: {100 * accuracy:.1f} % (folds {100 * inner:.1f}) with {pairs[-k][0]!r}, C = {-C:g}; "
            f"{len(grams)} matrices of {len(X)} in {taken:.1f} s", flush=True,
        )  # fmt: skip


def main(names: list[str]) -> None:
    print(f"mercer {mercer.__version__}")
    for name in names or STUDIES:
        study(name)


if __name__ == "__main__":
    main(sys.argv[1:])
