"""What somebody sees who sits in front of it: colours, unless they are not wanted, and a bar while work lasts."""

import os
import pty
import re
import subprocess
import sys

import pytest

# SGR sequences that set a colour of the text or its background: 30 to 49 and 90 to 107, but not bold or dim.
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10[0-7])[;\d]*m")


def seen(*arguments: str, **environment: str) -> bytes:
    """All bytes that `mercer` writes to a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [sys.executable, "-m", "mercer", *arguments]
    with subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
    ) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # how Linux says that the other end was closed
            pass
        os.close(ours)
    assert process.returncode == 0, b"".join(parts).decode()
    return b"".join(parts)


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}], ids=["colours", "NO_COLOR"])
def test_a_search_shows_its_bar_and_colours_only_where_they_are_wanted(flowers, environment):
    found = seen("fit", flowers, "-t", "kind", "--tune", "--cv", "2", **environment)
    assert (COLOUR.search(found) is None) == bool(environment)
    assert b"tuning" in found
    assert b"left" in found
    assert b"%" in found
    assert "✓ solved".encode() in found
