"""Who is named when a value cannot be read or is not finite: the smallest part of the formula that its user wrote."""

from typing import Any

import numpy as np

from mercer.errors import NotFinite
from mercer.kernels.node import Node
from mercer.kernels.plan import OPERATIONS, Instruction, Plan
from mercer.notation import function_name
from mercer.term import Term

__all__ = ["not_finite", "owner_of_step", "owners_of_leaves", "owners_of_rows", "owners_of_views", "written_in"]


# Leaves whose own values overflow, on ordinary points.
_GROWING = frozenset({"alignment", "signature"})


def written_in(kernel: object) -> frozenset[object]:
    """The parts of a formula that its user wrote."""
    return frozenset(kernel.written() if isinstance(kernel, Term) else ())


def owner_of_step(m: Term, kernel: object, reader: object) -> object:
    """Who answers for a map that its user did not write: the part around `reader` that expands into it, or `reader`."""
    nodes = (part for part in written_in(kernel) if isinstance(part, Node) and reader in list(part.walk()))
    return next((node for node in nodes if (steps := node.expand()) is not None and m in steps.walk()), reader)


def owners_of_leaves(plan: Plan) -> list[object]:
    """The node that first reads each leaf."""
    first = {step.a: node for step, node in _last_first(plan) if "leaf" in OPERATIONS[step.op]}
    return [first[leaf] for leaf in range(len(plan.leaves))]


def owners_of_rows(plan: Plan) -> list[object]:
    """The node that first reads each function of one point."""
    first = {step.b: node for step, node in _last_first(plan) if "row" in OPERATIONS[step.op]}
    return [first[row] for row in range(len(plan.rows))]


def owners_of_views(plan: Plan) -> list[object]:
    """The node that first looks through each view."""
    first = {view: node for (_, view), node in zip(plan.rows, owners_of_rows(plan), strict=True)}
    first |= {leaf.view: owner for leaf, owner in zip(plan.leaves, owners_of_leaves(plan), strict=True)}
    return [first[view] for view in range(len(plan.views))]


def _last_first(plan: Plan) -> list[tuple[Instruction, object]]:
    return list(zip(plan.instructions, plan.nodes, strict=True))[::-1]


def not_finite(kernel: Any, plan: Plan, dtype: np.dtype[Any], row: int, column: int, instruction: int) -> NotFinite:
    """The error of a value that overflows, or is not a number; `instruction` is −1 where none is to blame."""
    node = plan.nodes[instruction] if instruction >= 0 else kernel
    step = plan.instructions[instruction]
    leaf = plan.leaves[step.a] if instruction >= 0 and "leaf" in OPERATIONS[step.op] else None
    at = f"at row {row} against basis point {column}"
    if leaf is not None and leaf.fn is not None:
        return NotFinite(
            f"The function {function_name(leaf.fn)} is not finite {at}.",
            f"Its value is not a number, or beyond {dtype.name}.",
            "Let it return finite numbers.",
            row=row,
        )
    attempt = "Scale the points"
    if dtype == np.float32:
        attempt = "float64 points reach further; or scale the points"
    # Normalising helps where the parts are finite; what has a bound is normalised already.
    if (leaf is None or leaf.kind in _GROWING) and getattr(kernel, "max_abs", 0.0) == np.inf:
        attempt += ", or use k.normalised(), which never computes this value"
    return NotFinite(
        f"{node!r} is not finite {at}.", f"The value overflows {dtype.name}, or is not a number.", f"{attempt}.",
        row=row,
    )  # fmt: skip
