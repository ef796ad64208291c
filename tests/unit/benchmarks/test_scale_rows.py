"""The suite about scale at a small size: every contestant does its work and says how good it is."""

import importlib
from typing import Any

import numpy as np
import pytest

from benchmarks.against import scale_builders
from benchmarks.against.scale import ROWS
from benchmarks.harness import data
from benchmarks.harness.rows import Contestant, Task

SMALL = {"n": 2_000, "rows": 1_500, "m": 30, "fewest": 1_000, "most": 2_000}
WORKS = {
    f"{contestant.builder.partition(':')[2]} {contestant.parameters.get('name', '')}": contestant
    for row in ROWS
    for contestant in row.contestants
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MERCER_DATA", raising=False)
    shapes = {name: shape._replace(rows=min(shape.rows, 2_500)) for name, shape in data.SHAPES.items()}
    monkeypatch.setattr(data, "SHAPES", shapes)
    monkeypatch.setattr(data, "STANDARD", {})


def build(contestant: Contestant) -> Task:
    module, _, function = contestant.builder.partition(":")
    parameters = {key: SMALL.get(key, value) for key, value in contestant.parameters.items()}
    task = getattr(importlib.import_module(module), function)(**parameters)
    assert isinstance(task, Task)
    return task


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("contestant", WORKS.values(), ids=WORKS)
def test_every_contestant_does_its_work(contestant: Contestant) -> None:
    task = build(contestant)
    assert task.facts is not None
    facts: dict[str, Any] = task.facts(task.run())
    assert all(np.isfinite(value) for value in facts.values())
    assert facts.get("test error", 0.0) < 0.98


def test_every_set_has_a_length_scale() -> None:
    named = {contestant.parameters.get("name") for row in ROWS for contestant in row.contestants} - {None}
    assert named == set(scale_builders.LENGTHS) <= set(data.SHAPES)
