"""`mercer doctor`: what would make a fit fail, or do worse than it could."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mercer.cli.machines import AUTO
from mercer.cli.options import (
    DataArgument,
    DropOption,
    EncodingOption,
    FormatOption,
    HeaderOption,
    KindOption,
    SepOption,
    TargetOption,
)
from mercer.cli.outcome import Exit, WrongUse
from mercer.cli.predict import matched
from mercer.cli.preparing import read
from mercer.cli.printing import Output
from mercer.cli.reading import Piece, Source
from mercer.cli.storing import load
from mercer.cli.telling import say_columns
from mercer.doctor import Severity, diagnose

__all__ = ["run"]

STYLES = {Severity.PROBLEM: "red", Severity.WARNING: "yellow", Severity.NOTE: ""}


def run(
    out: Output,
    data: DataArgument,
    target: TargetOption = None,
    task: Annotated[str, typer.Option(help="auto, classification or regression.")] = AUTO,
    kernel: Annotated[str | None, typer.Option("--kernel", "-k", help="The formula that you mean to use.")] = None,
    model: Annotated[Path | None, typer.Option("--model", help="A model that was fitted on this data.")] = None,
    drop: DropOption = None,
    kind: KindOption = None,
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Look for what would make a fit fail, or do worse than it could.

    Every finding has a code (MD001 …) that stays the same, a sentence, and what would help. With --model the fitted
    machine is looked at too. Exit code 1: there is a problem, not only warnings and notes.
    """
    if model is not None and kernel is not None:
        raise WrongUse("Give --kernel or --model, not both.", "A model has its kernel.")
    source = Source(data, format_, sep, encoding, header)
    fitted = None if model is None else load(model, source)[0]
    found = read(source, target, drop or (), kind or (), as_is=True)
    X: Any = found.X
    if fitted is not None:
        X = matched(Piece(found.raw, found.matrix), fitted, source, [])
    diagnosis = diagnose(X, found.y, kernel=kernel, estimator=fitted, task=task)
    out.line("data", source.name)
    for note in source.notes:
        out.line("", note)
    say_columns(out, found)
    out.text()
    out.text(diagnosis.heading, style="bold")
    for finding in diagnosis:
        out.text(f"  {str(finding).replace(chr(10), chr(10) + '  ')}", style=STYLES[finding.severity])
    if fitted is None and kernel is None:
        out.text()
        out.text(
            "`mercer fit` standardises numbers by itself, and reads categories, dates, texts and holes as they are; "
            "--model looks at what a fitted machine sees."
        )
    out.fact(data=source.name, **diagnosis.to_dict())
    return Exit.NO if diagnosis.of(Severity.PROBLEM) else Exit.FINE
