"""`mercer plan`: bytes and seconds of a fit, before it is made."""

from mercer.cli.machines import AUTO, choose, settings
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
from mercer.cli.outcome import Exit
from mercer.cli.preparing import read, recipe, seen, steps_of
from mercer.cli.printing import Output
from mercer.cli.reading import Source
from mercer.cli.telling import short_formula
from mercer.doctor import plan

__all__ = ["run"]


def run(
    out: Output,
    data: DataArgument,
    target: TargetOption = None,
    task: TaskOption = AUTO,
    machine: MachineOption = AUTO,
    kernel: KernelOption = AUTO,
    drop: DropOption = None,
    kind: KindOption = None,
    set_: SetOption = None,
    format_: FormatOption = None,
    sep: SepOption = None,
    encoding: EncodingOption = None,
    header: HeaderOption = None,
) -> Exit:
    """Say what one fit would take, before it is made.

    `mercer fit` makes several: one for each fold of its score, and one on all rows.
    Exit code 1: there is not so much memory.
    """
    given = settings(set_ or ())
    source = Source(data, format_, sep, encoding, header)
    found = read(source, target, drop or (), kind or ())
    row = choose(machine, task, found.y)
    how = recipe(kernel, found)
    X = seen(found, how)
    steps = steps_of(found, how)
    planned = plan(X if steps is None else steps.fit_transform(X), found.y, row.make(how.kernel, found.y, **given))
    out.line("data", f"{source.name}: {len(found)} rows")
    for label, text in planned.lines():
        out.line(label, short_formula(text) if label == "kernel" else text)
    out.text()
    out.text(planned.explanation)
    out.fact(data=source.name, **planned.to_dict())
    return Exit.FINE if planned.fits else Exit.NO
