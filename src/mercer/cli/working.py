"""The fits of `mercer fit`: those that are scored, then the one that is kept."""

from typing import Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd

from mercer.cli.interrupt import Interruption
from mercer.cli.machines import CLASSIFICATION, OUTLIERS, Machine
from mercer.cli.outcome import WrongUse
from mercer.cli.preparing import Data, Recipe, assembled, seen, steps_of
from mercer.cli.printing import Output
from mercer.cli.scoring import Score, score, splits
from mercer.cli.tuning import Chosen, search

__all__ = ["Work"]


@final
class Work:
    """The fits of one command: those that are scored, then the one that is kept."""

    def __init__(
        self,
        out: Output,
        row: Machine,
        data: Data,
        plan: Recipe,
        given: dict[str, Any],
        tune: bool,
        scale: bool,
        seed: int,
        stop: Interruption,
    ) -> None:
        self.out = out
        self.row = row
        self.data = data
        self.X = seen(data, plan)
        self.plan = plan
        self.given = given
        self.tune = tune
        self.scale = scale
        self.seed = seed
        self.stop = stop
        self.best: tuple[Any, Chosen | None] | None = None

    def fit(self, rows: npt.NDArray[np.intp] | None, *, shows: bool) -> tuple[Any, Chosen | None]:
        """A model of some rows, None for all."""
        X, y = (self.X, self.data.y) if rows is None else (_rows(self.X, rows), _rows(self.data.y, rows))
        kernel, given, chosen = self.plan.kernel, self.given, None
        steps = steps_of(self.data, self.plan, scale=self.scale)
        if self.tune:
            if y is None:
                raise WrongUse("--tune needs a --target, by which to compare.")
            Z = X if steps is None else steps.fit_transform(X)
            chosen = search(self.row, kernel, Z, y, given, self.seed, self.out, self.stop)
            kernel, given = chosen.kernel, {**given, **chosen.params}
        machine = self.row.make(kernel, y, **given)
        if shows and self.out.shows_progress and "verbose" in machine.get_params(deep=False):
            machine.set_params(verbose=1)
        model = assembled(machine, steps)
        model.fit(X, y)
        return model, chosen

    def evaluate(self, cv: int | None, test_size: float | None) -> Score | None:
        """The score, of rows held out; of those that were reached before Ctrl-C. None if there are none."""
        data, task = self.data, self.row.task
        pairs, how = splits(task, data.y, len(data), cv, test_size, self.seed)
        truths, answers, constants = [], [], []
        with self.out.progress("scoring", len(pairs) if len(pairs) > 1 and not self.tune else 0) as steps:
            try:
                for train, test in pairs:
                    self.best = self.fit(train, shows=len(pairs) == 1)
                    X, y = _rows(self.X, test), _rows(data.y, test)
                    answers.append(self.best[0].predict(X))
                    truths.append(y)
                    constants.append(_constant(task is CLASSIFICATION, _rows(data.y, train), len(test)))
                    steps.done()
                    if self.stop.came:
                        break
            except KeyboardInterrupt:
                if self.best is None:
                    raise
        if not answers:
            return None
        if len(answers) < len(pairs):
            how += f", {len(answers)} of them before Ctrl-C"
        if task is OUTLIERS:
            return score(task, None, np.concatenate(answers), None, how)
        return score(task, np.concatenate(truths), np.concatenate(answers), np.concatenate(constants), how)

    def finish(self) -> tuple[Any, Chosen | None]:
        """The model of all rows; after Ctrl-C the best so far."""
        if not self.stop.came:
            try:
                return self.fit(None, shows=True)
            except KeyboardInterrupt:
                self.stop.came = True
        if self.best is None:
            raise KeyboardInterrupt
        return self.best


def _rows(values: Any, rows: Any) -> Any:
    if values is None:
        return None
    return values.iloc[rows] if isinstance(values, pd.DataFrame) else values[rows]


def _constant(is_label: bool, y: Any, m: int) -> Any:
    """What one would answer without looking: the commonest label, or the mean."""
    if y is None:
        return np.empty(0)
    if not is_label:
        return np.full(m, y.mean())
    labels, counts = np.unique(y, return_counts=True)
    return np.full(m, labels[counts.argmax()])
