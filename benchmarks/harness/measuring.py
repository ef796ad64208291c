"""Run the contestants of a row, each in a process of its own, taking turns."""

import json
import math
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.harness.machine import describe
from benchmarks.harness.rows import Contestant, Row

ROOT = Path(__file__).resolve().parents[2]
PREPARE_SECONDS = 600.0
# Threads of a BLAS or OpenMP run time spin for a while after their work; nobody is measured beside them.
PAUSE_SECONDS = 0.5


class Stopped(Exception):
    """The contestant was stopped at its time limit."""


class Failed(Exception):
    """The contestant's process ended with an error."""


class Worker:
    """A contestant's process. Its answers come through a thread, so that waiting for them can end."""

    def __init__(self, contestant: Contestant, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.worker"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env={**os.environ, **environment},
        )  # fmt: skip
        self.answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.complaint: list[str] = []
        self.listeners = [threading.Thread(target=read) for read in (self._read_answers, self._read_complaint)]
        for listener in self.listeners:
            listener.start()
        self.ask(json.dumps({"builder": contestant.builder, "parameters": contestant.parameters}))

    def _read_answers(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def _read_complaint(self) -> None:
        assert self.process.stderr is not None
        self.complaint.extend(self.process.stderr)

    def ask(self, command: str) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the process has ended; the next answer says so

    def answer(self, limit: float) -> dict[str, Any]:
        try:
            line = self.answers.get(timeout=limit)
        except queue.Empty:
            self.end()
            raise Stopped from None
        if not line:
            self.end()
            last = "".join(self.complaint).strip().splitlines()[-1:]
            raise Failed(last[0] if last else f"ended with code {self.process.returncode}")
        parsed: dict[str, Any] = json.loads(line)
        return parsed

    def run(self, limit: float) -> dict[str, Any]:
        time.sleep(PAUSE_SECONDS)
        self.ask("touch")
        self.answer(PREPARE_SECONDS)
        self.ask("run")
        return self.answer(limit)

    def end(self) -> None:
        if self.process.returncode is None:  # not waited for yet, so that its number is still its own
            # What a peer has started holds the pipes open, and ends with it. Not by SIGKILL: the trackers of
            # multiprocessing and loky then stay to tidy up, and leave by themselves.
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.kill()
        for listener in self.listeners:
            listener.join()
        self.process.communicate()  # waits, and closes the pipes


class Turn:
    """A contestant's record as it grows."""

    def __init__(self, contestant: Contestant, row: Row) -> None:
        self.contestant = contestant
        self.row = row
        self.seconds: list[float] = []
        self.record: dict[str, Any] = {"name": contestant.name, "status": "measured"}
        self.worker = Worker(contestant, row.environment)

    @property
    def alive(self) -> bool:
        return str(self.record["status"]) == "measured"

    def step(self, action: Any, limit: float) -> Any:
        """One exchange with the worker; what goes wrong becomes the record's status."""
        try:
            return action(limit)
        except Stopped:
            self.record.update(status="stopped", limit_seconds=limit)
        except Failed as error:
            status = "absent" if str(error).startswith("ModuleNotFoundError") else "failed"
            self.record.update(status=status, reason=str(error))
        return None

    def finish(self) -> dict[str, Any]:
        if self.alive and not self.seconds:
            self.record["status"] = "not run"  # because mercer failed before its turn came
        elif self.alive:
            time.sleep(PAUSE_SECONDS)  # facts may be times
            self.worker.ask("finish")
            self.record.update(self.step(self.worker.answer, PREPARE_SECONDS) or {})
        self.worker.end()
        if self.seconds and self.record["status"] in ("measured", "stopped"):
            self.record["status"] = "measured"  # by the runs before it was stopped, if it was
            self.record["runs"] = self.seconds
            self.record["seconds"] = min(self.seconds) if self.row.best else statistics.median(self.seconds)
            self.record["rate"] = self.contestant.work / self.record["seconds"]
        elif self.record["status"] == "stopped":
            self.record["rate_below"] = self.contestant.work / self.record["limit_seconds"]
        return self.record


def same_machine(record: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a record was measured here: on this machine, with these threads and these versions of the peers."""

    def peers(described: dict[str, Any]) -> dict[str, str]:
        return {name: version for name, version in described["versions"].items() if name != "mercer-kernels"}

    fields = ("cpu", "cores", "threads", "system", "python")
    return all(record.get(field) == now[field] for field in fields) and peers(record) == peers(now)


def stored_peers(row: Row, stored: dict[str, Any] | None, now: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the peers' records of an earlier run, marked as such; none where they are not of this machine."""
    kept = ("measured", "stopped", "absent")
    known = {} if stored is None or not same_machine(stored, now) else {
        peer["name"]: {**peer, "stored": True} for peer in stored["contestants"][1:] if peer["status"] in kept
    }  # fmt: skip
    wanted = [contestant.name for contestant in row.contestants[1:]]
    return [known[name] for name in wanted] if known.keys() >= set(wanted) else []


def measure(row: Row, stored: dict[str, Any] | None = None) -> dict[str, Any]:
    """Measure one row and return its record, ready for JSON.

    Given the record of an earlier run on the same machine, only mercer runs, and its peers are those of that record.
    """
    now = describe()
    peers = stored_peers(row, stored, now)
    turns: list[Turn] = []
    try:
        for contestant in row.contestants[:1] if peers else row.contestants:
            turn = Turn(contestant, row)
            turns.append(turn)
            ready = turn.step(turn.worker.answer, PREPARE_SECONDS)
            turn.record["source"] = (ready or {}).get("source", "")
        mercer = turns[0]
        known = 0.0  # mercer's longest time so far, which limits its peers'
        for round_ in range(0 if row.warm_up else 1, row.repeats + 1):  # round 0 warms up
            for turn in turns:
                if not turn.alive or not mercer.alive or sum(turn.seconds) > row.enough:
                    continue
                # The first run of a peer may be slow for reasons of its own (pages, caches): it has twice the time.
                factor = row.stop if round_ else 2.0 * row.stop
                # One that has been measured is not stopped for a slower run: its facts are still wanted.
                measured = [min(peer.seconds) for peer in turns[1:] if peer.seconds]
                fastest = math.inf if turn.seconds else min(measured, default=math.inf)
                limit = PREPARE_SECONDS if turn is mercer else row.limit(known, factor, fastest)
                answer = turn.step(turn.worker.run, limit)
                if answer is None:
                    continue
                seconds = answer.pop("seconds")
                turn.record.update(answer)
                if turn is mercer:
                    known = max(known, seconds)
                if round_:
                    turn.seconds.append(seconds)
        records = [turn.finish() for turn in turns] + peers
    finally:
        for turn in turns:
            turn.worker.end()
    return {**judge(row, records), "contestants": records, **now}


def best_peer(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fastest of the peers; one that was stopped counts with the rate that it is below."""
    ran = [record for record in records[1:] if "rate" in record or "rate_below" in record]
    return max(ran, key=lambda record: record.get("rate", record.get("rate_below", 0.0)), default={})


def judge(row: Row, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare what was measured with the row's targets."""
    mercer = records[0]
    verdict: dict[str, Any] = {
        "work": row.work, "against": row.against, "at_least": row.at_least, "percent": row.percent,
        "memory_text": row.memory_text, "accuracy": row.accuracy, "limits": row.limits, "ratio": None,
        "more_than": False, "best": "", "reached": mercer["status"] == "measured", "environment": row.environment,
    }  # fmt: skip
    if "rate" in mercer and len(records) > 1:
        peer = best_peer(records)
        verdict["more_than"] = "rate_below" in peer
        verdict["best"] = peer.get("name", "") if len(records) > 2 else ""
        rate = peer.get("rate", peer.get("rate_below"))
        verdict["ratio"] = None if rate is None else mercer["rate"] / rate
    if row.at_least is not None:
        verdict["reached"] &= verdict["ratio"] is not None and verdict["ratio"] >= row.at_least
    growth = mercer.get("growth_bytes", float("inf"))
    if row.memory is not None:
        verdict["reached"] &= growth - mercer.get("allowance_bytes", 0) <= row.memory
    if row.memory_share is not None:
        verdict["reached"] &= growth <= row.memory_share * records[1].get("growth_bytes", 0)
    if row.accuracy is not None:
        error = mercer.get("error")
        verdict["reached"] &= error is not None and error <= row.accuracy
    facts = mercer.get("facts", {})
    for fact, largest in row.limits.items():
        verdict["reached"] &= facts.get(fact, math.inf) <= largest
    for fact, floor in row.no_worse.items():
        others = [record["facts"][fact] for record in records[1:] if fact in record.get("facts", {})]
        verdict["reached"] &= facts.get(fact, math.inf) <= max([floor, *(2.0 * other for other in others)])
    return verdict
