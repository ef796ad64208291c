"""Cases in a process of their own, so that one which crashes or hangs is a finding and not the end."""

import multiprocessing
from multiprocessing.connection import Connection

from tests.fuzz.case import Outcome
from tests.fuzz.machines import tried

# Of seconds; the slowest case takes about one. It ends a hang, and judges nothing else.
PATIENCE = 120.0


def serve(pipe: Connection) -> None:
    """Try the cases that are asked for, until there are no more."""
    while True:
        try:
            asked = pipe.recv()
        except EOFError:
            return
        pipe.send(tried(*asked))


class Apart:
    """A process that tries cases; another takes its place when it dies."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, theirs = self._context.Pipe()
        self._process = self._context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def tried(self, name: str, seed: int, number: int) -> Outcome:
        """How a case ends."""
        self._pipe.send((name, seed, number))
        try:
            if self._pipe.poll(PATIENCE):
                found: Outcome = self._pipe.recv()
                return found
            word, said = "hang", f"no end after {PATIENCE:.0f} s"
        except EOFError:
            self._process.join()
            word, said = "crash", f"the process ended with code {self._process.exitcode}"
        self.close()
        self._start()
        return Outcome(word, (said,))

    def close(self) -> None:
        """End it."""
        self._pipe.close()
        self._process.kill()
        self._process.join()
