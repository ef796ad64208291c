"""The harness measures, stops and reports as benchmarks/README.md says."""

import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.harness import report
from benchmarks.harness.measuring import measure
from benchmarks.harness.rows import Contestant, Row
from tests.unit.benchmarks.tasks import BYTES


def contestant(task: str, **parameters: float) -> Contestant:
    return Contestant(task, f"tests.unit.benchmarks.tasks:{task}", parameters)


def row(*contestants: Contestant, **targets: Any) -> Row:
    return Row("work", "peer", contestants, repeats=1, **targets)


def test_a_slower_peer_gives_the_ratio_of_the_times() -> None:
    record = measure(row(contestant("sleeping", seconds=0.1), contestant("sleeping", seconds=0.3), at_least=2.0))
    mercers, peers = (side["seconds"] for side in record["contestants"])
    assert mercers >= 0.1
    assert peers >= 0.3
    assert record["ratio"] == pytest.approx(peers / mercers)
    assert record["reached"] == (record["ratio"] >= 2.0)
    assert record["threads"] >= 1
    assert "numpy" in record["versions"]


def test_a_peer_is_stopped_and_recorded_as_such() -> None:
    record = measure(row(contestant("sleeping", seconds=0.01), contestant("sleeping", seconds=600.0), at_least=10.0))
    assert record["contestants"][1]["status"] == "stopped"
    assert record["more_than"]
    assert record["reached"]
    assert "stopped" in report.table([record])


def test_a_peer_is_not_stopped_for_being_slower_than_before() -> None:
    sides = contestant("sleeping", seconds=0.2), contestant("slowing", first=0.1, then=2.3)
    record = measure(Row("work", "peer", sides, repeats=2, warm_up=False))
    assert record["contestants"][1]["error"] == 0.0  # asked for when all runs are over
    assert len(record["contestants"][1]["runs"]) == 2


def test_a_peer_is_stopped_with_the_processes_that_it_started() -> None:
    record = measure(row(contestant("sleeping", seconds=0.01), contestant("parenting", seconds=600), warm_up=False))
    assert record["contestants"][1]["status"] == "stopped"


def test_a_peer_that_fails_is_a_record_with_the_reason() -> None:
    record = measure(row(contestant("sleeping", seconds=0.01), contestant("breaking")))
    assert record["contestants"][1]["status"] == "failed"
    assert "this peer is broken" in record["contestants"][1]["reason"]


def test_a_peer_does_not_run_beside_a_failed_mercer() -> None:
    record = measure(row(contestant("breaking"), contestant("sleeping", seconds=0.01)))
    assert [side["status"] for side in record["contestants"]] == ["failed", "not run"]
    assert not record["reached"]
    assert "not run" in report.table([record])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory can be reset on Linux only")
def test_peak_memory_is_the_contestants_own() -> None:
    record = measure(row(contestant("allocating"), memory=BYTES // 2))
    assert record["contestants"][0]["growth_bytes"] == pytest.approx(BYTES, rel=0.05)
    assert record["contestants"][0]["error"] == 0.0
    assert not record["reached"]


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory can be reset on Linux only")
@pytest.mark.parametrize(("share", "reached"), [(0.6, True), (0.4, False)])
def test_memory_is_compared_with_the_peers(share: float, reached: bool) -> None:
    record = measure(row(contestant("allocating", share=0.5), contestant("allocating"), memory_share=share))
    assert record["reached"] is reached


@pytest.mark.parametrize(("accuracy", "reached"), [(1e-6, True), (1e-8, False)])
def test_an_error_above_the_limit_is_not_reached_however_fast(accuracy: float, reached: bool) -> None:
    contestants = (contestant("erring", error=1e-7), contestant("sleeping", seconds=0.1))
    record = measure(row(*contestants, at_least=1e-9, accuracy=accuracy))
    assert record["ratio"] > 1e-9
    assert record["reached"] is reached
    assert f"error ≤ {accuracy:.3g}" in report.table([record])


@pytest.mark.parametrize("contestants", [("breaking",), ("unfinished",)])
def test_an_error_that_is_not_known_is_not_reached(contestants: tuple[str, ...]) -> None:
    assert not measure(row(*map(contestant, contestants), accuracy=1.0))["reached"]


@pytest.mark.parametrize(("warm_up", "runs"), [(True, 2), (False, 1)])
def test_a_slow_row_may_go_without_its_warming_up(warm_up: bool, runs: int) -> None:
    record = measure(row(contestant("counting"), warm_up=warm_up))
    assert record["contestants"][0]["error"] == runs
    assert len(record["contestants"][0]["runs"]) == 1


def test_records_of_rows_that_are_no_more_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    rows = [{"work": work, "against": "peer"} for work in ("kept", "renamed")]
    report.keep("suite", rows)
    report.forget("suite", {("kept", "peer")})
    assert report.stored("suite") == rows[:1]
