"""`python -m benchmarks [suite] [part of a row's text]`: run suites, print their tables, keep the records."""

import importlib
import sys
from typing import Any

from benchmarks.harness import report
from benchmarks.harness.measuring import measure
from benchmarks.harness.rows import Row

SUITES = {"engine": "benchmarks.engine.engine", "ridge": "benchmarks.against.ridge"}


def run(suite: str, part: str) -> list[dict[str, Any]]:
    rows: tuple[Row, ...] = importlib.import_module(SUITES[suite]).ROWS
    records = []
    for row in rows:
        if part.lower() not in f"{row.work} {row.against}".lower():
            continue
        print(f"{suite}: {row.work} against {row.against} ...", file=sys.stderr, flush=True)
        records.append(measure(row))
        report.keep(suite, records[-1:])  # at once, so that a run broken off loses nothing
    return records


def main(arguments: list[str]) -> int:
    suite, part = (*arguments, "", "")[:2]
    if suite and suite not in SUITES:
        print(f"No suite {suite!r}; there are: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    failed = False
    for name in [suite] if suite else SUITES:
        records = run(name, part)
        print(report.table(records))
        failed |= any(side["status"] == "failed" for record in records for side in record["contestants"])
    report.write_page()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
