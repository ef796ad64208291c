"""`python -m benchmarks [--mercer] [suite] [part of a row's text]`: run suites, print their tables, keep the records.

With --mercer, only mercer runs, beside the peers' times of an earlier run where they were measured on this machine.
"""

import importlib
import sys
from typing import Any

from benchmarks.harness import report
from benchmarks.harness.measuring import measure
from benchmarks.harness.rows import Row

SUITES = {
    "engine": "benchmarks.engine.engine", "ridge": "benchmarks.against.ridge", "svm": "benchmarks.against.svm",
    "small": "benchmarks.against.small",
    "logistic": "benchmarks.against.logistic", "neighbours": "benchmarks.against.neighbours",
    "choosing": "benchmarks.against.choosing", "scale": "benchmarks.against.scale",
    "smoothing": "benchmarks.against.smoothing", "objects": "benchmarks.against.objects",
}  # fmt: skip
MERCER_ONLY = "--mercer"


def nothing(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a suite makes of its records that has no rows over rows."""
    return records[:0]


def chosen(part: str, work: str, against: str) -> bool:
    return part.lower() in f"{work} {against}".lower()


def run(suite: str, part: str, mercer_only: bool) -> list[dict[str, Any]]:
    module = importlib.import_module(SUITES[suite])
    rows: tuple[Row, ...] = module.ROWS
    known = {(row["work"], row["against"]): row for row in report.stored(suite)} if mercer_only else {}
    records = []
    for row in rows:
        if not chosen(part, row.work, row.against):
            continue
        print(f"{suite}: {row.work} against {row.against} ...", file=sys.stderr, flush=True)
        records.append(measure(row, known.get((row.work, row.against))))
        report.keep(suite, records[-1:])  # at once, so that a run broken off loses nothing
    derived = getattr(module, "derived", nothing)(report.stored(suite))
    if derived:
        report.keep(suite, derived, at_end=True)
    own = {(row.work, row.against) for row in rows} | {(row["work"], row["against"]) for row in derived}
    report.forget(suite, own)
    over_many = [row for row in derived if not row["contestants"] or chosen(part, row["work"], row["against"])]
    return records + over_many


def main(arguments: list[str]) -> int:
    mercer_only = MERCER_ONLY in arguments
    suite, part = (*(argument for argument in arguments if argument != MERCER_ONLY), "", "")[:2]
    if suite and suite not in SUITES:
        print(f"No suite {suite!r}; there are: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    failed = False
    for name in [suite] if suite else SUITES:
        records = run(name, part, mercer_only)
        print(report.table(records))
        failed |= any(side["status"] == "failed" for record in records for side in record["contestants"])
    report.write_page()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
