"""Every ```console block of the documents is run as it stands, and prints what the document says it prints.

The blocks of one file share one folder, in order. A line that begins with "$ " is a command; the lines below it are its
output, with what it says on standard error; `...` in it stands for anything.
"""

import contextlib
import doctest
import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mercer.cli.app import app
from tests.docs.blocks import blocks, documents

ROOT = Path(__file__).resolve().parents[2]
WITH_CONSOLE = [
    path for path in documents(ROOT) if any(block.language == "console" for block in blocks(path.read_text("utf-8")))
]


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a block, each with its output; a command goes on below a line that ends with a backslash."""
    found: list[tuple[str, str]] = []
    is_open = False
    for line in text.splitlines(keepends=True):
        if is_open:
            found[-1] = (found[-1][0] + line, "")
        elif line.startswith("$ "):
            found.append((line.removeprefix("$ "), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
        is_open = line.rstrip("\n").endswith("\\") and (is_open or line.startswith("$ "))
    return found


def tidy(text: str) -> str:
    """The text without blanks at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def in_this_process(arguments: list[str]) -> str:
    """What the command says, without the seconds that a new process takes."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        app(args=arguments, prog_name="mercer")
    said.flush()
    said.seek(0)
    return said.read()


def in_a_shell(command: str) -> str:
    """What a line with pipes says."""
    shell = shutil.which("bash")
    assert shell is not None
    start = f'mercer() {{ "{sys.executable}" -m mercer "$@"; }}; python() {{ "{sys.executable}" "$@"; }}\n'
    run = subprocess.run(
        [shell, "-c", start + command], env={**os.environ, "PYTHONUTF8": "1"}, text=True, encoding="utf-8", check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return run.stdout


@pytest.mark.parametrize("path", WITH_CONSOLE, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_blocks_print_what_the_document_says(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    for block in blocks(path.read_text("utf-8")):
        if block.language != "console":
            continue
        for command, expected in commands(block.text):
            is_plain = command.startswith("mercer ") and not set(command) & set("|>;&")
            printed = in_this_process(shlex.split(command)[1:]) if is_plain else in_a_shell(command)
            tidy = [
                "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
                for text in (expected, printed)
            ]
            assert doctest.OutputChecker().check_output(*tidy, doctest.ELLIPSIS), (
                f"{path}:{block.line}: $ {command}printed\n{printed}\nbut the document says\n{expected}"
            )
