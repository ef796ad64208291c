"""`python -m benchmarks.graphs_accuracy [set or kernel …]`: kernels of graphs by cross-validation, beside papers.

As in the TUDataset paper: ten stratified folds, in several orders. Of each training part a ninth is held back, on which
C and the depth are chosen; then an SVC is fitted to all of it and scored on the fold that was left out. Kernels are
normalised.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

import mercer
from benchmarks.against.objects_graphs_builders import graphs
from mercer.points import as_points

FOLDS, INNER = 10, 9
COSTS = (1.0, 10.0, 100.0)
DEPTHS = range(6)


class Study(NamedTuple):
    """A kernel, with what is chosen, and the published accuracies in percent."""

    name: str
    kernels: tuple[Any, ...]
    published: dict[str, float]


STUDIES = (
    Study(
        "Weisfeiler-Lehman",
        tuple(mercer.WeisfeilerLehman(depth).normalised() for depth in DEPTHS),
        {"NCI1": 84.2, "ENZYMES": 50.8, "PROTEINS": 72.6},
    ),
    Study(
        "Weisfeiler-Lehman assignment",
        tuple(mercer.WeisfeilerLehmanAssignment(depth).normalised() for depth in DEPTHS),
        {"NCI1": 85.0, "ENZYMES": 56.4, "PROTEINS": 73.4},
    ),
    Study(
        "shortest paths",
        (mercer.ShortestPath().normalised(),),
        {"NCI1": 74.2, "ENZYMES": 39.3, "PROTEINS": 75.6},
    ),
)
# The name of a set -> its name in the folder, and in how many orders it is divided.
SETS = {"ENZYMES": ("ENZYMES", 5), "PROTEINS": ("PROTEINS_full", 3), "NCI1": ("NCI1", 1)}


def folds(y: Any, count: int, seed: int) -> Iterator[tuple[Any, Any]]:
    return iter(StratifiedKFold(count, shuffle=True, random_state=seed).split(y[:, None], y))


def accuracy(K: Any, cost: float, y: Any, train: Any, test: Any) -> float:
    machine = mercer.SVC(C=cost, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
    return float(machine.score(K[np.ix_(test, train)], y[test]))


def chosen(matrices: list[Any], y: Any, train: Any) -> tuple[Any, float]:
    """The matrix and the C that do best on a part of the training rows that was held back from the others."""
    fit, held = (train[part] for part in next(folds(y[train], INNER, 0)))
    scores = {(place, cost): accuracy(K, cost, y, fit, held) for place, K in enumerate(matrices) for cost in COSTS}
    place, cost = max(scores, key=lambda key: (scores[key], -key[0], -key[1]))
    return matrices[place], cost


def nested(matrices: list[Any], y: Any, repeats: int) -> tuple[float, float]:
    """Mean and standard deviation of the accuracy, in percent, over the repeats."""
    means = []
    for seed in range(repeats):
        scores = [accuracy(*chosen(matrices, y, train), y, train, test) for train, test in folds(y, FOLDS, seed)]
        means.append(100.0 * float(np.mean(scores)))
    return float(np.mean(means)), float(np.std(means))


def main(names: list[str]) -> int:
    print("| set | kernel | accuracy, % | published |")
    print("|---|---|---|---|")
    for name in [name for name in names if name in SETS] or SETS:
        folder, repeats = SETS[name]
        X, y, source = graphs(folder)
        points = as_points(X)
        for study in [study for study in STUDIES if study.name in names] or STUDIES:
            mean, spread = nested([kernel(points) for kernel in study.kernels], np.asarray(y), repeats)
            found = f"{mean:.1f} ± {spread:.1f}" if repeats > 1 else f"{mean:.1f}"
            print(f"| {source} | {study.name} | {found} | {study.published[name]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
