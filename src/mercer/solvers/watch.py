"""The clock of a solve: when to stop, and what to show meanwhile."""

import sys
import time
from collections.abc import Callable
from typing import final

__all__ = ["Watch"]

# Nothing is drawn before a solve has lasted this long, nor more often than this.
FIRST_SECONDS = 1.0
BETWEEN_SECONDS = 0.1
WIDTH = 30
# The share from which on what is done says something about what is left.
LEAST_SHARE = 0.05


@final
class Watch:
    """Times a solve and draws its progress bar on standard error.

    Parameters
    ----------
    label : str
        The label of the progress bar.
    max_time : float, optional
        Seconds after which `is_over`.
    show : bool
        Whether there is a bar.
    keeps_best : bool
        Whether Ctrl-C ends the solve with the best so far, as max_time does, where a solver has one.
    clock : callable () -> float
        What the seconds are counted by.
    """

    def __init__(
        self,
        label: str,
        max_time: float | None = None,
        *,
        show: bool = False,
        keeps_best: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._label = label
        self._max_time = max_time
        self._show = show
        self._keeps_best = keeps_best
        self._is_interrupted = False
        self._clock = clock
        self._start = self._drawn = clock()
        self._has_drawn = False

    @property
    def seconds(self) -> float:
        """Since the start."""
        return self._clock() - self._start

    @property
    def is_over(self) -> bool:
        """Whether max_time has passed, or Ctrl-C has ended the solve."""
        return self._is_interrupted or (self._max_time is not None and self.seconds >= self._max_time)

    def interrupt(self) -> None:
        """Be over, after a solver has caught Ctrl-C; raise it again where the best so far is not to be kept."""
        if not self._keeps_best:
            raise  # noqa: PLE0704 (what the solver has caught)
        self._is_interrupted = True

    def look(self, share: float, measure: str = "") -> bool:
        """Report the share (0 to 1) of the work that is done; returns `is_over`. Call it between steps."""
        now = self._clock()
        if self._show and now - self._start >= FIRST_SECONDS and now - self._drawn >= BETWEEN_SECONDS:
            self._drawn = now
            self._draw(share, measure)
        return self.is_over

    def close(self) -> None:
        """End the line of the progress bar."""
        if self._has_drawn:
            print(file=sys.stderr, flush=True)
            self._has_drawn = False

    def _draw(self, share: float, measure: str) -> None:
        share = min(max(share, 0.0), 1.0)
        filled = round(share * WIDTH)
        bar = "█" * filled + "░" * (WIDTH - filled)
        left = f", {self.seconds * (1.0 - share) / share:.0f} s left" if share >= LEAST_SHARE else ""
        line = f"{self._label} {bar} {share:4.0%}  {self.seconds:.0f} s{left}  {measure}"
        print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)
        self._has_drawn = True
