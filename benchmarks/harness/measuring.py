"""Run the contestants of a row, each in a process of its own, taking turns."""

import json
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
SHORTEST_LIMIT = 2.0
# Threads of a BLAS or OpenMP run time spin for a while after their work; nobody is measured beside them.
PAUSE_SECONDS = 0.5


class Stopped(Exception):
    """The contestant was stopped at its time limit."""


class Failed(Exception):
    """The contestant's process ended with an error."""


class Worker:
    """A contestant's process. Its answers come through a thread, so that waiting for them can end."""

    def __init__(self, contestant: Contestant) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.worker"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
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

    def __init__(self, contestant: Contestant) -> None:
        self.contestant = contestant
        self.seconds: list[float] = []
        self.record: dict[str, Any] = {"name": contestant.name, "status": "measured"}
        self.worker = Worker(contestant)

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
            self.record.update(status="failed", reason=str(error))
        return None

    def finish(self) -> dict[str, Any]:
        if self.alive and not self.seconds:
            self.record["status"] = "not run"  # because mercer failed before its turn came
        elif self.alive:
            self.worker.ask("finish")
            self.record.update(self.step(self.worker.answer, PREPARE_SECONDS) or {})
        self.worker.end()
        if self.seconds and self.record["status"] != "failed":
            self.record["status"] = "measured"  # by the runs before it was stopped, if it was
            self.record["runs"] = self.seconds
            self.record["seconds"] = statistics.median(self.seconds)
            self.record["rate"] = self.contestant.work / self.record["seconds"]
        elif self.record["status"] == "stopped":
            self.record["rate_below"] = self.contestant.work / self.record["limit_seconds"]
        return self.record


def measure(row: Row) -> dict[str, Any]:
    """Measure one row and return its record, ready for JSON."""
    turns: list[Turn] = []
    try:
        for contestant in row.contestants:
            turn = Turn(contestant)
            turns.append(turn)
            ready = turn.step(turn.worker.answer, PREPARE_SECONDS)
            turn.record["source"] = (ready or {}).get("source", "")
        mercer = turns[0]
        known = 0.0  # mercer's longest time so far, which limits its peers'
        for round_ in range(0 if row.warm_up else 1, row.repeats + 1):  # round 0 warms up
            for turn in turns:
                if not turn.alive or not mercer.alive:
                    continue
                # The first run of a peer may be slow for reasons of its own (pages, caches): it has twice the time.
                factor = row.stop if round_ else 2.0 * row.stop
                limit = PREPARE_SECONDS if turn is mercer else max(SHORTEST_LIMIT, factor * known)
                answer = turn.step(turn.worker.run, limit)
                if answer is None:
                    continue
                seconds = answer.pop("seconds")
                turn.record.update(answer)
                if turn is mercer:
                    known = max(known, seconds)
                if round_:
                    turn.seconds.append(seconds)
        records = [turn.finish() for turn in turns]
    finally:
        for turn in turns:
            turn.worker.end()
    return {**judge(row, records), "contestants": records, **describe()}


def judge(row: Row, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare what was measured with the row's targets."""
    mercer = records[0]
    verdict: dict[str, Any] = {
        "work": row.work, "against": row.against, "at_least": row.at_least, "percent": row.percent,
        "memory_text": row.memory_text, "accuracy": row.accuracy, "ratio": None, "more_than": False,
        "reached": mercer["status"] == "measured",
    }  # fmt: skip
    if "rate" in mercer and len(records) > 1:
        peer = records[1]
        verdict["more_than"] = "rate_below" in peer
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
    return verdict
