"""`mercer bench`: this computer, side by side with scikit-learn, on four usual tasks."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
import numpy.typing as npt
import typer
from sklearn import kernel_ridge, neighbors, svm
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from mercer.cli.outcome import Exit
from mercer.cli.printing import Output
from mercer.config import show_config
from mercer.estimators import SVC, KernelNeighborsClassifier, KernelRidge
from mercer.grams import gram
from mercer.kernels import RBF

__all__ = ["run"]

Array = npt.NDArray[np.float64]
REPEATS = 3


@final
@dataclass(frozen=True)
class Duel:
    """One task for both.

    Attributes
    ----------
    task : str
    mercer, peer : callable () -> array
        The work; what is returned is compared.
    unlike : callable (array, array) -> float
        How far the two answers are apart.
    """

    task: str
    mercer: Callable[[], Array]
    peer: Callable[[], Array]
    unlike: Callable[[Array, Array], float]


def run(
    out: Output,
    scale: Annotated[
        float, typer.Option(min=0.01, max=10.0, help="Times so many rows; 1 takes about two minutes.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the random data.")] = 0,
) -> Exit:
    """Measure this computer, side by side with scikit-learn.

    Both take turns, three times; the medians are shown. Both get the same data and parameters, and their answers are
    compared: the relative difference of numbers, the share of different labels.
    """
    facts: Any = show_config(as_dict=True)
    out.line("computer", f"{facts['machine']}, {facts['instruction set']}, {facts['threads']} threads; {facts['BLAS']}")
    rows = []
    duels = _duels(scale, seed)
    with out.progress("measuring", len(duels)) as steps:
        for duel in duels:
            rows.append(_held(duel))
            steps.done()
    head = ("task", "mercer s", "scikit-learn s", "times faster", "difference")
    out.table(head, [[row[name] for name in ("task", "mercer", "peer", "ratio", "difference")] for row in rows])
    out.fact(machine=facts, duels=rows, repeats=REPEATS, scale=scale)
    return Exit.FINE


def _held(duel: Duel) -> dict[str, Any]:
    """The medians; in turns, so that a slow moment of the computer hits both."""
    times: dict[str, list[float]] = {"mercer": [], "peer": []}
    answers: dict[str, Array] = {}
    for _ in range(REPEATS):
        for name, work in (("mercer", duel.mercer), ("peer", duel.peer)):
            start = time.perf_counter()
            answers[name] = work()
            times[name].append(time.perf_counter() - start)
    mine, theirs = statistics.median(times["mercer"]), statistics.median(times["peer"])
    difference = duel.unlike(answers["mercer"], answers["peer"])
    return {"task": duel.task, "mercer": mine, "peer": theirs, "ratio": theirs / mine, "difference": difference}


def _duels(scale: float, seed: int) -> list[Duel]:
    rng = np.random.default_rng(seed)

    def rows(full: int) -> int:
        return max(50, int(full * scale))

    X = rng.standard_normal((rows(10_000), 20))
    v = rng.standard_normal(len(X))
    length = 10.0**0.5
    gamma = 1.0 / (2.0 * length**2)
    M, labels = make_moons(rows(10_000), noise=0.3, random_state=seed)
    R = rng.standard_normal((rows(3_000), 10))
    y = np.sin(R[:, 0]) + 0.1 * rng.standard_normal(len(R))
    N, who = rng.standard_normal((rows(20_000), 20)), rng.integers(0, 5, rows(20_000))
    new = rng.standard_normal((rows(2_000), 20))
    return [
        Duel(
            f"K v, {len(X)} rows, 20 columns", lambda: gram(RBF(length), X) @ v,
            lambda: rbf_kernel(X, gamma=gamma) @ v, _apart,
        ),
        Duel(
            f"SVC, {len(M)} rows, 2 columns", lambda: SVC(gamma=1.0).fit(M, labels).predict(M[:500]),
            lambda: svm.SVC(gamma=1.0).fit(M, labels).predict(M[:500]), _differing,
        ),
        Duel(
            f"ridge, {len(R)} rows, 10 columns",
            lambda: KernelRidge(0.1, kernel=RBF(length)).fit(R, y).predict(R[:500]),
            lambda: kernel_ridge.KernelRidge(alpha=0.1, kernel="rbf", gamma=gamma).fit(R, y).predict(R[:500]), _apart,
        ),
        Duel(
            f"5 neighbours of {len(new)} rows among {len(N)}",
            lambda: KernelNeighborsClassifier(5).fit(N, who).predict(new),
            lambda: neighbors.KNeighborsClassifier(5, algorithm="brute").fit(N, who).predict(new), _differing,
        ),
    ]  # fmt: skip


def _apart(a: Array, b: Array) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def _differing(a: Array, b: Array) -> float:
    return float(np.mean(a != b))
