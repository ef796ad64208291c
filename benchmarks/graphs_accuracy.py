"""`python -m benchmarks.graphs_accuracy [set or kernel …] [orders]`: accuracies of kernels of graphs, beside papers.

As in the TUDataset paper: ten folds, in several orders. Of each training part a tenth is held back, on which C and the
depth are chosen; the machine that was best there is scored on the fold that was left out. So it has seen 81 % of the
graphs. A last column shows what refitting it to the whole training part, 90 %, adds. Kernels are normalised.
"""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import mercer
from benchmarks.against.objects_graphs_builders import graphs

FOLDS = 10
COSTS = tuple(10.0**power for power in range(-3, 4))
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
SETS = {"ENZYMES": ("ENZYMES", 10), "PROTEINS": ("PROTEINS_full", 3), "NCI1": ("NCI1", 1)}


def folds(y: Any, count: int, seed: int) -> Iterator[tuple[Any, Any]]:
    return iter(StratifiedKFold(count, shuffle=True, random_state=seed).split(y[:, None], y))


def accuracies(study: Study, X: list[Any], y: Any, train: Any, test: Any) -> tuple[float, float]:
    """In percent: of what does best on the part held back, fitted to the others, and fitted to all training rows."""
    fit, held = next(folds(y[train], FOLDS, 0))
    grid = {"kernel": list(study.kernels), "C": COSTS}
    search = mercer.KernelSearchCV(mercer.SVC(), grid, cv=[(fit, held)]).fit([X[row] for row in train], y[train])
    fewer = clone(search.best_estimator_).fit([X[row] for row in train[fit]], y[train[fit]])
    new = [X[row] for row in test]
    return 100.0 * float(fewer.score(new, y[test])), 100.0 * float(search.score(new, y[test]))


def nested(study: Study, X: list[Any], y: Any, repeats: int) -> tuple[Any, Any]:
    """Mean and standard deviation over the repeats, of both accuracies."""
    means = [
        np.mean([accuracies(study, X, y, train, test) for train, test in folds(y, FOLDS, seed)], axis=0)
        for seed in range(repeats)
    ]
    return np.mean(means, axis=0), np.std(means, axis=0)


def main(names: list[str]) -> int:
    print("| set | orders | kernel | accuracy, % | published | refitted |")
    print("|---|---|---|---|---|---|")
    wanted = next((int(name) for name in names if name.isdigit()), 0)
    for name in [name for name in names if name in SETS] or SETS:
        folder, orders = SETS[name]
        repeats = wanted or orders
        X, y, source = graphs(folder)
        for study in [study for study in STUDIES if study.name in names] or STUDIES:
            found = [
                f"{mean:.1f} ± {spread:.1f}"
                for mean, spread in zip(*nested(study, X, np.asarray(y), repeats), strict=True)
            ]
            print(
                f"| {source} | {repeats} | {study.name} | {found[0]} | {study.published[name]} | {found[1]} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
