"""How to make the same machine again."""

import hashlib
import platform
from inspect import signature
from typing import Any

import numpy as np

from mercer.config import show_config
from mercer.domains import comparable
from mercer.errors import MercerError
from mercer.kernels.kernel import Kernel
from mercer.kernels.parse import parse
from mercer.markup import Markup, element, joined
from mercer.points.base import Points
from mercer.report.case import Case
from mercer.report.matching import keys_of
from mercer.report.tables import facts, label, paragraph, table

__all__ = ["reproduce"]


def reproduce(case: Case) -> Markup:
    """Code, parameters, versions and the fingerprint of the data."""
    config: dict[str, Any] = show_config(as_dict=True) or {}
    versions = [(name, str(value)) for name, value in config.items() if name != "memory there"]
    versions.append(("system", platform.platform(terse=True)))
    rows = [[name, label(repr(value))] for name, value in case.machine.get_params(deep=False).items()]
    return joined(
        element("pre", element("code", _code(case)), tabindex=0),
        _reading(case),
        element("h3", "Parameters"),
        table(("Parameter", "Value"), rows, "Parameters of the machine"),
        _search(case),
        element("h3", "Data"),
        facts(_fingerprints(case)),
        element("h3", "Versions"),
        facts(versions),
        paragraph(
            "There is no seed to set: fits do not depend on chance (a solver that draws random numbers always draws "
            "the same), and not on the number of threads, except for the last digits of steps left to BLAS and LAPACK."
        ),
    )


def _code(case: Case) -> str:
    """The fit, as Python."""
    lines = ["import mercer", ""]
    targets = "X" if case.y is None and case.is_one_class else "X, y"
    if case.before is not None:
        lines += [f"estimator = {case.whole!r}", ""]
    else:
        given = [f"{name}={_written(value)}" for name, value in _changed(case.machine).items()]
        inner = ", ".join(given)
        call = f"mercer.{case.name}({inner})"
        if len(call) > 80:
            call = f"mercer.{case.name}(\n    " + ",\n    ".join(given) + ",\n)"
        lines += [f"machine = {call}"]
    who = "estimator" if case.before is not None else "machine"
    lines += [f"{who}.fit({targets})", f'mercer.report({who}, {targets}, path="report.html")']
    return "\n".join(lines)


def _changed(machine: Any) -> dict[str, Any]:
    """The parameters that are not at their defaults; the kernel always."""
    defaults = {name: field.default for name, field in signature(type(machine)).parameters.items()}
    return {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name == "kernel" or name not in defaults or not _is_same(value, defaults[name])
    }


def _is_same(value: Any, default: Any) -> bool:
    try:
        return bool(comparable(value) == comparable(default)) and type(value) is type(default)
    except (TypeError, ValueError):
        return False


def _written(value: Any) -> str:
    if isinstance(value, Kernel):
        return f'mercer.parse("{value!r}")' if '"' not in repr(value) else f"mercer.parse({repr(value)!r})"
    return np.array2string(value, separator=", ", threshold=20) if isinstance(value, np.ndarray) else repr(value)


def _reading(case: Case) -> Markup | None:
    """Whether the kernel's text alone makes the kernel again."""
    kernel = case.kernel
    if kernel is None:
        return None
    try:
        is_same = parse(repr(kernel)) == kernel
    except (MercerError, ValueError):
        is_same = False
    if is_same:
        return paragraph(
            "The kernel with its numbers, as text that mercer.parse reads back: ", element("code", repr(kernel)), "."
        )
    return paragraph(
        "The kernel holds a function or a matrix of yours, which no text can hold: ", element("code", repr(kernel)),
        ". Keep it beside this report.",
    )  # fmt: skip


def _search(case: Case) -> Markup | None:
    """What a search chose."""
    best = vars(case.whole).get("best_params_")
    return None if best is None else paragraph(f"Chosen by a search: {label(best)}.")


def _fingerprints(case: Case) -> list[tuple[str, str]]:
    found = [("Rows", _digest(case.points))]
    if case.y is not None:
        y = np.asarray(case.y)
        found.append(("Targets", _hashed([repr(value) for value in y.ravel().tolist()])))
    return [(f"SHA-256 of the {name.lower()}", digest) for name, digest in found if digest]


def _digest(points: Points) -> str:
    keys = keys_of(points)
    return "" if keys is None else _hashed([_stable(key) for key in keys])


def _stable(key: Any) -> str:
    """A text that does not depend on the order of a set."""
    if isinstance(key, frozenset | set):
        return repr(sorted(map(repr, key)))
    if isinstance(key, tuple):
        return repr([_stable(part) for part in key])
    return key.hex() if isinstance(key, bytes) else repr(key)


def _hashed(parts: list[str]) -> str:
    known = hashlib.sha256()
    for part in parts:
        known.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return known.hexdigest()
