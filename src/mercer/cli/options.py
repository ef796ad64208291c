"""The options and arguments that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mercer.cli.columns import GIVEN
from mercer.cli.machines import AUTO, MACHINES, TASKS
from mercer.cli.reading import FORMATS

__all__ = [
    "DataArgument",
    "DropOption",
    "EncodingOption",
    "FormatOption",
    "HeaderOption",
    "KernelOption",
    "KindOption",
    "MachineOption",
    "ModelArgument",
    "SepOption",
    "SetOption",
    "TargetOption",
    "TaskOption",
]

NAMES = ", ".join(dict.fromkeys(row.name for row in MACHINES))


def _one_of(*names: str) -> Callable[[str], list[str]]:
    """What a shell offers for an option: the names that begin with what is there."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]  # typer's name


FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"{', '.join(FORMATS)}; by the file's name where not given.",
        autocompletion=_one_of(*FORMATS),
    ),
]
SepOption = Annotated[str | None, typer.Option("--sep", help="What parts the fields of a text table, such as ';'.")]
EncodingOption = Annotated[str | None, typer.Option("--encoding", help="Of a text table, such as latin-1.")]
HeaderOption = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line of a text table holds the names.")
]
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="A data file; - is standard input.")]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as `mercer fit -o` writes it.")]
TargetOption = Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")]
TaskOption = Annotated[str, typer.Option(help=f"auto, {', '.join(TASKS)}.", autocompletion=_one_of(AUTO, *TASKS))]
MachineOption = Annotated[
    str,
    typer.Option("--machine", "-m", help=f"auto, {NAMES}.", autocompletion=_one_of(AUTO, *NAMES.split(", "))),
]
KernelOption = Annotated[str, typer.Option("--kernel", "-k", help="A formula, or auto.")]
DropOption = Annotated[list[str] | None, typer.Option(help="A column to leave out; as often as needed.")]
KindOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME=KIND", help=f"What a column holds: {', '.join(GIVEN)}.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the machine, such as C=10.")
]
