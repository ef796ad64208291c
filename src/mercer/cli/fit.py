"""`mercer fit`: from a data file to a fitted machine, with a score that it did not see coming."""

import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
import numpy.typing as npt
import pandas as pd
import typer

from mercer.cli.interrupt import Interruption, watching
from mercer.cli.machines import AUTO, CLASSIFICATION, OUTLIERS, Machine, choose, settings
from mercer.cli.outcome import BadData, Exit, WrongUse
from mercer.cli.preparing import Data, Recipe, assembled, machine_of, read, recipe, seen, steps_of
from mercer.cli.printing import Output
from mercer.cli.reading import FORMATS, Source
from mercer.cli.scoring import Score, score, splits
from mercer.cli.storing import check_writable, save
from mercer.cli.tuning import Chosen, search
from mercer.kernels import Kernel

__all__ = ["run"]

LEARNT = re.compile(r"\[-?\d[^\[\]']*(,[^\[\]']*){2,}\]")
MANY_NAMES = re.compile(r"((?:'[^']*', ){2}'[^']*')(?:, '[^']*'){2,}")
LONG_NUMBER = re.compile(r"\d+\.\d{6,}(e[+-]?\d+)?")
# Names of columns in a line.
SHOWN = 12
# Shared by the commands that read data files.
FormatOption = Annotated[
    str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; by the file's name where not given.")
]
SepOption = Annotated[str | None, typer.Option("--sep", help="What parts the fields of a text table, such as ';'.")]
EncodingOption = Annotated[str | None, typer.Option("--encoding", help="Of a text table, such as latin-1.")]
HeaderOption = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first line of a text table holds the names.")
]
DataArgument = Annotated[str, typer.Argument(metavar="DATA", help="A data file; - is standard input.")]


def run(
    out: Output,
    data: DataArgument,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")] = None,
    task: Annotated[str, typer.Option(help="auto, classification, regression or outliers.")] = AUTO,
    machine: Annotated[
        str,
        typer.Option(
            "--machine",
            "-m",
            help="auto, svc, nu-svc, logistic, ridge, svr, nu-svr, neighbors, smoother, centroid, one-class.",
        ),
    ] = AUTO,
    kernel: Annotated[str, typer.Option("--kernel", "-k", help="A formula, or auto.")] = AUTO,
    tune: Annotated[bool, typer.Option("--tune", help="Search for the kernel's scale and the penalty.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to store the model.")] = None,
    cv: Annotated[int | None, typer.Option(min=2, help="Score by so many folds.")] = None,
    test_size: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Score on this share of the rows, held out.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the random choice of rows.")] = 0,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; as often as needed.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="NAME=KIND", help="What a column holds: numbers, categories or dates.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the machine, such as C=10.")
    ] = None,
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
        work = _Work(out, row, found, plan, given, tune, scale, seed, stop)
        done = work.evaluate(cv, test_size)
        model, chosen = work.finish()
    seconds = time.perf_counter() - started
    return _say_model(out, model, work.X, row, done, chosen, seconds, output, stop)


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


@final
class _Work:
    """The fits of one command: those that are scored, then the one that is kept."""

    def __init__(
        self,
        out: Output,
        row: Machine,
        data: Data,
        plan: Recipe,
        given: dict[str, Any],
        tune: bool,
        scale: bool,
        seed: int,
        stop: Interruption,
    ) -> None:
        self.out = out
        self.row = row
        self.data = data
        self.X = seen(data, plan)
        self.plan = plan
        self.given = given
        self.tune = tune
        self.scale = scale
        self.seed = seed
        self.stop = stop
        self.best: tuple[Any, Chosen | None] | None = None

    def fit(self, rows: npt.NDArray[np.intp] | None, *, shows: bool) -> tuple[Any, Chosen | None]:
        """A model of some rows, None for all."""
        X, y = (self.X, self.data.y) if rows is None else (_rows(self.X, rows), _rows(self.data.y, rows))
        kernel, given, chosen = self.plan.kernel, self.given, None
        steps = steps_of(self.data, self.plan, scale=self.scale)
        if self.tune:
            if y is None:
                raise WrongUse("--tune needs a --target, by which to compare.")
            Z = X if steps is None else steps.fit_transform(X)
            chosen = search(self.row, kernel, Z, y, given, self.seed, self.out, self.stop)
            kernel, given = chosen.kernel, {**given, **chosen.params}
        machine = self.row.make(kernel, y, **given)
        if shows and self.out.shows_progress and "verbose" in machine.get_params(deep=False):
            machine.set_params(verbose=1)
        model = assembled(machine, steps)
        model.fit(X, y)
        return model, chosen

    def evaluate(self, cv: int | None, test_size: float | None) -> Score | None:
        """The score, of rows held out; of those that were reached before Ctrl-C. None if there are none."""
        data, task = self.data, self.row.task
        pairs, how = splits(task, data.y, len(data), cv, test_size, self.seed)
        truths, answers, constants = [], [], []
        with self.out.progress("scoring", len(pairs) if len(pairs) > 1 and not self.tune else 0) as steps:
            try:
                for train, test in pairs:
                    self.best = self.fit(train, shows=len(pairs) == 1)
                    X, y = _rows(self.X, test), _rows(data.y, test)
                    answers.append(self.best[0].predict(X))
                    truths.append(y)
                    constants.append(_constant(task is CLASSIFICATION, _rows(data.y, train), len(test)))
                    steps.done()
                    if self.stop.came:
                        break
            except KeyboardInterrupt:
                if self.best is None:
                    raise
        if not answers:
            return None
        if len(answers) < len(pairs):
            how += f", {len(answers)} of them before Ctrl-C"
        if task is OUTLIERS:
            return score(task, None, np.concatenate(answers), None, how)
        return score(task, np.concatenate(truths), np.concatenate(answers), np.concatenate(constants), how)

    def finish(self) -> tuple[Any, Chosen | None]:
        """The model of all rows; after Ctrl-C the best so far."""
        if not self.stop.came:
            try:
                return self.fit(None, shows=True)
            except KeyboardInterrupt:
                self.stop.came = True
        if self.best is None:
            raise KeyboardInterrupt
        return self.best


def _rows(values: Any, rows: Any) -> Any:
    if values is None:
        return None
    return values.iloc[rows] if isinstance(values, pd.DataFrame) else values[rows]


def _constant(is_label: bool, y: Any, m: int) -> Any:
    """What one would answer without looking: the commonest label, or the mean."""
    if y is None:
        return np.empty(0)
    if not is_label:
        return np.full(m, y.mean())
    labels, counts = np.unique(y, return_counts=True)
    return np.full(m, labels[counts.argmax()])


def _say_data(out: Output, source: Source, data: Data, row: Machine, plan: Recipe) -> None:
    width = len(data.columns) or data.X.shape[1]
    out.line("data", f"{source.name}: {len(data)} rows, {width} columns{'' if data.columns else ', sparse'}")
    for note in source.notes:
        out.line("", note)
    if data.target is not None:
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


def say_columns(out: Output, data: Data) -> None:
    """What was inferred of the columns: kind by kind, then what is left out or doubtful."""
    kinds: dict[str, list[str]] = {}
    for column in data.used:
        kinds.setdefault(column.kind, []).append(column.name)
    for kind, names in kinds.items():
        out.line(kind, ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""))
    for column in data.columns:
        missing = f"{column.missing} rows without a value" if column.missing else ""
        said = "; ".join(part for part in (missing, column.doubt) if part)
        if column.left_out:
            out.line("left out", f"{column.name}: {column.left_out}")
        elif said:
            out.line("note", f"{column.name}: {said}")


def _say_model(
    out: Output,
    model: Any,
    X: Any,
    row: Machine,
    done: Score | None,
    chosen: Chosen | None,
    seconds: float,
    output: Path | None,
    stop: Interruption,
) -> Exit:
    machine = machine_of(model)
    if stop.came:
        if row.keeps_best:
            machine.certify()
        out.warn("Ctrl-C: this is the best model so far, and not the one that was asked for.")
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
    out.line("certificate", f"{'✓' if certificate.is_certified else '✗'} {certificate.status.value}{_gap(certificate)}")
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
    if output is not None:
        save(model, X, output)
        out.line("stored", output)
        out.fact(model=str(output))
    if stop.came:
        return Exit.INTERRUPTED
    return Exit.FINE if certificate.is_certified else Exit.NO


def short_formula(kernel: object) -> str:
    """A formula with few digits, and without what was learnt column by column.

    Examples
    --------
    >>> from mercer.kernels import RBF
    >>> from mercer.maps import Scale
    >>> short_formula(RBF(1.23456789).on(Scale([1.0, 2.0, 3.0, 4.0])))
    'RBF(1.23457).on(Scale([…]))'
    """
    text = MANY_NAMES.sub(r"\1, …", LEARNT.sub("[…]", str(kernel)))
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text)


def _gap(certificate: Any) -> str:
    gap = certificate.relative_gap
    return "" if np.isnan(gap) else f" (relative gap {gap:.1e})"


def proof_in_a_line(kernel: Any) -> str:
    """Which rules make it a kernel, and what is assumed."""
    if not isinstance(kernel, Kernel):
        return f"none: {kernel!r} is a window, whose weights are not negative"
    proof = kernel.proof()
    rules = ", ".join(rule.label.removeprefix("rule ") for rule in proof.rules)
    assumed = f"assuming {'; '.join(proof.assumptions)}" if proof.assumptions else "nothing is assumed"
    return f"{len(proof)} steps by rules {rules}; {assumed}"


def proof_facts(kernel: Any) -> dict[str, Any] | None:
    """The same for programs."""
    if not isinstance(kernel, Kernel):
        return None
    proof = kernel.proof()
    return {
        "derived": proof.is_derived,
        "rules": [rule.name for rule in proof.rules],
        "assumptions": list(proof.assumptions),
        "steps": len(proof),
    }


def peak_bytes() -> int:
    """The most memory that this process has had."""
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 (there is none on Windows)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
