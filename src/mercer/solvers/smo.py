"""The support vector machines' solver: the compiled block decomposition, and the referee's word on what it found."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.errors import InvalidParameter
from mercer.grams.base import Gram
from mercer.problems.margin_referee import MarginSolution, judge
from mercer.problems.margins import Margins
from mercer.solvers.margin_image import MarginImage
from mercer.solvers.margin_newton import MarginNewton
from mercer.solvers.watch import Watch

__all__ = ["MarginOptions", "solve_margins"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# Up to so many rows entries are float64 and problems are finished to this violation, whatever tol asks for: decisions
# then do not depend on the order of the rows, on weights in place of copies, or on the starting point.
SMALL_ROWS = 2_000
FINISHED = 1e-10
# Steps that finishing may take for each variable, beyond those to tol; in all, at least so many.
FINISHING_STEPS = 200
LEAST_FINISHING_STEPS = 200_000
# A problem that has taken more steps than this, and than so many for each variable, is beyond what rounding lets be
# solved (unscaled columns, a huge C): it is left with an honest status.
LONG_STEPS = 10_000_000
LONG_STEPS_EACH = 3_000
# How often a float32 solve is taken up again where the referee, in float64, still sees a violation above tol.
ROUNDS = 8
# Steps of two are given so much longer before they are left to Newton's method again, where it was of no use.
IMPATIENCE = 4.0
# How the solver ends when f is not up to date.
CUT_SHORT = frozenset({"time", "interrupted"})
# The solver aims a little below tol, since it is the referee's float64 that must be content.
AIM = 0.95


@final
@dataclass(frozen=True)
class MarginOptions:
    """The wishes common to all support vector machines.

    Parameters
    ----------
    tol : float
        Violation of the conditions of optimality at which a problem counts as solved.
    max_steps : int
        Steps of two variables after which a problem is left as it is; none below 0.
    max_time : float, optional
        Seconds after which the solver stops with the best it has.
    cache_bytes : int
        Memory for kernel entries that are kept.
    verbose : int
        1 draws a bar with the gap and the violation on solves longer than a second.
    keep_best : bool
        Whether Ctrl-C leaves the best so far instead of raising KeyboardInterrupt.
    """

    tol: float = 1e-3
    max_steps: int = -1
    max_time: float | None = None
    cache_bytes: int = 200 << 20
    verbose: int = 0
    keep_best: bool = False

    def __post_init__(self) -> None:
        if not self.tol > 0.0:
            raise InvalidParameter("tol must be a number above 0.", f"Got {self.tol!r}.")
        if self.max_time is not None and not self.max_time > 0.0:
            raise InvalidParameter("max_time must be a number of seconds above 0, or None.", f"Got {self.max_time!r}.")


def solve_margins(
    kind: str,
    batch: Margins,
    gram: Gram,
    options: MarginOptions,
    start: Array | None = None,
    image: Array | None = None,
) -> MarginSolution:
    """Solve a batch and have it judged; go on where the referee is not content.

    Parameters
    ----------
    kind : str
        A row of `mercer.problems.margins.KINDS`.
    batch : Margins
        The problems.
    gram : Gram
        K; its entries are made as they are needed, unless it is stored.
    options : MarginOptions
        Tolerance and budgets.
    start : ndarray of shape (N,), optional
        Where to begin instead of at `batch.start`: in the box, and with the same sums.
    image : ndarray of shape (M,), optional
        K times `start` on the rows of each problem, where it is known.
    """
    begun = time.perf_counter()
    coef = np.array(batch.start if start is None else start, dtype=np.float64)
    cuts, uses = _geometry(batch)
    is_small = cuts[-1] <= SMALL_ROWS
    # Opaque: what the core makes entries from. Many small problems over few rows want most of them.
    native: Any = gram.dense() if is_small and len(batch) > 1 else gram.native()
    diagonal = np.ascontiguousarray(gram.diag(), dtype=np.float64)
    finish = FINISHED if is_small else math.inf
    watch = Watch("smo", show=options.verbose > 0)
    steps = np.zeros(len(batch), dtype=np.int64)
    evaluations = 0
    long = max(LONG_STEPS, LONG_STEPS_EACH * int(np.diff(batch.offsets).max()))
    limit = long if options.max_steps < 0 else min(options.max_steps, long)
    f = MarginImage(native, cuts, uses, batch, diagonal, coef, image)
    has_image = f.is_known
    newton = MarginNewton(batch, gram, native, cuts, uses, options.cache_bytes)
    patience = 1.0
    round_ = 0
    while True:
        left = None if options.max_time is None else options.max_time - (time.perf_counter() - begun)
        taken, made, ended = _core.solve_margins(
            native,
            cuts,
            uses,
            batch.copies,
            batch.linear,
            batch.low,
            batch.high,
            batch.group,
            batch.width,
            diagonal,
            coef,
            f.values,
            has_image,
            single=not is_small,
            tol=AIM * options.tol,
            finish=finish,
            finish_steps=max(FINISHING_STEPS, LEAST_FINISHING_STEPS // int(cuts[-1])),
            max_steps=max(limit - int(steps.max()), 0),
            cache_bytes=options.cache_bytes,
            patience=patience,
            crawl_free=newton.most_free,
            max_seconds=math.inf if left is None else max(left, 0.0),
            progress=_progress(watch, options.tol) if options.verbose else None,
        )
        steps += np.asarray(taken, dtype=np.int64)
        evaluations += made
        if ended == "crawling":
            try:
                helped = newton.advance(coef, f.values, AIM * min(options.tol, finish), Watch("newton", left))
            except KeyboardInterrupt:
                ended = "interrupted"
            else:
                has_image = True
                patience *= 1.0 if helped else IMPATIENCE
                continue
        if ended == "interrupted" and not options.keep_best:
            watch.close()
            raise KeyboardInterrupt
        round_ += 1
        f.refresh(trusted=not is_small and ended not in CUT_SHORT)
        has_image = True
        verdict = partial(
            judge,
            kind,
            batch,
            coef,
            f.values,
            steps=steps,
            kernel_evaluations=evaluations + newton.evaluations,
            tol=options.tol,
            stopped=ended != "solved" and not (ended == "steps" and limit == long),
            assumptions=() if gram.proof is None else gram.proof.assumptions,
            diagonal=diagonal,
        )
        solution = verdict(seconds=time.perf_counter() - begun)
        is_last = solution.status.is_certified or ended != "solved" or round_ == ROUNDS
        if is_last and f.complete():
            solution = verdict(seconds=time.perf_counter() - begun)
        if is_last:
            break
    watch.close()
    return solution


def _geometry(batch: Margins) -> tuple[Index, Index]:
    """The ranges of rows and those that each problem uses; one range where every problem uses all rows in order."""
    cuts, uses = np.ascontiguousarray(batch.cuts), np.ascontiguousarray(batch.uses)
    everything = np.arange(len(cuts) - 1)
    if uses.shape[1] == len(everything) and bool((uses == everything).all()):
        return cuts[[0, -1]], np.zeros((len(uses), 1), dtype=np.int64)
    return cuts, uses


def _progress(watch: Watch, tol: float) -> Callable[[float, float, float], None]:
    """Draws the gap, and how far the violation has come from where it was first seen, on a logarithmic scale."""
    first = [math.nan]

    def look(violation: float, gap: float, seconds: float) -> None:  # noqa: ARG001 (the solver's own clock)
        if not math.isfinite(violation):
            return
        if math.isnan(first[0]):
            first[0] = max(violation, tol * math.e)
        share = math.log(first[0] / max(violation, tol)) / math.log(first[0] / tol)
        watch.look(share, f"gap {gap:.2g}, violation {violation:.2g}")

    return look
