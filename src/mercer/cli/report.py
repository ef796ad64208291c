"""`mercer report`: a model on one page of HTML."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from mercer.cli.options import DataArgument, EncodingOption, FormatOption, HeaderOption, ModelArgument, SepOption
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.predict import matched
from mercer.cli.preparing import target_values
from mercer.cli.printing import Output
from mercer.cli.reading import Piece, Source, nearest
from mercer.cli.storing import check_writable, load
from mercer.io import write_atomically
from mercer.report import report

__all__ = ["run"]


def run(
    out: Output,
    model: ModelArgument,
    data: DataArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The page.")] = Path("report.html"),
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="The column with the true answers; that of the fit where not given."),
    ] = None,
    title: Annotated[str, typer.Option(help="The heading.")] = "",
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Write a page about a model: data, proof, certificate, scores, pictures, influential rows, the doctor's findings.

    The page needs nothing but itself. Rows that the model has not seen give an honest score; whether they are those of
    its fit is found out, and said.
    """
    check_writable(output)
    source = Source(data, format_, sep, encoding, header)
    fitted, known = load(model, source)
    piece = source.whole()
    y = _true_answers(piece, target, known, fitted, source)
    said: list[str] = []
    X = matched(piece, fitted, source, said, target or known)
    try:
        page = report(fitted, X, y, title=title)
    except ModuleNotFoundError as error:
        raise BadData(
            f"The pictures of a report need {error.name}.", "", "Install it: pip install 'mercer-kernels[plots]'"
        ) from None
    write_atomically(output, [page.encode()])
    for note in source.notes:
        out.warn(note)
    if y is None:
        out.warn(f"there are no scores, because the true answers are not in {source.name}; --target names their column")
    out.line("written", f"{output}, {len(page.encode()) / 1024:.0f} kB")
    out.fact(model=str(model), data=source.name, output=str(output), bytes=len(page.encode()))
    return Exit.FINE


def _true_answers(piece: Piece, target: str | None, known: str | None, fitted: Any, source: Source) -> Any:
    """The column that was asked for, else the target of the fit if it is there."""
    if piece.frame is None:
        return piece.labels
    frame = piece.frame.rename(columns=str)
    names = list(frame.columns)
    if target is not None and target not in names:
        raise WrongUse(f"--target names a column {target!r}, and there is none.", "", nearest(target, names))
    name = target if target is not None else known
    if name is None or name not in names:
        return None
    return pd.Series(target_values(frame[name], name, fitted, source.decimal), name=name)
