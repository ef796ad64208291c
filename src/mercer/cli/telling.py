"""What several commands tell: columns, formulas and proofs in a line, memory."""

import re
import sys
from typing import Any

from mercer.cli.preparing import Data
from mercer.cli.printing import Output
from mercer.kernels import Kernel

__all__ = ["peak_bytes", "proof_facts", "proof_in_a_line", "say_columns", "short_formula"]

LEARNT = re.compile(r"\[-?\d[^\[\]']*(,[^\[\]']*){2,}\]")
MANY_NAMES = re.compile(r"((?:'[^']*', ){2}'[^']*')(?:, '[^']*'){2,}")
LONG_NUMBER = re.compile(r"\d+\.\d{6,}(e[+-]?\d+)?")
# Names of columns in a line.
SHOWN = 12


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
