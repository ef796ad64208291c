"""Ctrl-C: whether it was pressed, also where a solver caught it and went on to its best answer so far."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import final

__all__ = ["Interruption", "watching"]


@final
class Interruption:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.came = False


@contextmanager
def watching() -> Iterator[Interruption]:
    """Note Ctrl-C, which raises KeyboardInterrupt as ever."""
    found = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield found  # signals arrive elsewhere
        return

    def note(number: int, frame: FrameType | None) -> None:
        found.came = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, before)
