"""Small data files, and the commands as a user types them, in this process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from mercer.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def mercer(here: Path) -> Run:
    def run(*arguments: str, **given: Any) -> Result:
        return CliRunner().invoke(app, list(arguments), prog_name="mercer", **given)

    return run


@pytest.fixture
def answer(mercer: Run) -> Callable[..., dict[str, Any]]:
    """What a command says to programs."""

    def run(*arguments: str, **given: Any) -> dict[str, Any]:
        done = mercer(*arguments, "--json", **given)
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["exit"] == done.exit_code
        return found

    return run


@pytest.fixture
def flowers(here: Path) -> str:
    """Two kinds of flowers: numbers, a category, a few missing values in neither."""
    rng = np.random.default_rng(0)
    lines = ["length,width,colour,kind"]
    for i in range(60):
        kind = i % 2
        length, width = rng.normal([1.0 + 2.0 * kind, 0.5])
        lines.append(f"{length:.3f},{width:.3f},{'red' if rng.random() < 0.5 else 'blue'},{'rose' if kind else 'iris'}")
    (here / "flowers.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "flowers.csv"


@pytest.fixture
def prices(here: Path) -> str:
    """Prices of houses."""
    rng = np.random.default_rng(1)
    area, age = rng.uniform(50, 200, 60), rng.uniform(0, 80, 60)
    price = 3000 * area - 1000 * age + rng.normal(0, 5000, 60)
    rows = [f"{a:.2f},{b:.2f},{p:.2f}" for a, b, p in zip(area, age, price, strict=True)]
    (here / "prices.csv").write_text("\n".join(["area,age,price", *rows]) + "\n", encoding="utf-8")
    return "prices.csv"
