"""What a command says: lines for people, or one JSON object for programs."""

import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, final

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

__all__ = ["Output", "as_json", "clean"]

# The column that texts start in, so that the lines of all commands stand below each other.
INDENT = 14


@final
class Output:
    """Collects the facts of a command, and shows them as they come unless JSON is asked for.

    Parameters
    ----------
    json : bool
        Whether all that is said at the end is one JSON object; what is told on the way is then left out.
    debug : bool
        Whether errors come with their traceback.
    """

    def __init__(self, *, json: bool = False, debug: bool = False) -> None:
        self.is_json = json
        self.is_debug = debug
        self.facts: dict[str, Any] = {}
        self._warned: list[str] = []
        self._hushed: list[type[Warning]] = []
        self._out = Console(highlight=False, markup=False, emoji=False, file=sys.stdout)
        self._err = Console(highlight=False, markup=False, emoji=False, file=sys.stderr)

    @property
    def shows_progress(self) -> bool:
        """Whether somebody sees a bar: standard error is a terminal, and no program reads the answer."""
        return self._err.is_terminal and not self.is_json

    def fact(self, **facts: Any) -> None:
        """Add to the JSON object."""
        self.facts.update(facts)

    def line(self, label: str, text: object, *, style: str = "") -> None:
        """One labelled line."""
        if self.is_json:
            return
        shown = clean(str(text))
        if self._out.is_terminal:
            grid = Table.grid(padding=(0, 1))
            grid.add_column(width=INDENT - 1, style="bold")
            grid.add_column(overflow="fold")
            grid.add_row(Text(label), Text(shown, style=style))
            self._out.print(grid)
        else:  # whole lines, for grep and files
            rest = shown.replace("\n", "\n" + " " * INDENT)
            self._print(f"{label:<{INDENT}}{rest}")

    def text(self, text: object = "", *, style: str = "") -> None:
        """Text as it is."""
        if not self.is_json:
            self._print(clean(str(text)), style)

    def table(self, head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
        """Aligned columns; numbers to the right."""
        if self.is_json:
            return
        names = list(head)
        cells = [[clean(_cell(value)) for value in row] for row in (raw for raw in rows)]
        widths = [max(len(name), *(len(row[j]) for row in cells), 0) for j, name in enumerate(names)]
        is_number = [all(_is_number(row[j]) for row in cells) for j in range(len(names))]

        def laid_out(row: list[str]) -> str:
            padded = (f"{c:>{w}}" if right else f"{c:<{w}}" for c, w, right in zip(row, widths, is_number, strict=True))
            return "  ".join(padded).rstrip()

        self._print(laid_out(names), "bold")
        for row in cells:
            self._print(laid_out(row))

    def warn(self, text: str) -> None:
        """A warning: on standard error, and in the JSON object."""
        if text in self._warned:
            return
        self._warned.append(text)
        if not self.is_json:
            self._err.print(Text(f"warning: {clean(text)}", style="yellow"), soft_wrap=True)

    def hush(self, kind: type[Warning]) -> None:
        """Leave out Python's warnings of a kind."""
        self._hushed.append(kind)

    def fail(self, error: BaseException, code: int) -> None:
        """An error without a traceback."""
        message = str(error) or type(error).__name__
        if self.is_json:
            self.facts = {"error": {"kind": type(error).__name__, "message": message, "exit": code}}
        else:
            self._err.print(Text(f"error: {clean(message)}", style="red"), soft_wrap=True)

    def close(self, code: int) -> None:
        """Print the JSON object, if that was asked for."""
        if self.is_json:
            found = {**self.facts, "warnings": self._warned, "exit": code}
            sys.stdout.write(json.dumps(as_json(found), ensure_ascii=False, allow_nan=False) + "\n")
        sys.stdout.flush()

    @contextmanager
    def catching_warnings(self) -> Iterator[None]:
        """Show Python's warnings as lines of this command."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                yield
            finally:
                for warning in caught:
                    if issubclass(warning.category, UserWarning) and not issubclass(
                        warning.category, tuple(self._hushed)
                    ):
                        self.warn(str(warning.message))

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator["Steps"]:
        """A bar with the time that is left, on standard error, while something is done `total` times."""
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(30),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("· left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[measure]}"),
            console=self._err,
            transient=True,
            disable=total < 2 or not self.shows_progress,  # a single fit has a bar of its own
        )
        with bar:
            task = bar.add_task(label, total=total, measure="")
            yield Steps(lambda measure: bar.update(task, advance=1, measure=measure))

    def _print(self, text: str, style: str = "") -> None:
        self._out.print(Text(text, style=style), soft_wrap=True)


@final
class Steps:
    """The bar of something that is done several times."""

    def __init__(self, advance: Any) -> None:
        self._advance = advance

    def done(self, measure: str = "") -> None:
        """One more is done."""
        self._advance(measure)


def clean(text: str) -> str:
    r"""Text without characters that a terminal would obey.

    Examples
    --------
    >>> clean("a column named \x1b[31m")
    'a column named \\x1b[31m'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def as_json(value: Any) -> Any:
    """A value as JSON takes it: arrays as lists, what is not finite as None.

    Examples
    --------
    >>> import numpy as np
    >>> as_json({"a": np.float64("nan"), "b": np.arange(2), 3: ("x", True)})
    {'a': None, 'b': [0, 1], '3': ['x', True]}
    """
    if isinstance(value, dict):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(entry) for entry in value]
    if isinstance(value, str | bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    plain = getattr(value, "tolist", None)  # NumPy's scalars and arrays
    return as_json(plain()) if plain is not None else str(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text.split(" ")[0] if text else "0")
    except ValueError:
        return False
    return True
