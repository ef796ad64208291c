"""The support vector machines' solver: the compiled block decomposition, and the referee's word on what it found."""

import math
import time
from collections.abc import Callable
from typing import final

import numpy as np
import numpy.typing as npt

from mercer.errors import InvalidParameter
from mercer.grams.base import Gram
from mercer.grams.batched import native_batch
from mercer.grams.dense import DenseGram
from mercer.problems.margins import MarginProblem, MarginSolution, Promise, Record, Referee
from mercer.problems.margins.gaps import Findings
from mercer.solvers.margin_newton import MarginNewton
from mercer.solvers.options import Options
from mercer.solvers.watch import Watch

__all__ = ["memory_of_smo", "smo", "steps_alone"]

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Up to so many rows entries are float64 and problems are finished to this violation, whatever tol asks for: decisions
# then do not depend on the order of the rows, on weights in place of copies, or on the starting point.
SMALL_ROWS = 400
# Up to so many, to compute all of f anew takes the referee less time than to find out which rows need it.
FEW_ROWS = 2_000
FINISHED = 1e-10
# Steps that finishing may take for each variable, beyond those to tol; in all, at least so many.
FINISHING_STEPS = 200
LEAST_FINISHING_STEPS = 200_000
# A problem that has taken more steps than this, and than so many for each variable, is beyond what rounding lets be
# solved by steps (unscaled columns, a huge C): what Newton's method makes of it has an honest status.
LONG_STEPS = 10_000_000
LONG_STEPS_EACH = 3_000
# How often a solve is taken up again where the referee sees a violation above what was aimed at, or a gap too large.
ROUNDS = 12
# Refused so often, steps go in circles: what float32 takes for solved is not. Newton's method, in float64, is next; at
# once where it has helped before, or steps have come to their end. Refused once more, steps are in float64 as well.
CIRCLES = 2
# Steps of two are given so much longer before they are left to Newton's method again, where it was of no use.
IMPATIENCE = 4.0
# How a move ends that another is to follow, and how one ends when f is not up to date.
ON = frozenset({"crawling", "advanced"})
CUT_SHORT = frozenset({"time", "interrupted"})
# The solver aims a little below tol, since it is the referee's float64 that must be content.
AIM = 0.95
# A gap falls at least as the violation does, so one that is too large is followed by an aim at this share of what would
# then do, but never at once at less than this share of the violation: it often falls much faster.
ENOUGH = 0.7
STEEPEST = 0.02
# What rounding of f makes of a violation, in units of the size of its terms: below that nothing is to be had.
STALLED = 16.0


def smo(problem: MarginProblem, options: Options) -> MarginSolution:
    """Solve a batch and have it judged; go on where the referee is not content.

    Parameters
    ----------
    problem : MarginProblem
        What is minimised.
    options : Options
        Tolerances and budgets.
    """
    run = _Run(problem, options)
    referee = Referee(run.problem, Promise(options.tol, options.gap), run.coef, run.f)
    move = run.take_steps
    rounds = circles = 0
    before: Array | None = None
    while True:
        ended = move()
        if ended in ON:
            move = run.take_newton if ended == "crawling" else run.take_steps
            continue
        if ended == "interrupted":
            run.watch.close()
            if options.keep_best:
                return referee.judge_later(run.record(stopped=True))
            raise KeyboardInterrupt
        rounds += 1
        found = referee.look(trusted=run.is_followed and ended not in CUT_SHORT)
        is_stopped = run.is_stopped(ended)
        is_missed = run.aim_at(found)
        is_stuck = run.has_tried_newton and before is not None and np.array_equal(before, found.violations)
        if is_stopped or is_stuck or rounds == ROUNDS or not run.pending.size:
            break
        before = found.violations
        circles += is_missed
        run.is_single = run.is_single and circles <= CIRCLES
        is_newtons = is_missed and (ended != "solved" or run.has_newton_helped or circles >= CIRCLES)
        move = run.take_newton if is_newtons else run.take_steps
    run.watch.close()
    return referee.judge(run.record(stopped=is_stopped))


def steps_alone(problem: MarginProblem, options: Options) -> tuple[Array, Array, bool] | None:
    """The coefficients and f = Kα of a batch over a stored K after steps of two, and whether these have solved it.

    No referee looks at them: K is in memory, every step adds its rows to f in float64, and the steps have not ended
    before the violation that this f shows was below tol. None for few rows, which `smo` finishes.
    """
    run = _Run(problem, options)
    if run.is_small or not problem.gram.is_stored:
        return None
    ended = run.take_steps()
    if ended == "interrupted":
        raise KeyboardInterrupt
    return run.coef, run.f, ended == "solved"


def memory_of_smo(problem: MarginProblem) -> int:
    """Bytes for kernel entries that are kept: all of few rows in float64, of more as far as the usual cache goes."""
    n = int(problem.batch.cuts[-1])
    return 8 * n**2 if n <= SMALL_ROWS else min(4 * n**2, Options().cache_bytes)


@final
class _Run:
    """One solve: where it is, and the two ways on from there, which say how they ended.

    Parameters
    ----------
    problem, options
        As `smo` takes them.
    """

    def __init__(self, problem: MarginProblem, options: Options) -> None:
        self._begun = time.perf_counter()
        batch = problem.batch
        self._batch, self._options = batch, options
        self.coef = np.array(batch.start if problem.start is None else problem.start, dtype=np.float64)
        self._has_f = problem.f is not None or not self.coef.any()
        rows = int(batch.row_offsets[-1])
        self.f = np.zeros(rows) if problem.f is None else np.array(problem.f, dtype=np.float64)
        n = int(batch.cuts[-1])
        self.is_small = n <= SMALL_ROWS
        self.is_single = not self.is_small
        self._is_few = n <= FEW_ROWS
        gram: Gram = problem.gram
        if self.is_small and len(batch) > 1:  # many small problems over few rows want most of the entries
            gram = DenseGram(np.ascontiguousarray(gram.dense()), gram.proof)
        self.problem = MarginProblem(gram, problem.kind, batch)
        self._diagonal = np.ascontiguousarray(gram.diag(), dtype=np.float64)
        reach = float(np.abs(batch.start).sum()) * float(self._diagonal.max(initial=0.0))
        if not math.isfinite(reach * reach):
            raise InvalidParameter(
                "The costs are too large: their sum, times k(x, x), has no square.",
                f"These come to {reach:.3g}.",
                "Divide C, or the sample weights, by a constant.",
            )
        # Sums that are fixed say beforehand how f will round, where costs are very large.
        self._least_aim = float(np.finfo(np.float64).eps) * reach
        self.watch = Watch("smo", show=options.verbose > 0)
        self._finish = FINISHED if self.is_small else math.inf
        self._finish_steps = max(FINISHING_STEPS, LEAST_FINISHING_STEPS // n)
        self._steps = np.zeros(len(batch), dtype=np.int64)
        self._made = 0
        self._long = max(LONG_STEPS, LONG_STEPS_EACH * int(np.diff(batch.offsets).max()))
        self._limit = self._long if options.max_iter is None else min(options.max_iter, self._long)
        self._newton = MarginNewton(batch, gram, options.cache_bytes)
        self._patience = 1.0
        self.has_tried_newton = False
        self.has_newton_helped = False  # the last time
        self.pending = np.arange(len(batch))  # the problems that are not solved yet,
        self._aims = np.full(len(batch), options.tol)  # and the violation that each is to have

    @property
    def is_followed(self) -> bool:
        """Whether the referee is to take f from the steps, in float32, where nothing depends on it."""
        return self.is_single and not self._is_few

    def record(self, *, stopped: bool) -> Record:
        """What the certificate is to say of the work."""
        made = self._made + self._newton.evaluations
        return Record(self._steps, made, time.perf_counter() - self._begun, stopped)

    def is_stopped(self, ended: str) -> bool:
        """Whether it ended so by a limit of the user's."""
        return ended != "solved" and not (ended == "steps" and self._limit == self._long)

    def aim_at(self, found: Findings) -> bool:
        """Choose the problems to go on with, and their violations; returns whether the last aim of one was missed."""
        tol, gap = self._options.tol, self._options.gap
        is_open = ~found.is_closed(gap) & found.has_margin
        can_fall = found.violations > STALLED * found.solvable
        is_missed = can_fall & (found.violations > self._aims) & (is_open | (found.violations > tol))
        ratio = np.divide(ENOUGH * gap, found.relative_gaps, out=np.ones(len(is_open)), where=is_open)
        closer = np.maximum(found.violations * np.maximum(ratio, STEEPEST), found.solvable)
        is_tightened = is_open & ~is_missed & (closer < found.violations)
        self._aims[is_tightened] = np.minimum(self._aims, closer)[is_tightened]
        self.pending = np.flatnonzero(is_missed | is_tightened)
        return bool(is_missed.any())

    def take_steps(self) -> str:
        """Steps of two variables, in the core."""
        self._has_f, has_f = True, self._has_f
        if len(self.pending) == len(self._batch):
            return self._take_steps(self.problem, self.coef, self.f, has_f)
        part, variables, rows = self._batch.take(self.pending)
        coef, f = self.coef[variables], self.f[rows]
        try:
            return self._take_steps(MarginProblem(self.problem.gram, self.problem.kind, part), coef, f, has_f)
        finally:
            self.coef[variables], self.f[rows] = coef, f

    def _take_steps(self, problem: MarginProblem, coef: Array, f: Array, has_f: bool) -> str:
        batch, options = problem.batch, self._options
        aim = max(AIM * float(self._aims[self.pending].min()), self._least_aim)
        left = self._seconds_left()
        outcome = native_batch(problem.gram, batch.geometry, batch.copies).solve(
            coef,
            f,
            linear=batch.linear,
            low=batch.low,
            high=batch.high,
            group=batch.group,
            width=batch.width,
            diagonal=self._diagonal,
            has_f=has_f,
            single=self.is_single,
            tol=aim,
            finish=max(self._finish, self._least_aim),
            finish_steps=self._finish_steps,
            max_steps=max(self._limit - int(self._steps.max()), 0),
            cache_bytes=options.cache_bytes,
            patience=self._patience,
            crawl_free=self._newton.most_free,
            gap=options.gap,
            max_seconds=math.inf if left is None else max(left, 0.0),
            progress=_progress(self.watch, aim) if options.verbose else None,
        )
        self._steps[self.pending] += np.asarray(outcome.steps, dtype=np.int64)
        self._made += outcome.evaluations
        return outcome.ended

    def take_newton(self) -> str:
        """Newton's method on the free variables."""
        aims = np.full(len(self._batch), math.inf)
        aims[self.pending] = AIM * np.minimum(self._aims[self.pending], self._finish)
        try:
            helped = self._newton.advance(self.coef, self.f, aims, Watch("newton", self._seconds_left()))
        except KeyboardInterrupt:
            return "interrupted"
        self.has_tried_newton, self.has_newton_helped = True, helped
        if not helped:
            self._patience *= IMPATIENCE
        return "advanced"

    def _seconds_left(self) -> float | None:
        most = self._options.max_time
        return None if most is None else most - (time.perf_counter() - self._begun)


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
