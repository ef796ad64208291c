"""Random problems for every machine, against references that know nothing of its solver.

    python -m tests.fuzz --minutes 10 --seed 3 --only svc,ridge

Case k of a machine and a seed is always the same. What goes wrong is written to build/fuzz: a line in failures.txt, and
a script that shows it.
"""

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from itertools import count
from pathlib import Path

from tests.fuzz.apart import Apart
from tests.fuzz.case import Outcome
from tests.fuzz.machines import MACHINES, drawn

FOLDER = Path("build/fuzz")
EVERY_SECONDS = 10.0
# Scripts of failures that read alike, up to their numbers.
SCRIPTS = 3


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    words: dict[str, Counter[str]] = {name: Counter() for name in options.only}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    begun = drawn_at = time.monotonic()
    # Hostile input may corrupt memory: it is not to be other machines' crash.
    apart: dict[bool, Apart] = defaultdict(Apart)
    with (FOLDER / "failures.txt").open("w") as failures:
        for number, name in ((number, name) for number in count(options.first) for name in options.only):
            now = time.monotonic()
            if now - begun >= 60.0 * options.minutes or number - options.first >= options.count:
                break
            found = apart[name == "hostile"].tried(name, options.seed, number)
            words[name][found.word] += 1
            for complaint in found.complaints:
                line = f"--only {name} --seed {options.seed} --first {number} --count 1: {complaint}"
                print(line, file=failures, flush=True)
                kind = alike[name, without_numbers(complaint)]
                kind.append(line)
                if len(kind) <= SCRIPTS:
                    write_script(name, options.seed, number, found)
            if now - drawn_at >= EVERY_SECONDS:
                drawn_at = now
                complaints = sum(map(len, alike.values()))
                print(f"{now - begun:6.0f} s  case {number} of each machine, {complaints} complaints", flush=True)
    for process in apart.values():
        process.close()
    summarise(words, alike)
    return 1 if alike else 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of all cases")
    parser.add_argument("--count", type=int, default=sys.maxsize, help="most cases for each machine")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--minutes", type=float, default=5.0, help="when to end")
    parser.add_argument("--only", default=",".join(MACHINES), help="machines: " + ", ".join(MACHINES))
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    unknown = sorted(set(options.only) - set(MACHINES))
    if unknown:
        parser.error(f"there is no machine {unknown[0]!r}; there are {', '.join(MACHINES)}")
    return options


def without_numbers(complaint: str) -> str:
    return re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "#", complaint)[:100]


def write_script(name: str, seed: int, number: int, found: Outcome) -> None:
    lines = [f"# {complaint}" for complaint in found.complaints]
    lines.append(f"# python -m tests.fuzz --only {name} --seed {seed} --first {number} --count 1")
    text = drawn(name, seed, number).script(name, seed, number)
    (FOLDER / f"{name}-{seed}-{number}.py").write_text("\n".join([*lines, "", text]))


def summarise(words: dict[str, Counter[str]], alike: dict[tuple[str, str], list[str]]) -> None:
    for name, counted in words.items():
        print(f"{name:17}", ", ".join(f"{number} {word}" for word, number in counted.most_common()) or "nothing")
    for lines in sorted(alike.values(), key=len, reverse=True):
        print(f"{len(lines):5} × {lines[0]}" if len(lines) > 1 else f"        {lines[0]}")
    print(f"{sum(map(len, alike.values()))} complaints", f"in {FOLDER}" if alike else "")


if __name__ == "__main__":
    sys.exit(main())
