"""One contestant in one process: reads commands from standard input, answers in lines of JSON.

Started by `measuring`; the first line is {"builder": "module:function", "parameters": {...}}. Then each line "run" is
one measured run; a line "touch" before it uses and frees as much memory as the run will need, so that the machine's
pages are there (a virtual machine gives them back within seconds); the line "finish" asks for accuracy and the facts.
"""

import ctypes
import gc
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
TOUCHED = 3 << 30
"""Bytes: more than any contestant may keep (2000 MB of kernel entries) and its data."""
SPARE = 64 << 20
"""Bytes beyond those that a run was seen to need."""


def resident(field: str) -> int:
    """Return VmRSS or VmHWM in bytes; where there is no /proc, the largest size so far."""
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def settle() -> int:
    """Give free memory back to the system, forget the peak, and return what is resident now."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    if CLEAR.exists():
        CLEAR.write_text("5")
    return resident("VmRSS")


def main() -> None:
    # The answers keep standard output for themselves; what a peer prints, from Python or not, goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**values: Any) -> None:
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    order = json.loads(sys.stdin.readline())
    module, _, function = order["builder"].partition(":")
    task = getattr(importlib.import_module(module), function)(**order["parameters"])
    answer(ready=True, source=task.source)
    growth = 0
    result: Any = None
    for command in sys.stdin:
        if command.strip() == "finish":
            error = None if task.error is None else float(task.error(result))
            answer(error=error, facts={} if task.facts is None else task.facts(result))
            return
        if command.strip() == "touch":
            result = None
            np.ones((min(TOUCHED, SPARE + growth) if growth else TOUCHED) // 8)
            answer(touched=True)
            continue
        before = settle()
        start = time.perf_counter()
        result = task.run()
        seconds = time.perf_counter() - start
        growth = max(growth, resident("VmHWM") - before)
        answer(seconds=seconds, growth_bytes=growth, allowance_bytes=task.allowance)


if __name__ == "__main__":
    main()
