"""Pipelines that end with a machine whose settings share: its steps are fitted on each split once for all of them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from mercer.estimators._seats import Fitted, Rows
from mercer.estimators._sharing import Shared, Splits, hashable

__all__ = ["SharedPipeline"]


@final
@dataclass(frozen=True, eq=False)
class Placed:
    """A machine fitted on what the steps made of a split, asked for rows of X.

    Attributes
    ----------
    fitted : Fitted
        The machine.
    rows : ndarray of int
        The rows of X that can be asked for.
    first : int
        Where they begin among the machine's own.
    """

    fitted: Fitted
    rows: Rows
    first: int

    def predict(self, rows: Rows) -> Any:
        """The predictions of these rows."""
        return self.fitted.predict(self._places(rows))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.fitted, name)
        if not callable(found):
            return found

        @wraps(found)
        def asked(rows: Rows) -> Any:
            return found(self._places(rows))

        return asked

    def _places(self, rows: Rows) -> Rows:
        order = np.argsort(self.rows)
        return self.first + order[np.searchsorted(self.rows, rows, sorter=order)]


@final
class SharedPipeline:
    """A pipeline's machine with many penalties on many splits.

    Parameters
    ----------
    kind : type of Shared
        What its machine shares.
    X, y
        All rows, as the pipeline takes them.
    splits : Splits
    pipelines : sequence of Pipeline
        All that will be asked for.
    """

    has_leave_one_out = False

    def __init__(self, kind: type[Shared], X: Any, y: Any, splits: Splits, pipelines: Sequence[Any]) -> None:
        self._kind, self._X, self._y, self._splits = kind, X, y, splits
        self._pipelines = pipelines
        # Only what the machines are decides whether they share: the rows that the steps make are as many as those of X.
        self._whole = kind(X, y, None, splits, [pipeline[-1] for pipeline in pipelines])
        self._current: Hashable = None
        self._made: tuple[Shared, Rows, int]

    def serves(self, pipeline: Any) -> bool:
        """Whether the pipeline's machine is fitted together with others."""
        return type(pipeline) is Pipeline and len(pipeline) > 1 and self._whole.serves(pipeline[-1])

    def key(self, pipeline: Any) -> Hashable:
        """Equal for pipelines that differ in their machine's penalty alone."""
        return self._steps(pipeline), self._whole.key(pipeline[-1])

    def turn(self, pipeline: Any, split: int) -> tuple[float, ...]:
        """One split after the other, with rising penalties."""
        return split, float(getattr(pipeline[-1], self._kind.penalty))

    def fit(self, pipeline: Any, split: int) -> Fitted:
        """The pipeline on the training rows of a split; raises what its own `fit` would raise."""
        current = self._steps(pipeline), split
        if current != self._current:
            self._current = None
            self._made = self._through(pipeline, split)
            self._current = current
        shared, rows, first = self._made
        return Placed(shared.fit(pipeline[-1], 0), rows, first)

    def _through(self, pipeline: Any, split: int) -> tuple[Shared, Rows, int]:
        """What the steps make of a split: the rows to fit on, then those that will be asked for."""
        train, asked = self._splits.train[split], self._splits.asked[split]
        y = None if self._y is None else [_safe_indexing(self._y, rows) for rows in (train, asked)]
        steps = clone(pipeline[:-1])
        A = steps.fit_transform(_safe_indexing(self._X, train), None if y is None else y[0])
        B = steps.transform(_safe_indexing(self._X, asked))
        first = len(train)
        splits = Splits([np.arange(first)], [first + np.arange(len(asked))], leaves_one_out=False)
        alike = self._steps(pipeline)
        machines = [other[-1] for other in self._pipelines if self._steps(other) == alike]
        targets = None if y is None else np.concatenate([np.asarray(part) for part in y])
        return self._kind(_stacked(A, B), targets, None, splits, machines), asked, first

    def _steps(self, pipeline: Any) -> Hashable:
        """Equal for pipelines with equal steps before the machine."""
        last, own = pipeline.steps[-1][0], pipeline.get_params()
        found = []
        for name in sorted(own):
            if name == "steps" or name.split("__")[0] == last:
                continue
            is_step = "__" not in name and isinstance(own[name], BaseEstimator)
            found.append((name, type(own[name]) if is_step else hashable(own[name])))
        return tuple(found)


def _stacked(A: Any, B: Any) -> Any:
    if sp.issparse(A):
        return sp.vstack([A, B], format="csr")
    return np.concatenate([np.asarray(A), np.asarray(B)])
