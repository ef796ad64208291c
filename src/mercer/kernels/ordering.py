"""Kernels whose feature-space distance is an increasing function of a simpler distance ψ, read off the tree.

Neighbours in the feature space of such a kernel are the neighbours by ψ: exp and its like need not be evaluated to find
them, and far points, where the kernel's values have all become 0, still have an order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, mul
from typing import final

from mercer.kernels.algebra import Constant, Exp, Product, Scaled, Sum
from mercer.kernels.distances import (
    L1,
    BernsteinLog,
    BernsteinPower,
    Polarised,
    ScaledDistance,
    SquaredEuclidean,
)
from mercer.kernels.kernel import Distance, Kernel
from mercer.kernels.linear import Linear
from mercer.kernels.powers import Power
from mercer.kernels.pullback import DistancePullback, Pullback
from mercer.kernels.schoenberg import Of, Radial

__all__ = ["Order", "order_of"]


@final
@dataclass(frozen=True)
class Order:
    """How the squared distance d² of a feature space rises with ψ.

    Parameters
    ----------
    psi : Distance
        ψ: ‖·‖² or ‖·‖₁, of the images under maps.
    factor : float, optional
        c where d² = c·ψ.
    line : Kernel, optional
        k where it is a function f of ψ alone, as a kernel of numbers: k(x, z) = line(r, 0), where r is the number with
        ψ(r, 0) = ψ(x, z). Then d² = 2f(0) − 2f(ψ). It or `factor` is given.
    """

    psi: Distance
    factor: float | None = None
    line: Kernel | None = None


def order_of(kernel: Kernel) -> Order | None:
    """The order of a kernel's feature space by a simpler distance, where one is derived.

    Examples
    --------
    >>> from mercer.kernels import RBF, Linear
    >>> order_of(2 * RBF(3.0).on(0, 1) ** 2)
    Order(psi=SquaredEuclidean().on(0, 1), factor=None, line=2.0 * RBF(3.0) ** 2)
    >>> order_of(Linear() ** 2) is None
    True
    """
    match kernel:
        case Linear():
            return Order(SquaredEuclidean(), factor=1.0)
        case Radial():
            return Order(kernel.metric, line=kernel) if kernel.is_isotropic else order_of(kernel.anisotropic())
        case Of(kernel=profile, distance=distance):
            return _of_profile(profile, distance)
        case Scaled(scale=scale, kernel=inner) if scale > 0.0:
            return _scaled(scale, order_of(inner))
        case Pullback(kernel=inner, map=m):
            found = order_of(inner)
            return None if found is None else replace(found, psi=found.psi.on(m))
        case Sum(terms=terms):
            return _sum(terms)
        case Product(factors=factors):
            return _product(factors)
        case Power(kernel=inner, exponent=exponent) if exponent > 0:
            line = _function_of(inner)
            return None if line is None else Order(line[0], line=line[1] ** exponent)
        case Exp(kernel=inner):
            line = _function_of(inner)
            return None if line is None else Order(line[0], line=line[1].exp())
        case _:
            expansion = kernel.expand()
            return order_of(expansion) if isinstance(expansion, Kernel) else None


def _function_of(kernel: Kernel) -> tuple[Distance, Kernel] | None:
    """ψ and f of a kernel f(ψ). All such f are ≥ 0 and decrease: profiles do, and what is built of them here does."""
    found = order_of(kernel)
    return None if found is None or found.line is None else (found.psi, found.line)


def _scaled(scale: float, found: Order | None) -> Order | None:
    if found is None:
        return None
    if found.factor is not None:
        return replace(found, factor=scale * found.factor)
    assert found.line is not None  # a factor or a line
    return replace(found, line=scale * found.line)


def _sum(terms: Sequence[Kernel]) -> Order | None:
    """Terms that all rise with the same ψ; a constant moves no distance."""
    constant = sum(term.value for term in terms if isinstance(term, Constant))
    found = [order_of(term) for term in terms if not isinstance(term, Constant)]
    parts = [part for part in found if part is not None]
    if not parts or len(parts) < len(found) or any(part.psi != parts[0].psi for part in parts):
        return None
    factors = [part.factor for part in parts if part.factor is not None]
    lines = [part.line for part in parts if part.line is not None]
    if factors and lines:
        return None
    if factors:
        return Order(parts[0].psi, factor=sum(factors))
    line = reduce(add, lines)
    return Order(parts[0].psi, line=line + constant if constant else line)


def _product(factors: Sequence[Kernel]) -> Order | None:
    found = [_function_of(factor) for factor in factors]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found) or any(part[0] != parts[0][0] for part in parts):
        return None
    return Order(parts[0][0], line=reduce(mul, (line for _, line in parts)))


def _of_profile(profile: Radial, distance: Distance) -> Order | None:
    found = _metric(distance)
    return None if found is None else Order(found[0], line=Of(profile, found[1]))


def _metric(distance: Distance) -> tuple[Distance, Distance] | None:
    """ψ, and the distance as an increasing function of it: a distance of numbers."""
    match distance:
        case SquaredEuclidean() | L1():
            return distance, distance
        case Polarised(kernel=kernel):
            found = order_of(kernel)
            if found is None:
                return None
            if found.line is not None:
                return found.psi, Polarised(found.line)
            assert found.factor is not None  # a factor or a line
            return found.psi, ScaledDistance(found.factor, SquaredEuclidean())
        case DistancePullback(distance=inner, map=m):
            below = _metric(inner)
            return None if below is None else (below[0].on(m), below[1])
        case ScaledDistance(scale=scale, distance=inner) if scale > 0.0:
            below = _metric(inner)
            return None if below is None else (below[0], ScaledDistance(scale, below[1]))
        case BernsteinPower(distance=inner, exponent=exponent):
            below = _metric(inner)
            return None if below is None else (below[0], BernsteinPower(below[1], exponent))
        case BernsteinLog(distance=inner):
            below = _metric(inner)
            return None if below is None else (below[0], BernsteinLog(below[1]))
        case _:
            return None
