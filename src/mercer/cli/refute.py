"""`mercer refute`: a search for points on which a Python function is not a kernel."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Annotated, Any

import numpy as np
import typer

from mercer.cli.columns import NUMBERS, infer_all
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.preparing import as_frame
from mercer.cli.printing import Output
from mercer.cli.reading import Source, nearest
from mercer.errors import MercerError
from mercer.kernels.refutation import Refutation
from mercer.kernels.refute import refute

__all__ = ["run"]

ROWS = 64


def run(
    out: Output,
    function: Annotated[str, typer.Argument(metavar="FILE.py:NAME", help="The file is run, to get its function.")],
    data: Annotated[str | None, typer.Option("--data", help="Points: the columns of numbers of a data file.")] = None,
    width: Annotated[int, typer.Option(min=1, help="Without --data: of random points with so many numbers.")] = 2,
    spread: Annotated[float, typer.Option(min=0.0, help="Without --data: the standard deviation of these.")] = 1.0,
    trials: Annotated[int, typer.Option(min=1, help="Sets of points to examine.")] = 90,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
) -> Exit:
    """Search for points on which a function of two points is not a kernel.

    Exit code 1: refuted, with the points. 0: no counter-example was found, which is not a proof.
    """
    fn = _function(function)
    if data is None:
        points = spread * np.random.default_rng(seed).standard_normal((ROWS, width))
        sample = f"{ROWS} random points with {width} numbers"
    else:
        points = _numbers(Source(data))
        sample = f"the {len(points)} rows of {data}"
    out.line("function", function)
    out.line("points", sample)
    try:
        found = refute(fn, points, trials=trials, random_state=seed)
    except MercerError:
        raise
    except Exception as error:
        line = _line_in(error, function.rpartition(":")[0])
        if line is None:
            raise
        raise BadData(
            f"{function} fails, in line {line}.",
            f"{type(error).__name__}: {error}",
            "It has to give a number for any two of the points; --data gives it points of your own.",
        ) from error
    out.text(found)
    if isinstance(found, Refutation):
        out.fact(
            refuted=True, reason=found.reason.name, sentence=found.reason.value, points=found.points,
            gram=found.gram, c=found.c, value=found.value, relative=found.relative,
        )  # fmt: skip
        return Exit.NO
    out.fact(refuted=False, sets=found.n_sets, evaluations=found.n_evaluations, smallest=found.smallest)
    return Exit.FINE


def _function(written: str) -> Callable[[Any, Any], Any]:
    file, colon, name = written.rpartition(":")
    path = Path(file)
    if not colon or not name.isidentifier():
        raise WrongUse("Name a file and a function in it.", f"Got {written!r}.", "Try mine.py:similarity.")
    if not path.is_file():
        raise BadData(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(f"refuted_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadData(f"{path} is not a Python file.", "", "Its name should end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))  # as `python FILE.py` has it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadData(f"{path} cannot be run.", f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    functions = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    if name not in vars(module):
        raise WrongUse(f"{path} has no function {name!r}.", "", nearest(name, functions, "functions"))
    fn: Any = vars(module)[name]
    if not callable(fn):
        raise WrongUse(f"{name} of {path} is not a function.", f"It is {fn!r}.")
    return fn  # type: ignore[no-any-return]


def _line_in(error: BaseException, file: str) -> int | None:
    """The last line of a file that an error passed through."""
    path = str(Path(file).resolve())
    steps = extract_tb(error.__traceback__)
    return next((step.lineno for step in reversed(steps) if str(Path(step.filename).resolve()) == path), None)


def _numbers(source: Source) -> Any:
    piece = source.whole()
    if piece.frame is None:
        return piece.matrix.toarray()
    columns = [column for column in infer_all(piece.frame, {}, source.decimal) if column.kind == NUMBERS]
    if not columns:
        raise BadData(f"{source.name} has no columns of numbers.")
    found = as_frame(piece.frame, columns, source.decimal).to_numpy(np.float64)
    return found[np.isfinite(found).all(axis=1)]
