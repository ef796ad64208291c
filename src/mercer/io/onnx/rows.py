"""Functions of one point as operators: norms, k(x, x), and their logarithms where k(x, x) is beyond every float."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.io.onnx.graph import Graph
from mercer.io.onnx.points import Seen, map_seen, refusal
from mercer.kernels.linear import Linear
from mercer.kernels.logs import is_steep
from mercer.kernels.normalised import Sign, Weight
from mercer.kernels.rows import Diagonal, GaussianEnvelope, InverseRoot, IsPositive, IsZero, NormPower
from mercer.kernels.rules import (
    ADDITION,
    CONGRUENCE,
    DIRECT_SUM,
    EXPONENTIAL,
    POLYNOMIAL,
    PULLBACK,
    SCALING,
    SCHUR_PRODUCT,
    TENSOR,
    Rule,
)

__all__ = ["row_values"]

# Of a kernel, at points: (n, 1).
_Diagonal = Callable[[Graph, Any, Seen], str]


def row_values(g: Graph, f: Any, seen: Seen, owner: object, diag: _Diagonal) -> str:
    """f(x), (n, 1); the last parameter writes k(x, x) of a kernel."""
    if type(f) not in VALUES:
        raise refusal(repr(owner), "It multiplies by a Python function of one point.")
    return VALUES[type(f)](g, f, seen, diag)


def _log_of(g: Graph, value: str) -> str:
    return g.op("Log", g.op("Max", value, 0.0))


def _logs(g: Graph, f: Any, seen: Seen, diag: _Diagonal) -> str:
    """log |f(x)|."""
    if type(f) in LOGS:
        return LOGS[type(f)](g, f, seen, diag)
    return g.op("Log", g.op("Abs", row_values(g, f, seen, f, diag)))


def _log_diagonal(g: Graph, kernel: Any, seen: Seen, diag: _Diagonal) -> str:
    """The logarithm of k(x, x), −∞ where that is 0."""
    if not is_steep(kernel):
        return _log_of(g, diag(g, kernel, seen))
    rule = kernel.by()
    if rule is None:
        return _log_diagonal(g, kernel.expand(), seen, diag)
    return DIAGONALS[rule](g, kernel, seen, diag)


def _norms(g: Graph, seen: Seen) -> str:
    return g.op("ReduceSumSquare", seen.name, np.array([1]), keepdims=1)


def _envelope_log(g: Graph, f: GaussianEnvelope, seen: Seen, _diag: _Diagonal) -> str:
    return g.op("Mul", _norms(g, seen), -0.5 / f.length_scale**2)


def _norm_power(g: Graph, f: NormPower, seen: Seen, _diag: _Diagonal) -> str:
    squares = _norms(g, seen)
    return g.where(g.op("Greater", squares, 0.0), g.op("Pow", squares, 0.5 * f.power), 0.0)


def _norm_power_log(g: Graph, f: NormPower, seen: Seen, diag: _Diagonal) -> str:
    norms = g.op("Mul", 0.5, _log_diagonal(g, Linear(), seen, diag))
    some = _is_finite(g, norms)
    return g.where(some, g.op("Mul", g.where(some, norms, 0.0), float(f.power)), -np.inf)


def _inverse_root(g: Graph, f: InverseRoot, seen: Seen, diag: _Diagonal) -> str:
    if is_steep(f.kernel):
        return g.op("Exp", _inverse_root_log(g, f, seen, diag))
    own = diag(g, f.kernel, seen)
    positive = g.op("Greater", own, 0.0)
    return g.where(positive, g.op("Div", 1.0, g.op("Sqrt", g.where(positive, own, 1.0))), 0.0)


def _inverse_root_log(g: Graph, f: InverseRoot, seen: Seen, diag: _Diagonal) -> str:
    inner = _log_diagonal(g, f.kernel, seen, diag)
    return g.where(_is_finite(g, inner), g.op("Mul", -0.5, inner), -np.inf)


def _is_finite(g: Graph, logs: str) -> str:
    return g.op("Greater", logs, -np.inf)


def _is_positive(g: Graph, f: Any, seen: Seen, diag: _Diagonal) -> str:
    return g.cast(_is_finite(g, _log_diagonal(g, f.kernel, seen, diag)), np.float64)


def _weight(g: Graph, f: Weight, seen: Seen, diag: _Diagonal) -> str:
    part = _log_diagonal(g, f.term, seen, diag)
    some = _is_finite(g, part)
    whole = g.where(some, _log_diagonal(g, f.whole, seen, diag), 0.0)
    return g.where(some, g.op("Exp", g.op("Mul", 0.5, g.op("Sub", g.where(some, part, 0.0), whole))), 0.0)


def _sign(g: Graph, f: Sign, seen: Seen, diag: _Diagonal) -> str:
    if f.function.sign:
        return g.cast(_is_finite(g, _logs(g, f.function, seen, diag)), np.float64)
    return g.op("Sign", row_values(g, f.function, seen, f.function, diag))


VALUES: dict[type, Callable[[Graph, Any, Seen, _Diagonal], str]] = {
    Diagonal: lambda g, f, seen, diag: diag(g, f.kernel, seen),
    GaussianEnvelope: lambda g, f, seen, diag: g.op("Exp", _envelope_log(g, f, seen, diag)),
    InverseRoot: _inverse_root,
    IsPositive: _is_positive,
    IsZero: lambda g, f, seen, diag: g.op("Sub", 1.0, _is_positive(g, f, seen, diag)),
    NormPower: _norm_power,
    Sign: _sign,
    Weight: _weight,
}
LOGS: dict[type, Callable[[Graph, Any, Seen, _Diagonal], str]] = {
    GaussianEnvelope: _envelope_log,
    InverseRoot: _inverse_root_log,
    NormPower: _norm_power_log,
}


def _summed(g: Graph, logs: list[str]) -> str:
    """log Σ exp, also where all are −∞."""
    if not logs:
        return g.constant(-np.inf)
    largest = g.op("Max", *logs, float(np.finfo(np.float64).min))
    return g.op("Add", largest, g.op("Log", g.op("Sum", *(g.op("Exp", g.op("Sub", each, largest)) for each in logs))))


def _of_polynomial(g: Graph, node: Any, seen: Seen, diag: _Diagonal) -> str:
    inner = _log_diagonal(g, node.kernel, seen, diag)
    terms = [
        g.op("Add", g.op("Mul", inner, float(degree)), float(np.log(coefficient)))
        if degree
        else g.constant(float(np.log(coefficient)))
        for degree, coefficient in node.monomials()
    ]
    return _summed(g, terms)


def _of_terms(terms: str, join: Callable[[Graph, list[str]], str]) -> Callable[[Graph, Any, Seen, _Diagonal], str]:
    return lambda g, node, seen, diag: join(g, [_log_diagonal(g, each, seen, diag) for each in getattr(node, terms)])


def _total(g: Graph, logs: list[str]) -> str:
    return g.op("Sum", *logs)


# log k(x, x) by the rule that makes k, as in mercer.kernels.logs.
DIAGONALS: dict[Rule, Callable[[Graph, Any, Seen, _Diagonal], str]] = {
    EXPONENTIAL: lambda g, node, seen, diag: diag(g, node.kernel, seen),
    SCALING: lambda g, node, seen, diag: g.op(
        "Add", _log_diagonal(g, node.kernel, seen, diag), float(np.log(node.scale)) if node.scale > 0.0 else -np.inf
    ),
    ADDITION: _of_terms("terms", _summed),
    DIRECT_SUM: _of_terms("terms", _summed),
    SCHUR_PRODUCT: _of_terms("factors", _total),
    TENSOR: _of_terms("factors", _total),
    POLYNOMIAL: _of_polynomial,
    CONGRUENCE: lambda g, node, seen, diag: g.op(
        "Add", g.op("Mul", 2.0, _logs(g, node.function, seen, diag)), _log_diagonal(g, node.kernel, seen, diag)
    ),
    PULLBACK: lambda g, node, seen, diag: _log_diagonal(g, node.kernel, map_seen(g, node.map, seen), diag),
}
