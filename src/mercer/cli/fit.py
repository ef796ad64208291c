"""`mercer fit`: from a data file to a fitted machine, with a score that it did not see coming."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mercer.cli.interrupt import Interruption, watching
from mercer.cli.machines import AUTO, CLASSIFICATION, Machine, choose, settings
from mercer.cli.options import (
    DataArgument,
    DropOption,
    EncodingOption,
    FormatOption,
    HeaderOption,
    KernelOption,
    KindOption,
    MachineOption,
    SepOption,
    SetOption,
    TargetOption,
    TaskOption,
)
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.preparing import Data, Recipe, machine_of, read, recipe
from mercer.cli.printing import Output
from mercer.cli.reading import Source
from mercer.cli.scoring import Score
from mercer.cli.storing import FIRST, TARGET, check_writable, save
from mercer.cli.telling import peak_bytes, proof_facts, proof_in_a_line, say_columns, short_formula
from mercer.cli.tuning import Chosen
from mercer.cli.working import Work
from mercer.errors import MercerError, UncertifiedWarning
from mercer.kernels import Kernel
from mercer.problems import Certificate

__all__ = ["run"]


def run(
    out: Output,
    data: DataArgument,
    target: TargetOption = None,
    task: TaskOption = AUTO,
    machine: MachineOption = AUTO,
    kernel: KernelOption = AUTO,
    tune: Annotated[bool, typer.Option("--tune", help="Search for the kernel's scale and the penalty.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to store the model.")] = None,
    cv: Annotated[int | None, typer.Option(min=2, help="Score by so many folds.")] = None,
    test_size: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Score on this share of the rows, held out.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random choice of rows.")] = 0,
    drop: DropOption = None,
    kind: KindOption = None,
    set_: SetOption = None,
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", help="Whether columns of numbers are standardised.")
    ] = True,
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Fit a machine on a table.

    What the columns hold is inferred, and said. The score is of rows that the machine has not seen: by 5-fold
    cross-validation below 2000 rows, else on a quarter of them; the machine is then fitted on all rows. With --tune the
    search is repeated inside every training part, so that the score stays honest. Ctrl-C keeps the best so far.
    """
    given = settings(set_ or ())
    if test_size is not None and not 0.0 < test_size < 1.0:
        raise WrongUse("--test-size must lie between 0 and 1.", f"Got {test_size}.")
    if cv is not None and test_size is not None:
        raise WrongUse("Give --cv or --test-size, not both.")
    if output is not None:
        check_writable(output)
    source = Source(data, format_, sep, encoding, header)
    found = read(source, target, drop or (), kind or ())
    row = choose(machine, task, found.y)
    found = _for_task(found, row)
    plan = recipe(kernel, found)
    _say_data(out, source, found, row, plan)
    started = time.perf_counter()
    with watching() as stop:
        work = Work(out, row, found, plan, given, tune, scale, seed, stop)
        done = work.evaluate(cv, test_size)
        model, chosen = work.finish()
    seconds = time.perf_counter() - started
    notes = {TARGET: None if found.target is None else found.target.name, FIRST: source.first}
    return _say_model(out, model, work.X, notes, row, done, chosen, seconds, output, stop)


def _for_task(data: Data, row: Machine) -> Data:
    """Labels that are whole numbers stay whole numbers; a quantity must be one."""
    y = data.y
    if y is None or data.target is None:
        return data
    if row.task is not CLASSIFICATION and y.dtype.kind != "f":
        raise WrongUse(
            f"{row.name} predicts numbers, and the target {data.target.name!r} holds texts.",
            f"Among them {y[0]!r}.",
            "Take --task classification, or say --kind NAME=numbers.",
        )
    if row.task is CLASSIFICATION:
        y = y.astype(str) if y.dtype.kind != "f" else y.astype(np.int64) if (y == np.round(y)).all() else y
        if y.dtype.kind == "f":
            raise WrongUse(
                f"{row.name} needs labels, and the target {data.target.name!r} holds numbers such as {y[0]:g}.",
                "",
                "Take --task regression.",
            )
        if len(np.unique(y)) < 2:
            raise BadData(f"The target {data.target.name!r} has only one label, {y[0]}.")
    return replace(data, y=y)


def _say_data(out: Output, source: Source, data: Data, row: Machine, plan: Recipe) -> None:
    width = len(data.columns) or data.X.shape[1]
    out.line("data", f"{source.name}: {len(data)} rows, {width} columns{'' if data.columns else ', sparse'}")
    for note in source.notes:
        out.line("", note)
    if data.target is not None and data.y is not None:
        labels = f", {len(np.unique(data.y))} labels" if row.task is CLASSIFICATION else f", {data.target.note}"
        out.line("target", f"{data.target.name}: {row.task.name}{labels}")
    say_columns(out, data)
    for reason in plan.reasons:
        out.line("", reason)
    out.fact(
        data=source.name,
        rows=len(data),
        notes=source.notes,
        columns=[vars(column) for column in data.columns],
        target=None if data.target is None else data.target.name,
        task=row.task.name,
        reasons=plan.reasons,
    )


def _say_model(
    out: Output,
    model: Any,
    X: Any,
    notes: dict[str, Any],
    row: Machine,
    done: Score | None,
    chosen: Chosen | None,
    seconds: float,
    output: Path | None,
    stop: Interruption,
) -> Exit:
    machine = machine_of(model)
    if stop.came:
        if "certify" in dir(machine):  # the others have been judged already
            machine.certify()
        out.hush(UncertifiedWarning)  # which the certificate repeats
        out.warn("Ctrl-C: this is the best model so far, and not the one that was asked for.")
    failure: MercerError | None = None
    if output is not None:  # before anything is said, so that `| head` cannot prevent it
        try:
            save(model, X, output, notes)
        except MercerError as error:
            failure = error
    found: Kernel = machine.model_.kernel
    certificate = machine.certificate_
    parameters = {name: vars(machine)[name] for name in (row.penalty, *row.in_units) if name and name in vars(machine)}
    said = ", ".join(f"{name} = {value:.4g}" for name, value in parameters.items())
    out.line("machine", type(machine).__name__ + (f" with {said}" if said else ""))
    out.line("kernel", short_formula(found))
    out.line("proof", proof_in_a_line(found))
    if chosen is not None:
        edge = f"; {' and '.join(chosen.edges)} at the end of the range, so more may be gained" if chosen.edges else ""
        out.line("tuned", f"best of {chosen.tried} on {chosen.rows} rows{edge}")
    if done is not None:
        out.line("score", done)
    out.line("certificate", f"{'✓' if certificate.is_certified else '✗'} {_ended(certificate)}")
    memory = peak_bytes()
    out.line("cost", f"{seconds:.2f} s" + (f", at most {memory / 2**20:.0f} MB" if memory else ""))
    out.fact(
        machine=type(machine).__name__,
        parameters=parameters,
        kernel=repr(found),
        proof=proof_facts(found),
        tuned=None if chosen is None else {**vars(chosen), "kernel": repr(chosen.kernel)},
        score=None if done is None else vars(done),
        certificate=certificate.to_dict(),
        seconds=seconds,
        peak_bytes=memory,
        model=None,
    )
    if failure is not None:
        raise failure
    if output is not None:
        out.line("stored", output)
        out.fact(model=str(output))
    if stop.came:
        return Exit.INTERRUPTED
    return Exit.FINE if certificate.is_certified else Exit.NO


def _ended(certificate: Certificate) -> str:
    """How the solve ended: in short where it is certified, in full where it is not."""
    gap = certificate.relative_gap
    said = certificate.status.value
    short = said.partition(":")[0].partition(",")[0] if certificate.is_certified else said
    return short if np.isnan(gap) else f"{short} (relative gap {gap:.1e})"
