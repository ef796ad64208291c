"""Model files and answers: whether they can be written, before the work; and written whole or not at all."""

import os
from pathlib import Path
from typing import Any

from mercer.cli.outcome import CannotWrite

__all__ = ["check_writable", "save"]


def check_writable(path: Path) -> None:
    """Refuse early what could not be written after an hour of work."""
    folder = path.parent
    if path.is_dir():
        raise CannotWrite(f"{path} is a folder.", "", "Name a file in it.")
    if not folder.is_dir():
        raise CannotWrite(f"There is no folder {folder}.", "", "Make it, or name another.")
    if not os.access(folder, os.W_OK):
        raise CannotWrite(f"Nothing may be written into {folder}.", "You have no permission.", "Name another folder.")


def save(model: Any, path: Path) -> None:
    """Store a fitted model."""
    raise NotImplementedError
