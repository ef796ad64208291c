"""Model files and answers: whether they can be written, before the work; written whole or not at all."""

import os
from pathlib import Path
from typing import Any

from mercer.cli.outcome import BadData, CannotWrite
from mercer.cli.reading import Source
from mercer.estimators import load as load_model
from mercer.estimators import notes_of, save_with_notes

__all__ = ["FIRST", "TARGET", "check_writable", "load", "save"]

# Rows that travel with a model, by which it is verified when it is loaded.
VERIFIED_ROWS = 5
# What is remembered of the data file: the name of the target, and of sparse rows the number of the first column.
TARGET, FIRST = "target", "first column"


def check_writable(path: Path) -> None:
    """Refuse early what could not be written after an hour of work."""
    folder = path.parent
    if path.is_dir():
        raise CannotWrite(f"{path} is a folder.", "", "Name a file in it.")
    if path.exists() and not path.is_file():
        raise CannotWrite(f"{path} is a device or a pipe.", "", "Name a file.")
    if not folder.is_dir():
        raise CannotWrite(f"There is no folder {folder}.", "", "Make it, or name another.")
    if not os.access(folder, os.W_OK):
        raise CannotWrite(f"Nothing may be written into {folder}.", "You have no permission.", "Name another folder.")


def save(model: Any, X: Any, path: Path, notes: dict[str, Any]) -> None:
    """Store a fitted model, with a few rows to verify it by, and what is remembered of the data file."""
    save_with_notes(
        model, path, X[:VERIFIED_ROWS], None, {name: str(word) for name, word in notes.items() if word is not None}
    )


def load(path: Path, source: Source | None = None) -> tuple[Any, str | None]:
    """A fitted model and the name of its target; the source is told what is known of it. Nothing is executed."""
    try:
        notes = notes_of(path)
        if source is not None and notes.get(FIRST) in ("0", "1"):
            source.first = int(notes[FIRST])
        return load_model(path), notes.get(TARGET)
    except FileNotFoundError:
        raise BadData(f"There is no model file {path}.", "", "`mercer fit … -o FILE` writes one.") from None
    except IsADirectoryError:
        raise BadData(f"{path} is a folder, not a model file.") from None
    except PermissionError:
        raise BadData(f"{path} may not be read.", "You have no permission.") from None
