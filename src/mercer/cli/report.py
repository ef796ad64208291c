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
from mercer.cli.reading import Source, nearest
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
        str | None, typer.Option("--target", "-t", help="The column with the true answers, for the scores.")
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
    fitted = load(model)
    source = Source(data, format_, sep, encoding, header)
    piece = source.whole()
    y: Any = None
    if piece.frame is None:
        y = piece.labels
    elif target is not None:
        names = [str(name) for name in piece.frame.columns]
        if target not in names:
            raise WrongUse(f"--target names a column {target!r}, and there is none.", "", nearest(target, names))
        y = pd.Series(target_values(piece.frame[target], target, fitted, source.decimal), name=target)
    said: list[str] = []
    X = matched(piece, fitted, source, said)
    try:
        page = report(fitted, X, y, title=title)
    except ModuleNotFoundError as error:
        raise BadData(
            f"The pictures of a report need {error.name}.", "", "Install it: pip install 'mercer-kernels[plots]'"
        ) from None
    write_atomically(output, [page.encode()])
    for note in source.notes:
        out.warn(note)
    out.line("written", f"{output}, {len(page.encode()) / 1024:.0f} kB")
    out.fact(model=str(model), data=source.name, output=str(output), bytes=len(page.encode()))
    return Exit.FINE
