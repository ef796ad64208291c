"""Rows made from other rows: a time that was measured on the way, and the median or the least of many ratios."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.harness.measuring import judge
from benchmarks.harness.rows import Row

Record = dict[str, Any]
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"median": statistics.median, "least": min}


def projected(record: Record, work: str, fact: str) -> Record:
    """Return the row of another time of the same contestants, which stands among their facts."""

    def side(contestant: Record) -> Record:
        kept: Record = {key: contestant[key] for key in ("name", "source", "stored") if key in contestant}
        seconds = contestant.get("facts", {}).get(fact)
        if seconds is None:
            status = contestant["status"] if contestant["status"] in ("failed", "absent") else "not run"
            return {**kept, "status": status, "reason": contestant.get("reason", "")}
        return {**kept, "status": "measured", "seconds": seconds, "rate": 1.0 / seconds}

    sides = [side(contestant) for contestant in record["contestants"]]
    return {**record, **judge(Row(work, record["against"], ()), sides), "contestants": sides}


def overall(work: str, statistic: str, at_least: float, records: Sequence[Record], expected: int) -> Record:
    """Return the row of one statistic over the ratios of others; it is reached only where none of them is missing."""
    known = [record for record in records if record["ratio"] is not None]
    ratio = STATISTICS[statistic]([record["ratio"] for record in known]) if known else None
    row = Row(f"{work}: the {statistic}", "the best of them on each", (), at_least)
    missing = [{"name": "mercer", "status": "not run"}]  # there is no contestant of its own
    return {
        **(records[0] if records else {}), **judge(row, missing), "contestants": [], "ratio": ratio,
        "best": f"{len(known)} of {expected} rows",
        # Where some ratios are lower bounds, so is any median and any minimum of them.
        "more_than": any(record["more_than"] for record in known),
        "reached": ratio is not None and ratio >= at_least and len(known) == expected,
    }  # fmt: skip
