"""Logarithms of k(x, x): what is left to compute with where k(x, x) itself is beyond every float.

The algebra says how they follow from those of the parts: exp(k) has k(x, x), a product has the sum, and so on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.kernels.rules import (
    ADDITION,
    ALIGNMENTS,
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
from mercer.points.base import Points

__all__ = ["is_steep", "log_diagonal", "logarithm"]

Values = npt.NDArray[np.float64]

# The rules whose kernels may overflow, or vanish by rounding, on points where their parts do not.
STEEP = frozenset({ALIGNMENTS, CONGRUENCE, EXPONENTIAL, POLYNOMIAL, SCHUR_PRODUCT, TENSOR})


def is_steep(kernel: Any) -> bool:
    """Whether values may overflow, or vanish by rounding, where those of the leaves are ordinary numbers."""
    if np.isfinite(kernel.max_abs):
        return False
    rule = kernel.by()
    if rule is None:
        return is_steep(kernel.expand())
    return rule in STEEP or (rule in LOGS and any(map(is_steep, kernel.premises())))


def log_diagonal(kernel: Any, points: Points) -> Values:
    """The values log k(x, x), −∞ where k(x, x) = 0."""
    if not is_steep(kernel):
        return logarithm(kernel.diag(points))
    rule = kernel.by()
    return log_diagonal(kernel.expand(), points) if rule is None else LOGS[rule](kernel, points)


def logarithm(values: Values) -> Values:
    """The logarithm of numbers ≥ 0, −∞ at 0."""
    with np.errstate(divide="ignore"):
        logs: Values = np.log(np.maximum(values, 0.0))  # rounding may leave k(x, x) below 0
    return logs


def _of_sum(node: Any, points: Points) -> Values:
    return _summed([log_diagonal(term, points) for term in node.terms])


def _of_product(node: Any, points: Points) -> Values:
    return np.asarray(sum(log_diagonal(factor, points) for factor in node.factors), dtype=np.float64)


def _of_polynomial(node: Any, points: Points) -> Values:
    inner = log_diagonal(node.kernel, points)
    terms = [
        np.full(len(points), np.log(coefficient)) + (degree * inner if degree else 0.0)
        for degree, coefficient in node.monomials()
    ]
    return _summed(terms) if terms else np.full(len(points), -np.inf)


def _summed(logs: list[Values]) -> Values:
    return np.asarray(np.logaddexp.reduce(logs), dtype=np.float64)


LOGS: dict[Rule, Callable[[Any, Points], Values]] = {
    ALIGNMENTS: lambda node, points: node.log_diagonal(points),
    EXPONENTIAL: lambda node, points: node.kernel.diag(points),
    SCALING: lambda node, points: logarithm(np.array(node.scale)) + log_diagonal(node.kernel, points),
    ADDITION: _of_sum,
    DIRECT_SUM: _of_sum,
    SCHUR_PRODUCT: _of_product,
    TENSOR: _of_product,
    POLYNOMIAL: _of_polynomial,
    CONGRUENCE: lambda node, points: 2.0 * node.function.logs(points) + log_diagonal(node.kernel, points),
    PULLBACK: lambda node, points: log_diagonal(node.kernel, node.map.fit(points)(points)),
}
