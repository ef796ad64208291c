"""Fitting many machines of one kind on parts of the same rows, with work that they share."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from mercer.estimators._kernels import ASSUMED_NAMES, AUTO
from mercer.estimators._seats import Fitted, Rows
from mercer.grams.choose import sharable_rows
from mercer.kernels.kernel import Kernel
from mercer.points.base import Points

__all__ = ["Failed", "Outcome", "Shared", "row_numbers"]

Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True)
class Failed:
    """A machine that cannot be fitted on the rows of a split, and why."""

    error: Exception


Outcome = Fitted | Failed


class Shared(ABC):
    """Base: machines that differ in one penalty alone are fitted one after the other, each on all splits at once.

    Parameters
    ----------
    X, y, weight
        All rows, as the machine's `fit` takes them.
    splits : sequence of ndarray
        The numbers of the training rows of each split.
    machines : sequence of estimators
        All that will be asked for.
    """

    penalty: ClassVar[str]

    def __init__(self, X: Any, y: Any, weight: Any, splits: Sequence[Rows], machines: Sequence[Any]) -> None:
        self._X, self._y, self._weight, self._splits = X, y, weight, splits
        self._penalties: defaultdict[Hashable, set[float]] = defaultdict(set)
        for machine in machines:
            if self.serves(machine):
                self._penalties[self.key(machine)].add(float(getattr(machine, self.penalty)))
        self._current: Hashable = None
        self._coming: Iterator[tuple[float, Mapping[int, Outcome]]] = iter(())
        self._there: dict[float, Mapping[int, Outcome]] = {}

    @abstractmethod
    def serves(self, machine: Any) -> bool:
        """Whether this machine can be fitted together with others."""

    @abstractmethod
    def _fitted(self, machine: Any, penalties: Sequence[float]) -> Iterator[tuple[float, Mapping[int, Outcome]]]:
        """The machine with one penalty after the other, from the smallest on, on all splits."""

    def key(self, machine: Any) -> Hashable:
        """Equal for machines that differ in the penalty alone."""
        own = machine.get_params(deep=False)
        return tuple((name, _hashable(own[name])) for name in sorted(own) if name != self.penalty)

    def fit(self, machine: Any, split: int) -> Fitted:
        """The machine on the training rows of a split; raises what its own `fit` would raise."""
        key, penalty = self.key(machine), float(getattr(machine, self.penalty))
        if key != self._current:
            self._current, self._there = key, {}
            self._coming = self._fitted(machine, sorted(self._penalties[key]))
        while penalty not in self._there:
            found, outcomes = next(self._coming)
            self._there[found] = outcomes
        outcome = self._there[penalty][split]
        if isinstance(outcome, Failed):
            raise outcome.error
        return outcome

    def _is_shared_kernel(self, machine: Any, *, single: bool) -> bool:
        """Whether the kernel is a proved formula, and its matrix over all rows fits into memory."""
        spec = machine._spec  # noqa: SLF001 (what a machine shares, here and below)
        if spec.is_function or spec.is_precomputed:
            return False
        if isinstance(spec.kernel, Kernel) and spec.kernel.proof().assumptions:
            return False
        is_assumed = isinstance(spec.kernel, str) and spec.kernel in ASSUMED_NAMES
        return not is_assumed and _num_samples(self._X) <= sharable_rows(single=single)

    def _kernels(self, machine: Any, points: Points, weight: Array | None) -> dict[Kernel, list[int]]:
        """The kernel with numbers for its rules, which are those of the training rows, and the splits that have it."""
        spec = machine._spec  # noqa: SLF001
        is_rule = isinstance(spec.kernel, str) and (spec.kernel == AUTO or isinstance(spec.gamma, str))
        if not is_rule and not spec.build().unresolved:
            return {spec.build(): list(range(len(self._splits)))}
        found: dict[Kernel, list[int]] = {}
        for split, rows in enumerate(self._splits):
            some = points.take(rows)
            chosen = spec.proposed(some)
            if weight is not None and isinstance(chosen.kernel, str):
                chosen = chosen.on(some, weight[rows])
            found.setdefault(chosen.build().resolve(some), []).append(split)
        return found


def row_numbers(rows: Any, n: int) -> Rows:
    """The numbers of rows that a splitter gave as numbers, a mask or a slice."""
    return np.arange(n)[rows if isinstance(rows, slice) else np.asarray(rows)]


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return type(value), value
