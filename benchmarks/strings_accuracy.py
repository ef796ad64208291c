"""`python -m benchmarks.strings_accuracy [set …]`: accuracy of kernels of strings by nested cross-validation.

Ten folds outside; in each, the kernel and C with the best accuracy of five folds inside (three where the set is large).
The data are those of MERCER_DATA. Results are in docs/how-to/kernels-on-strings.md.
"""

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

import mercer
from benchmarks.harness import data
from mercer import SVC, BlendedSpectrum, GappedKmer, KernelSearchCV, Mismatch, Spectrum, WeightedDegree
from mercer.maps import WordSequence

Array = np.ndarray[Any, Any]
OUTER = 10
WORDS = WordSequence()


@dataclass(frozen=True)
class Study:
    """The kernels and penalties that are chosen from, and the folds that choose."""

    kernels: tuple[Any, ...]
    penalties: tuple[float, ...] = (0.1, 1.0, 10.0)
    inner: int = 5


STUDIES = {
    "promoters": Study((
        Spectrum(3), Spectrum(4), BlendedSpectrum(4), GappedKmer(6, 4), Mismatch(4, 1), WeightedDegree(2),
        WeightedDegree(3), WeightedDegree(4, 1), WeightedDegree(4, 2),
    )),
    "splice": Study((
        Spectrum(4), GappedKmer(6, 4), WeightedDegree(3), WeightedDegree(6), WeightedDegree(6, 1),
    ), (1.0, 10.0), 3),
    "trec": Study((
        Spectrum(1).on(WORDS), BlendedSpectrum(2).on(WORDS), BlendedSpectrum(3, 0.5).on(WORDS),
        Spectrum(1).on(WORDS).normalised() + Spectrum(4).normalised(),
    ), (1.0, 10.0), 3),
    "r8": Study((BlendedSpectrum(2).on(WORDS), Spectrum(5)), (1.0, 10.0), 3),
}  # fmt: skip


def folds(n: int, y: Array) -> list[tuple[Array, Array]]:
    return list(StratifiedKFold(n, shuffle=True, random_state=0).split(y, y))


def study(name: str) -> None:
    """Print the accuracy of one set, fold by fold."""
    of = STUDIES[name]
    found = data.load(name)
    X, y = list(found.X), np.asarray(found.y)
    start = time.perf_counter()
    grid = {"kernel": [kernel.normalised() for kernel in of.kernels], "C": of.penalties}
    scores: list[float] = []
    for train, test in folds(OUTER, y):
        search = KernelSearchCV(SVC(), grid, cv=folds(of.inner, y[train]))
        search.fit([X[row] for row in train], y[train])
        scores.append(float(search.score([X[row] for row in test], y[test])))
        best = search.best_params_
        print(f"{name}: fold {len(scores)}: {scores[-1]:.4f} with {best['kernel']!r}, C = {best['C']:g}", flush=True)
    spread = np.std(scores, ddof=1)
    print(
        f"{name}: {100 * np.mean(scores):.1f} ± {100 * spread:.1f} %, {time.perf_counter() - start:.0f} s", flush=True
    )


def main(names: list[str]) -> None:
    print(f"mercer {mercer.__version__}")
    for name in names or STUDIES:
        study(name)


if __name__ == "__main__":
    main(sys.argv[1:])
