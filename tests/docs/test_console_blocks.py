"""Every ```console block of the documents is run as it stands, and prints what the document says it prints.

The blocks of one file share one folder, in order. A line that begins with "$ " is a command; the lines below it are its
output, with what it says on standard error; `...` in it stands for anything.
"""

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("path", WITH_CONSOLE, ids=lambda path: str(path.relative_to(ROOT)))
def test_console_blocks_print_what_the_document_says(path: Path, tmp_path: Path) -> None:
    shell = shutil.which("bash")
    assert shell is not None
    start = f'mercer() {{ "{sys.executable}" -m mercer "$@"; }}; python() {{ "{sys.executable}" "$@"; }}\n'
    environment = {**os.environ, "PYTHONUTF8": "1", "COLUMNS": "100", "NO_COLOR": "1"}
    for block in blocks(path.read_text("utf-8")):
        if block.language != "console":
            continue
        for command, expected in commands(block.text):
            run = subprocess.run(
                [shell, "-c", start + command], cwd=tmp_path, env=environment, text=True, encoding="utf-8", check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            tidy = [
                "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
                for text in (expected, run.stdout)
            ]
            assert doctest.OutputChecker().check_output(*tidy, doctest.ELLIPSIS), (
                f"{path}:{block.line}: $ {command}printed\n{run.stdout}\nbut the document says\n{expected}"
            )
