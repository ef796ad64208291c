"""`mercer demo`: the commands at work on a small table, as they would be typed."""

import contextlib
import io
import shlex
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from sklearn.datasets import load_wine

from mercer.cli.app import app
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
        code, said = _run(shlex.split(command)[1:], folder)
        out.text(said.rstrip())
        out.text()
        ran.append({"command": command, "exit": code, "output": said})
        if code != expected:
            raise BadData(f"`{command}` ended with {code}, not {int(expected)}.", said.strip())
    out.fact(commands=ran)
    return Exit.FINE


def _run(arguments: list[str], folder: Path) -> tuple[int, str]:
    """The exit code of a command, and what it says, run in a folder as if it had been typed there."""
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = app(args=arguments, prog_name="mercer", standalone_mode=False)
    return int(code or 0), said.getvalue()
