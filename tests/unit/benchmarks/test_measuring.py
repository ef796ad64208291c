"""The harness measures, stops and reports as benchmarks/README.md says."""

import sys

import pytest

from benchmarks.harness import report
from benchmarks.harness.measuring import measure
from benchmarks.harness.rows import Contestant, Row
from tests.unit.benchmarks.tasks import BYTES


def contestant(task: str, **parameters: float) -> Contestant:
    return Contestant(task, f"tests.unit.benchmarks.tasks:{task}", parameters)


def row(*contestants: Contestant, at_least: float | None = None, memory: int | None = None) -> Row:
    return Row("work", "peer", contestants, at_least=at_least, memory=memory, repeats=1)


def test_a_slower_peer_gives_the_ratio_of_the_times() -> None:
    record = measure(row(contestant("sleeping", seconds=0.1), contestant("sleeping", seconds=0.3), at_least=2.0))
    assert record["ratio"] == pytest.approx(3.0, rel=0.2)
    assert record["reached"]
    assert record["threads"] >= 1
    assert "numpy" in record["versions"]


def test_a_peer_is_stopped_and_recorded_as_such() -> None:
    record = measure(row(contestant("sleeping", seconds=0.01), contestant("sleeping", seconds=600.0), at_least=10.0))
    assert record["contestants"][1]["status"] == "stopped"
    assert record["more_than"]
    assert record["reached"]
    assert "stopped" in report.table([record])


def test_a_peer_that_fails_is_a_record_with_the_reason() -> None:
    record = measure(row(contestant("sleeping", seconds=0.01), contestant("breaking")))
    assert record["contestants"][1]["status"] == "failed"
    assert "this peer is broken" in record["contestants"][1]["reason"]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory can be reset on Linux only")
def test_peak_memory_is_the_contestants_own() -> None:
    record = measure(row(contestant("allocating"), memory=BYTES // 2))
    assert record["contestants"][0]["growth_bytes"] == pytest.approx(BYTES, rel=0.05)
    assert record["contestants"][0]["error"] == 0.0
    assert not record["reached"]
