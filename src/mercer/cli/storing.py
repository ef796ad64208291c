"""Model files and answers: whether they can be written, before the work; written whole or not at all."""

import os
from pathlib import Path
from typing import Any

from mercer.cli.outcome import BadData, CannotWrite
from mercer.estimators import load as load_model
from mercer.estimators import notes_of, save_with_notes

__all__ = ["check_writable", "load", "save", "target_of"]

# Rows that travel with a model, by which it is verified when it is loaded.
VERIFIED_ROWS = 5
TARGET = "target"


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


def save(model: Any, X: Any, path: Path, target: str | None) -> None:
    """Store a fitted model, with a few rows to verify it by, and the name of its target."""
    save_with_notes(model, path, X[:VERIFIED_ROWS], None, {} if target is None else {TARGET: target})


def target_of(path: Path) -> str | None:
    """What the target of a stored model is called, where its file says so."""
    return notes_of(path).get(TARGET)


def load(path: Path) -> Any:
    """A fitted model; nothing in its file is executed."""
    try:
        return load_model(path)
    except FileNotFoundError:
        raise BadData(f"There is no model file {path}.", "", "`mercer fit … -o FILE` writes one.") from None
    except IsADirectoryError:
        raise BadData(f"{path} is a folder, not a model file.") from None
    except PermissionError:
        raise BadData(f"{path} may not be read.", "You have no permission.") from None
