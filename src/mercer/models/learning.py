"""The parameters of a formula by gradient: a search for those at which a criterion of ridge regression is least."""

import warnings
from typing import final

import numpy as np
import numpy.typing as npt
import scipy.optimize

from mercer.errors import MercerError, UncertifiedWarning
from mercer.kernels.binding import evaluate
from mercer.kernels.gradient import slopes
from mercer.kernels.kernel import Kernel
from mercer.kernels.learnable import Learnable
from mercer.points.base import Points
from mercer.solvers.criteria import CRITERIA, Sample
from mercer.solvers.watch import Watch

__all__ = ["Search"]

Array = npt.NDArray[np.float64]

# How far a parameter may move from where it starts.
REACH = 1e4
# The factors of all length scales with which the second start and the third begin; those of others are drawn.
WIDER, NARROWER = 3.0, 1.0 / 3.0
# Factors of the whole kernel that are tried before the first step.
LEVELS = tuple(10.0**power for power in range(-2, 5))
# A criterion that changes by less is as good: it is a logarithm.
CHANGE = 1e-9


class _Over(Exception):
    """The search ends with the best so far."""


@final
class Search:
    """L-BFGS in the logarithms of the parameters, from some starts.

    Parameters
    ----------
    learnable : Learnable
    points : Points
    sample : Sample
    by : str
        A criterion.
    watch : Watch
    """

    def __init__(self, learnable: Learnable, points: Points, sample: Sample, by: str, watch: Watch) -> None:
        self._learnable, self._points, self._sample, self._watch = learnable, points, sample, watch
        self._criterion = CRITERIA[by]
        self._failed: MercerError | None = None
        self._best: tuple[float, Array] = (np.inf, np.log(learnable.values))
        self._done = self._of = 0

    def run(self, starts: int, max_iter: int, rng: np.random.RandomState) -> Kernel:
        """The best formula that was found."""
        self._of = starts * max_iter
        try:
            for number in range(starts):
                self._done = number * max_iter
                self._descend(self._start(number, rng), max_iter)
            is_whole = True
        except (_Over, KeyboardInterrupt):
            if not np.isfinite(self._best[0]):
                raise
            is_whole = False
        finally:
            self._watch.close()
        value, logs = self._best
        if self._failed is not None and not np.isfinite(value):
            raise self._failed
        if not is_whole:
            message = "learn was ended before its time: the kernel is the best so far."
            warnings.warn(UncertifiedWarning(message), stacklevel=3)
        return self._learnable.rounded(np.exp(logs))

    def _start(self, number: int, rng: np.random.RandomState) -> Array:
        """The logarithms of a start: as given, all lengths wider, all narrower, or drawn."""
        logs = np.log(self._learnable.values)
        if number in (1, 2):
            logs[self._learnable.are("length_scale")] += np.log((WIDER, NARROWER)[number - 1])
        elif number > 2:
            logs += rng.normal(size=len(logs))
        # Apart from each other, so that equal terms of a sum can part.
        logs += 1e-3 * rng.uniform(-1.0, 1.0, size=len(logs))
        scales = self._learnable.are("scale")
        if scales.any():
            tried = [(self._value(logs + np.log(level) * scales), level) for level in LEVELS]
            logs[scales] += np.log(min(tried)[1])
        return np.asarray(logs)

    def _descend(self, start: Array, max_iter: int) -> None:
        bounds = [(log - np.log(REACH), log + np.log(REACH)) for log in start]
        scipy.optimize.minimize(
            self._rated, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=self._look,
            options={"maxiter": max_iter, "ftol": CHANGE, "gtol": 1e-7},
        )  # fmt: skip

    def _look(self, _: Array) -> None:
        self._done += 1
        if self._watch.look(self._done / self._of, f"criterion {self._best[0]:.6g}"):
            raise _Over

    def _matrix(self, logs: Array) -> Array:
        kernel = self._learnable.kernel_of(np.exp(logs))
        return np.asarray(evaluate(kernel, self._points), dtype=np.float64)

    def _value(self, logs: Array) -> float:
        try:
            return self._kept(logs, self._criterion(self._matrix(logs), self._sample).value)
        except MercerError as error:
            self._failed = error
            return np.inf

    def _rated(self, logs: Array) -> tuple[float, Array]:
        """The criterion and its gradient; a formula that cannot be computed there is worse than any other."""
        values = np.exp(logs)
        try:
            rated = self._criterion(self._matrix(logs), self._sample)
        except MercerError as error:
            self._failed = error
            return 1e10, np.zeros(len(logs))
        self._kept(logs, rated.value)
        moves = [self._learnable.moved(values, number) for number in range(len(values))]
        return rated.value, slopes(moves, self._points, rated.slope)

    def _kept(self, logs: Array, value: float) -> float:
        if np.isfinite(value) and value < self._best[0]:
            self._best = (value, logs.copy())
        return value
