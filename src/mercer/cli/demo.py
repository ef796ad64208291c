"""`mercer demo`: the commands at work on a small table, as they would be typed."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from sklearn.datasets import load_wine

from mercer.cli.outcome import BadData, Exit
from mercer.cli.printing import Output

__all__ = ["run"]

TABLE = "wine.csv"
GROWERS = ("barolo", "grignolino", "barbera")
NOT_A_KERNEL = '''"""A function that looks like a kernel."""

import math


def similarity(x, z):
    return math.tanh(x @ z - 1.0)
'''
# Each with the exit code that it should have.
COMMANDS: tuple[tuple[str, Exit], ...] = (
    ('mercer prove "RBF(2.0) + 0.5 * Linear() ** 2"', Exit.FINE),
    ('mercer prove "RBF() - RBF(2.0)"', Exit.NO),
    ("mercer refute mine.py:similarity", Exit.NO),
    ("mercer fit wine.csv --target grower -o wine.mercer", Exit.FINE),
    ("mercer predict wine.mercer wine.csv -o answers.csv", Exit.FINE),
    ("mercer explain wine.mercer --rows 3", Exit.FINE),
)


def run(
    out: Output,
    folder: Annotated[
        Path | None, typer.Option(help="Where its files go, to play with; else they are removed.")
    ] = None,
) -> Exit:
    """Watch the commands at work on a small table: 178 wines of three growers."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return _tour(out, folder)
    with tempfile.TemporaryDirectory() as made:
        return _tour(out, Path(made))


def _tour(out: Output, folder: Path) -> Exit:
    wine = load_wine(as_frame=True)
    table = wine.data.assign(grower=[GROWERS[label] for label in wine.target])
    table.to_csv(folder / TABLE, index=False)
    (folder / "mine.py").write_text(NOT_A_KERNEL, encoding="utf-8")
    ran = []
    for command, expected in COMMANDS:
        out.text(f"$ {command}", style="bold")
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)], cwd=folder, capture_output=True, text=True,
            encoding="utf-8", check=False,
        )  # fmt: skip
        out.text((done.stdout + done.stderr).rstrip())
        out.text()
        ran.append({"command": command, "exit": done.returncode, "output": done.stdout})
        if done.returncode != expected:
            raise BadData(f"`{command}` ended with {done.returncode}, not {int(expected)}.", done.stderr.strip())
    out.fact(commands=ran)
    return Exit.FINE
