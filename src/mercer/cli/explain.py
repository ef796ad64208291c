"""`mercer explain`: what a stored model is."""

from typing import Annotated, Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from mercer.cli.columns import DATES
from mercer.cli.options import ModelArgument
from mercer.cli.outcome import Exit
from mercer.cli.preparing import EPOCH, kinds_of, machine_of
from mercer.cli.printing import Output
from mercer.cli.storing import load
from mercer.cli.telling import proof_facts, proof_in_a_line, short_formula
from mercer.kernels import Kernel
from mercer.kernels.proof import Proof
from mercer.models import Model
from mercer.points.table import Table
from mercer.points.vectors import Vectors

__all__ = ["influences", "run"]

WIDEST = 6
MINUTES = 24 * 60
# Formulas so wide have their reason beside them.
BESIDE = 44


def run(
    out: Output,
    model: ModelArgument,
    rows: Annotated[int, typer.Option(min=0, help="How many of the most influential rows to show.")] = 5,
) -> Exit:
    """Say what a model is, and what it rests on.

    The influence of a row is |α| √k(x, x): how far the function f would move, in the norm of its space, if the row's
    term were left out; with several functions (one for each label or pair) that of the root of their sum of squares.
    """
    fitted, target = load(model)
    machine = machine_of(fitted)
    known: Model = machine.model_
    certificate = machine.certificate_
    kinds = kinds_of(fitted)
    out.line("model", f"{type(machine).__name__}, in {model}")
    if kinds:
        out.line("columns", ", ".join(f"{name} ({kind})" for name, kind in kinds.items()))
    else:
        out.line("columns", f"{machine.n_features_in_} numbers, sparse")
    if target is not None:
        out.line("target", target)
    if known.classes is not None:
        out.line("labels", ", ".join(map(str, known.classes)))
    out.line("kernel", short_formula(known.kernel))
    out.line("rests on", _basis(machine, known, certificate))
    out.line("proof", proof_in_a_line(known.kernel))
    if isinstance(known.kernel, Kernel):
        out.text()
        out.text(_written(known.kernel.proof()))
    out.text()
    out.text(certificate)
    top = _top(fitted, known, rows)
    if top:
        out.text()
        out.text(f"The {len(top)} most influential of the rows that it rests on:", style="bold")
        names = list(top[0])
        out.table(names, [[row[name] for name in names] for row in top])
    out.fact(
        model=str(model),
        machine=type(machine).__name__,
        columns=kinds,
        target=target,
        labels=known.classes,
        kernel=repr(known.kernel),
        proof=proof_facts(known.kernel),
        proof_text=_written(known.kernel.proof()) if isinstance(known.kernel, Kernel) else None,
        certificate=certificate.to_dict(),
        basis=len(known.basis),
        intercept=known.intercept,
        influential=top,
    )
    return Exit.FINE if certificate.is_certified else Exit.NO


def _written(proof: Proof) -> str:
    """The steps, without what was learnt column by column; the reason of a long one stands below it."""
    lines = []
    for step in proof.steps:
        formula = short_formula(step.formula)
        condition = f"; {short_formula(step.condition)}" if step.condition else ""
        gap = f"{'':<{BESIDE - len(formula)}}" if len(formula) <= BESIDE else "\n" + " " * (BESIDE + 5)
        lines.append(f"{step.number:>3}. {formula}{gap}  {step.reason()}{condition}")
    return "\n".join(lines)


def _basis(machine: Any, known: Model, certificate: Any) -> str:
    m, n = len(known.basis), certificate.rows
    if "support_" in dir(machine):
        share = f" ({m / n:.0%})" if n else ""
        return f"{m} support vectors of {n} training rows{share}"
    return f"{m} training rows"


def influences(known: Model) -> Any:  # (m,)
    """|α| √k(x, x) of every basis point; None where coefficients are not the α of a sum."""
    if known.smoothing is not None or known.votes is not None or not isinstance(known.kernel, Kernel):
        return None
    if len(known.coef) != len(known.basis) or not len(known.basis):
        return None
    size = np.sqrt(np.square(known.coef).sum(axis=1))
    return size * np.sqrt(np.maximum(known.binding.diag(), 0.0))


def _top(fitted: Any, known: Model, count: int) -> list[dict[str, Any]]:
    """The rows, in the units of the data file where the steps before the machine can be undone."""
    found = influences(known)
    if found is None or not count:
        return []
    order = np.argsort(-found, kind="stable")[:count]
    columns = _columns(fitted, known.basis.take(order))
    kinds = kinds_of(fitted)
    shown = {name: _readable(columns[name], kinds.get(name)) for name in list(columns)[:WIDEST]}
    alpha = known.coef[order]
    return [
        {
            "influence": float(found[row]),
            "alpha": ", ".join(f"{value:.4g}" for value in alpha[i]),
            **{name: values[i] for name, values in shown.items()},
        }
        for i, row in enumerate(order)
    ]


def _readable(values: list[Any], kind: str | None) -> list[Any]:
    """Dates as dates, of which a machine sees the number of days; None where missing."""
    if kind == DATES:
        days = np.asarray(values, dtype=np.float64)
        whole = bool((days[np.isfinite(days)] % 1.0 == 0.0).all())
        moments = EPOCH + np.round(np.where(np.isfinite(days), days, 0.0) * MINUTES).astype("timedelta64[m]")
        texts = np.datetime_as_string(moments, unit="D" if whole else "m").tolist()
        return [text if np.isfinite(day) else None for text, day in zip(texts, days, strict=True)]
    return [None if isinstance(value, float) and np.isnan(value) else value for value in values]


def _columns(fitted: Any, basis: Any) -> dict[str, list[Any]]:
    if isinstance(fitted, Pipeline) and isinstance(basis, Vectors):
        return _undone(fitted[0], np.asarray(basis.raw()))
    if isinstance(basis, Table):
        return {name: list(values) for name, values in basis.raw().items()}
    return {}


def _undone(columns: Any, prepared: Any) -> dict[str, list[Any]]:
    """The columns as they were before they were prepared; imputed values stay as they are."""
    found: dict[str, list[Any]] = {}
    for (kind, step, names), where in zip(columns.transformers_, columns.output_indices_.values(), strict=False):
        block = prepared[:, where]
        if kind == "remainder" or not len(names):
            continue
        if isinstance(step, Pipeline):
            step = step[-1]
            block = step.inverse_transform(block)
        elif "categories_" in vars(step):
            block = step.inverse_transform(block)
        found |= {name: block[:, j].tolist() for j, name in enumerate(names)}
    return {name: found[name] for name in columns.feature_names_in_ if name in found}
