"""The support vector machines' solver: the compiled block decomposition, and the referee's word on what it found."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer import _core
from mercer.errors import InvalidParameter
from mercer.grams.base import Gram
from mercer.problems.certificate import Status
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
# solved by steps (unscaled columns, a huge C): what Newton's method makes of it has an honest status.
LONG_STEPS = 10_000_000
LONG_STEPS_EACH = 3_000
# How often a float32 solve is taken up again where the referee, in float64, still sees a violation above tol.
ROUNDS = 8
# Refused so often, steps go in circles: what float32 takes for solved is not. Newton's method, in float64, is next; at
# once where it has helped before, or steps have come to their end.
CIRCLES = 2
# Steps of two are given so much longer before they are left to Newton's method again, where it was of no use.
IMPATIENCE = 4.0
# How a move ends that another is to follow, and how one ends when f is not up to date.
ON = frozenset({"crawling", "advanced"})
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
    run = _Run(batch, gram, options, start, image)
    judged = partial(
        judge,
        kind,
        batch,
        tol=options.tol,
        assumptions=() if gram.proof is None else gram.proof.assumptions,
        diagonal=run.diagonal,
    )
    move = run.take_steps
    rounds = 0
    while True:
        ended = move()
        if ended in ON:
            move = run.take_newton if ended == "crawling" else run.take_steps
            continue
        if ended == "interrupted":
            run.watch.close()
            if options.keep_best:
                return _left(run, judged)
            raise KeyboardInterrupt
        rounds += 1
        run.refresh(is_cut_short=ended in CUT_SHORT)
        verdict = partial(judged, run.coef, run.f.values, stopped=run.is_stopped(ended), steps=run.steps)
        solution = verdict(kernel_evaluations=run.evaluations, seconds=run.seconds)
        is_last = solution.status.is_certified or run.is_stopped(ended) or rounds == ROUNDS
        if is_last and run.f.complete():
            solution = verdict(kernel_evaluations=run.evaluations, seconds=run.seconds)
        if is_last:
            break
        is_newtons = ended != "solved" or run.has_newton_helped or rounds >= CIRCLES
        move = run.take_newton if is_newtons else run.take_steps
    run.watch.close()
    return solution


def _left(run: "_Run", judged: Callable[..., MarginSolution]) -> MarginSolution:
    """What Ctrl-C leaves: the model at once, from the rows that it depends on; its certificate when it is asked for."""
    record = {"stopped": True, "steps": run.steps, "kernel_evaluations": run.evaluations, "seconds": run.seconds}

    def judge_all() -> MarginSolution:
        run.refresh(is_cut_short=True)
        return judged(run.coef, run.f.values, **record)

    if not run.f.refresh_free():
        return judge_all()
    # Of what else this verdict says nothing is true: it has seen the f of few rows.
    return replace(judged(run.coef, run.f.values, **record), status=Status.STOPPED).unjudged(judge_all)


@final
class _Run:
    """One solve: where it is, and the two ways on from there, which say how they ended.

    Parameters
    ----------
    batch, gram, options, start, image
        As `solve_margins` takes them.
    """

    def __init__(
        self, batch: Margins, gram: Gram, options: MarginOptions, start: Array | None, image: Array | None
    ) -> None:
        self._begun = time.perf_counter()
        self._batch, self._options = batch, options
        self.coef = np.array(batch.start if start is None else start, dtype=np.float64)
        cuts, uses = _geometry(batch)
        self._rows = int(cuts[-1])
        self._is_small = self._rows <= SMALL_ROWS
        # Opaque: what the core makes entries from. Many small problems over few rows want most of them.
        native: Any = gram.dense() if self._is_small and len(batch) > 1 else gram.native()
        self.diagonal = np.ascontiguousarray(gram.diag(), dtype=np.float64)
        self._finish = FINISHED if self._is_small else math.inf
        self.watch = Watch("smo", show=options.verbose > 0)
        self.steps = np.zeros(len(batch), dtype=np.int64)
        self._made = 0
        self._long = max(LONG_STEPS, LONG_STEPS_EACH * int(np.diff(batch.offsets).max()))
        self._limit = self._long if options.max_steps < 0 else min(options.max_steps, self._long)
        self._core = _core.MarginBatch(
            native,
            cuts=cuts,
            uses=uses,
            copies=batch.copies,
            linear=batch.linear,
            low=batch.low,
            high=batch.high,
            group=batch.group,
            width=batch.width,
            diagonal=self.diagonal,
        )
        self.f = MarginImage(self._core, batch, self.diagonal, self.coef, image)
        self._has_image = self.f.is_known
        self._newton = MarginNewton(batch, gram, native, self._core, options.cache_bytes)
        self._patience = 1.0
        self.has_newton_helped = False  # the last time

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self._begun

    @property
    def evaluations(self) -> int:
        """Of the kernel."""
        return self._made + self._newton.evaluations

    def is_stopped(self, ended: str) -> bool:
        """Whether it ended so by a limit of the user's."""
        return ended != "solved" and not (ended == "steps" and self._limit == self._long)

    def take_steps(self) -> str:
        """Steps of two variables, in the core."""
        left = self._seconds_left()
        outcome = self._core.solve(
            self.coef,
            self.f.values,
            has_image=self._has_image,
            single=not self._is_small,
            tol=AIM * self._options.tol,
            finish=self._finish,
            finish_steps=max(FINISHING_STEPS, LEAST_FINISHING_STEPS // self._rows),
            max_steps=max(self._limit - int(self.steps.max()), 0),
            cache_bytes=self._options.cache_bytes,
            patience=self._patience,
            crawl_free=self._newton.most_free,
            max_seconds=math.inf if left is None else max(left, 0.0),
            progress=_progress(self.watch, self._options.tol) if self._options.verbose else None,
        )
        self.steps += np.asarray(outcome.steps, dtype=np.int64)
        self._made += outcome.evaluations
        return outcome.ended

    def take_newton(self) -> str:
        """Newton's method on the free variables."""
        tol = AIM * min(self._options.tol, self._finish)
        try:
            helped = self._newton.advance(self.coef, self.f.values, tol, Watch("newton", self._seconds_left()))
        except KeyboardInterrupt:
            return "interrupted"
        self._has_image = True
        self.has_newton_helped = helped
        if not helped:
            self._patience *= IMPATIENCE
        return "advanced"

    def refresh(self, *, is_cut_short: bool) -> None:
        """Put K b in float64 where it counts."""
        self.f.refresh(trusted=not self._is_small and not is_cut_short)
        self._has_image = True

    def _seconds_left(self) -> float | None:
        return None if self._options.max_time is None else self._options.max_time - self.seconds


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
