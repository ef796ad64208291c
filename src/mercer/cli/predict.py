"""`mercer predict`: answers for new rows, so many at a time."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
import numpy.typing as npt
import typer
from sklearn.pipeline import Pipeline

from mercer.cli.columns import Column
from mercer.cli.filled import tabled, width_of
from mercer.cli.options import DataArgument, EncodingOption, FormatOption, HeaderOption, ModelArgument, SepOption
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.preparing import as_frame, flattened, kinds_of, machine_of, prepared
from mercer.cli.printing import Output
from mercer.cli.reading import Piece, Source
from mercer.cli.storing import check_writable, load
from mercer.cli.writing import CSV, Block, style_of, written
from mercer.estimators import KernelRidge, KernelRidgeCV
from mercer.io import write_atomically

__all__ = ["answers", "matched", "run"]

PREDICTION = "prediction"


def run(
    out: Output,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A file named .csv, .tsv or .jsonl, with .gz or without; else CSV is printed."
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="A column with the probability of every label.")] = False,
    std: Annotated[
        bool, typer.Option("--std", help="A column with the standard deviation of f, in the unit of the target.")
    ] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of DATA to write in front of the answer, such as an id.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="How many rows are in memory at a time.")] = 10_000,
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Predict for the rows of a table.

    Columns are found by their names, in whatever order; columns that the model does not know are passed over, and said.
    The output file appears when it is complete, or not at all.
    """
    style = CSV
    if output is not None:
        check_writable(output)
        style = style_of(output)
    source = Source(data, format_, sep, encoding, header)
    fitted, target = load(model, source)
    _check_asked(fitted, proba=proba, std=std)
    said: list[str] = []
    tally = _Tally(answers(fitted, source, rows, keep or (), said, proba=proba, std=std, target=target))
    out.fact(data=source.name, model=str(model), output=None if output is None else str(output))
    if output is not None:
        write_atomically(output, written(tally, style))
    elif out.is_json:
        out.fact(predictions=[row for names, block in tally for row in _rows_of(names, block)])
    else:
        for piece in written(tally, style):
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
    for note in [*source.notes, *said]:
        out.warn(note)
    out.fact(rows=tally.rows)
    if output is not None:
        out.line("predicted", f"{tally.rows} rows of {source.name}, in {output}")
    return Exit.FINE


@final
class _Tally:
    """Blocks on their way, counted."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self.rows = 0

    def __iter__(self) -> Iterator[Block]:
        for names, columns in self._blocks:
            self.rows += len(columns[0])
            yield names, columns


def _rows_of(names: list[str], columns: list[npt.NDArray[Any]]) -> Iterator[dict[str, Any]]:
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield dict(zip(names, row, strict=True))


def answers(
    fitted: Any,
    source: Source,
    rows: int,
    keep: Any,
    said: list[str],
    *,
    proba: bool,
    std: bool,
    target: str | None = None,
) -> Iterator[Block]:
    """The columns of the answer, piece by piece."""
    if not kinds_of(fitted):
        source.width = machine_of(fitted).n_features_in_
    found = False
    for piece in source.pieces(rows):
        found = found or len(piece) > 0
        if not len(piece):
            continue
        X = matched(piece, fitted, source, said, target, *keep)
        names, block = [PREDICTION], [np.asarray(fitted.predict(X))]
        if proba:
            each = fitted.predict_proba(X)
            names += [f"P({label})" for label in fitted.classes_]
            block += list(each.T)
        if std:
            names.append("std")
            machine = machine_of(fitted)
            unit = np.sqrt(machine.prior_variance_)  # k(x, x) knows nothing of the unit of the target
            block.append(unit * machine.predict(prepared(fitted, X), return_std=True)[1])
        for name in reversed(list(keep)):
            if piece.frame is None or name not in piece.frame:
                raise WrongUse(f"--keep names a column {name!r}, and {source.name} has none.")
            names.insert(0, name)
            block.insert(0, piece.frame[name].to_numpy(object))
        yield names, block
    if not found:
        raise BadData(f"{source.name} holds no rows.")


def matched(piece: Piece, fitted: Any, source: Source, said: list[str], *expected: str | None) -> Any:
    """The columns that the model knows, in its order; refuses if one is not there, and notes others, if unexpected."""
    kinds = kinds_of(fitted)
    if not kinds:
        if piece.matrix is not None:
            return piece.matrix
        raise BadData("The model takes sparse rows.", f"{source.name} is a table.", "Take a file in LIBSVM's format.")
    frame = piece.frame
    if frame is None and (width := width_of(kinds)):
        frame = tabled(piece, width)
    if frame is None:
        raise BadData(f"The model needs columns by name: {', '.join(list(kinds)[:6])}.", f"{source.name} has no names.")
    frame = frame.rename(columns=str)
    there = {str(name) for name in frame.columns}
    missing = [name for name in kinds if name not in there]
    if missing:
        new = sorted(there - set(kinds))
        raise BadData(
            f"{source.name} lacks {_some(missing)}, which the model was fitted on.",
            f"It has {_some(new)}, which the model does not know." if new else "",
            "Rename or add the columns.",
        )
    further = [str(name) for name in frame.columns if str(name) not in kinds and name not in expected]
    if further and not said:
        said.append(f"passed over, because the model does not know them: {_some(further)}")
    made = as_frame(frame, [Column(name, kind) for name, kind in kinds.items()], source.decimal)
    return flattened(made) if isinstance(fitted, Pipeline) else made


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:6]))
    return shown + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _check_asked(fitted: Any, *, proba: bool, std: bool) -> None:
    machine = machine_of(fitted)
    name = type(machine).__name__
    if proba and "predict_proba" not in dir(machine):
        raise WrongUse(f"{name} has no probabilities.", "", "Fit with --machine logistic, neighbors or smoother.")
    if std and not isinstance(machine, KernelRidge | KernelRidgeCV):
        raise WrongUse(f"{name} has no standard deviations.", "", "Fit with --machine ridge.")
