"""--tune: a small search over the scale of the kernel and the penalty, on training rows alone."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from mercer.cli.interrupt import Interruption
from mercer.cli.machines import CLASSIFICATION, Machine
from mercer.cli.outcome import WrongUse
from mercer.cli.printing import Output
from mercer.errors import MercerError
from mercer.estimators import KernelRidge, KernelRidgeCV
from mercer.kernels import Kernel
from mercer.kernels.binding import bind
from mercer.kernels.widening import has_lengths, widened
from mercer.points import as_points

__all__ = ["Chosen", "search"]

# The kernel's own length scales, times these.
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0)
FOLDS = 3
# The search looks at no more rows than this; the machine is then fitted on all of them.
MOST_ROWS = 2000


@final
@dataclass(frozen=True)
class Chosen:
    """What a search found.

    Attributes
    ----------
    kernel : Kernel
        With its scale.
    params : dict
        The penalty.
    score : float
        The mean over the folds, of the rows of the search; too hopeful, as the best of many.
    tried : int
        How many pairs.
    rows : int
        On how many rows.
    edges : tuple of str
        What was chosen at the end of its range.
    """

    kernel: Kernel
    params: dict[str, Any]
    score: float
    tried: int
    rows: int
    edges: tuple[str, ...]


def search(
    machine: Machine,
    kernel: Kernel,
    prepared: Any,
    y: npt.NDArray[Any],
    given: dict[str, Any],
    seed: int,
    out: Output,
    stop: Interruption,
) -> Chosen:
    """The best scale and penalty; the best so far after Ctrl-C."""
    n = prepared.shape[0]
    rows = np.sort(np.random.default_rng(seed).permutation(n)[:MOST_ROWS])
    X, y = _rows(prepared, rows), y[rows]
    kernels = _kernels(kernel, X) if machine.has_lengths else {1.0: kernel}
    penalties = machine.candidates(y) if machine.penalty not in given else ()
    if len(kernels) * max(len(penalties), 1) == 1:
        raise WrongUse(f"--tune has nothing to search for with {machine.name} and this kernel.", "", "Leave it out.")
    found: dict[tuple[float, float | None], float] = {}
    is_ridge = machine.kind is KernelRidge and bool(penalties)
    with out.progress("tuning", len(kernels) * (1 if is_ridge else max(len(penalties), 1))) as steps:
        try:
            for scale, scaled in kernels.items():
                if is_ridge:
                    best, value = _by_leaving_out(scaled, X, y, penalties, given)
                    found[scale, best] = value
                    steps.done(f"best R² {max(found.values()):.4f}")
                    continue
                for penalty in penalties or (None,):
                    params = given if penalty is None else {**given, machine.penalty: penalty}
                    found[scale, penalty] = _by_folds(machine, scaled, X, y, params, seed)
                    steps.done(f"best {machine.task.metric} {max(found.values()):.4f}")
        except KeyboardInterrupt:
            if not found:
                raise
            stop.came = True
            out.warn(f"Ctrl-C: the search ended after {len(found)} of its tries, with the best of these.")
    scale, chosen = max(found, key=lambda pair: found[pair])
    params = {} if chosen is None else {machine.penalty: chosen}
    edges = [
        name
        for name, value, values in (("scale", scale, tuple(kernels)), (machine.penalty, chosen, penalties))
        if len(values) > 2 and value in (values[0], values[-1])
    ]
    tried = len(found) * (len(penalties) if is_ridge else 1)
    return Chosen(kernels[scale], params, found[scale, chosen], tried, len(rows), tuple(edges))


def _rows(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def _kernels(kernel: Kernel, X: Any) -> dict[float, Kernel]:
    resolved = bind(kernel, as_points(X)).kernel
    assert isinstance(resolved, Kernel)  # of a kernel
    if not has_lengths(resolved):
        return {1.0: kernel}
    return {scale: widened(resolved, scale) for scale in SCALES}


def _by_leaving_out(
    kernel: Kernel, X: Any, y: Any, alphas: tuple[float, ...], given: dict[str, Any]
) -> tuple[float, float]:
    """The best penalty by exact leave-one-out, and its R²."""
    has_intercept = bool(given.get("fit_intercept", True))
    fitted = KernelRidgeCV(alphas, kernel=kernel, fit_intercept=has_intercept).fit(X, y)
    return float(fitted.alpha_), 1.0 + float(fitted.best_score_) / float(np.var(y) or 1.0)


def _by_folds(machine: Machine, kernel: Kernel, X: Any, y: Any, params: dict[str, Any], seed: int) -> float:
    kind = StratifiedKFold if machine.task is CLASSIFICATION else KFold
    count = min(FOLDS, int(np.unique(y, return_counts=True)[1].min())) if machine.task is CLASSIFICATION else FOLDS
    scores = []
    for train, test in kind(max(count, 2), shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        made = machine.make(kernel, y[train], **params)
        if machine.keeps_best:
            made.set_params(keep_best=False)  # Ctrl-C ends the search, not this fit
        try:
            scores.append(made.fit(_rows(X, train), y[train]).score(_rows(X, test), y[test]))
        except MercerError:  # an infeasible nu, say: as bad as can be
            return -np.inf
    return float(np.mean(scores))
