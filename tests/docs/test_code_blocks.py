"""Every python block of the documents runs, and prints what the document says it prints.

The blocks of one file share one namespace, in order. A ```text block that directly follows a ```python block is its
output, compared to the letter except for trailing blanks; `...` in it stands for anything (times, versions).
"""

import contextlib
import doctest
import io
from pathlib import Path

import pytest

from tests.docs.blocks import blocks, documents

ROOT = Path(__file__).resolve().parents[2]
WITH_CODE = [
    path for path in documents(ROOT) if any(block.language == "python" for block in blocks(path.read_text("utf-8")))
]


def same(expected: str, printed: str) -> bool:
    def tidy(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"

    return doctest.OutputChecker().check_output(tidy(expected), tidy(printed), doctest.ELLIPSIS)


@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_blocks_run_and_print_what_the_document_says(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # what a block writes does not land in the project
    monkeypatch.setenv("MPLBACKEND", "agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(path.read_text("utf-8")):
        if block.language == "python":
            # Blank lines in front, so that a traceback names the line of the document.
            code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(code, namespace)
            printed = out.getvalue()
        elif block.language == "text" and block.follows and printed is not None:
            assert same(block.text, printed), (
                f"{path}:{block.line}: printed\n{printed}\nbut the document says\n{block.text}"
            )
            printed = None
        else:
            printed = None
