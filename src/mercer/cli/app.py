"""The table of commands, and how one of them is run: its options, its errors, its exit code."""

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Annotated, Any, final

import typer
from typer.core import TyperGroup

from mercer.cli.outcome import Exit, WrongUse, code_of
from mercer.cli.printing import Output
from mercer.config import version

__all__ = ["TABLE", "app", "main"]

# An unknown option, a missing argument: what typer itself refuses.
USAGE_ERROR: Any = typer.BadParameter.__base__

Run = Callable[..., Exit | None]


@final
@dataclass(frozen=True)
class Row:
    """One command; its module is imported when it is called, so that help and completion are quick.

    Attributes
    ----------
    summary : str
        What it does, in one line.
    examples : tuple of str
        Shown at the end of its help.
    """

    summary: str
    examples: tuple[str, ...]

    def load(self, name: str) -> Run:
        """The function that runs it."""
        run: Run = import_module(f"mercer.cli.{name}").run
        return run


TABLE: dict[str, Row] = {
    "fit": Row(
        "Fit a machine on a table, with a proof, a score and a certificate.",
        (
            "mercer fit wine.csv --target kind -o wine.mercer",
            "mercer fit houses.csv --target price --machine ridge --tune --cv 5",
            """mercer fit a.parquet --target y --kernel "RBF('median') + Linear()" """.strip(),
            "zcat big.csv.gz | mercer fit - --target y --json",
        ),
    ),
    "predict": Row(
        "Predict for the rows of a table, in little memory.",
        (
            "mercer predict wine.mercer new.csv -o answers.csv",
            "mercer predict wine.mercer new.csv --proba | head",
            "mercer predict houses.mercer new.parquet --std -o answers.jsonl",
        ),
    ),
    "explain": Row(
        "Say what a model is: kernel, proof, certificate, the rows it rests on.",
        ("mercer explain wine.mercer", "mercer explain wine.mercer --rows 20 --json"),
    ),
    "prove": Row(
        "Prove that a formula is a kernel, or say why it cannot be derived.",
        ('mercer prove "RBF(2.0) + Linear() ** 2"', 'mercer prove "RBF() - RBF(2.0)"', 'mercer prove "RBF()" --latex'),
    ),
    "refute": Row(
        "Search for points on which a Python function is not a kernel.",
        ("mercer refute mine.py:similarity", "mercer refute mine.py:similarity --data points.csv"),
    ),
    "report": Row(
        "Write a page about a model: proof, certificate, scores, pictures.",
        ("mercer report wine.mercer new.csv --target kind -o report.html",),
    ),
    "plan": Row(
        "Say what a fit would take, in bytes and seconds, before it is made.",
        ("mercer plan big.csv --target y", "mercer plan big.csv --target y --machine svc --set C=100"),
    ),
    "doctor": Row(
        "Look for what would make a fit fail, or do worse than it could.",
        ("mercer doctor wine.csv --target kind", "mercer doctor wine.csv --target kind --model wine.mercer --json"),
    ),
    "demo": Row("Watch the commands at work on a small table.", ("mercer demo",)),
    "bench": Row(
        "Measure this computer, side by side with scikit-learn, in about two minutes.",
        ("mercer bench", "mercer bench --scale 0.2 --json"),
    ),
}


class Commands(TyperGroup):
    """The commands of the table; the module of a command is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (typer's signature)
        """Every name, in the order of the table."""
        return list(TABLE)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 (typer's signature)
        """What lists of commands show: name and summary, nothing imported."""
        row = TABLE.get(cmd_name)
        return None if row is None else _command(cmd_name, row, lambda: None)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself."""
        self.commands = {name: self.get_command(ctx, name) for name in TABLE}  # for "did you mean"
        name, found, rest = super().resolve_command(ctx, args)
        if name is not None and found is not None:
            found = _command(name, TABLE[name], framed(TABLE[name].load(name)))
        return name, found, rest


app = typer.Typer(
    name="mercer",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"mercer {version()}")
        raise typer.Exit


CODES = "\n\n".join(f"{code.value:>3}  {code.sentence}" for code in Exit)


@app.callback(epilog=f"Exit codes:\n\n{CODES}")
def _top(
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Kernel machines that prove their kernels: from a data file to a certified model.

    `mercer demo` shows the commands at work; `mercer COMMAND --help` explains one, with examples.
    """


def _command(name: str, row: Row, run: Callable[..., Any]) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
    examples = "\n\n".join(f"  {example.replace('[', chr(92) + '[')}" for example in row.examples)
    alone.command(name, help=_help(row, run), short_help=row.summary, epilog=f"Examples:\n\n{examples}")(run)
    return typer.main.get_command(alone)


def _help(row: Row, run: Callable[..., Any]) -> str:
    more = (inspect.getdoc(run) or "").partition("\n\n")[2] if run.__doc__ else ""
    return f"{row.summary}\n\n{more}".strip()


def framed(run: Run) -> Callable[..., None]:
    """A command with the options that all have, whose errors become messages and exit codes."""

    @wraps(run)
    def framed_run(json: bool = False, debug: bool = False, **given: Any) -> None:
        out = Output(json=json, debug=debug)
        try:
            with out.catching_warnings():
                code = run(out, **given) or Exit.FINE
            out.close(code)
        except typer.Exit:
            raise
        except BrokenPipeError:
            raise typer.Exit(_stop_writing()) from None
        except (Exception, KeyboardInterrupt) as error:
            if type(error).__module__.partition(".")[0] in ("typer", "click"):
                raise
            code = code_of(error)
            out.fail(_told(error, code), code)
            if debug:
                traceback.print_exc()
            out.close(code)
        if code:
            raise typer.Exit(int(code))

    signature = inspect.signature(run)
    own = [part for name, part in signature.parameters.items() if name != "out"]
    both = [*own, *(part for name, part in inspect.signature(_common).parameters.items())]
    vars(framed_run)["__signature__"] = signature.replace(parameters=both, return_annotation=None)
    framed_run.__annotations__ = {part.name: part.annotation for part in both}
    return framed_run


def _common(
    *,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel="Always there")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error arose.", rich_help_panel="Always there")
    ] = False,
) -> None: ...


def _told(error: BaseException, code: Exit) -> BaseException:
    """The error in words that help."""
    if isinstance(error, KeyboardInterrupt):
        return KeyboardInterrupt("stopped by Ctrl-C; nothing was written.")
    if isinstance(error, MemoryError) and not str(error):
        return MemoryError("There is not enough memory. Take fewer rows.")
    if code is Exit.BUG:
        return RuntimeError(
            f"{type(error).__name__}: {error}\n  This is a mistake in mercer, not yours. --debug shows where it arose."
        )
    return error


def _stop_writing() -> int:
    # Nobody reads any more; Python must not complain when it flushes at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.PIPE_CLOSED


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show ⟨x, z⟩ shows question marks.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    given = sys.argv[1:] if arguments is None else list(arguments)
    if "--json" not in given:
        app(args=given, prog_name="mercer")
        return
    try:
        code = app(args=given, prog_name="mercer", standalone_mode=False)
    except USAGE_ERROR as error:  # for programs, this is said as all else
        out = Output(json=True)
        out.fail(WrongUse(error.format_message()), Exit.WRONG_USE)
        out.close(Exit.WRONG_USE)
        code = Exit.WRONG_USE
    sys.exit(int(code or 0))
