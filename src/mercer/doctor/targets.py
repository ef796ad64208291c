"""Checks of the targets, and of what the columns say about them."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mercer.doctor.case import Case, drawn
from mercer.doctor.check import Seen
from mercer.doctor.findings import counted, listed
from mercer.doctor.source import coded
from mercer.doctor.starting import start_of

__all__ = ["imbalance", "leaks", "no_signal", "noisy_labels", "one_target", "tiny_classes", "unknown_targets"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

# Rows below which nothing is estimated, folds, and neighbours along one column.
LEAST_ROWS, FOLDS, WINDOW = 30, 5, 5
# Columns times rows up to which leaks are looked for on the whole sample.
LEAK_ENTRIES = 400_000
# Labels are called noisy only where neighbours agree so far beyond chance (Cohen's κ) that a lone voice is remarkable.
AGREEING = 0.5


def unknown_targets(case: Case, limit: float) -> Iterator[Seen]:
    """Targets that are missing or infinite."""
    assert case.target is not None
    rows = np.flatnonzero(~case.target.known)
    if len(rows) > limit:
        yield Seen(
            f"{counted(len(rows), 'target')} of {len(case.target)} missing or infinite.", {"rows": len(rows)}, rows=rows
        )


def one_target(case: Case, limit: float) -> Iterator[Seen]:  # noqa: ARG001 (there is nothing to compare)
    """Nothing to learn."""
    assert case.target is not None
    if case.target.is_constant:
        what = f"All labels are {case.target.labels[0]!r}" if case.target.is_classes else "All targets are the same"
        yield Seen(f"{what}: there is nothing to learn.")


def imbalance(case: Case, limit: float) -> Iterator[Seen]:
    """A class with far more rows than another."""
    assert case.target is not None
    counts = case.target.counts
    if len(counts) < 2:
        return
    ratio = float(counts.min() / counts.max())
    if ratio < limit:
        rare, common = (case.target.labels[int(find(counts))] for find in (np.argmin, np.argmax))
        yield Seen(
            f"Class {common!r} has {counts.max()} rows, {rare!r} {counts.min()}: who always answers {common!r} is "
            f"right for {counts.max() / counts.sum():.1%} of the rows.",
            {"ratio": ratio, "share of the largest": float(counts.max() / counts.sum())},
        )


def tiny_classes(case: Case, limit: float) -> Iterator[Seen]:
    """Classes with too few rows to be in every fold."""
    assert case.target is not None
    few = np.flatnonzero(case.target.counts < limit)
    if len(few) and len(case.target.labels) > 1:
        labels = [case.target.labels[i] for i in few]
        yield Seen(
            f"{counted(len(few), 'class')} with fewer than {limit:.0f} rows: {listed(labels)}.",
            {"classes": len(few), "fewest rows": int(case.target.counts.min())},
            rows=np.flatnonzero(np.isin(case.target.codes, few) & case.target.known),
        )


def leaks(case: Case, limit: float) -> Iterator[Seen]:
    """Columns that give the target away: out of fold, from the nearest values of that column alone."""
    assert case.target is not None
    columns = {**dict(zip(case.names, case.numbers.T, strict=True)), **{k: coded(v) for k, v in case.others.items()}}
    places = np.flatnonzero(case.target.known[case.rows])
    places = drawn(places, max(500, LEAK_ENTRIES // max(len(columns), 1)))
    if len(places) < LEAST_ROWS or len(columns) < 2 or case.target.is_constant:
        return
    places = np.random.default_rng(0).permutation(places)
    Y = case.target.columns(case.rows[places])
    scores = {name: _predictive(np.nan_to_num(values[places]), Y, case) for name, values in columns.items()}
    telling = [name for name, score in scores.items() if score > limit]
    if telling and 2 * len(telling) <= len(columns):  # where most columns tell, the task is easy
        best = max(telling, key=lambda name: scores[name])
        measure = "balanced accuracy" if case.target.is_classes else "R²"
        others = [name for name in telling if name != best]
        verb = "does" if len(others) == 1 else "do"
        yield Seen(
            f"Column {best!r} alone predicts the target almost perfectly: {measure} {scores[best]:.4f} on rows that "
            f"were left out{f'; so {verb} {listed(others)}' if others else ''}.",
            {measure: scores[best]},
            telling,
        )


def noisy_labels(case: Case, limit: float) -> Iterator[Seen]:
    """Rows whose nearest neighbours all have one label, and it is another."""
    assert case.target is not None
    if case.neighbours is None or len(case.kernel_rows) < LEAST_ROWS:
        return
    labels = case.target.codes[case.kernel_rows]
    theirs = labels[case.neighbours]
    unanimous = (theirs == theirs[:, :1]).all(axis=1) & (theirs[:, 0] >= 0) & (labels >= 0)
    against = unanimous & (theirs[:, 0] != labels)
    share, agreeing = float(against.mean()), float((theirs == labels[:, None]).mean())
    chance = float(np.square(case.target.counts / case.target.counts.sum()).sum())
    if share > limit and agreeing - chance > AGREEING * (1.0 - chance):
        rows = case.kernel_rows[against]
        yield Seen(
            f"{counted(len(rows), 'row')} of {len(labels)} ({share:.1%}) have another label than all their "
            f"{case.neighbours.shape[1]} nearest neighbours, which agree.",
            {"rows": len(rows), "share": share},
            rows=rows,
        )


def no_signal(case: Case, limit: float) -> Iterator[Seen]:
    """Nothing that a kernel machine finds in X helps to predict y."""
    start = start_of(case)
    if start is not None and start.rows >= LEAST_ROWS and start.score < limit:
        yield Seen(
            f"With each row left out in turn, the best of {start.tried} kernel ridge regressions on "
            f"{counted(start.rows, 'row')} explains {max(start.score, 0.0):.1%} of the variance of y.",
            {"R²": start.score},
        )


def _predictive(values: npt.NDArray[np.generic], Y: Array, case: Case) -> float:
    """R², or the balanced accuracy, of the mean over the nearest values in the other folds."""
    n = len(values)
    fold, predicted = np.arange(n) % FOLDS, np.empty_like(Y)
    for f in range(FOLDS):
        test, train = fold == f, np.flatnonzero(fold != f)
        train = train[np.argsort(values[train], kind="stable")]
        known = values[train]
        places = (np.searchsorted(known, values[test]) + np.searchsorted(known, values[test], side="right")) // 2
        first = np.clip(places - WINDOW // 2, 0, max(len(train) - WINDOW, 0))
        predicted[test] = Y[train][first[:, None] + np.arange(min(WINDOW, len(train)))].mean(axis=1)
    assert case.target is not None
    if case.target.is_classes:
        right = predicted.argmax(axis=1) == Y.argmax(axis=1)
        counts = Y.sum(axis=0)
        kept = counts >= FOLDS
        return float(((Y * right[:, None]).sum(axis=0)[kept] / counts[kept]).mean()) if kept.sum() > 1 else 0.0
    spread = np.square(Y - Y.mean(axis=0)).sum(axis=0)
    left = np.square(Y - predicted).sum(axis=0)
    return float((1.0 - left[spread > 0.0] / spread[spread > 0.0]).max(initial=0.0))
